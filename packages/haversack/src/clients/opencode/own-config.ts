/**
 * What the plugin adds to opencode's configuration at startup, in memory: the MCP server, `/work` and its agents, and the rules that hide deferred
 * skills. It changes none of the user's files, and entries that the user has under our names stay.
 */
import { MAX_CONFIG_BYTES, readProjectText } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { STATE_FOLDER } from "../../base/project-root.ts";
import type { DeferChange } from "../../engine/wiring.ts";
import { parsed } from "../client-adapter.ts";
import { opencodeWork } from "../work-files.ts";
import type { Config } from "./client-api.ts";

interface OwnConfig {
  /** The command of our MCP server. If empty, no server is added and no skill is hidden, because nothing could load it. */
  server: readonly string[];
  /** Names of skills that the client should not list. */
  deferred?: readonly string[];
}

export function addOwnConfig(config: Config, { server, deferred = [] }: OwnConfig): void {
  if (server.length > 0) {
    config.mcp = { haversack: { type: "local", command: [...server], enabled: true }, ...config.mcp };
    if (deferred.length > 0) config.permission = denySkills(config.permission, deferred);
  }
  const { command, agents } = opencodeWork();
  config.command = { work: command, ...config.command };
  config.agent = { ...agents, ...config.agent };
}

/**
 * opencode's `permission.skill` (seen in 1.18.33). A denied skill is not listed, not even in sub-agents, and the client's own tool refuses it. The
 * last matching rule counts.
 */
export type Permission = string | Record<string, unknown> | undefined;

/** Adds a denial for each name, except where the user has a rule for that name. */
export function denySkills(permission: Permission, names: readonly string[]): Permission {
  if (names.length === 0) return permission;
  const all: Record<string, unknown> = typeof permission === "string" ? { "*": permission } : { ...permission };
  const before = all["skill"];
  const skill = isRecord(before) ? before : before === undefined ? {} : { "*": before };
  const denied = names.filter((name) => !Object.hasOwn(skill, name)).map((name) => [name, "deny"] as const);
  // Added last, because a later rule would override it, even one for all tools.
  delete all["skill"];
  return { ...all, skill: { ...skill, ...Object.fromEntries(denied) } };
}

export function isSkillDenied(permission: Permission, name: string): boolean {
  const tools = isRecord(permission) ? Object.entries(permission) : [["*", permission] as const];
  let action: unknown;
  for (const [tool, rules] of tools) {
    if (!fits(tool, "skill")) continue;
    for (const [pattern, value] of isRecord(rules) ? Object.entries(rules) : [["*", rules] as const]) {
      if (fits(pattern, name)) action = value;
    }
  }
  return action === "deny";
}

/** `*` matches any text. Not a regular expression, because nothing here could stop one that hangs. */
function fits(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  const middle = name.slice(first.length, name.length - last.length);
  let at = 0;
  return rest.every((part) => {
    const found = middle.indexOf(part, at);
    at = found + part.length;
    return found >= 0;
  });
}

/**
 * Deferred skills in opencode: our own list in `.haversack/`, which the plugin adds to the client's `permission.skill` in memory at startup. The
 * user's opencode.json is usually committed, so we do not write to it. Without the plugin no skill is hidden. The client cannot list a name
 * without its description.
 */
export function deferredFile(root: string): string {
  return `${root}/${STATE_FOLDER}/opencode-skills.json`;
}

/** Names. Empty if there is no readable list; then the client lists everything. */
export function deferredIn(root: string): string[] {
  const file = deferredFile(root);
  const text = readProjectText(file, { root, maxBytes: MAX_CONFIG_BYTES })?.text;
  return (text === undefined ? undefined : namesOf(text)) ?? [];
}

export const BLANK = `{\n  "hidden": []\n}\n`;

/** The whole file is ours, so every name in it is too. */
export function addDeferred(text: string, names: readonly string[], file: string): DeferChange {
  const own = Object.fromEntries(names.map((name) => [name, VALUE]));
  return { text: listText([...required(text, file), ...names]), own, foreign: [], keep: [] };
}

export function dropDeferred(text: string, own: Readonly<Record<string, string>>, file: string): string {
  return listText(required(text, file).filter((name) => own[name] === undefined));
}

const VALUE = "deny";

function required(text: string, file: string): string[] {
  const names = namesOf(text);
  if (names) return names;
  throw new HaversackError("config-invalid", `${file}: must be {"hidden": [names]}`, {
    hint: "correct it, or delete it: then opencode lists all skills again",
  });
}

function namesOf(text: string): string[] | undefined {
  const { hidden } = parsed(text);
  return Array.isArray(hidden) && hidden.every((name) => typeof name === "string") ? hidden : undefined;
}

function listText(names: readonly string[]): string {
  const hidden = [...new Set(names)].sort();
  return `${JSON.stringify({ hidden }, null, 2)}\n`;
}
