/**
 * What Gemini CLI's transcript says of the window (seen in 0.61.0): it has the only sign of a compaction. After one, the client writes
 * the shortened history anew, `{"$set":{"messages":[…]}}`, and in it the summary, a message that begins `<state_snapshot>`. Its
 * time stays the same when the session is resumed, so a summary later than the last event we saw means that the window is new.
 *
 * Only the end of the file is read, as bytes: it may have megabytes. Loaded by the hook: nothing but `fs`.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const MAX_BYTES = 4_000_000;

/** When the history was last replaced by a summary. */
export function readGeminiCompaction(transcriptPath: unknown): Date | undefined {
  const bytes = typeof transcriptPath === "string" ? readTail(transcriptPath) : undefined;
  const at = bytes ? bytes.lastIndexOf(SUMMARY) : -1;
  if (!bytes || at < 0) return undefined;
  const [, time] = TIME.exec(bytes.toString("latin1", Math.max(0, at - 60), at)) ?? [];
  return time ? new Date(time) : undefined;
}

/** A summary anywhere else, such as in a file that a tool read, is inside another text and has its quotes escaped. */
const SUMMARY = '","type":"user","content":[{"text":"<state_snapshot>';
const TIME = /"timestamp":"(\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

const TOKENS = '"tokens":{"input":';

/** Tokens of the last request and its answer: how full the window is. */
export function readGeminiFill(transcriptPath: unknown): number | undefined {
  const bytes = typeof transcriptPath === "string" ? readTail(transcriptPath) : undefined;
  const at = bytes ? bytes.lastIndexOf(TOKENS) : -1;
  if (!bytes || at < 0) return undefined;
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
    const buffer = Buffer.allocUnsafe(Math.min(size, MAX_BYTES));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
  } finally {
    closeSync(file);
  }
}
