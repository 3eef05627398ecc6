/**
 * Our part of Codex's `config.toml`: the MCP server, `notify` and deferred skills. Works on text; every byte that is not ours stays. There are no
 * markers around our part, because the client also writes this file: it drops comments before tables it changes and adds tables before the last
 * comment (seen in 0.166.0). Instead we recognize our table by its command.
 */
import { dirname, join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import type { DeferChange } from "../../engine/wiring.ts";
import {
  isOwnCommand,
  nameTaken,
  SERVER,
  type ServerCommand,
  type ServerFiles,
  serverCommand,
} from "../server-entry.ts";
import { NO_BREAK, simpleValue, type TomlStatement, tomlStatements, withoutBlock } from "./toml-statements.ts";

/**
 * The client passes on only a few variables (HOME, PATH, TMPDIR and the like). Events and tools also need these: who the agent is, whether
 * Haversack is off, and where settings, sessions and the record of trusted stores are.
 */
export const ENV_VARS = [
  "HAVERSACK",
  "HAVERSACK_AGENT",
  "HAVERSACK_WOKEN",
  "XDG_CONFIG_HOME",
  "XDG_STATE_HOME",
  "CODEX_HOME",
  "CLAUDE_CONFIG_DIR",
];

export function mergeServer(
  text: string,
  { file, ...files }: { file: string } & ServerFiles,
): { text: string; keep: string[] } {
  const { command, args } = serverCommand(files);
  const wanted = { command: quote(command), args: list(args), env_vars: list(ENV_VARS) };
  const table = serverTable(text);
  if (table.kind === "foreign") throw nameTaken(file, `codex mcp get ${SERVER}`);
  if (table.kind === "own") return { text: setKeys(text, wanted), keep: [] };
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [`[mcp_servers.${SERVER}]`, ...Object.entries(wanted).map(([key, value]) => `${key} = ${value}`)];
  const isOpen = text !== "" && !text.endsWith("\n");
  const gap = `${isOpen ? lineBreak : ""}${text.trim() === "" ? "" : lineBreak}`;
  return {
    text: `${text}${gap}${lines.join(lineBreak)}${lineBreak}`,
    // If the file had no final line break, it gets none back.
    keep: isOpen ? [NO_BREAK] : [],
  };
}

/** Removes subtables too, such as the approvals that the client records per tool: without the table they are an error. */
export function unmergeServer(text: string, { keep }: { keep: readonly string[] }): string {
  if (serverTable(text).kind !== "own") return text;
  let result = text;
  for (const { start, end } of tableParts(text).toReversed()) {
    result = withoutBlock(result, { start, end }, keep);
  }
  return result;
}

export interface ConfigServer {
  kind: "own" | "foreign" | "none";
  command: ServerCommand | undefined;
  isEnabled: boolean;
}

export function serverTable(text: string): ConfigServer {
  const statements = tomlStatements(text);
  const ours = statements.filter(({ path }) => path[0] === "mcp_servers" && path[1] === SERVER);
  const keys = ours.filter(({ kind }) => kind === "key");
  const value = (name: string) => {
    const found = keys.find(({ path }) => path.length === 3 && path[2] === name);
    return found && simpleValue(found.value);
  };
  const [program, args] = [value("command"), value("args")];
  const command = typeof program === "string" ? { command: program, args: Array.isArray(args) ? args : [] } : undefined;
  const isEnabled = value("enabled") !== "false";
  if (ours.length === 0) {
    // `mcp_servers = { … }`: no table can be added to it.
    const isClosed = statements.some(({ kind, path }) => kind === "key" && path.join(".") === "mcp_servers");
    return { kind: isClosed ? "foreign" : "none", command, isEnabled };
  }
  const hasHeader = ours.some(({ kind, path }) => kind === "table" && path.length === 2);
  return { kind: hasHeader && command && isOwnCommand(command) ? "own" : "foreign", command, isEnabled };
}

/** Replaces values in place; keys that the user added to the table stay. */
function setKeys(text: string, wanted: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [name, value] of Object.entries(wanted)) {
    const found = tomlStatements(result).find(({ path }) => path.join(".") === `mcp_servers.${SERVER}.${name}`);
    if (found && JSON.stringify(simpleValue(found.value)) !== JSON.stringify(simpleValue(value))) {
      result = result.slice(0, found.end - found.value.length) + value + result.slice(found.end);
    } else if (!found) {
      // An older version may not have written this key; the command is always there.
      const command = tomlStatements(result).find(({ path }) => path.join(".") === `mcp_servers.${SERVER}.command`);
      const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
      if (command) result = `${result.slice(0, command.end)}${lineBreak}${name} = ${value}${result.slice(command.end)}`;
    }
  }
  return result;
}

