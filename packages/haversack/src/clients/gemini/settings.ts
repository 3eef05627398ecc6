/** Our part of Gemini CLI's settings.json: the hooks and the MCP server. Works on texts; foreign entries keep their bytes. */

import { HaversackError } from "../../base/errors.ts";
import type { DeferChange, DeferMode } from "../../engine/wiring.ts";
import {
  formOf,
  type HookFiles,
  type HookTable,
  type HookWishes,
  mergeHooks,
  readSettings,
  unmergeHooks,
} from "../hook-settings.ts";
import { emptyAmong, listAt, type Merged, prune } from "../json-settings.ts";
import { removeIn, setIn } from "../json-text.ts";
import { mergeServerEntry, type ServerFiles, type ServerPlace, unmergeServerEntry } from "../server-entry.ts";

/** Matchers of tool events are unanchored regular expressions, so we add the anchors (seen in 0.61.0). */
const anchored = (names: readonly string[]) => `^(${names.join("|")})$`;
const EDIT_TOOLS = ["write_file", "replace"];
/** Tools of our MCP server. The caller must be known before the call is made. */
const OWN_TOOLS = "mcp_haversack_.*";
const TOLD_TOOLS = [...EDIT_TOOLS, "run_shell_command", "read_file", "write_todos", "activate_skill"];

/**
 * Event, matcher, and timeout in milliseconds. No model events and no PreCompress: each would start a process for every request.
 * PreCompress carries no information, and AfterModel no more than the transcript.
 */
const lines: HookTable["lines"] = ({ hasGuards }) => [
  ["SessionStart", undefined, 10_000],
  ["BeforeAgent", undefined, 5_000],
  ["BeforeTool", anchored(["invoke_agent", OWN_TOOLS, ...(hasGuards ? EDIT_TOOLS : [])]), 5_000],
  ["AfterTool", anchored(TOLD_TOOLS), 5_000],
  ["SessionEnd", undefined, 5_000],
];

/** `/hooks` shows the name. The client accepts comments in this file, and they stay in place. */
export const GEMINI_HOOKS: HookTable = {
  client: "gemini",
  lines,
  unitMs: 1,
  more: { name: "haversack" },
  mayHaveComments: true,
};

/**
 * `trust`: without it a call asks the user, and headless the tool is not even offered to the model (seen in 0.61.0). Our tools touch
 * only the store in `.haversack/`.
 */
const SERVER_ENTRY = { defaults: { trust: true }, shownBy: "gemini mcp list" };
export const SERVERS = ["mcpServers"];

export function mergeGeminiSettings(
  text: string,
  { file, node, hook, bin, hasGuards }: HookFiles & ServerFiles & HookWishes & { file: string },
): Merged {
  const hooks = mergeHooks(GEMINI_HOOKS, text, { file, node, hook, hasGuards });
  const server = mergeServerEntry(hooks.text, serverPlace(file), { ...SERVER_ENTRY, node, bin });
  return { text: server.text, keep: [...hooks.keep, ...server.keep] };
}

export function unmergeGeminiSettings(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  return unmergeServerEntry(unmergeHooks(GEMINI_HOOKS, text, { file, keep }), serverPlace(file), keep);
}

function serverPlace(file: string): ServerPlace {
  return { form: formOf(GEMINI_HOOKS, file), path: SERVERS };
}

/*
 * Defers skills through Gemini CLI's own list `skills.disabled`, by skill name (seen in 0.61.0: such a skill is not listed, and
 * `activate_skill` does not find it; our MCP tool still loads it). The client cannot list a name without its description.
 */

const PATH = ["skills", "disabled"];
const VALUE = "disabled";

/** `own`: the entries that are already ours. A name that the user added stays the user's. */
export function disableSkills(
  text: string,
  names: readonly string[],
  { file, mode, own }: { file: string; mode: DeferMode; own: Readonly<Record<string, string>> },
): DeferChange {
  if (mode === "names") {
    throw new HaversackError("input-invalid", "Gemini CLI cannot list a skill's name without its description", {
      hint: "defer them without --names there",
    });
  }
  const settings = readSettings(GEMINI_HOOKS, text, file);
  const keep = emptyAmong(settings, [["skills"], PATH]);
  const change: DeferChange = { text, own: {}, foreign: [], keep };
  const before = new Set(listedIn(settings, file));
  for (const name of names) {
    if (before.has(name) && own[name] === undefined) {
      change.foreign.push({ key: name, value: VALUE });
      continue;
    }
    change.own[name] = VALUE;
    if (!before.has(name)) {
      const at = listedIn(readSettings(GEMINI_HOOKS, change.text, file), file).length;
      change.text = setIn(change.text, [...PATH, at], name);
    }
  }
  return change;
}

export function enableSkills(
  text: string,
  own: Readonly<Record<string, string>>,
  { file, keep }: { file: string; keep: readonly string[] },
): string {
  let result = text;
  for (const name of Object.keys(own)) {
    const at = listedIn(readSettings(GEMINI_HOOKS, result, file), file).lastIndexOf(name);
    if (at >= 0) result = removeIn(result, [...PATH, at]);
  }
  return result === text ? text : prune(result, PATH, { keep });
}

function listedIn(settings: Record<string, unknown>, file: string): unknown[] {
  return listAt(settings, PATH, formOf(GEMINI_HOOKS, file));
}
