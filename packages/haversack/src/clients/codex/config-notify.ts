/**
 * `notify` in the user's config.toml: the program that Codex starts at the end of a turn. There is room for one, so it is written only
 * where there is none. A project's config.toml may not have it: the client ignores it there and complains in every session
 * (seen in 0.166.0). Texts in, texts out; every foreign byte stays.
 */
import { dirname, join } from "node:path";
import { simpleValue, tomlStatements } from "./toml-statements.ts";

export interface NotifyFiles {
  /** Absolute path of the runtime that ran `init`. */
  node: string;
  /** Absolute path of hook-codex-notify.cjs. */
  program: string;
}

export interface ConfigNotify {
  kind: "own" | "foreign" | "none";
  files?: NotifyFiles;
}

/** The client's own word comes behind these. Silent when the runtime or our file went away. */
const GUARD = '[ -x "$0" ] && [ -f "$1" ] && exec "$0" "$@"; exit 0';

export function mergeNotify(text: string, { node, program }: NotifyFiles): string {
  const { kind } = notifyOf(text);
  if (kind === "foreign") return text;
  const value = `[${["/bin/sh", "-c", GUARD, node, program].map(quote).join(", ")}]`;
  const found = findNotify(text);
  if (found) return text.slice(0, found.end - found.value.length) + value + text.slice(found.end);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  // Before everything: behind a table's header it would be that table's.
  const at = startOf(text);
  return `${text.slice(0, at)}notify = ${value}${lineBreak}${lineBreak}${text.slice(at)}`;
}

/** Beside the hook file, in every installation. */
export function notifyProgram(hook: string): string {
  return join(dirname(hook), "hook-codex-notify.cjs");
}

export function unmergeNotify(text: string): string {
  const found = findNotify(text);
  if (!found || notifyOf(text).kind !== "own") return text;
  const behind = text.slice(found.end).replace(/^[^\n]*(?:\n|$)/, "");
  // The empty line behind it is ours as well.
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

function startOf(text: string): number {
  return text.charCodeAt(0) === 0xfeff ? 1 : 0;
}

/** See config-server.ts. */
function quote(word: string): string {
  return JSON.stringify(word).replaceAll("\u007f", "\\u007f");
}