/** From each of our headers to the line after its last key. */
function tableParts(text: string): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = [];
  let isOurs = false;
  for (const { kind, path, start, end } of tomlStatements(text)) {
    if (kind !== "key") isOurs = path[0] === "mcp_servers" && path[1] === SERVER;
    if (!isOurs) continue;
    const lineBreak = text.indexOf("\n", end);
    const behind = lineBreak < 0 ? text.length : lineBreak + 1;
    const last = parts.at(-1);
    if (kind === "key" && last) last.end = behind;
    else parts.push({ start, end: behind });
  }
  return parts;
}

/** A JSON string is a valid basic string in TOML, except for one character that JSON does not escape. */
export function quote(word: string): string {
  return JSON.stringify(word).replaceAll("\u007f", "\\u007f");
}

function list(words: readonly string[]): string {
  return `[${words.map(quote).join(", ")}]`;
}

/*
 * `notify` in the user's config.toml: the program that Codex starts at the end of a turn. Codex allows only one, so we write ours only if there is
 * none. It does not belong in a project's config.toml: the client ignores it there and complains in every session (seen in 0.166.0).
 */

interface NotifyFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of hook-codex-notify.cjs. */
  program: string;
}

interface ConfigNotify {
  kind: "own" | "foreign" | "none";
  files?: NotifyFiles;
}

/** The client appends its own argument. Does nothing if the runtime or our file is gone. */
const GUARD = '[ -x "$0" ] && [ -f "$1" ] && exec "$0" "$@"; exit 0';

export function mergeNotify(text: string, { node, program }: NotifyFiles): string {
  const { kind } = notifyOf(text);
  if (kind === "foreign") return text;
  const value = `[${["/bin/sh", "-c", GUARD, node, program].map(quote).join(", ")}]`;
  const found = findNotify(text);
  if (found) return text.slice(0, found.end - found.value.length) + value + text.slice(found.end);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  // At the top of the file: after a table's header it would belong to that table.
  const at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  return `${text.slice(0, at)}notify = ${value}${lineBreak}${lineBreak}${text.slice(at)}`;
}

/** Next to the hook file, in every installation. */
export function notifyProgram(hook: string): string {
  return join(dirname(hook), "hook-codex-notify.cjs");
}

export function unmergeNotify(text: string): string {
  const found = findNotify(text);
  if (!found || notifyOf(text).kind !== "own") return text;
  const behind = text.slice(found.end).replace(/^[^\n]*(?:\n|$)/, "");
  // The empty line after it is ours as well.
  return text.slice(0, found.start) + behind.replace(/^\r?\n/, "");
}

export function notifyOf(text: string): ConfigNotify {
  const found = findNotify(text);
  if (!found) return { kind: "none" };
  const words = simpleValue(found.value);
  if (!Array.isArray(words)) return { kind: "foreign" };
  const [, , , node, program] = words;
  if (words.length !== 5 || node === undefined || !program?.endsWith("hook-codex-notify.cjs"))
    return { kind: "foreign" };
  return { kind: "own", files: { node, program } };
}

