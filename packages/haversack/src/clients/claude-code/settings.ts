/**
 * Our part of Claude Code's settings: the hooks, the permission to call our own tools, and the MCP server in its state file. Works on
 * texts; foreign entries keep their bytes.
 */

import type { DeferChange, DeferMode } from "../../engine/wiring.ts";
import {
  formOf,
  type HookFiles,
  type HookTable,
  type HookWishes,
  mergeHooks,
  ownHooks,
  readSettings,
  unmergeHooks,
} from "../hook-settings.ts";
import { emptyAmong, isEmpty, listAt, type Merged, objectOf, parseSettings, pointer, prune } from "../json-settings.ts";
import { removeIn, setIn } from "../json-text.ts";
import { type ServerPlace, serverEntry } from "../server-entry.ts";

/**
 * A matcher of word characters and `|` is a list of names; any other is a regular expression (both seen in 2.1.325). Every event
 * without a narrow matcher costs one more process, about 37 ms.
 */
const OWN_TOOLS = "mcp__(plugin_haversack_)?haversack__.*";
const EDIT_TOOLS = "Edit|Write|MultiEdit|NotebookEdit";
/**
 * Before a sub-agent starts, its task's packet is added to its prompt; when it ends, its answer may be replaced. That is two processes
 * per sub-agent, each a fraction of one of its requests. Anchored in an expression: the client searches, and may get an `AgentX`
 * some day. The old name `Task` would match too, but also `TaskCreate`.
 */
const SPAWN_TOOL = "Agent";
/** Which of the plan tools exist depends on the model and the version. */
const PLAN_TOOLS = "TodoWrite|TaskCreate|TaskUpdate|TaskList";
const DONE_TOOLS = `${EDIT_TOOLS}|Bash|Read|Grep|Skill|${PLAN_TOOLS}|${SPAWN_TOOL}`;

/**
 * Event, matcher, and timeout in seconds: far below the client's own 30 and more, far above the 0.1 it takes. No PreCompact and
 * PostCompact: SessionStart reports a compaction, and for those two the client shows "completed successfully" to the user and the
 * model after every `/compact` (seen in 2.1.325).
 */
const lines: HookTable["lines"] = ({ hasGuards, seesOutputs }) => [
  ["SessionStart", undefined, 10],
  ["UserPromptSubmit", undefined, 5],
  // An MCP server cannot see which agent calls it; this hook can. Edits are included only if a rule guards files.
  ["PreToolUse", [OWN_TOOLS, `^${SPAWN_TOOL}$`, ...(hasGuards ? [EDIT_TOOLS] : [])].join("|"), 5],
  // Grep is only for receipts. A matcher cannot be limited to agents that have documents to read.
  ["PostToolUse", seesOutputs ? `^(${DONE_TOOLS})$|^mcp__` : DONE_TOOLS, 5],
  ["PostToolUseFailure", "Bash", 5],
  ["SubagentStart", undefined, 5],
  ["SubagentStop", undefined, 5],
  // A message that came while the model worked makes it continue.
  ["Stop", undefined, 5],
  ["SessionEnd", undefined, 5],
];

/**
 * Without it, a call to our tools asks the user, and is refused when headless. The server's name alone allows all of its tools, as
 * `mcp__haversack__*` does (both seen in 2.1.325). Our tools touch only the store in `.haversack/`.
 */
export const PERMISSION = "mcp__haversack";

/** Written by `init` of 0.1. */
const OLD_PERMISSION = "mcp__haversack__skill";
const OWN_PERMISSIONS = [PERMISSION, OLD_PERMISSION];

const COMMON_FIELDS = ["hook_event_name", "session_id", "cwd", "transcript_path", "agent_id", "agent_type"];
const CALL_FIELDS = ["tool_name", "tool_use_id", "tool_input"];

