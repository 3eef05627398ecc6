/**
 * Our part of Codex's `hooks.json`. Texts in, texts out; everything foreign keeps its bytes and its place: the person's review of a hook
 * is kept under its file, event and place in it, so one that moves would have to be reviewed again.
 */
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import type { HookFiles } from "../claude-code/hook-command.ts";
import {
  type HookGroup,
  isEmpty,
  type Merged,
  type OwnHook,
  objectOf,
  pointer,
  prune,
  valueAt,
} from "../claude-code/settings.ts";
import { type JsonPath, removeIn, setIn } from "../claude-code/settings-text.ts";
import { hookCommand, readHookCommand } from "./hook-command.ts";

/**
 * Event, matcher, and its time in seconds (without one the client waits 600). A matcher is one expression for the whole name.
 * Nothing before calls of our own tools: they carry session and agent themselves. PostCompact for sub-agents alone, whose
 * compaction no SessionStart follows.
 */
function hookTable(hasGuards: boolean): [event: string, matcher: string | undefined, timeoutSeconds: number][] {
  return [
    ["SessionStart", undefined, 10],
    ["UserPromptSubmit", undefined, 5],
    ["PreToolUse", hasGuards ? "spawn_agent|apply_patch" : "spawn_agent", 5],
    ["PostToolUse", "Bash|apply_patch|update_plan|spawn_agent", 5],
    ["PostCompact", undefined, 5],
    ["Stop", undefined, 5],
    ["SubagentStart", undefined, 5],
    ["SubagentStop", undefined, 5],
    // More than 3, and the client complains to the user in every session (seen in 0.166.0).
    ["SessionEnd", undefined, 3],
  ];
}

export function hookGroups(command: string, hasGuards: boolean): Record<string, HookGroup> {
  return Object.fromEntries(
    hookTable(hasGuards).map(([event, matcher, timeout]) => [
      event,
      { ...(matcher !== undefined && { matcher }), hooks: [{ type: "command" as const, command, timeout }] },
    ]),
  );
}

export function mergeHooks(
  text: string,
  { file, hasGuards, ...files }: HookFiles & { file: string; hasGuards: boolean },
): Merged {
  const before = readHooks(text, file);
  const keep = ownHooks(before).length === 0 ? emptyContainers(before) : [];
  let result = text;
  for (const [event, group] of Object.entries(hookGroups(hookCommand(files), hasGuards))) {
    result = putGroup(result, event, group, file);
  }
  return { text: result, keep };
}

export function unmergeHooks(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  let result = text;
  for (let own = ownHooks(readHooks(result, file)).at(-1); own; own = ownHooks(readHooks(result, file)).at(-1)) {
    result = prune(removeIn(result, own.path), own.path.slice(0, -1), { file, keep });
  }
  return result;
}

/** Our entries in a file of any shape, in its order. */
export function ownHooks(settings: unknown): OwnHook[] {
  const found: OwnHook[] = [];
  for (const [event, groups] of Object.entries(objectOf(objectOf(settings)["hooks"]))) {
    for (const [groupAt, group] of listOf(groups).entries()) {
      const { matcher, hooks } = objectOf(group);
      for (const [at, hook] of listOf(hooks).entries()) {
        const { command, timeout } = objectOf(hook);
        const files = readHookCommand(command);
        if (!files) continue;
        found.push({
          ...files,
          event,
          matcher: typeof matcher === "string" ? matcher : undefined,
          command: String(command),
          timeoutSeconds: typeof timeout === "number" ? timeout : undefined,
          path: ["hooks", event, groupAt, "hooks", at],
          isMixed: listOf(hooks).length > 1,
        });
      }
    }
  }
  return found;
}

/** The file as an object, or a fault that names it. */
export function readHooks(text: string, file: string): Record<string, unknown> {
  const { value, problem } = readJson(text);
  if (problem !== undefined) throw wrong(file, problem);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(file, "is no JSON object");
  return value as Record<string, unknown>;
}

/** Exactly this one group of ours for the event: an older one is replaced where it stands, further ones go. */
function putGroup(text: string, event: string, group: HookGroup, file: string): string {
  const settings = readHooks(text, file);
  const own = ownHooks(settings).filter((hook) => hook.event === event);
  const [first, ...others] = own;
  const stands = first && valueAt(settings, first.path.slice(0, 3));
  if (first && others.length === 0 && JSON.stringify(stands) === JSON.stringify(group)) return text;

  let result = text;
  const home = own.find(({ isMixed }) => !isMixed);
  // From the back, so that the places of those before stay what they are.
  for (const { path, isMixed } of own.toReversed()) {
    if (path !== home?.path) result = removeIn(result, isMixed ? path : path.slice(0, 3));
  }
  const place = ownHooks(readHooks(result, file)).find((hook) => hook.event === event && !hook.isMixed)?.path;
  if (home && place) return setIn(result, place.slice(0, 3), group);
  return setIn(result, ["hooks", event, groupsOf(readHooks(result, file), event, file).length], group);
}

function groupsOf(settings: Record<string, unknown>, event: string, file: string): unknown[] {
  const hooks = settings["hooks"];
  if (hooks === undefined) return [];
  if (typeof hooks !== "object" || hooks === null || Array.isArray(hooks)) throw wrong(file, "hooks must be an object");
  const groups = objectOf(hooks)[event];
  if (groups === undefined) return [];
  if (!Array.isArray(groups)) throw wrong(file, `hooks.${event} must be a list`);
  return groups;
}

/** Containers on our way that were there and empty before us. */
function emptyContainers(settings: Record<string, unknown>): string[] {
  const paths: JsonPath[] = [["hooks"], ...hookTable(true).map(([event]) => ["hooks", event])];
  return paths.filter((path) => isEmpty(valueAt(settings, path))).map(pointer);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function wrong(file: string, text: string): HaversackError {
  return new HaversackError("config-invalid", `${file}: ${text}`, {
    hint: "Codex cannot read it either; correct it, then run this again",
  });
}
