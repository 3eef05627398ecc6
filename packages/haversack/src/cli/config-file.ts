/** Changes one setting in a config file: the rest of the file keeps its bytes. For `config set` and `config unset`. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { whatIsWrong } from "../base/config.ts";
import { SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from "../base/config-schema.ts";
import { formatFar } from "../base/config-trust.ts";
import { HaversackError } from "../base/errors.ts";
import { nearest } from "../base/nearest.ts";
import { isRecordEnough, recordAccepted } from "../base/project-trust.ts";
import { makeFolder, type Place, putFile, USER } from "../base/safe-write.ts";
import { type JsonPath, removeIn, setIn } from "../clients/claude-code/settings-text.ts";
import { parseSettings, prune, valueAt } from "../clients/json-settings.ts";
import { ensureStateFolder, loadConfig, type ProjectPaths } from "../engine/project.ts";
import { withLock } from "../engine/with-lock.ts";
import { type ArgumentSpec, type Call, type OptionSpec, print } from "./command.ts";

export const SETTING: ArgumentSpec = {
  name: "KEY",
  about: "a setting, such as skills.maxSkills",
  required: true,
  choices: SETTING_KEYS,
};

export const LEVEL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  project: { type: "boolean", about: "In .haversack/config.json, shared through git (default)." },
  user: { type: "boolean", about: "In your own config.json, for all projects." },
};

export const CHANGED_JSON =
  "{key, value, origin, file}: value is the one in effect, and origin the file that it comes from, or default.";

export function requireSetting(key: string): SettingKey {
  const known = SETTING_KEYS.find((name) => name === key);
  if (known) return known;
  const [guess] = nearest(key, SETTING_KEYS);
  throw new HaversackError("usage", `there is no setting "${key}"${guess ? `; did you mean ${guess}?` : ""}`, {
    ...(!guess && { hint: "`haversack config` lists every setting" }),
  });
}

/** The value that the words of the command line mean. */
export function parseSetting(key: SettingKey, words: readonly string[]): unknown {
  const setting: Setting<unknown> = SETTINGS[key];
  const value = setting.type === "strings" ? parseList(words) : parseOne(setting, words);
  const wrong = whatIsWrong(setting, value);
  if (wrong) throw new HaversackError("usage", `${key} ${wrong}, but is ${JSON.stringify(value)}`);
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

/** One value per word, or all of them as JSON: `[]` is the empty list. */
function parseList(words: readonly string[]): unknown {
  const [first = ""] = words;
  if (words.length > 1 || !first.trimStart().startsWith("[")) return [...words];
  try {
    return JSON.parse(first) as unknown;
  } catch {
    throw new HaversackError("usage", `${first} is not valid JSON`, { hint: "give each value as a word of its own" });
  }
}

export interface ConfigPlace {
  file: string;
  level: "user" | "project";
  place: Place;
}

export function configPlace({ options }: Call, paths: ProjectPaths): ConfigPlace {
  if (options["user"] && options["project"])
    throw new HaversackError("usage", "--user and --project exclude each other");
  return options["user"]
    ? { level: "user", file: paths.userConfig, place: { within: USER } }
    : { level: "project", file: paths.config, place: { within: paths.root } };
}

const BLANK = "{}\n";
const HINT = "repair the file first; nothing was changed";

export function writeSetting(
  { file, level, place }: ConfigPlace,
  paths: ProjectPaths,
  { key, value }: { key: SettingKey; value: unknown },
): void {
  if (level === "project") ensureStateFolder(paths);
  else makeFolder(dirname(file), place);
  // Whoever sets it wants it. What else the file holds still needs `haversack trust`.
  // Without a database, a record alone makes the rest of the local state count as the user's own.
  const isForeign = isRecordEnough(paths.state, paths.userState);
  const mayAccept =
    level === "project" && !isForeign && loadConfig(paths).ignored.every((setting) => setting.key === key);
  changeFile({ file, place }, (text, settings) => {
    const places = placesOf(key, settings);
    return (places.length > 0 ? places : [key.split(".")]).reduce((result, path) => {
      for (let depth = 1; depth < path.length; depth++) {
        const above = valueAt(settings, path.slice(0, depth));
        if (above !== undefined && (typeof above !== "object" || above === null || Array.isArray(above)))
          throw new HaversackError("config-invalid", `${file}: ${path.slice(0, depth).join(".")} must be an object`, {
            hint: HINT,
          });
      }
      return setIn(result, path, value);
    }, text);
  });
  const { ignored } = loadConfig(paths);
  if (mayAccept && ignored.length > 0) {
    recordAccepted(paths.state, paths.userState, { settings: formatFar(ignored), at: new Date() });
  }
}

/** False: it is not set there. */
export function removeSetting({ file, place }: ConfigPlace, key: SettingKey): boolean {
  if (!existsSync(file)) return false;
  let isSet = false;
  changeFile({ file, place }, (text, settings) => {
    const places = placesOf(key, settings);
    isSet = places.length > 0;
    return places.reduce((result, path) => prune(removeIn(result, path), path.slice(0, -1), { keep: [] }), text);
  });
  return isSet;
}

/** `{"a": {"b": 1}}` and `{"a.b": 1}` are the same setting; a file may have both. */
function placesOf(key: SettingKey, settings: unknown): JsonPath[] {
  return [key.split("."), [key]].filter((path) => valueAt(settings, path) !== undefined);
}

function changeFile(
  { file, place }: Pick<ConfigPlace, "file" | "place">,
  change: (text: string, settings: Record<string, unknown>) => string,
): void {
  const write = () => {
    const before = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    const text = before === undefined || before.trim() === "" ? BLANK : before;
    const changed = change(text, parseSettings(text, { file, hint: HINT }));
    // A file with Windows line ends keeps them.
    const after = /(?<!\r)\n/.test(text) ? changed : changed.replace(/(?<!\r)\n/g, "\r\n");
    if (after !== before) putFile(file, after, place);
  };
  withLock(join(dirname(file), ".config.lock"), write, place);
}

/** The value in effect, and why it is another than the one in the file that was changed. */
export function printEffective(
  call: Call,
  paths: ProjectPaths,
  { key, file }: { key: SettingKey; file: string },
): void {
  const { config, origin, problems } = loadConfig(paths);
  const value = config[key];
  const from = origin[key] ?? "default";
  print(call, { key, value, origin: from, file }, () => `${key} = ${JSON.stringify(value)}  (${from})`);
  for (const problem of problems.filter(({ path }) => path === key))
    call.io.err(`haversack: ${problem.level}: ${problem.file}: ${key} ${problem.text}\n`);
}
