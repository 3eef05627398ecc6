/** Settings: shown, changed and removed. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cleanLine } from "../../base/clean-text.ts";
import { whatIsWrong } from "../../base/config.ts";
import { SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from "../../base/config-schema.ts";
import { formatFar } from "../../base/config-trust.ts";
import { HaversackError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { isRecordEnough, recordAccepted } from "../../base/project-trust.ts";
import { makeFolder, type Place, putFile, USER } from "../../base/safe-write.ts";
import { type JsonPath, removeIn, setIn } from "../../clients/claude-code/settings-text.ts";
import { parseSettings, prune, valueAt } from "../../clients/json-settings.ts";
import { ensureStateFolder, loadConfig, type ProjectPaths, projectPaths } from "../../engine/project.ts";
import { broughtAlong, whyIgnored } from "../../engine/trust-project.ts";
import { withLock } from "../../engine/with-lock.ts";
import { type ArgumentSpec, type Call, type Command, type OptionSpec, print } from "../command.ts";
import { columns } from "../help.ts";
import { refuse } from "../work.ts";

const SETTING: ArgumentSpec = {
  name: "KEY",
  about: "a setting, such as skills.maxSkills",
  required: true,
  choices: SETTING_KEYS,
};

const LEVEL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  project: { type: "boolean", about: "In .haversack/config.json, shared through git (default)." },
  user: { type: "boolean", about: "In your own config.json, for all projects." },
};

const CHANGED_JSON =
  "{key, value, origin, file}: value is the one in effect, and origin the file that it comes from, or default.";

function requireSetting(key: string): SettingKey {
  const known = SETTING_KEYS.find((name) => name === key);
  if (known) return known;
  const [guess] = nearest(key, SETTING_KEYS);
  throw new HaversackError("usage", `there is no setting "${key}"${guess ? `; did you mean ${guess}?` : ""}`, {
    ...(!guess && { hint: "`haversack config` lists every setting" }),
  });
}

/** The value that the words of the command line mean. */
function parseSetting(key: SettingKey, words: readonly string[]): unknown {
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

interface ConfigPlace {
  file: string;
  level: "user" | "project";
  place: Place;
}

function configPlace({ options }: Call, paths: ProjectPaths): ConfigPlace {
  if (options["user"] && options["project"])
    throw new HaversackError("usage", "--user and --project exclude each other");
  return options["user"]
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
function removeSetting({ file, place }: ConfigPlace, key: SettingKey): boolean {
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
function printEffective(call: Call, paths: ProjectPaths, { key, file }: { key: SettingKey; file: string }): void {
  const { config, origin, problems } = loadConfig(paths);
  const value = config[key];
  const from = origin[key] ?? "default";
  print(call, { key, value, origin: from, file }, () => `${key} = ${JSON.stringify(value)}  (${from})`);
  for (const problem of problems.filter(({ path }) => path === key))
    call.io.err(`haversack: ${problem.level}: ${problem.file}: ${key} ${problem.text}\n`);
}

export const configList: Command = {
  spec: {
    about:
      "Shows every setting with its value, and which file gave it. Settings live in .haversack/config.json (the project's, shared through git) and in $XDG_CONFIG_HOME/haversack/config.json (yours); the project's beats yours, but settings of the project that reach far count only after `haversack trust`. `config set` and `config unset` change them.",
    arguments: [{ ...SETTING, about: "show one setting in full", required: false }],
    examples: [
      { run: "haversack config", says: "all settings" },
      { run: "haversack config skills.maxSkills", says: "one, with its bounds and meaning" },
    ],
    json: "{settings: [{key, value, default, origin, about}], problems: [{level, file, path, text}], ignored: [{key, value, why}], ignoredRules: [{path, skill, why}]}: ignored and ignoredRules have what the project sets and you have not accepted.",
  },
  run(call) {
    const [key] = call.arguments;
    if (key !== undefined) requireSetting(key);
    const paths = projectPaths(call.io.cwd, call.io.env);
    const { config, origin, problems, ignored } = loadConfig(paths);
    const settings = SETTING_KEYS.filter((name) => !key || name === key).map((name) => ({
      key: name,
      value: config[name],
      default: SETTINGS[name].default,
      origin: origin[name] ?? "default",
      about: SETTINGS[name].about,
    }));
    const unaccepted = ignored
      .filter((one) => !key || one.key === key)
      .map(({ key: name, value, reach }) => ({ key: name, value, why: whyIgnored(reach) }));
    const ignoredRules = key
      ? []
      : broughtAlong(paths, call.io.env)
          .rules.filter(({ isAccepted }) => !isAccepted)
          .map(({ path, skill, why, until }) => ({ path, skill, why, until }));
    print(call, { settings, problems, ignored: unaccepted, ignoredRules }, () => {
      if (key) return describeSetting(key as SettingKey, settings[0]?.value, settings[0]?.origin ?? "");
      return columns(
        settings.map(({ key: name, value, origin: from }) => [
          name,
          `${JSON.stringify(value)}${from === "default" ? "" : `  (${from})`}`,
        ]),
      );
    });
    for (const { key: name, value, why } of unaccepted) {
      const shown = cleanLine(JSON.stringify(value), { maxChars: 200 });
      call.io.err(
        `haversack: note: ${paths.config}: ${name} ${shown} is ignored: it ${why} (\`haversack trust\` accepts it)\n`,
      );
    }
    for (const { path, skill, why, until } of ignoredRules) {
      const rule = cleanLine(`${path}: the rule for “${skill}” ${why}`, { maxChars: 300 });
      call.io.err(`haversack: note: ${rule}, so it ${until} (\`haversack trust\` accepts it)\n`);
    }
    for (const { level, file, path, text } of problems)
      call.io.err(`haversack: ${level}: ${file}: ${path ? `${path} ` : ""}${text}\n`);
    return problems.some(({ level }) => level === "error") ? 1 : 0;
  },
};

function describeSetting(key: SettingKey, value: unknown, origin: string): string {
  const setting = SETTINGS[key];
  // No value passes this one, so it states what a right value is.
  const bounds = whatIsWrong(setting, undefined);
  return [
    `${key} = ${JSON.stringify(value)}  (${origin})`,
    setting.about,
    `It ${bounds}. Default: ${JSON.stringify(setting.default)}.`,
  ].join("\n");
}

export const configSet: Command = {
  spec: {
    about:
      "Changes a setting and prints the value in effect with the file that it comes from. The rest of the file stays as it is. The project's setting beats yours.",
    arguments: [
      SETTING,
      { name: "VALUE", about: "the value; for a list one word per entry, or a JSON list", required: true, many: true },
    ],
    options: LEVEL_OPTIONS,
    examples: [
      { run: "haversack config set skills.maxSkills 5", says: "for this project" },
      { run: "haversack config set skills.enforce true --user", says: "for you, in all projects" },
      { run: "haversack config set skills.folders docs/skills ../shared/skills", says: "a list" },
    ],
    json: CHANGED_JSON,
  },
  run(call) {
    const [name = "", ...words] = call.arguments;
    const key = requireSetting(name);
    const value = parseSetting(key, words);
    const paths = projectPaths(call.io.cwd, call.io.env);
    const place = configPlace(call, paths);
    writeSetting(place, paths, { key, value });
    printEffective(call, paths, { key, file: place.file });
    const { origin } = loadConfig(paths);
    if (key === "skills.enforce" && value === true) noteRules(call, paths);
    // A setting that is ignored has no origin, and `printEffective` has said why.
    if (origin[key] !== undefined && origin[key] !== place.file) {
      call.io.err(`haversack: note: set in ${place.file}, but ${origin[key]} sets it too, and wins in this project\n`);
    }
    return 0;
  },
};

/** Rules that came with the project do not count by a setting alone. */
function noteRules({ io }: Call, paths: ProjectPaths): void {
  const open = broughtAlong(paths, io.env).rules.filter(({ isAccepted }) => !isAccepted).length;
  if (open === 0) return;
  const rules = open === 1 ? "1 rule of this project counts" : `${open} rules of this project count`;
  io.err(`haversack: note: ${rules} only once accepted (\`haversack trust\` shows and asks)\n`);
}

export const configUnset: Command = {
  spec: {
    about:
      "Removes a setting from a config file and prints the value in effect: yours, or the default. Exit 1 if it is not set there.",
    arguments: [SETTING],
    options: LEVEL_OPTIONS,
    examples: [
      { run: "haversack config unset skills.maxSkills", says: "back to your value or the default" },
      { run: "haversack config unset skills.enforce --user", says: "from your own file" },
    ],
    json: CHANGED_JSON,
  },
  run(call) {
    const key = requireSetting(call.arguments[0] ?? "");
    const paths = projectPaths(call.io.cwd, call.io.env);
    const place = configPlace(call, paths);
    if (!removeSetting(place, key)) return refuse(call, { text: `${key} is not set in ${place.file}` });
    printEffective(call, paths, { key, file: place.file });
    return 0;
  },
};