function findNotify(text: string) {
  return tomlStatements(text).find(({ kind, path }) => kind === "key" && path.length === 1 && path[0] === "notify");
}

/*
 * Defers skills through Codex's own `[[skills.config]]` in the user's config.toml, by the path of the skill's file. Seen in 0.166.0: such a skill
 * is not listed, and `$name` does not load it. A folder's path has no effect, nor does a project's config.toml. The client cannot list a name
 * without its description.
 */

/** `own`: entries that are already ours. An entry that the user made stays theirs. */
export function disableSkills(
  text: string,
  paths: readonly string[],
  { file, own }: { file: string; own: Readonly<Record<string, string>> },
): DeferChange {
  refuseOtherForm(text, file);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const isOpen = text !== "" && !text.endsWith("\n");
  const change: DeferChange = { text, own: {}, foreign: [], keep: isOpen ? [NO_BREAK] : [] };
  const before = new Map(entriesOf(text).map((entry) => [entry.skillPath, entry]));
  for (const path of paths) {
    const found = before.get(path);
    if (found && own[path] === undefined) {
      change.foreign.push({ key: path, value: `enabled = ${found.isEnabled}` });
      continue;
    }
    change.own[path] = VALUE;
    if (found) continue;
    const gap = change.text === "" ? "" : change.text.endsWith("\n") ? lineBreak : lineBreak + lineBreak;
    const lines = ["[[skills.config]]", `path = ${quote(path)}`, "enabled = false", ""];
    change.text += gap + lines.join(lineBreak);
  }
  return change;
}

/** Removes our entries if they are unchanged. */
export function enableSkills(
  text: string,
  own: Readonly<Record<string, string>>,
  { keep }: { keep: readonly string[] },
): string {
  let result = text;
  for (const { skillPath, isPlain, isEnabled, start, end } of entriesOf(text).toReversed()) {
    if (skillPath === undefined || own[skillPath] === undefined || !isPlain || isEnabled) continue;
    result = withoutBlock(result, { start, end }, keep);
  }
  return result;
}

const VALUE = "disabled";

interface SkillEntry {
  skillPath: string | undefined;
  isEnabled: boolean;
  /** It holds only what we write. */
  isPlain: boolean;
  start: number;
  /** After the line break of its last line. */
  end: number;
}

function entriesOf(text: string): SkillEntry[] {
  const groups: TomlStatement[][] = [];
  let group: TomlStatement[] | undefined;
  for (const statement of tomlStatements(text)) {
    if (statement.kind !== "key") {
      group = statement.kind === "list-table" && statement.path.join(".") === LIST ? [] : undefined;
      if (group) groups.push(group);
    }
    group?.push(statement);
  }
  return groups.map((statements) => {
    const [header, ...keys] = statements;
    const values = new Map(keys.map(({ path, value }) => [path.slice(2).join("."), simpleValue(value)]));
    const skillPath = values.get("path");
    const lineBreak = text.indexOf("\n", statements.at(-1)!.end);
    return {
      skillPath: typeof skillPath === "string" ? skillPath : undefined,
      isEnabled: values.get("enabled") !== "false",
      isPlain: keys.length === 2 && values.has("enabled"),
      start: header!.start,
      end: lineBreak < 0 ? text.length : lineBreak + 1,
    };
  });
}

const LIST = "skills.config";

/** `skills = { … }` or `config = [ … ]`: adding a table to it would make the whole file invalid, and Codex would not start. */
function refuseOtherForm(text: string, file: string): void {
  const isOther = tomlStatements(text).some(
    ({ kind, path }) =>
      kind !== "list-table" && (path.join(".") === LIST || (kind === "key" && path.join(".") === "skills")),
  );
  if (!isOther) return;
  throw new HaversackError("refused", `${file}: skills.config is written in a form that cannot be added to`, {
    hint: "write it as [[skills.config]] tables, one for each skill, then run this again",
  });
}
