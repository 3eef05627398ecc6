/**
 * The process that a client starts at every event: `hook.cjs CLIENT`, the client's payload on standard input. This file finds
 * the project and its store; the file beside it that answers the event is loaded when it comes: hook-prompt.cjs, hook-tool.cjs or
 * hook-session.cjs, and hook-rules.cjs where the project has rules. None loads more than `fs`, `node:sqlite` and `node:vm`,
 * and none may exceed 50 kB: each 50 kB of code costs a start 5 to 10%, used or not.
 *
 * A hook never harms the session: whatever goes wrong is logged, nothing is printed, and the exit code is 0. Its time is
 * bounded by its parts: half a second for a locked store, 50 ms for all patterns, and texts that are cut before they are
 * searched.
 */
import { readFileSync, statSync, writeSync } from "node:fs";
import { findProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import type { HookAnswer } from "../engine/hook-event.ts";
import { readHookSettings } from "../engine/hook-settings.ts";
import { closeIfLogIsLong, openForHook } from "../store/sqlite/open-for-hook.ts";
import { formatClaudeAnswer } from "./claude-code/answer.ts";
import { type ClaudeBase, readClaudeBase } from "./claude-code/prompt-event.ts";
import type { HookPlace } from "./hook-session.ts";
import { loadCached, saveCompiled } from "./load-cached.ts";

type Fields = Record<string, unknown>;

/** How long the store may be locked by others before the hook gives up, in milliseconds. */
const BUSY_MS = 500;

function main(): void {
  const { env, argv } = process;
  if (env["HAVERSACK"] === "0" || argv[2] !== "claude-code") return;
  let state = "";
  try {
    const payload = JSON.parse(readFileSync(0, "utf8")) as Fields;
    const base = readClaudeBase(payload, process.cwd());
    if (!base) return;
    const { root } = findProjectRoot(base.cwd);
    const folder = `${root}/${STATE_FOLDER}`;
    // No folder: the project does not use Haversack. A mark: it is switched off.
    if (!exists(folder) || exists(`${folder}/off`) || exists(`${userFolder(env)}/off`)) return;
    state = folder;
    const file = `${state}/haversack.db`;
    const handle = openForHook(file, { busyMs: BUSY_MS });
    if (!handle) {
      // Most likely of an older version: without this it would stay so until somebody calls the CLI.
      if (payload["hook_event_name"] === "SessionStart" && exists(file)) session().startIndexing(root);
      return;
    }
    const place: HookPlace = {
      root,
      state,
      env,
      handle,
      settings: () => readSettings(state, env),
    };
    const answer = answerPayload(payload, base, place);
    const text = formatClaudeAnswer(String(payload["hook_event_name"]), answer);
    if (text) writeSync(1, text);
    closeIfLogIsLong(handle);
    saveCompiled({ isRich: text !== "" || payload["tool_name"] === "Bash" });
  } catch (error) {
    if (state) session().logFault(state, error);
  }
}

function answerPayload(payload: Fields, base: ClaudeBase, place: HookPlace): HookAnswer {
  const event = payload["hook_event_name"];
  if (event === "UserPromptSubmit") {
    return loadCached<typeof import("./hook-prompt.ts")>("hook-prompt", place.env).answerPrompt(payload, base, place);
  }
  if (event !== "PostToolUse" && event !== "PostToolUseFailure") return session().answerEvent(payload, base, place);
  loadCached<typeof import("./hook-tool.ts")>("hook-tool", place.env).recordToolEvent(payload, base, place);
  return {};
}

function session(): typeof import("./hook-session.ts") {
  return loadCached("hook-session", process.env);
}

function readSettings(state: string, env: NodeJS.ProcessEnv) {
  const files = [`${userFolder(env)}/config.json`, `${state}/config.json`].flatMap((file) => {
    const text = readText(file);
    return text === undefined ? [] : [JSON.parse(text) as unknown];
  });
  return readHookSettings(files);
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readText(path: string): string | undefined {
  // Asked first: an error thrown and caught costs more than the question.
  if (!exists(path)) return undefined;
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

main();
// A normal end, and process.exit too, would close the store and copy its log into the main file: time that nobody has here.
// What was committed is safe without it. The method is what process.exit itself ends with.
(process as unknown as { reallyExit(code: number): never }).reallyExit(0);
