/** How full a session's window is, from the session's file of Codex. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../engine/project.ts";
import type { FilledSession, WindowFill } from "../../engine/wiring.ts";
import { readFill } from "./rollout.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export function codexFill({ sessionId, agentId, startedAt }: FilledSession, env: Environment): WindowFill | undefined {
  const folder = join(env["CODEX_HOME"] || join(env["HOME"] ?? "", ".codex"), "sessions");
  // Filed under the day of the session's start, by the machine's own clock and zone.
  const days = [0, -DAY_MS, DAY_MS].map((offset) => new Date(startedAt.getTime() + offset));
  const folders = days.map((day) => join(folder, ...day.toISOString().slice(0, 10).split("-")));
  const ending = `-${agentId || sessionId}.jsonl`;
  const file = folders
    .filter((one) => existsSync(one))
    .flatMap((one) => readdirSync(one).map((name) => join(one, name)))
    .find((path) => path.endsWith(ending));
  const fill = file && readFill(file);
  if (!file || !fill) return undefined;
  const { usedTokens, windowTokens } = fill;
  return { usedTokens, ...(windowTokens !== undefined && { windowTokens }), at: statSync(file).mtime };
}
