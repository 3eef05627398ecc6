/**
 * Deferred skills in opencode: a list of ours in `.haversack/`, which the plugin adds to the client's own `permission.skill` in memory
 * while it starts. Nothing is written into the person's opencode.json, which is usually committed, and without the plugin no skill is
 * hidden. The client cannot list a name without its description.
 */
import { HaversackError } from "../../base/errors.ts";
import { readJson } from "../../base/json.ts";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { MAX_CONFIG_BYTES, readProjectText } from "../../base/read-text.ts";
import type { DeferChange } from "../../engine/wiring.ts";

export function deferredFile(root: string): string {
  return `${root}/${STATE_FOLDER}/opencode-skills.json`;
}

/** Names; empty where there is no list, or none that can be read: then the client lists everything. */
export function deferredIn(root: string): string[] {
  const file = deferredFile(root);
  const text = readProjectText(file, { root, maxBytes: MAX_CONFIG_BYTES })?.text;
  return (text === undefined ? undefined : namesOf(text)) ?? [];
}

export const BLANK = `{\n  "hidden": []\n}\n`;

/** The file is ours as a whole: every name in it is. */
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
  const { value } = readJson(text);
  const hidden = typeof value === "object" && value !== null ? (value as { hidden?: unknown }).hidden : undefined;
  return Array.isArray(hidden) && hidden.every((name) => typeof name === "string") ? hidden : undefined;
}

function listText(names: readonly string[]): string {
  const hidden = [...new Set(names)].sort();
  return `${JSON.stringify({ hidden }, null, 2)}\n`;
}
