/**
 * Reads settings out of parsed JSON: the user's file below the project's. Unknown keys warn, wrong values are
 * errors that name the path of the value. Decides only; the files are read by the engine.
 */
import { type Config, SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from "./config-schema.ts";

export interface ConfigFile {
  /** The path shown in messages. */
  file: string;
  value: unknown;
}

export interface ConfigProblem {
  level: "error" | "warning";
  file: string;
  /** The path of the value, such as `skills.maxSkills`. */
  path: string;
  text: string;
}

export interface ReadConfig {
  config: Config;
  /** Which file gave each setting that is not the default. */
  origin: Partial<Record<SettingKey, string>>;
  problems: ConfigProblem[];
}

/** Later files beat earlier ones. A wrong value leaves what was there before it. */
export function readConfig(files: readonly ConfigFile[]): ReadConfig {
  const config: Record<string, unknown> = {};
  for (const key of SETTING_KEYS) config[key] = SETTINGS[key].default;
  const origin: Partial<Record<SettingKey, string>> = {};
  const problems: ConfigProblem[] = [];

  for (const { file, value } of files) {
    if (!isObject(value)) {
      problems.push({ level: "error", file, path: "", text: `must hold an object, but holds ${describe(value)}` });
      continue;
    }
    for (const [path, found] of flatten(value)) {
      if (path === "$schema") continue;
      if (!isSettingKey(path)) {
        problems.push({ level: "warning", file, path, text: "is no setting; it is ignored" });
        continue;
      }
      const wrong = whatIsWrong(SETTINGS[path], found);
      if (wrong) {
        problems.push({ level: "error", file, path, text: `${wrong}, but is ${describe(found)}` });
        continue;
      }
      config[path] = found;
      origin[path] = file;
    }
  }
  return { config: config as Config, origin, problems };
}

export function isSettingKey(path: string): path is SettingKey {
  return Object.hasOwn(SETTINGS, path);
}

/** What the value must be, when it is not. */
export function whatIsWrong(setting: Setting<unknown>, value: unknown): string | undefined {
  const { type, choices, minimum, maximum } = setting;
  if (type === "boolean") return typeof value === "boolean" ? undefined : "must be true or false";
  if (type === "string") {
    if (typeof value === "string" && (!choices || choices.includes(value))) return undefined;
    return choices ? `must be one of ${choices.join(", ")}` : "must be a text";
  }
  if (type === "strings") {
    const isList = Array.isArray(value) && value.every((entry) => typeof entry === "string");
    return isList ? undefined : "must be a list of texts";
  }
  const isNumber =
    typeof value === "number" && Number.isFinite(value) && (type === "number" || Number.isInteger(value));
  if (isNumber && value >= (minimum ?? -Infinity) && value <= (maximum ?? Infinity)) return undefined;
  return `must be a ${type === "integer" ? "whole " : ""}number from ${minimum} to ${maximum}`;
}

/** `{a: {b: 1}}` and `{"a.b": 1}` are the same setting. */
function* flatten(value: Record<string, unknown>, prefix = ""): Generator<[string, unknown]> {
  for (const [key, found] of Object.entries(value)) {
    const path = prefix + key;
    if (isObject(found) && !isSettingKey(path)) yield* flatten(found, `${path}.`);
    else yield [path, found];
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return JSON.stringify(value)?.slice(0, 60) ?? String(value);
}
