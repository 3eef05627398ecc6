/**
 * What Gemini CLI's transcript says of the window (seen in 0.61.0). It is the only sign of a compaction: after one, the client writes
 * the shortened history anew, `{"$set":{"messages":[…]}}`, and in it the summary, a message that begins `<state_snapshot>`. Its
 * time stays the same when the session is resumed, so a summary later than the last event we saw means that the window is new.
 *
 * Only the end of the file is read, as bytes: it may have megabytes. Loaded by the hook: nothing but `fs`.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface GeminiWindow {
  /** When the history was last replaced by a summary. */
  compactedAt?: Date;
  /** Tokens of the last request and its answer. */
  fillTokens?: number;
}

const MAX_BYTES = 4_000_000;

export function readGeminiWindow(transcriptPath: unknown): GeminiWindow {
  const bytes = typeof transcriptPath === "string" ? readTail(transcriptPath) : undefined;
  if (!bytes) return {};
  const compactedAt = lastSummary(bytes);
  const fillTokens = lastFill(bytes);
  return { ...(compactedAt && { compactedAt }), ...(fillTokens !== undefined && { fillTokens }) };
}

/** A summary anywhere else, such as in a file that a tool read, is inside another text and has its quotes escaped. */
const SUMMARY = '","type":"user","content":[{"text":"<state_snapshot>';
const TIME = /"timestamp":"(\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

function lastSummary(bytes: Buffer): Date | undefined {
  const at = bytes.lastIndexOf(SUMMARY);
  if (at < 0) return undefined;
  const [, time] = TIME.exec(bytes.toString("latin1", Math.max(0, at - 60), at)) ?? [];
  return time ? new Date(time) : undefined;
}

const TOKENS = '"tokens":{"input":';

function lastFill(bytes: Buffer): number | undefined {
  const at = bytes.lastIndexOf(TOKENS);
  if (at < 0) return undefined;
  const [, input, output] = /"input":(\d+),"output":(\d+)/.exec(bytes.toString("latin1", at, at + 80)) ?? [];
  return input === undefined ? undefined : Number(input) + Number(output);
}

function readTail(path: string): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // Not written yet, or not ours to read: nothing is known of the window.
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, MAX_BYTES));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
  } finally {
    closeSync(file);
  }
}
