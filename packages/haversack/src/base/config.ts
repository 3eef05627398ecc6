/**
 * Reads settings from parsed JSON. The project's file overrides the user's. Unknown keys are warnings; wrong values are errors that name
 * the path of the value. This file does no I/O; the engine reads the files.
 */
import { type Config, SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from "./config-schema.ts";
import { isRecord } from "./json.ts";

export interface ConfigFile {
  /** The path shown in messages. */
  file: string;
  value: unknown;
}

export interface ConfigProblem {
  level: "error" | "warning";
  file: string;
  /** The path of the value, such as `skills.max_skills`. */
  path: string;
  text: string;
}

export interface ReadConfig {
  config: Config;
  /** Which file gave each setting that is not the default. */
  origin: Partial<Record<SettingKey, string>>;
  problems: ConfigProblem[];
}

/** Later files override earlier ones. A wrong value is ignored, so the earlier value stays. */
export function readConfig(files: readonly ConfigFile[]): ReadConfig {
  const config: Record<string, unknown> = {};
  for (const key of SETTING_KEYS) config[key] = SETTINGS[key].default;
  const origin: Partial<Record<SettingKey, string>> = {};
  const problems: ConfigProblem[] = [];

  for (const { file, value } of files) {
    if (!isRecord(value)) {
      problems.push({ level: "error", file, path: "", text: `must hold an object, but holds ${describe(value)}` });
      continue;
    }
    // Current spellings come last, so they override an old spelling in the same file.
    const entries = [...flatten(value)].sort(([a], [b]) => Number(isSettingKey(a)) - Number(isSettingKey(b)));
    for (const [typed, found] of entries) {
      if (typed === "$schema") continue;
      const path = settingKey(typed);
      if (path === undefined) {
        problems.push({ level: "warning", file, path: typed, text: "is not a setting, so it is ignored" });
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

function isSettingKey(path: string): path is SettingKey {
  return Object.hasOwn(SETTINGS, path);
}

/** Resolves a key to a setting. Accepts the camelCase spelling of earlier versions (`skills.maxSkills`). */
export function settingKey(typed: string): SettingKey | undefined {
  return [typed, newKey(typed)].find(isSettingKey);
}

/** `skills.max_skills` as earlier versions spelled it. */
export function oldKey(key: SettingKey): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** What the value must be; undefined if it is valid. */
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
    if (isRecord(found) && settingKey(path) === undefined) yield* flatten(found, `${path}.`);
    else yield [path, found];
  }
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  return JSON.stringify(value)?.slice(0, 60) ?? String(value);
}

// Limits what a project's own config may do. A cloned repository contains its own `.haversack/config.json`. Settings in it that read
// outside the project, load text unasked or change what the user sees take effect only after the user accepts them with
// `haversack trust`, or if the user's own config sets them.

/** Why a project's setting needs the user's acceptance. */
export type FarReach =
  /** Names a folder outside of the project. */
  | "outside"
  /** Lower than the default: more is shown or loaded than the user expects. */
  | "lower"
  /** So high that the log could fill the disk. */
  | "disk"
  /** So high or so low that a prompt could load far more text than usual. */
  | "flood"
  /** So low that local state is deleted after a few days. */
  | "forget"
  /** So low that a claim ends while its agent still works, and another agent takes the task. */
  | "lease"
  /** Names skills whose text is loaded with a task. */
  | "load"
  /** Turns on something that is off by default. */
  | "on"
  /** Names a program that is run. */
  | "run"
  /** So high that a run could spend far more than the user expects. */
  | "spend";

interface FarRule {
  reach: FarReach;
  default?: number | string | boolean;
  /** A number below this one needs acceptance. 0 does not if it means "never" (`isZeroFree`). */
  below?: number;
  isZeroFree?: boolean;
  /** A number above this one, or a longer list, needs acceptance. */
  above?: number;
}

/** The defaults repeat those of config-schema.ts, which is too large for the hook. A test keeps both in sync. */
export const FAR_REACHING: Readonly<Record<string, FarRule>> = {
  "skills.folders": { reach: "outside" },
  "skills.recommend_threshold": { reach: "lower", default: 0.4, below: 0.4 },
  "skills.auto_load_threshold": { reach: "lower", default: 0.6, below: 0.6 },
  "skills.auto_load": { reach: "on", default: "asked" },
  "skills.enforce": { reach: "on", default: false },
  "work.replace_results": { reach: "on", default: false },
  "artifacts.send_back": { reach: "on", default: false },
  "outputs.replace_over": { reach: "on", default: 0 },
  "work.test_command": { reach: "run", default: "" },
  "work.setup_command": { reach: "run", default: "" },
  "wake.skill_patterns": { reach: "load" },
  "wake.type_skills": { reach: "load" },
  "wake.cross_cutting": { reach: "load" },
  // Teams change these for good reasons, so a wide range around the default needs no acceptance.
  "skills.max_skills": { reach: "flood", default: 3, above: 5 },
  "skills.forget_after_prompts": { reach: "flood", default: 100, below: 10, isZeroFree: true },
  "skills.idle_minutes": { reach: "flood", default: 30, below: 5 },
  "headless.max_chains": { reach: "spend", default: 10, above: 10 },
  "work.max_test_retries": { reach: "spend", default: 3, above: 3 },
  "headless.reviewers": { reach: "spend", above: 2 },
  "work.lease_minutes": { reach: "lease", default: 60, below: 5 },
  "store.retention_days": { reach: "forget", default: 90, below: 14, isZeroFree: true },
  "outputs.max_mb": { reach: "disk", default: 100, above: 1_000 },
  "log.max_bytes": { reach: "disk", default: 1_000_000, above: 10_000_000 },
  "log.keep": { reach: "disk", default: 3, above: 10 },
};

/**
 * Never read from a project's config, not even after `haversack trust`: which program is started as the client, which permissions it gets,
 * who is told, and where texts and commits are sent. A person who accepts a project's settings must not hand these over with them.
 */
export const USER_ONLY: ReadonlySet<string> = new Set([
  "headless.command",
  "headless.args",
  "headless.notify",
  "headless.push",
  "headless.push_branch",
  "skills.judge_url",
  "skills.judge_model",
  "skills.judge_key_env",
]);

export interface IgnoredSetting {
  key: string;
  value: unknown;
  reach: FarReach;
}

/**
 * Removes the far-reaching settings unless the user accepted them, and lists what it removed. `accepted`: the result of `farReaching` when
 * the user accepted. It is all or nothing: any change needs a new acceptance.
 */
export function trustedConfig(
  value: unknown,
  accepted: string | undefined,
): { value: unknown; ignored: IgnoredSetting[] } {
  const own = without(value, (key) => (USER_ONLY.has(key) ? [] : undefined));
  const found = farSettings(own);
  const isAccepted = accepted !== undefined && withNewKeys(accepted) === formatFar(found);
  if (found.length === 0 || isAccepted) return { value: own, ignored: [] };
  return { value: without(own, farPartsLeft), ignored: found };
}

/** The settings of a project's config that only the user may set. */
export function userOnlyIn(value: unknown): string[] {
  return [...USER_ONLY].filter((key) => valuesOf(value, key).length > 0);
}

/** The far-reaching settings of a project's config as text to record; undefined if it has none. */
export function farReaching(value: unknown): string | undefined {
  const found = farSettings(value);
  return found.length === 0 ? undefined : formatFar(found);
}

export function formatFar(found: readonly IgnoredSetting[]): string {
  return JSON.stringify(found.map(({ key, value }) => [key, value]));
}

/** Settings accepted under the keys of earlier versions stay accepted. */
function withNewKeys(accepted: string): string {
  try {
    const settings = JSON.parse(accepted) as [key: string, value: unknown][];
    const named = settings.map(([key, value]) => [newKey(key), value] as const);
    return JSON.stringify(named.filter(([key]) => !USER_ONLY.has(key)));
  } catch {
    // Not a list of settings, so it accepts nothing.
    return accepted;
  }
}

/** Setting names are in snake_case. Earlier versions used camelCase, and files may still contain it. */
export function newKey(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function farSettings(value: unknown): IgnoredSetting[] {
  return Object.entries(FAR_REACHING).flatMap(([key, rule]) =>
    valuesOf(value, key).flatMap((given) => {
      const far = farPart(given, rule);
      return far === undefined ? [] : [{ key, value: far, reach: rule.reach }];
    }),
  );
}

/** The part of a value that reaches too far: for folders, those outside the project; otherwise the whole value. */
function farPart(value: unknown, { reach, default: usual, below, above, isZeroFree }: FarRule): unknown {
  if (reach === "outside") {
    const outside = Array.isArray(value) ? value.filter(isOutside) : [];
    return outside.length > 0 ? outside : undefined;
  }
  // A line with no skill after the colon only switches off a shipped skill.
  if (reach === "load") {
    const named = Array.isArray(value) ? value.filter((line) => typeof line !== "string" || !/:\s*$/.test(line)) : [];
    return named.length > 0 ? value : undefined;
  }
  if (Array.isArray(value) && above !== undefined) return value.length > above ? value : undefined;
  if (below !== undefined || above !== undefined) {
    // Values that are not numbers count as absent.
    if (typeof value !== "number" || (isZeroFree && value === 0)) return undefined;
    return value < (below ?? value) || value > (above ?? value) ? value : undefined;
  }
  return value === undefined || value === usual ? undefined : value;
}

function isOutside(folder: unknown): boolean {
  if (typeof folder !== "string") return false;
  return /^(?:[/\\~]|[A-Za-z]:)/.test(folder) || folder.split(/[\\/]/).includes("..");
}

/** `{a: {b_c: 1}}`, `{"a.b_c": 1}` and the old spelling `{a: {bC: 1}}` are the same setting. */
function valuesOf(config: unknown, key: string): unknown[] {
  if (typeof config !== "object" || config === null) return [];
  return Object.entries(config).flatMap(([name, value]) => {
    if (newKey(name) === key) return value === undefined ? [] : [value];
    if (typeof value !== "object" || value === null || !key.startsWith(`${name}.`)) return [];
    return Object.entries(value).flatMap(([inner, one]) =>
      newKey(`${name}.${inner}`) === key && one !== undefined ? [one] : [],
    );
  });
}

/** `left`: what stays of a setting, undefined for all of it. */
function without(config: unknown, left: (key: string, value: unknown) => unknown[] | undefined): unknown {
  if (!isRecord(config)) return config;
  const kept: Record<string, unknown> = {};
  const keep = (key: string, value: unknown) => left(newKey(key), value) ?? [value];
  for (const [name, value] of Object.entries(config)) {
    const inner = isRecord(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([key, one]) => keep(`${name}.${key}`, one).map((part) => [key, part])),
        )
      : undefined;
    const [part] = inner ? [inner] : keep(name, value);
    if (part !== undefined) kept[name] = part;
  }
  return kept;
}

function farPartsLeft(key: string, value: unknown): unknown[] | undefined {
  const rule = Object.hasOwn(FAR_REACHING, key) ? FAR_REACHING[key] : undefined;
  if (!rule || farPart(value, rule) === undefined) return undefined;
  const inside = rule.reach === "outside" ? (value as unknown[]).filter((folder) => !isOutside(folder)) : [];
  // If no folder is left, drop the setting from the project's config.
  return inside.length > 0 ? [inside] : [];
}
