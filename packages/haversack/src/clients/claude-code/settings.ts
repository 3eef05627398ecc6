/**
 * Our part of Claude Code's settings file: the hooks, and the permission to call our own read-only tool. Texts in, texts
 * out; everything foreign keeps its bytes.
 */
import {
  groupsOf,
  type HookEntry,
  type HookForm,
  type HookLine,
  hookEntries,
  putHooks,
  removeHooks,
  withServer,
} from "../hook-entries.ts";
import { emptyAmong, listAt, type Merged, parseSettings, prune } from "../json-settings.ts";
import { type HookFiles, hookCommand, readHookCommand } from "./hook-command.ts";
import { removeIn, setIn } from "./settings-text.ts";

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
function hookTable(hasGuards: boolean): HookLine[] {
  return [
    ["SessionStart", undefined, 10],
    ["UserPromptSubmit", undefined, 5],
    // An MCP server cannot see which agent calls it; this hook can. Edits only where a rule guards files.
    ["PreToolUse", [OWN_TOOLS, `^${SPAWN_TOOL}$`, ...(hasGuards ? [EDIT_TOOLS] : [])].join("|"), 5],
    // Grep only for receipts: a matcher cannot say that only agents with documents to read are meant.
    ["PostToolUse", `${EDIT_TOOLS}|Bash|Read|Grep|Skill|${PLAN_TOOLS}|${SPAWN_TOOL}`, 5],
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
export function hookGroups(command: string, hasGuards: boolean) {
  return groupsOf(hookTable(hasGuards), command, {});
}

/**
 * The first version whose hooks can ask a running MCP server (`mcp_tool`; runs in 2.1.120). One entry of that kind makes 2.1.90 ignore all
 * hooks of the file, so it is written only where the version is known.
 */
export const SERVER_HOOKS_SINCE = "2.1.120";

const COMMON_FIELDS = ["hook_event_name", "session_id", "cwd", "transcript_path", "agent_id", "agent_type"];
const CALL_FIELDS = ["tool_name", "tool_use_id", "tool_input"];

/**
 * The events that the running server answers, with the fields that it needs of each. Not SessionStart, which comes before the server
 * is there, nor SessionEnd, when it is gone already. What may have to be refused is left to a process: a call goes ahead when
 * the server has crashed.
 */
const SERVER_EVENTS: Readonly<Record<string, readonly string[]>> = {
  UserPromptSubmit: ["prompt", "prompt_id"],
  PreToolUse: CALL_FIELDS,
  PostToolUse: [...CALL_FIELDS, "tool_response"],
  PostToolUseFailure: [...CALL_FIELDS, "error", "is_interrupt"],
  SubagentStart: [],
  SubagentStop: ["last_assistant_message"],
  Stop: ["stop_hook_active"],
};

export const SERVER_EVENT_NAMES = Object.keys(SERVER_EVENTS);

/** The same, with the running MCP server where it can answer. */
export function serverHookGroups(command: string, hasGuards: boolean) {
  const asked = Object.entries(SERVER_EVENTS).filter(([event]) => !(hasGuards && event === "PreToolUse"));
  const fields = Object.fromEntries(asked.map(([event, names]) => [event, [...COMMON_FIELDS, ...names]]));
  return withServer(hookGroups(command, hasGuards), "claude-code", fields);
}

export function mergeSettings(
  text: string,
  { file, hasGuards, asksServer, ...files }: HookFiles & { file: string; hasGuards: boolean; asksServer: boolean },
): Merged {
  const form = formOf(file);
  const before = readSettings(text, file);
  const isFirst = ownHooks(before).length === 0;
  const keep = isFirst ? emptyContainers(before) : [];
  const groups = (asksServer ? serverHookGroups : hookGroups)(hookCommand(files), hasGuards);
  let result = putHooks(text, groups, form);
  const allowed = listAt(readSettings(result, file), ["permissions", "allow"], form);
  if (!allowed.includes(PERMISSION)) result = setIn(result, ["permissions", "allow", allowed.length], PERMISSION);
  if (isFirst) keep.push(...OWN_PERMISSIONS.filter((permission) => allowed.includes(permission)));
  return { text: result, keep };
}

export function unmergeSettings(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  const form = formOf(file);
  let result = removeHooks(text, form, keep);
  for (const permission of OWN_PERMISSIONS) {
    const at = listAt(readSettings(result, file), ["permissions", "allow"], form).indexOf(permission);
    if (at < 0 || keep.includes(permission)) continue;
    const path = ["permissions", "allow", at];
    result = prune(removeIn(result, path), path.slice(0, -1), { keep });
  }
  return result;
}

/** Our entries in settings of any shape, in the order of the file. Their time is in seconds. */
export function ownHooks(settings: unknown): HookEntry[] {
  return hookEntries(settings, readHookCommand);
}

/** Settings as an object, or a fault that names the file. */
export function readSettings(text: string, file: string): Record<string, unknown> {
  return parseSettings(text, formOf(file));
}

function formOf(file: string): HookForm {
  return {
    file,
    hint: "Claude Code cannot read it either; correct it, then run this again",
    readCommand: readHookCommand,
  };
}

/** Containers on our way that were there and empty before us. */
function emptyContainers(settings: Record<string, unknown>): string[] {
  const events = hookTable(true).map(([event]) => ["hooks", event]);
  return emptyAmong(settings, [["hooks"], ...events, ["permissions"], ["permissions", "allow"]]);
}
