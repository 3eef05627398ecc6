/**
 * Deferred skills through the client's own `skillOverrides`, keyed by the skill's folder name (seen in 2.1.325: the
 * frontmatter's name is no key). Skills of plugins cannot be overridden there.
 *
 * hidden: `user-invocable-only`, because with `off` a person cannot type /name either. names: `name-only`, the client
 * lists the name and its Skill tool works.
 */
import type { DeferChange, DeferMode } from "../../engine/wiring.ts";
import { isEmpty, objectOf, pointer, prune } from "../json-settings.ts";
import { readSettings } from "./settings.ts";
import { removeIn, setIn } from "./settings-text.ts";

const KEY = "skillOverrides";
const VALUES: Record<DeferMode, string> = { hidden: "user-invocable-only", names: "name-only" };

export function modeOfOverride(value: string): DeferMode {
  return value === VALUES.names ? "names" : "hidden";
}

/** `own` holds the entries that are ours already: they may be changed, others may not. */
export function setOverrides(
  text: string,
  names: readonly string[],
  { file, mode, own }: { file: string; mode: DeferMode; own: Readonly<Record<string, string>> },
): DeferChange {
  const settings = readSettings(text, file);
  const before = objectOf(settings[KEY]);
  const change: DeferChange = { text, own: {}, foreign: [], keep: isEmpty(settings[KEY]) ? [pointer([KEY])] : [] };
  for (const name of names) {
    const value = Object.hasOwn(before, name) ? before[name] : undefined;
    if (value !== undefined && value !== own[name]) change.foreign.push({ key: name, value: String(value) });
    else {
      change.own[name] = VALUES[mode];
      if (value !== VALUES[mode]) change.text = setIn(change.text, [KEY, name], VALUES[mode]);
    }
  }
  return change;
}

/** Takes out the entries that are ours and still as we wrote them. */
export function dropOverrides(
  text: string,
  own: Readonly<Record<string, string>>,
  { file, keep }: { file: string; keep: readonly string[] },
): string {
  const before = objectOf(readSettings(text, file)[KEY]);
  let result = text;
  for (const [name, value] of Object.entries(own)) {
    if (Object.hasOwn(before, name) && before[name] === value) result = removeIn(result, [KEY, name]);
  }
  return result === text ? text : prune(result, [KEY], { keep });
}
