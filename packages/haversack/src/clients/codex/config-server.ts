/**
 * The MCP server's table in Codex's `config.toml`. Texts in, texts out; every foreign byte stays. No marks around it: the client
 * itself writes this file, drops comments before a table it touches and adds tables before the last comment (seen in
 * 0.166.0), so a table is ours by its command.
 */
import { HaversackError } from "../../base/errors.ts";
import { isOwnCommand, type ServerCommand, type ServerFiles, serverCommand } from "../claude-code/server-guard.ts";
import { simpleValue, tomlStatements } from "./toml-statements.ts";

export const SERVER = "haversack";

/**
 * The client hands on a few variables only (HOME, PATH, TMPDIR and the like). These are the others that events and tools read: who the agent is,
 * whether we are switched off, and where settings, sessions and the record of trusted stores are.
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
  if (table.kind === "foreign") {
    throw new HaversackError("input-invalid", `${file}: another MCP server is called "${SERVER}" already`, {
      hint: `rename or remove it: \`codex mcp get ${SERVER}\` shows it`,
    });
  }
  if (table.kind === "own") return { text: setKeys(text, wanted), keep: [] };
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [`[mcp_servers.${SERVER}]`, ...Object.entries(wanted).map(([key, value]) => `${key} = ${value}`)];
  const isOpen = text !== "" && !text.endsWith("\n");
  const gap = `${isOpen ? lineBreak : ""}${text.trim() === "" ? "" : lineBreak}`;
  return {
    text: `${text}${gap}${lines.join(lineBreak)}${lineBreak}`,
    // Without a last line break the file is given back without one.
    keep: isOpen ? [NO_BREAK] : [],
  };
}

/** With the table go those below it, such as the approvals that the client notes for single tools: alone they are an error. */
export function unmergeServer(text: string, { keep }: { keep: readonly string[] }): string {
  if (serverTable(text).kind !== "own") return text;
  let result = text;
  for (const { start, end } of tableParts(text).toReversed()) {
    const isLast = result.slice(end).trim() === "";
    const before = result.slice(0, start);
    // One empty line before it is ours as well.
    const head = before.replace(/(\r?\n)\r?\n$/, "$1");
    const open = isLast && keep.includes(NO_BREAK) ? head.replace(/\r?\n$/, "") : head;
    result = open + result.slice(end);
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
    // `mcp_servers = { … }`: no table can be added behind it.
    const isClosed = statements.some(({ kind, path }) => kind === "key" && path.join(".") === "mcp_servers");
    return { kind: isClosed ? "foreign" : "none", command, isEnabled };
  }
  const hasHeader = ours.some(({ kind, path }) => kind === "table" && path.length === 2);
  return { kind: hasHeader && command && isOwnCommand(command) ? "own" : "foreign", command, isEnabled };
}

const NO_BREAK = "no-line-break-at-the-end";

/** Replaces values where they stand; what the user has added to the table stays. */
function setKeys(text: string, wanted: Readonly<Record<string, string>>): string {
  let result = text;
  for (const [name, value] of Object.entries(wanted)) {
    const found = tomlStatements(result).find(({ path }) => path.join(".") === `mcp_servers.${SERVER}.${name}`);
    if (found && JSON.stringify(simpleValue(found.value)) !== JSON.stringify(simpleValue(value))) {
      result = result.slice(0, found.end - found.value.length) + value + result.slice(found.end);
    } else if (!found) {
      // Of a version that did not write it; the command is always there.
      const command = tomlStatements(result).find(({ path }) => path.join(".") === `mcp_servers.${SERVER}.command`);
      const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
      if (command) result = `${result.slice(0, command.end)}${lineBreak}${name} = ${value}${result.slice(command.end)}`;
    }
  }
  return result;
}

/** From each header of ours to the line behind its last key. */
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

/** A JSON string is a basic string of TOML, but for the one character that JSON lets through. */
export function quote(word: string): string {
  return JSON.stringify(word).replaceAll("\u007f", "\\u007f");
}

function list(words: readonly string[]): string {
  return `[${words.map(quote).join(", ")}]`;
}
