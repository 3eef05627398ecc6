/**
 * Deferred skills through Gemini CLI's own list `skills.disabled`, by the skill's name (seen in 0.61.0: such a skill is not listed, and
 * `activate_skill` does not know it; our MCP tool still loads it). The client cannot list a name without its description.
 */
import { HaversackError } from "../../base/errors.ts";
import type { DeferChange, DeferMode } from "../../engine/wiring.ts";
import { removeIn, setIn } from "../claude-code/settings-text.ts";
import { isEmpty, objectOf, pointer, prune } from "../json-settings.ts";
import { readGeminiSettings } from "./settings.ts";

const PATH = ["skills", "disabled"];
const VALUE = "disabled";

/** `own` holds the entries that are ours already; a name that a person has put there stays theirs. */
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
  const settings = readGeminiSettings(text, file);
  const { skills } = settings;
  const keep = [
    ...(isEmpty(skills) ? [pointer(["skills"])] : []),
    ...(isEmpty(objectOf(skills)["disabled"]) ? [pointer(PATH)] : []),
  ];
  const change: DeferChange = { text, own: {}, foreign: [], keep };
  const before = new Set(listedIn(settings, file));
  for (const name of names) {
    if (before.has(name) && own[name] === undefined) {
      change.foreign.push({ key: name, value: VALUE });
      continue;
    }
    change.own[name] = VALUE;
    if (!before.has(name)) {
      const at = listedIn(readGeminiSettings(change.text, file), file).length;
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
    const at = listedIn(readGeminiSettings(result, file), file).lastIndexOf(name);
    if (at >= 0) result = removeIn(result, [...PATH, at]);
  }
  return result === text ? text : prune(result, PATH, { keep });
}

function listedIn(settings: Record<string, unknown>, file: string): unknown[] {
  const { disabled } = objectOf(settings["skills"]);
  if (disabled === undefined) return [];
  if (Array.isArray(disabled)) return disabled;
  throw new HaversackError("config-invalid", `${file}: skills.disabled must be a list`, {
    hint: "correct it, then run this again",
  });
}
