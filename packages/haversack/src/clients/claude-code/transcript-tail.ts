/**
 * Whether the turn of a prompt is under way: its transcript then holds a tool result with the prompt's id (seen in 2.1.325; a
 * prompt that is not answered yet is not in the file at all). Only the end of the file is read. Loaded by the hook, after a
 * compaction only.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const MAX_BYTES = 1_000_000;

export function hasToolResult(transcript: string | undefined, promptId: string): boolean {
  const lines = transcript ? readTail(transcript).split("\n") : [];
  return lines.some((line) => line.includes(`"promptId":"${promptId}"`) && line.includes('"type":"tool_result"'));
}

function readTail(path: string): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // Not written yet, or not ours to read: nothing is known of the turn.
    return "";
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, MAX_BYTES));
    return buffer.toString("utf8", 0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
  } finally {
    closeSync(file);
  }
}
