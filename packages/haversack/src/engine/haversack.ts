/** What the library opens. Types alone: the published declarations begin here. */
import type { ArtifactOperations } from "./artifacts/artifact-operations.ts";
import type { WorkOperations } from "./work/work-operations.ts";

export interface OpenOptions {
  /** A folder of the project; the root is found from it as the command line finds it. */
  root: string;
  /** Who does what is done. Default: HAVERSACK_AGENT, else a name made for this process. */
  agent?: string | undefined;
  /** The client that starts sub-agents, for resumes. Default: claude-code. */
  client?: string | undefined;
}

export interface Haversack {
  /** The project's root. */
  root: string;
  artifacts: ArtifactOperations;
  work: WorkOperations;
  close(): void;
}
