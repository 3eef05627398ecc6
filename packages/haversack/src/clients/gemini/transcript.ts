/**
 * What Gemini CLI's transcript says of the window (seen in 0.61.0): it has the only sign of a compaction. After one, the client writes
 * the shortened history anew, `{"$set":{"messages":[…]}}`, and in it the summary, a message that begins `<state_snapshot>`. Its
 * time stays the same when the session is resumed, so a summary later than the last event we saw means that the window is new.
 *
 * Only the end of the file is read, as bytes: it may have megabytes. Loaded by the hook: nothing but `fs`.
 */
import { findLast } from "../../base/read-text.ts";

const MAX_BYTES = 4_000_000;

/** When the history was last replaced by a summary. */
export function readGeminiCompaction(transcriptPath: unknown): Date | undefined {
  const found = typeof transcriptPath === "string" ? findLast(transcriptPath, SUMMARY, MAX_BYTES) : undefined;
  const [, time] = TIME.exec(found ?? "") ?? [];
  return time ? new Date(time) : undefined;
}

/** A summary anywhere else, such as in a file that a tool read, is inside another text and has its quotes escaped. */
const SUMMARY = '","type":"user","content":[{"text":"<state_snapshot>';
const TIME = /"timestamp":"(\d{4}-\d\d-\d\dT[\d:.]+Z)","type":"user","content":\[\{"text":"<state_snapshot>/;

/** Whether the model has answered in this session. */
export function hasGeminiAnswer(transcriptPath: unknown): boolean {
  return typeof transcriptPath === "string" && findLast(transcriptPath, '"type":"gemini"', MAX_BYTES) !== undefined;
}

/** Tokens of the last request and its answer: how full the window is. */
export function readGeminiFill(transcriptPath: unknown): number | undefined {
  const found = typeof transcriptPath === "string" ? findLast(transcriptPath, TOKENS, MAX_BYTES) : undefined;
  const [, input, output] = /"tokens":\{"input":(\d+),"output":(\d+)/.exec(found ?? "") ?? [];
  return input === undefined ? undefined : Number(input) + Number(output);
}

const TOKENS = '"tokens":{"input":';
