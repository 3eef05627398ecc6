/**
 * The one class for faults: something that should have worked did not. Expected outcomes are return values, never this class.
 * Callers test `code`, never the text.
 */
export type FaultCode =
  | "store-unreadable"
  | "store-not-a-database"
  | "store-corrupt"
  | "store-locked"
  | "store-full"
  | "store-read-only"
  | "store-too-new"
  /** The store came with a clone, or another user made it. `haversack trust` accepts it. */
  | "store-untrusted"
  | "config-invalid"
  | "file-unreadable"
  | "file-unwritable"
  | "input-invalid"
  | "not-found"
  /** Someone else holds it, so you cannot do this now, or not at all. */
  | "refused"
  /** Nothing may be stored in this folder without the user's consent. */
  | "no-project"
  | "usage"
  | AgentFaultCode;

/** Faults of agents in TypeScript (`haversack/agents`). */
export type AgentFaultCode =
  | "agent-unknown"
  /** Its file cannot be used as it is: `file` and `field` say where. */
  | "agent-invalid"
  | "agent-duplicate"
  | "tool-unknown"
  /** An agent system cannot run the tool: it has no `execute`, or it waits for an approval. */
  | "tool-unsupported"
  | "model-unknown"
  /** The provider failed or ended half-way. The conversation is as it was before this turn. */
  | "model-failed"
  /** A middleware of yours threw. The conversation is as it was before this turn. */
  | "middleware-failed"
  /** The caller aborted. The conversation is as it was before this turn. */
  | "aborted"
  | "skills-missing"
  /** The store that you gave cannot be read, so nobody knows what the conversation was. */
  | "store-failed"
  /** A setting has an unknown name or a value that cannot be meant: `field` says which. */
  | "config-invalid"
  /** Two uses of one thing that exclude each other, such as a system that was closed. */
  | "agents-misused";

export class HaversackError extends Error {
  readonly code: FaultCode;
  /** What a person can do about it, in one sentence. Never a destructive command. */
  readonly hint: string | undefined;

  constructor(code: FaultCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HaversackError";
    this.code = code;
    this.hint = options.hint;
  }
}
// The library's code is minified; users still see the name of the class.
Object.defineProperty(HaversackError, "name", { value: "HaversackError" });

export function isFault(error: unknown, code?: FaultCode): error is HaversackError {
  // Compare the name, not the class: the hook, the CLI and the opencode plugin are separate bundles, each with its own copy of the class.
  const isOurs = error instanceof Error && error.name === "HaversackError";
  return isOurs && (code === undefined || (error as HaversackError).code === code);
}

/** The text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
