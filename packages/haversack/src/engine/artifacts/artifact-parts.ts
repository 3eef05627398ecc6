/** What all use cases of artifacts work with, and how a command or tool opens it. */
import type { Config } from "../../base/config-schema.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import {
  type AgentEvidence,
  type AgentMark,
  agentsOf,
  markAgent,
  readSeen,
} from "../../store/sqlite/artifacts/artifact-observations.ts";
import { SqliteArtifactStore } from "../../store/sqlite/artifacts/artifact-store.ts";
import type { Actor, WorkStore } from "../../store/work-store.ts";
import { loadCounter, type TokenCounter } from "../../tokens/count.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import type { ProjectPaths } from "../project.ts";

export interface ArtifactParts {
  cwd: string;
  paths: ProjectPaths;
  /** The setting `artifacts.resume`. */
  isResumeOn: boolean;
  store: SqliteArtifactStore;
  /** What hooks saw of sub-agents. */
  evidence: Evidence;
  /** For tasks that are in the store but not in tasks.md. */
  work: WorkStore;
  by: Actor;
  /** The client that starts the sub-agents. */
  client: string;
  countTokens: TokenCounter;
}

export interface Evidence {
  /** Agents that got documents of this folder, newest first. */
  of(folder: string): AgentEvidence[];
  mark(agent: { sessionId: string; agentId: string }, mark: AgentMark, at: Date): boolean;
}

export interface ArtifactPlace {
  cwd: string;
  paths: ProjectPaths;
  config: Config;
  work: WorkStore;
  by: Actor;
  client?: string | undefined;
}

const DEFAULT_CLIENT = "claude-code";

/** For a store that the caller opened and will close. */
export async function artifactParts(
  handle: StoreHandle,
  { cwd, paths, config, work, by, client = DEFAULT_CLIENT }: ArtifactPlace,
): Promise<ArtifactParts> {
  return {
    cwd,
    paths,
    isResumeOn: config["artifacts.resume"],
    store: new SqliteArtifactStore(handle),
    evidence: {
      of: (folder) => agentsOf(handle, folder).flatMap((key) => readSeen(handle, key) ?? []),
      mark: (agent, mark, at) => markAgent(handle, agent, mark, at),
    },
    work,
    by,
    client,
    countTokens: await cappedCounter(),
  };
}

/** Above this, the exact count takes seconds and adds nothing to the estimate. */
const EXACT_MAX_CHARS = 500_000;

export async function cappedCounter(): Promise<TokenCounter> {
  const exact = await loadCounter();
  return (text) => (text.length > EXACT_MAX_CHARS ? estimateTokens(text) : exact(text));
}
