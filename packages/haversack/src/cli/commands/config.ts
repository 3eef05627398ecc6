/** Shows, changes and removes settings. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { formatFar, oldKey, settingKey, USER_ONLY, whatIsWrong } from "../../base/config.ts";
import { SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from "../../base/config-schema.ts";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { isRecordEnough, recordAccepted } from "../../base/project-trust.ts";
import { makeFolder, type Place, putFile, USER } from "../../base/safe-write.ts";
import { parseSettings, prune, valueAt } from "../../clients/json-settings.ts";
import { type JsonPath, removeIn, setIn } from "../../clients/json-text.ts";
import { withLock } from "../../engine/init.ts";
import {
  describeProblem,
  ensureStateFolder,
  loadConfig,
  type ProjectPaths,
  projectPaths,
} from "../../engine/project.ts";
import { broughtAlong, whyIgnored } from "../../engine/trust-project.ts";
import { type ArgumentSpec, type Call, defineCommand, flag, type Output, refusalOf } from "../command.ts";
import { columns } from "../help.ts";
import { scopeOf, warnOnce } from "../project.ts";
import { counted } from "../terminal.ts";

const SETTING: ArgumentSpec = {
  name: "KEY",
  about: "a setting, such as skills.max_skills",
  required: true,
  choices: SETTING_KEYS,
};

const LEVEL_OPTIONS = {
  project: flag("In .haversack/config.json, shared through git (default)."),
  user: flag("In your own config.json, for all projects."),
};

const CHANGED_JSON =
  "{key, value, origin, file}: value is the one in effect, and origin the file that it comes from, or default.";

/** Also accepts the key's spelling of earlier versions. */
function requireSetting(key: string): SettingKey {
  const known = settingKey(key);
  if (known) return known;
  throw unknownSetting(key);
}

function unknownSetting(key: string): HaversackError {
  const [guess] = nearest(key, SETTING_KEYS);
  return new HaversackError("usage", `there is no setting "${key}"`, {
    hint: guess ? `did you mean ${guess}?` : "`haversack config list` lists every setting",
  });
}

/** Parses the value from the command line's arguments. */
function parseSetting(key: SettingKey, words: readonly string[]): unknown {
  const setting: Setting<unknown> = SETTINGS[key];
  const value = setting.type === "strings" ? parseList(words) : parseOne(setting, words);
  const wrong = whatIsWrong(setting, value);
  if (wrong) throw new HaversackError("usage", `${key} ${wrong}, but is ${JSON.stringify(value)}`);
  if (Array.isArray(value) && value.some((each: unknown) => typeof each === "string" && each.trim() === ""))
    throw new HaversackError("usage", `${key} must not contain an empty value`, {
      hint: `\`haversack config set ${key} '[]'\` sets the empty list`,
    });
  return value;
}

function parseOne({ type }: Setting<unknown>, words: readonly string[]): unknown {
  const [word = "", ...more] = words;
  if (more.length > 0)
    throw new HaversackError("usage", `unexpected argument "${more[0]}"; the setting takes one value`);
  if (type === "boolean") return BOOLEANS[word.toLowerCase()] ?? word;
  if (type === "string") return word;
  return word.trim() === "" || Number.isNaN(Number(word)) ? word : Number(word);
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
};

/** One value per argument, or all of them as JSON: `[]` is the empty list. */
function parseList(words: readonly string[]): unknown {
  const [first = ""] = words;
  if (words.length > 1 || !first.trimStart().startsWith("[")) return [...words];
  try {
    return JSON.parse(first) as unknown;
  } catch {
    throw new HaversackError("usage", `${first} is not valid JSON`, { hint: "give each value as a word of its own" });
  }
}

interface ConfigPlace {
  file: string;
  level: "user" | "project";
  place: Place;
}

function configPlace(
  call: Pick<Call<{ user?: boolean; project?: boolean }>, "options">,
  paths: ProjectPaths,
): ConfigPlace {
  return scopeOf(call) === "user"
    ? { level: "user", file: paths.userConfig, place: { within: USER } }
    : { level: "project", file: paths.config, place: { within: paths.root } };
}

const BLANK = "{}\n";
const HINT = "repair the file first; nothing was changed";

function writeSetting(
  { file, level, place }: ConfigPlace,
  paths: ProjectPaths,
  { key, value }: { key: SettingKey; value: unknown },
): void {
  if (level === "project") ensureStateFolder(paths);
  else makeFolder(dirname(file), place);
  // A setting that the user sets is accepted; the rest of the file still needs `haversack trust`. Without a database, a trust record alone would
  // make the rest of the local state count as the user's own.
  const isForeign = isRecordEnough(paths.state, paths.userState);
  const mayAccept =
    level === "project" && !isForeign && loadConfig(paths).ignored.every((setting) => setting.key === key);
  changeFile({ file, place }, (text, settings) => {
    const now = placesOf(key, settings).filter((path) => path.join(".") === key);
    const changed = (now.length > 0 ? now : [key.split(".")]).reduce((result, path) => {
      for (let depth = 1; depth < path.length; depth++) {
        const above = valueAt(settings, path.slice(0, depth));
        if (above !== undefined && (typeof above !== "object" || above === null || Array.isArray(above)))
          throw new HaversackError("config-invalid", `${file}: ${path.slice(0, depth).join(".")} must be an object`, {
            hint: HINT,
          });
      }
      return setIn(result, path, value);
    }, text);
    return withoutOld(changed, settings, key);
  });
  const { ignored } = loadConfig(paths);
  if (mayAccept && ignored.length > 0) {
    recordAccepted(paths.state, paths.userState, { settings: formatFar(ignored), at: new Date() });
  }
}

