/**
 * Our part of Claude Code's settings file: the hooks, and the permission to call our own read-only tool. Texts in, texts
 * out; everything foreign keeps its bytes.
 */
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { type HookFiles, hookCommand, readHookCommand } from "./hook-command.ts";
import { type JsonPath, removeIn, setIn } from "./settings-text.ts";

export interface HookGroup {
  matcher?: string;
  hooks: { type: "command"; command: string; timeout: number }[];
}

/**
 * A matcher of word characters and `|` is a list of names, any other a regular expression (both seen in 2.1.325). Every
 * event without a narrow matcher is a process more, about 37 ms.
 */
const OWN_TOOLS = "mcp__(plugin_haversack_)?haversack__.*";
const EDIT_TOOLS = "Edit|Write|MultiEdit|NotebookEdit";
/**
 * Before a sub-agent starts, its task's packet goes into its prompt; when it is over, its answer may be replaced. Two processes
 * per sub-agent, each a fraction of one of its requests. Anchored in an expression: the client searches, and has an `AgentX`
 * some day. `Task`, its old name, finds it too, and with it `TaskCreate`.
 */
const SPAWN_TOOL = "Agent";
/** Which of the plan tools there is depends on the model and the version. */
const PLAN_TOOLS = "TodoWrite|TaskCreate|TaskUpdate|TaskList";

/**
 * Event, matcher, and its time in seconds: far below the client's own 30 and more, far above the 0.1 it takes. Not PreCompact
 * and PostCompact: SessionStart says all of a compaction, and the client shows the commands of those two, "completed
 * successfully", to the person and to the model after every `/compact` (seen in 2.1.325).
 */
function hookTable(hasGuards: boolean): [event: string, matcher: string | undefined, timeoutSeconds: number][] {
  return [
    ["SessionStart", undefined, 10],
    ["UserPromptSubmit", undefined, 5],
    // An MCP server cannot see which agent calls it; this hook can. Edits only where a rule guards files.
    ["PreToolUse", [OWN_TOOLS, `^${SPAWN_TOOL}$`, ...(hasGuards ? [EDIT_TOOLS] : [])].join("|"), 5],
    ["PostToolUse", `${EDIT_TOOLS}|Bash|Read|Skill|${PLAN_TOOLS}|${SPAWN_TOOL}`, 5],
    ["PostToolUseFailure", "Bash", 5],
    ["SubagentStart", undefined, 5],
    ["SubagentStop", undefined, 5],
    // A message that came while the model worked makes it go on.
    ["Stop", undefined, 5],
    ["SessionEnd", undefined, 5],
  ];
}

/**
 * Without it, a call to our tools stops at a question, and headless at a refusal. The server's name alone allows all of its
 * tools, as `mcp__haversack__*` does (both seen in 2.1.325); all they touch is the store in `.haversack/`.
 */
export const PERMISSION = "mcp__haversack";

/** What `init` of 0.1 wrote. */
const OLD_PERMISSION = "mcp__haversack__skill";
const OWN_PERMISSIONS = [PERMISSION, OLD_PERMISSION];

/** The hooks as the client's settings and a plugin's hooks.json want them, with any command. */
export function hookGroups(command: string, hasGuards: boolean): Record<string, HookGroup> {
  return Object.fromEntries(
    hookTable(hasGuards).map(([event, matcher, timeout]) => [
      event,
      { ...(matcher !== undefined && { matcher }), hooks: [{ type: "command" as const, command, timeout }] },
    ]),
  );
}

export interface Merged {
  text: string;
  /** What was there before us and looks like ours or would look left over: `unmergeSettings` lets it be. */
  keep: string[];
}

export function mergeSettings(
  text: string,
  { file, hasGuards, ...files }: HookFiles & { file: string; hasGuards: boolean },
): Merged {
  const before = readSettings(text, file);
  const isFirst = ownHooks(before).length === 0;
  const keep = isFirst ? emptyContainers(before) : [];
  let result = text;
  for (const [event, group] of Object.entries(hookGroups(hookCommand(files), hasGuards))) {
    result = putGroup(result, event, group, file);
  }
  const allowed = listAt(readSettings(result, file), ["permissions", "allow"], file);
  if (!allowed.includes(PERMISSION)) result = setIn(result, ["permissions", "allow", allowed.length], PERMISSION);
  if (isFirst) keep.push(...OWN_PERMISSIONS.filter((permission) => allowed.includes(permission)));
  return { text: result, keep };
}

