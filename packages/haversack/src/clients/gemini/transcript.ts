/**
 * Reads Gemini CLI's transcript (seen in 0.61.0), which has the only sign of a compaction. After one, the client writes the shortened
 * history again, `{"$set":{"messages":[…]}}`, with the summary: a message that begins with `<state_snapshot>`. Its time stays the
 * same when the session is resumed, so a summary later than the last event we saw means that the window is new.
 *
 * Only the end of the file is read, as bytes, because the file may have megabytes.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findLast } from "../../base/clean-text.ts";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";

const MAX_BYTES = 4_000_000;

/** When the history was last replaced by a summary. */
export function readGeminiCompaction(transcriptPath: unknown): Date | undefined {
  const found = typeof transcriptPath === "string" ? findLast(transcriptPath, SUMMARY, MAX_BYTES) : undefined;
  const [, time] = TIME.exec(found ?? "") ?? [];
  return time ? new Date(time) : undefined;
}

/** A summary elsewhere, such as in a file that a tool read, is inside another string and has its quotes escaped. */
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

/** The folder with a folder for each project; a project's transcripts are in its `chats`. */
export function geminiChats(env: Environment): string {
  return join(env["GEMINI_CLI_HOME"] || env["HOME"] || "", ".gemini/tmp");
}

/** How full a session's window is. The file does not contain the window's size. */
export function geminiFill({ sessionId }: FilledSession, env: Environment): WindowFill | undefined {
  const folder = geminiChats(env);
  if (!existsSync(folder)) return undefined;
  const ending = `-${sessionId.slice(0, 8)}.jsonl`;
  const [newest] = readdirSync(folder)
    .map((project) => join(folder, project, "chats"))
    .filter((chats) => existsSync(chats))
    .flatMap((chats) => readdirSync(chats).map((name) => join(chats, name)))
    .filter((path) => path.endsWith(ending))
    .map((path) => ({ path, at: statSync(path).mtime }))
    .sort((a, b) => b.at.getTime() - a.at.getTime());
  const usedTokens = newest && readGeminiFill(newest.path);
  return newest && usedTokens !== undefined ? { usedTokens, at: newest.at } : undefined;
}
