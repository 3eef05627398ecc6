/**
 * The one class for faults: something that should have worked did not. Expected outcomes are values,
 * never this class. Callers test `code`, never the text.
 */
export type FaultCode =
  | "store-unreadable"
  | "store-not-a-database"
  | "store-corrupt"
  | "store-locked"
  | "store-full"
  | "store-read-only"
  | "store-too-new"
  /** The store came with a clone, or another user made it: `haversack trust` accepts it. */
  | "store-untrusted"
  | "config-invalid"
  | "file-unreadable"
  | "file-unwritable"
  | "input-invalid"
  | "not-found"
  /** Somebody else holds it: not now, or not by you. */
  | "refused"
  /** Nothing may be stored in this folder unasked. */
  | "no-project"
  | "usage";

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

export function isFault(error: unknown, code?: FaultCode): error is HaversackError {
  // By name, not by class: each command is a bundle with a class of its own.
  const isOurs = error instanceof Error && error.name === "HaversackError";
  return isOurs && (code === undefined || (error as HaversackError).code === code);
}

/** The text of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