/** False if the key is not set there. */
function removeSetting({ file, place }: ConfigPlace, key: SettingKey): boolean {
  if (!existsSync(file)) return false;
  let isSet = false;
  changeFile({ file, place }, (text, settings) => {
    const places = placesOf(key, settings);
    isSet = places.length > 0;
    return places.reduce(removeAt, text);
  });
  return isSet;
}

/** `{"a": {"b_c": 1}}`, `{"a.b_c": 1}` and the old `{"a": {"bC": 1}}` are the same setting; a file may have several of them. */
function placesOf(key: SettingKey, settings: unknown): JsonPath[] {
  return [...new Set([key, oldKey(key)])]
    .flatMap((name): JsonPath[] => [name.split("."), [name]])
    .filter((path) => valueAt(settings, path) !== undefined);
}

/** Removes the key's old spellings once the new one is written. */
function withoutOld(text: string, settings: unknown, key: SettingKey): string {
  const old = placesOf(key, settings).filter((path) => path.join(".") !== key);
  return old.reduce(removeAt, text);
}

function removeAt(text: string, path: JsonPath): string {
  return prune(removeIn(text, path), path.slice(0, -1), { keep: [] });
}

function changeFile(
  { file, place }: Pick<ConfigPlace, "file" | "place">,
  change: (text: string, settings: Record<string, unknown>) => string,
): void {
  const write = () => {
    const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    const text = before === undefined || before.trim() === "" ? BLANK : before;
    const changed = change(text, parseSettings(text, { file, hint: HINT }));
    // Keep Windows line endings.
    const hasWindowsEnds = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
    const after = hasWindowsEnds ? changed.replace(/(?<!\r)\n/g, "\r\n") : changed;
    if (after !== before) putFile(file, after, place);
  };
  withLock(join(dirname(file), ".config.lock"), write, place);
}

/** The effective value, and why it differs from the one in the changed file. */
function effective(call: Call, paths: ProjectPaths, { key, file }: { key: SettingKey; file?: string }): Output {
  const { config, origin, problems } = loadConfig(paths);
  const value = config[key];
  const from = origin[key] ?? "default";
  for (const problem of problems.filter(({ path }) => path === key || path === ""))
    warnOnce(call.io, describeProblem(problem, config));
  return {
    data: { key, value, origin: from, ...(file && { file }) },
    text: `${key} = ${JSON.stringify(value)}  (${from})`,
  };
}

