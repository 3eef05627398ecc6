/** How full a session's window is, from the chat file of Gemini CLI. The window's size stands nowhere in it. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";
import { readGeminiFill } from "./transcript.ts";

export function geminiFill({ sessionId }: FilledSession, env: Environment): WindowFill | undefined {
  const folder = join(env["GEMINI_CLI_HOME"] || env["HOME"] || "", ".gemini/tmp");
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
