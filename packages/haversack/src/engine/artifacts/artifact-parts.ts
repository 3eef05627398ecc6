/** What every use case of artifacts works with, and who opens it for a command or a tool. */
import type { Config } from "../../base/config-schema.ts";
import type { ArtifactStore } from "../../store/artifact-store.ts";
import {
  type AgentEvidence,
  type AgentMark,
  agentsOf,
  markAgent,
  readSeen,
} from "../../store/sqlite/artifacts/artifact-observations.ts";
import { SqliteArtifactStore } from "../../store/sqlite/artifacts/artifact-store.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { Actor, WorkStore } from "../../store/work-store.ts";
import { loadCounter, type TokenCounter } from "../../tokens/count.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import type { ProjectPaths } from "../project.ts";

export interface ArtifactParts {
  cwd: string;
  paths: ProjectPaths;
  settings: ArtifactSettings;
  store: ArtifactStore;
  /** What hooks have seen of sub-agents. */
  evidence: Evidence;
  /** For tasks that the store has and tasks.md has not. */
  work: WorkStore;
  by: Actor;
  /** The client that starts the sub-agents. */
  client: string;
  countTokens: TokenCounter;
}

export interface ArtifactSettings {
  resume: boolean;
  sendBack: boolean;
}

export interface Evidence {
  /** Agents that were sent with documents of this folder, newest first. */
  of(folder: string): AgentEvidence[];
  mark(agent: { sessionId: string; agentId: string }, mark: AgentMark, at: Date): boolean;
}

export interface ArtifactPlace {
  cwd: string;
  paths: ProjectPaths;
  config: Config;
  by: Actor;
  client?: string | undefined;
}

export const DEFAULT_CLIENT = "claude-code";

/** In a store that somebody else opened and will close. */
export async function artifactParts(
  handle: StoreHandle,
  { cwd, paths, config, by, client = DEFAULT_CLIENT }: ArtifactPlace,
): Promise<ArtifactParts> {
  return {
    cwd,
    paths,
    settings: { resume: config["artifacts.resume"], sendBack: config["artifacts.sendBack"] },
    store: new SqliteArtifactStore(handle),
    evidence: {
      of: (folder) => agentsOf(handle, folder).flatMap((key) => readSeen(handle, key) ?? []),
      mark: (agent, mark, at) => markAgent(handle, agent, mark, at),
    },
    work: new SqliteWorkStore(handle),
    by,
    client,
    countTokens: await cappedCounter(),
  };
}

/** Above this the exact count takes seconds and says nothing that the estimate does not. */
const EXACT_MAX_CHARS = 500_000;

export async function cappedCounter(): Promise<TokenCounter> {
  const exact = await loadCounter();
  return (text) => (text.length > EXACT_MAX_CHARS ? estimateTokens(text) : exact(text));
}