export const commands = {
  "config list": defineCommand({
    about:
      "Shows every setting with its value and the file it comes from. Settings are in .haversack/config.json (the project's, shared through git) and in $XDG_CONFIG_HOME/haversack/config.json (yours). The project's setting overrides yours, but one that reaches outside the project counts only after `haversack trust`. A wrong value is reported and its default is used; this command then exits with 1.",
    arguments: [
      { ...SETTING, about: "show these settings with their bounds and meaning", required: false, many: true },
    ],
    examples: {
      "haversack config list": "all settings",
      "haversack config list skills.max_skills": "one, with its bounds and meaning",
    },
    json: "{settings: [{key, value, default, origin, about}], problems: [{level, file, path, text}], ignored: [{key, value, why}], ignored_rules: [{path, skill, why}]}: ignored and ignored_rules have what the project sets and you have not accepted.",
    run(call) {
      const keys = new Set(call.arguments.map(requireSetting));
      const isShown = (name: string) => keys.size === 0 || keys.has(name as SettingKey);
      const paths = projectPaths(call.io.cwd, call.io.env);
      const { config, origin, problems, ignored } = loadConfig(paths);
      const settings = SETTING_KEYS.filter(isShown).map((key) => {
        const { default: usual, about } = SETTINGS[key];
        return { key, value: config[key], default: usual, origin: origin[key] ?? "default", about };
      });
      const unaccepted = ignored
        .filter(({ key }) => isShown(key))
        .map(({ key, value, reach }) => ({ key, value, why: whyIgnored(reach) }));
      const ignoredRules = (keys.size > 0 ? [] : broughtAlong(paths, call.io.env).rules)
        .filter(({ isAccepted }) => !isAccepted)
        .map(({ path, skill, why, until }) => ({ path, skill, why, until }));
      const from = (file: string) => (file === "default" ? "" : `  (${file})`);
      const all = settings.map((one) => [one.key, `${JSON.stringify(one.value)}${from(one.origin)}`] as const);
      const ignoredSettings = unaccepted.map(({ key, value, why }) => {
        const shown = cleanLine(JSON.stringify(value), { maxChars: 200 });
        return `${paths.config}: ${key} ${shown} is ignored: it ${why}`;
      });
      const rules = ignoredRules.map(({ path, skill, why, until }) => {
        const rule = cleanLine(`${path}: the rule for “${skill}” ${why}`, { maxChars: 300 });
        return `${rule}, so it ${until}`;
      });
      for (const problem of problems) warnOnce(call.io, describeProblem(problem, config));
      return {
        data: { settings, problems, ignored: unaccepted, ignoredRules },
        text: () => (keys.size > 0 ? settings.map(describeSetting).join("\n\n") : columns(all)),
        notes: [...ignoredSettings, ...rules].map((line) => `${line} (\`haversack trust\` accepts it)`),
        code: problems.some(({ level }) => level === "error") ? 1 : 0,
      };
    },
  }),
  "config get": defineCommand({
    about: "Prints the current values of settings, and nothing else, for scripts.",
    arguments: [{ ...SETTING, many: true }],
    examples: { "haversack config get skills.max_skills": "its value" },
    jsonOfEach: "{key, value, origin}, where origin is the file that it comes from, or default",
    several: "lines",
    run(call, _, word) {
      const key = settingKey(word);
      if (!key) return refusalOf(unknownSetting(word));
      const paths = projectPaths(call.io.cwd, call.io.env);
      const value = loadConfig(paths).config[key];
      const { data } = effective(call, paths, { key });
      return { data, text: typeof value === "string" ? value : JSON.stringify(value) };
    },
  }),
  "config set": defineCommand({
    about:
      "Changes a setting and prints the value in effect with the file it comes from. The rest of the file stays as it is. The project's setting overrides yours.",
    arguments: [
      SETTING,
      { name: "VALUE", about: "the value; for a list one word per entry, or a JSON list", required: true, many: true },
    ],
    options: LEVEL_OPTIONS,
    examples: {
      "haversack config set skills.max_skills 5": "for this project",
      "haversack config set skills.enforce true --user": "for you, in all projects",
      "haversack config set skills.folders docs/skills ../shared/skills": "a list",
    },
    json: CHANGED_JSON,
    run(call) {
      const [name = "", ...words] = call.arguments;
      const key = requireSetting(name);
      const value = parseSetting(key, words);
      const paths = projectPaths(call.io.cwd, call.io.env);
      const place = configPlace(call, paths);
      if (place.level === "project" && USER_ONLY.has(key)) {
        throw new HaversackError("refused", `${key} counts only in your own config`, { hint: "add --user" });
      }
      writeSetting(place, paths, { key, value });
      const { origin } = loadConfig(paths);
      const notes = key === "skills.enforce" && value === true ? noteOnRules(call, paths) : [];
      // An ignored setting has no origin; `effective` says why.
      if (origin[key] !== undefined && origin[key] !== place.file) {
        notes.push(`set in ${place.file}, but ${origin[key]} sets it too, and wins in this project`);
      }
      return { ...effective(call, paths, { key, file: place.file }), notes };
    },
  }),
  "config unset": defineCommand({
    about:
      "Removes settings from a config file and prints the values in effect: yours, or the defaults. Exit 1 if one is not set there.",
    arguments: [{ ...SETTING, many: true }],
    options: LEVEL_OPTIONS,
    examples: {
      "haversack config unset skills.max_skills": "back to your value or the default",
      "haversack config unset skills.enforce --user": "from your own file",
    },
    json: CHANGED_JSON,
    several: "lines",
    // All before the first, so that a wrong one changes nothing.
    open: ({ arguments: keys }) => keys.map(requireSetting),
    run(call) {
      const key = requireSetting(call.arguments[0] ?? "");
      const paths = projectPaths(call.io.cwd, call.io.env);
      const place = configPlace(call, paths);
      if (!removeSetting(place, key)) return { text: `${key} is not set in ${place.file}` };
      return effective(call, paths, { key, file: place.file });
    },
  }),
};

function describeSetting({ key, value, origin }: { key: SettingKey; value: unknown; origin: string }): string {
  const setting = SETTINGS[key];
  // `undefined` is never valid, so the message describes valid values.
  const bounds = whatIsWrong(setting, undefined);
  return [
    `${key} = ${JSON.stringify(value)}  (${origin})`,
    setting.about,
    `It ${bounds}. Default: ${JSON.stringify(setting.default)}.`,
  ].join("\n");
}

/** Setting `skills.enforce` does not accept rules that came with the project. */
function noteOnRules({ io }: Pick<Call, "io">, paths: ProjectPaths): string[] {
  const open = broughtAlong(paths, io.env).rules.filter(({ isAccepted }) => !isAccepted).length;
  if (open === 0) return [];
  const rules = counted(open, "rule of this project counts", "rules of this project count");
  return [`${rules} only once accepted (\`haversack trust\` shows and asks)`];
}
