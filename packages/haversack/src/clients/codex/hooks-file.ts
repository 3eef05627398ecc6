/**
 * Our part of Codex's `hooks.json`. Texts in, texts out; everything foreign keeps its bytes and its place: the person's review of a hook
 * is kept under its file, event and place in it, so one that moves would have to be reviewed again.
 */
import type { HookFiles } from "../claude-code/hook-command.ts";
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
import { emptyAmong, type Merged, parseSettings } from "../json-settings.ts";
import { hookCommand, readHookCommand } from "./hook-command.ts";

/**
 * Event, matcher, and its time in seconds (without one the client waits 600). A matcher is one expression for the whole name.
 * Nothing before calls of our own tools: they carry session and agent themselves. PostCompact for sub-agents alone, whose
 * compaction no SessionStart follows.
 */
function hookTable(hasGuards: boolean): HookLine[] {
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

export function hookGroups(command: string, hasGuards: boolean) {
  return groupsOf(hookTable(hasGuards), command, {});
}

/** The first version whose hooks we have seen ask a running MCP server (`mcp_tool`). 0.140 cannot parse a file with such an entry. */
export const SERVER_HOOKS_SINCE = "0.166.0";

const COMMON_FIELDS = ["hook_event_name", "session_id", "cwd", "transcript_path"];

/**
 * The events that the running server answers: those for which the model waits again and again. The client drops a call in silence when
 * one of its fields is missing, so these are fields that the event always has. `agent_id` is not among them: only sub-agents have it, and
 * the call itself says whose thread it is.
 *
 * All others stay with a process, because a server that has crashed stays away until the session ends: a call that must be refused, a
 * sub-agent's packet, and the end of a turn, where the process finds in the session's file what the server has missed.
 */
const SERVER_EVENTS: Readonly<Record<string, readonly string[]>> = {
  UserPromptSubmit: [...COMMON_FIELDS, "turn_id", "prompt"],
  PostToolUse: [...COMMON_FIELDS, "tool_name", "tool_use_id", "tool_input", "tool_response"],
};

export const SERVER_EVENT_NAMES = Object.keys(SERVER_EVENTS);

/** The same, with the running MCP server where it answers. */
export function serverHookGroups(command: string, hasGuards: boolean) {
  return withServer(hookGroups(command, hasGuards), "codex", SERVER_EVENTS);
}

export function mergeHooks(
  text: string,
  {
    file,
    hasGuards,
    asksServer = false,
    ...files
  }: HookFiles & { file: string; hasGuards: boolean; asksServer?: boolean },
): Merged {
  const before = readHooks(text, file);
  const keep = ownHooks(before).length === 0 ? emptyContainers(before) : [];
  const groups = (asksServer ? serverHookGroups : hookGroups)(hookCommand(files), hasGuards);
  return { text: putHooks(text, groups, formOf(file)), keep };
}

export function unmergeHooks(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  return removeHooks(text, formOf(file), keep);
}

/** Our entries in a file of any shape, in its order. Their time is in seconds. */
export function ownHooks(settings: unknown): HookEntry[] {
  return hookEntries(settings, readHookCommand);
}

/** The file as an object, or a fault that names it. */
export function readHooks(text: string, file: string): Record<string, unknown> {
  return parseSettings(text, formOf(file));
}

function formOf(file: string): HookForm {
  return { file, hint: "Codex cannot read it either; correct it, then run this again", readCommand: readHookCommand };
}

/** Containers on our way that were there and empty before us. */
function emptyContainers(settings: Record<string, unknown>): string[] {
  return emptyAmong(settings, [["hooks"], ...hookTable(true).map(([event]) => ["hooks", event])]);
}
