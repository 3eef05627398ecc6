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

export function mergeHooks(
  text: string,
  { file, hasGuards, ...files }: HookFiles & { file: string; hasGuards: boolean },
): Merged {
  const before = readHooks(text, file);
  const keep = ownHooks(before).length === 0 ? emptyContainers(before) : [];
  return { text: putHooks(text, hookGroups(hookCommand(files), hasGuards), formOf(file)), keep };
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
