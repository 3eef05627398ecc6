/**
 * What every event needs, for hook.cjs: the project, its store, the switch, the answer's form, and a line in the log when something
 * fails. The part that answers the event comes loaded with it.
 */
import { existsSync, readFileSync, writeSync } from "node:fs";
import { findProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { readHookSettings } from "../engine/hook-settings.ts";
import { closeIfLogIsLong, openForHook } from "../store/sqlite/open-for-hook.ts";
import { formatClaudeAnswer } from "./claude-code/answer.ts";
import { claudeProfile } from "./claude-code/profile.ts";
import { type ClaudeBase, readClaudeBase } from "./claude-code/prompt-event.ts";
import { HookDate } from "./hook-clock.ts";
import type { HookPlace } from "./hook-session.ts";

type Fields = Record<string, unknown>;

/** The file beside this one that answers the event. */
type Part = typeof import("./hook-prompt.ts") | typeof import("./hook-tool.ts") | typeof import("./hook-session.ts");

/** How long the store may be locked by others before the hook gives up, in milliseconds. */
const BUSY_MS = 500;

/** Returns the ways through the code that this event took, for the cache of compiled code; 0 after a fault. */
export function answerClaude(payload: Fields, part: Part, session: () => typeof import("./hook-session.ts")): number {
  const { env } = process;
  let state = "";
  try {
    const base = readClaudeBase(payload, process.cwd());
    if (!base) return UNANSWERED;
    const { root } = findProjectRoot(base.cwd);
    const folder = `${root}/${STATE_FOLDER}`;
    // No folder: the project does not use Haversack. A mark: it is switched off.
    if (!existsSync(folder) || existsSync(`${folder}/off`) || existsSync(`${userFolder(env)}/off`)) return UNANSWERED;
    state = folder;
    const file = `${state}/haversack.db`;
    const handle = openForHook(file, { busyMs: BUSY_MS });
    if (!handle) {
      // Most likely of an older version: without this it would stay so until somebody calls the CLI.
      if (payload["hook_event_name"] === "SessionStart" && existsSync(file)) session().startIndexing(root);
      return UNANSWERED;
    }
    const place: HookPlace = {
      root,
      state,
      env,
      handle,
      now: new HookDate(),
      client: () => claudeProfile(root, env),
      settings: () => readHookSettings(readConfigFiles(state, env)),
      configFiles: () => readConfigFiles(state, env),
    };
    const answer = answerPayload(payload, base, place, part);
    const text = formatClaudeAnswer(payload, answer);
    if (text) writeSync(1, text);
    closeIfLogIsLong(handle);
    return waysOf(payload, answer, text);
  } catch (error) {
    if (state) session().logFault(state, error);
    return 0;
  }
}

function answerPayload(payload: Fields, base: ClaudeBase, place: HookPlace, part: Part): HookAnswer {
  if ("answerPrompt" in part) return part.answerPrompt(payload, base, place);
  if ("answerEvent" in part) return part.answerEvent(payload, base, place);
  part.recordToolEvent(payload, base, place);
  return {};
}

/** A client may be wired for all projects, and most use no Haversack: they get the cache too. */
const UNANSWERED = 16;

/** For the cache of compiled code: what in an event decides which functions run. */
function waysOf(payload: Fields, { considered = 0 }: HookAnswer, text: string): number {
  return 1 | (considered > 0 ? 2 : 0) | (text ? 4 : 0) | (payload["tool_name"] === "Bash" ? 8 : 0);
}

/** Later ones beat earlier ones. */
function readConfigFiles(state: string, env: NodeJS.ProcessEnv): unknown[] {
  return [`${userFolder(env)}/config.json`, `${state}/config.json`].flatMap((file) => {
    const text = readText(file);
    return text === undefined ? [] : [JSON.parse(text) as unknown];
  });
}

function readText(path: string): string | undefined {
  // Asked first: an error thrown and caught costs more than the question.
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Absent or unreadable: the defaults hold.
    return undefined;
  }
}

function userFolder(env: NodeJS.ProcessEnv): string {
  return `${env["XDG_CONFIG_HOME"] || `${env["HOME"]}/.config`}/haversack`;
}
