/**
 * Whether the turn of a prompt is under way: its transcript then holds a tool result with the prompt's id (seen in 2.1.325; a
 * prompt that is not answered yet is not in the file at all). Only the end of the file is read. Loaded by the hook, after a
 * compaction only.
 */
import { readTail } from "../../base/read-text.ts";

const MAX_BYTES = 1_000_000;

export function hasToolResult(transcript: string | undefined, promptId: string): boolean {
  const lines = transcript ? (readTail(transcript, MAX_BYTES)?.toString("utf8").split("\n") ?? []) : [];
  return lines.some((line) => line.includes(`"promptId":"${promptId}"`) && line.includes('"type":"tool_result"'));
}
