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
import type { SessionKey } from "../../store/sqlite/sessions/sqlite-local-store.ts";
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
  /** What hooks saw of the agents that got documents of this folder, newest first. */
  evidenceOf(folder: string): AgentEvidence[];
  markAgent(agent: SessionKey, mark: AgentMark): boolean;
  /** For tasks that are in the store but not in tasks.md. */
  work: WorkStore;
  by: Actor;
  /** The client that starts the sub-agents. */
  client: string;
  countTokens: TokenCounter;
}

export interface ArtifactPlace extends Pick<ArtifactParts, "cwd" | "paths" | "work" | "by"> {
  config: Config;
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
    evidenceOf: (folder) => agentsOf(handle, folder).flatMap((key) => readSeen(handle, key) ?? []),
    markAgent: (agent, mark) => markAgent(handle, agent, mark, by.at),
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
