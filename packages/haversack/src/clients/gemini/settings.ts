/**
 * Our part of Gemini CLI's settings.json: the hooks, with times in milliseconds, and the MCP server. Texts in, texts out;
 * everything foreign keeps its bytes. The client accepts comments in this file, and they stay where they are.
 */
import { HaversackError } from "../../base/errors.ts";
import type { HookFiles } from "../claude-code/hook-command.ts";
import { isOwnCommand, type ServerCommand, type ServerFiles, serverCommand } from "../claude-code/server-guard.ts";
import { removeIn, setIn } from "../claude-code/settings-text.ts";
import {
  groupsOf,
  type HookEntry,
  type HookForm,
  type HookLine,
  hookEntries,
  putHooks,
  removeHooks,
} from "../hook-entries.ts";
import { emptyAmong, isSame, listOf, type Merged, objectOf, parseSettings, prune, valueAt } from "../json-settings.ts";
import { geminiHookCommand, readGeminiHookCommand } from "./hook-command.ts";

/** A matcher of a tool event is a regular expression that is searched for, so it is anchored (seen in 0.61.0). */
const anchored = (names: readonly string[]) => `^(${names.join("|")})$`;
const EDIT_TOOLS = ["write_file", "replace"];
/** Of our MCP server: whose call it is must be known before it is made. */
const OWN_TOOLS = "mcp_haversack_.*";
const TOLD_TOOLS = [...EDIT_TOOLS, "run_shell_command", "read_file", "write_todos", "activate_skill"];

/**
 * Event, matcher, and its time in milliseconds. Not the model events and PreCompress: a process before and after every request, of
 * which PreCompress says nothing and AfterModel no more than the transcript does.
 */
function hookTable(hasGuards: boolean): HookLine[] {
  return [
    ["SessionStart", undefined, 10_000],
    ["BeforeAgent", undefined, 5_000],
    ["BeforeTool", anchored(["invoke_agent", OWN_TOOLS, ...(hasGuards ? EDIT_TOOLS : [])]), 5_000],
    ["AfterTool", anchored(TOLD_TOOLS), 5_000],
    ["SessionEnd", undefined, 5_000],
  ];
}

/** The hooks as settings and an extension's hooks.json want them, with any command. The name is what `/hooks` shows. */
export function geminiHookGroups(command: string, hasGuards: boolean) {
  return groupsOf(hookTable(hasGuards), command, { name: "haversack" });
}

export const SERVER = "haversack";
const SERVER_PATH = ["mcpServers", SERVER];

export function mergeGeminiSettings(
  text: string,
  { file, hasGuards, node, hook, bin }: HookFiles & ServerFiles & { file: string; hasGuards: boolean },
): Merged {
  const before = readGeminiSettings(text, file);
  const isFirst = ownGeminiHooks(before).length === 0 && !serverOf(before);
  const keep = isFirst ? emptyContainers(before) : [];
  const result = putHooks(text, geminiHookGroups(geminiHookCommand({ node, hook }), hasGuards), formOf(file));
  return { text: putServer(result, { node, bin }, file), keep };
}

export function unmergeGeminiSettings(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  const result = removeHooks(text, formOf(file), keep);
  const server = serverOf(readGeminiSettings(result, file));
  if (!server || !isOwnCommand(geminiServerCommand(server))) return result;
  return prune(removeIn(result, SERVER_PATH), ["mcpServers"], { keep });
}

/** Our entries in settings of any shape, in the order of the file. Their time is in milliseconds. */
export function ownGeminiHooks(settings: unknown): HookEntry[] {
  return hookEntries(settings, readGeminiHookCommand);
}

/** The entry of our name, ours or not. */
export function serverOf(settings: unknown): Record<string, unknown> | undefined {
  const value = valueAt(settings, SERVER_PATH);
  return value === undefined ? undefined : objectOf(value);
}

export function geminiServerCommand({ command, args }: Record<string, unknown>): ServerCommand {
  return { command: String(command), args: listOf(args).map(String) };
}

/** Settings as an object, or a fault that names the file. */
export function readGeminiSettings(text: string, file: string): Record<string, unknown> {
  return parseSettings(text, formOf(file));
}

function formOf(file: string): HookForm {
  return {
    file,
    hint: "Gemini CLI cannot read it either; correct it, then run this again",
    mayHaveComments: true,
    readCommand: readGeminiHookCommand,
  };
}

/**
 * `trust`: without it a call stops at a question, and headless the tool is not even offered to the model (seen in 0.61.0). All
 * that our tools touch is the store in `.haversack/`.
 */
function putServer(text: string, files: ServerFiles, file: string): string {
  const before = serverOf(readGeminiSettings(text, file));
  if (before && !isOwnCommand(geminiServerCommand(before))) {
    throw new HaversackError("input-invalid", `${file}: another MCP server is called "${SERVER}" already`, {
      hint: "rename or remove it: `gemini mcp list` shows it",
    });
  }
  const entry = serverCommand(files);
  const isUnchanged = before?.["command"] === entry.command && isSame(before["args"], entry.args);
  // What a person has added or changed, such as `"trust": false`, stays.
  return isUnchanged ? text : setIn(text, SERVER_PATH, { trust: true, ...before, ...entry });
}

/** Containers on our way that were there and empty before us. */
function emptyContainers(settings: Record<string, unknown>): string[] {
  return emptyAmong(settings, [["hooks"], ...hookTable(true).map(([event]) => ["hooks", event]), ["mcpServers"]]);
}