export function unmergeSettings(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  let result = text;
  for (let own = ownHooks(readSettings(result, file)).at(-1); own; own = ownHooks(readSettings(result, file)).at(-1)) {
    result = prune(removeIn(result, own.path), own.path.slice(0, -1), { file, keep });
  }
  for (const permission of OWN_PERMISSIONS) {
    const at = listAt(readSettings(result, file), ["permissions", "allow"], file).indexOf(permission);
    if (at < 0 || keep.includes(permission)) continue;
    const path = ["permissions", "allow", at];
    result = prune(removeIn(result, path), path.slice(0, -1), { file, keep });
  }
  return result;
}

export interface OwnHook extends HookFiles {
  event: string;
  matcher: string | undefined;
  command: string;
  timeoutSeconds: number | undefined;
  /** Of the hook itself: hooks, event, group, hooks, place. */
  path: JsonPath;
  /** Foreign hooks share the group. */
  isMixed: boolean;
}

/** Our entries in settings of any shape, in the order of the file. */
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

/** Settings as an object, or a fault that names the file. */
export function readSettings(text: string, file: string): Record<string, unknown> {
  const { value, problem } = readJson(text);
  if (problem !== undefined) throw wrong(file, problem);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(file, "is no JSON object");
  return value as Record<string, unknown>;
}

/** Exactly this one group of ours for the event: an older one is replaced where it stands, further ones go. */
function putGroup(text: string, event: string, group: HookGroup, file: string): string {
  const settings = readSettings(text, file);
  const groups = listAt(settings, ["hooks", event], file);
  const own = ownHooks(settings).filter((hook) => hook.event === event);
  const [first, ...others] = own;
  if (first && others.length === 0 && isSame(groups[Number(first.path[2])], group)) return text;

  let result = text;
  const home = own.find(({ isMixed }) => !isMixed);
  // From the back, so that the places of those before stay what they are.
  for (const { path, isMixed } of own.toReversed()) {
    if (path !== home?.path) result = removeIn(result, isMixed ? path : path.slice(0, 3));
  }
  if (!home)
    return setIn(result, ["hooks", event, listAt(readSettings(result, file), ["hooks", event], file).length], group);
  const place = ownHooks(readSettings(result, file)).find((hook) => hook.event === event && !hook.isMixed)?.path;
  return place ? setIn(result, place.slice(0, 3), group) : result;
}

/** Takes out what our removal left empty, from the inside out, up to what was empty or there before. */
export function prune(text: string, from: JsonPath, { file, keep }: { file: string; keep: readonly string[] }): string {
  let result = text;
  for (let path = from; path.length > 0; path = path.slice(0, -1)) {
    const value = valueAt(readSettings(result, file), path);
    // A group whose hooks are gone is nothing, whatever its matcher.
    const isGroup = path.length === 3 && path[0] === "hooks" && listOf(objectOf(value)["hooks"]).length === 0;
    if (keep.includes(pointer(path)) || (!isEmpty(value) && !isGroup)) return result;
    result = removeIn(result, path);
  }
  return result;
}

/** Containers on our way that were there and empty before us. */
function emptyContainers(settings: Record<string, unknown>): string[] {
  const paths: JsonPath[] = [["hooks"], ...hookTable(true).map(([event]) => ["hooks", event])];
  paths.push(["permissions"], ["permissions", "allow"]);
  return paths.filter((path) => isEmpty(valueAt(settings, path))).map(pointer);
}

export function pointer(path: JsonPath): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function valueAt(value: unknown, path: JsonPath): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (typeof key === "number") return listOf(inner)[key];
    const object = objectOf(inner);
    return Object.hasOwn(object, key) ? object[key] : undefined;
  }, value);
}

function listAt(settings: unknown, path: JsonPath, file: string): unknown[] {
  for (let depth = 1; depth < path.length; depth++) {
    const value = valueAt(settings, path.slice(0, depth));
    if (value === undefined) return [];
    if (!isObject(value)) throw wrong(file, `${path.slice(0, depth).join(".")} must be an object`);
  }
  const value = valueAt(settings, path);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrong(file, `${path.join(".")} must be a list`);
  return value;
}

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isSame(a[key], b[key]));
}

export function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function wrong(file: string, text: string): HaversackError {
  return new HaversackError("config-invalid", `${file}: ${text}`, {
    hint: "Claude Code cannot read it either; correct it, then run this again",
  });
}