/**
 * The events that the running server answers, with the fields it needs for each. Not SessionStart, which comes before the server has
 * started, nor SessionEnd, when it has ended. Calls that may be refused go to a process: if the server has crashed, the client would
 * let the call proceed.
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

export const CLAUDE_HOOKS: HookTable = {
  client: "claude-code",
  lines,
  unitMs: 1000,
  asked: (hasGuards) => {
    const asked = Object.entries(SERVER_EVENTS).filter(([event]) => !(hasGuards && event === "PreToolUse"));
    return Object.fromEntries(asked.map(([event, names]) => [event, [...COMMON_FIELDS, ...names]]));
  },
};

const ALLOW = ["permissions", "allow"];

export function mergeSettings(text: string, options: HookFiles & HookWishes & { file: string }): Merged {
  const form = formOf(CLAUDE_HOOKS, options.file);
  const before = parseSettings(text, form);
  const isFirst = ownHooks("claude-code", before).length === 0;
  const { text: result, keep } = mergeHooks(CLAUDE_HOOKS, text, options);
  const allowed = listAt(parseSettings(result, form), ALLOW, form);
  const own = isFirst ? OWN_PERMISSIONS.filter((permission) => allowed.includes(permission)) : [];
  return {
    text: allowed.includes(PERMISSION) ? result : setIn(result, [...ALLOW, allowed.length], PERMISSION),
    keep: [...keep, ...(isFirst ? emptyAmong(before, [["permissions"], ALLOW]) : []), ...own],
  };
}

export function unmergeSettings(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  const form = formOf(CLAUDE_HOOKS, file);
  let result = unmergeHooks(CLAUDE_HOOKS, text, { file, keep });
  for (const permission of OWN_PERMISSIONS) {
    const at = listAt(parseSettings(result, form), ALLOW, form).indexOf(permission);
    if (at < 0 || keep.includes(permission)) continue;
    result = prune(removeIn(result, [...ALLOW, at]), ALLOW, { keep });
  }
  return result;
}

/**
 * The place of the MCP server's entry in `.claude.json`, the client's state file, which is never committed. For one project it is
 * `projects[root].mcpServers` (as written by `claude mcp add --scope local`), for all projects `mcpServers`. The key of a
 * project is the main repository's root, also from sub-folders and worktrees (seen in 2.1.325).
 */
export function claudeServer(file: string, root: string | undefined): ServerPlace {
  const path = root === undefined ? ["mcpServers"] : ["projects", root, "mcpServers"];
  return { form: formOf(CLAUDE_HOOKS, file), path };
}

/** The entry with our name, ours or not. The project's entry wins over the user's. */
export function claudeServerEntry(state: unknown, root: string): Record<string, unknown> | undefined {
  return serverEntry(state, claudeServer("", root).path) ?? serverEntry(state, ["mcpServers"]);
}

/*
 * Defers skills through the client's own `skillOverrides`, keyed by the skill's folder name (seen in 2.1.325: the
 * frontmatter's name is not a key). Skills of plugins cannot be overridden there.
 *
 * hidden: `user-invocable-only`, because with `off` the user cannot type /name either. names: `name-only`: the client
 * lists the name, and its Skill tool works.
 */

const KEY = "skillOverrides";
const VALUES: Record<DeferMode, string> = { hidden: "user-invocable-only", names: "name-only" };

export function modeOfOverride(value: string): DeferMode {
  return value === VALUES.names ? "names" : "hidden";
}

/** `own`: the entries that are ours and may be changed. Other entries stay. */
export function setOverrides(
  text: string,
  names: readonly string[],
  { file, mode, own }: { file: string; mode: DeferMode; own: Readonly<Record<string, string>> },
): DeferChange {
  const settings = readSettings(CLAUDE_HOOKS, text, file);
  const before = objectOf(settings[KEY]);
  const change: DeferChange = { text, own: {}, foreign: [], keep: isEmpty(settings[KEY]) ? [pointer([KEY])] : [] };
  for (const name of names) {
    const value = Object.hasOwn(before, name) ? before[name] : undefined;
    if (value !== undefined && value !== own[name]) change.foreign.push({ key: name, value: String(value) });
    else {
      change.own[name] = VALUES[mode];
      if (value !== VALUES[mode]) change.text = setIn(change.text, [KEY, name], VALUES[mode]);
    }
  }
  return change;
}

/** Removes our entries that are still as we wrote them. */
export function dropOverrides(
  text: string,
  own: Readonly<Record<string, string>>,
  { file, keep }: { file: string; keep: readonly string[] },
): string {
  const before = objectOf(readSettings(CLAUDE_HOOKS, text, file)[KEY]);
  let result = text;
  for (const [name, value] of Object.entries(own)) {
    if (Object.hasOwn(before, name) && before[name] === value) result = removeIn(result, [KEY, name]);
  }
  return result === text ? text : prune(result, [KEY], { keep });
}
