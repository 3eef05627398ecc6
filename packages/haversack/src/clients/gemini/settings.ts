/**
 * Our part of Gemini CLI's settings.json: the hooks, with times in milliseconds, and the MCP server. Texts in, texts out;
 * everything foreign keeps its bytes. The client accepts comments in this file; a file that has some is not ours to rewrite.
 */
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import type { HookFiles } from "../claude-code/hook-command.ts";
import { isOwnCommand, type ServerCommand, type ServerFiles, serverCommand } from "../claude-code/server-guard.ts";
import { isEmpty, objectOf, pointer, prune, valueAt } from "../claude-code/settings.ts";
import { type JsonPath, removeIn, setIn } from "../claude-code/settings-text.ts";
import { geminiHookCommand, readGeminiHookCommand } from "./hook-command.ts";

export interface GeminiHookGroup {
  matcher?: string;
  hooks: { name: string; type: "command"; command: string; timeout: number }[];
}

/** A matcher of a tool event is a regular expression that is searched for, so it is anchored (seen in 0.61.0). */
const anchored = (names: readonly string[]) => `^(${names.join("|")})$`;
const EDIT_TOOLS = ["write_file", "replace"];
const TOLD_TOOLS = [...EDIT_TOOLS, "run_shell_command", "read_file", "write_todos", "activate_skill"];

/**
 * Event, matcher, and its time in milliseconds. Not the model events and PreCompress: a process before and after every request, of
 * which PreCompress says nothing and AfterModel no more than the transcript does.
 */
function hookTable(hasGuards: boolean): [event: string, matcher: string | undefined, timeoutMs: number][] {
  return [
    ["SessionStart", undefined, 10_000],
    ["BeforeAgent", undefined, 5_000],
    ["BeforeTool", anchored(["invoke_agent", ...(hasGuards ? EDIT_TOOLS : [])]), 5_000],
    ["AfterTool", anchored(TOLD_TOOLS), 5_000],
    ["SessionEnd", undefined, 5_000],
  ];
}

/** The hooks as settings and an extension's hooks.json want them, with any command. The name is what `/hooks` shows. */
export function geminiHookGroups(command: string, hasGuards: boolean): Record<string, GeminiHookGroup> {
  return Object.fromEntries(
    hookTable(hasGuards).map(([event, matcher, timeout]) => [
      event,
      {
        ...(matcher !== undefined && { matcher }),
        hooks: [{ name: "haversack", type: "command" as const, command, timeout }],
      },
    ]),
  );
}

export interface Merged {
  text: string;
  /** What was there before us and would look left over. */
  keep: string[];
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
  let result = text;
  for (const [event, group] of Object.entries(geminiHookGroups(geminiHookCommand({ node, hook }), hasGuards))) {
    result = putGroup(result, event, group, file);
  }
  return { text: putServer(result, { node, bin }, file), keep };
}

export function unmergeGeminiSettings(text: string, { file, keep }: { file: string; keep: readonly string[] }): string {
  let result = text;
  const last = () => ownGeminiHooks(readGeminiSettings(result, file)).at(-1);
  for (let own = last(); own; own = last()) {
    result = prune(removeIn(result, own.path), own.path.slice(0, -1), { file, keep });
  }
  const server = serverOf(readGeminiSettings(result, file));
  if (!server || !isOwnCommand(geminiServerCommand(server))) return result;
  return prune(removeIn(result, SERVER_PATH), ["mcpServers"], { file, keep });
}

export interface OwnGeminiHook extends HookFiles {
  event: string;
  matcher: string | undefined;
  command: string;
  timeoutMs: number | undefined;
  /** Of the hook itself: hooks, event, group, hooks, place. */
  path: JsonPath;
  /** Foreign hooks share the group. */
  isMixed: boolean;
}

/** Our entries in settings of any shape, in the order of the file. */
export function ownGeminiHooks(settings: unknown): OwnGeminiHook[] {
  const found: OwnGeminiHook[] = [];
  for (const [event, groups] of Object.entries(objectOf(objectOf(settings)["hooks"]))) {
    for (const [groupAt, group] of listOf(groups).entries()) {
      const { matcher, hooks } = objectOf(group);
      for (const [at, hook] of listOf(hooks).entries()) {
        const { command, timeout } = objectOf(hook);
        const files = readGeminiHookCommand(command);
        if (!files) continue;
        found.push({
          ...files,
          event,
          matcher: typeof matcher === "string" ? matcher : undefined,
          command: String(command),
          timeoutMs: typeof timeout === "number" ? timeout : undefined,
          path: ["hooks", event, groupAt, "hooks", at],
          isMixed: listOf(hooks).length > 1,
        });
      }
    }
  }
  return found;
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
  const { value, problem } = readJson(text);
  if (problem !== undefined) throw wrong(file, problem);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(file, "is no JSON object");
  return value as Record<string, unknown>;
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
  const isSame = before?.["command"] === entry.command && isEqual(before["args"], entry.args);
  // What a person has added or changed, such as `"trust": false`, stays.
  return isSame ? text : setIn(text, SERVER_PATH, { trust: true, ...before, ...entry });
}

/** Exactly this one group of ours for the event: an older one is replaced where it stands, further ones go. */
function putGroup(text: string, event: string, group: GeminiHookGroup, file: string): string {
  const settings = readGeminiSettings(text, file);
  const groups = groupsAt(settings, event, file);
  const own = ownGeminiHooks(settings).filter((hook) => hook.event === event);
  const [first, ...others] = own;
  if (first && others.length === 0 && isEqual(groups[Number(first.path[2])], group)) return text;

  let result = text;
  const home = own.find(({ isMixed }) => !isMixed);
  // From the back, so that the places of those before stay what they are.
  for (const { path, isMixed } of own.toReversed()) {
    if (path !== home?.path) result = removeIn(result, isMixed ? path : path.slice(0, 3));
  }
  const now = readGeminiSettings(result, file);
  const place = ownGeminiHooks(now)
    .find((hook) => hook.event === event && !hook.isMixed)
    ?.path.slice(0, 3);
  return setIn(result, place ?? ["hooks", event, groupsAt(now, event, file).length], group);
}

function groupsAt(settings: Record<string, unknown>, event: string, file: string): unknown[] {
  const hooks = settings["hooks"];
  if (hooks === undefined) return [];
  if (typeof hooks !== "object" || hooks === null || Array.isArray(hooks)) throw wrong(file, "hooks must be an object");
  const value = valueAt(settings, ["hooks", event]);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrong(file, `hooks.${event} must be a list`);
  return value;
}

/** Containers on our way that were there and empty before us. */
function emptyContainers(settings: Record<string, unknown>): string[] {
  const paths: JsonPath[] = [["hooks"], ...hookTable(true).map(([event]) => ["hooks", event]), ["mcpServers"]];
  return paths.filter((path) => isEmpty(valueAt(settings, path))).map(pointer);
}

/** Our own values have their keys in one order. */
function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function wrong(file: string, text: string): HaversackError {
  return new HaversackError("config-invalid", `${file}: ${text}`, {
    hint: "correct it, then run this again; comments, which Gemini CLI allows there, must go too",
  });
}
