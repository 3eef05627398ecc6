import { cleanLine } from "../../base/clean-text.ts";
import { whatIsWrong } from "../../base/config.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey } from "../../base/config-schema.ts";
import { loadConfig, projectPaths } from "../../engine/project.ts";
import { broughtAlong, whyIgnored } from "../../engine/trust-project.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { requireSetting, SETTING } from "../config-file.ts";
import { columns } from "../help.ts";

export const spec: CommandSpec = {
  about:
    "Shows every setting with its value, and which file gave it. Settings live in .haversack/config.json (the project's, shared through git) and in $XDG_CONFIG_HOME/haversack/config.json (yours); the project's beats yours, but settings of the project that reach far count only after `haversack trust`. `config set` and `config unset` change them.",
  arguments: [{ ...SETTING, about: "show one setting in full", required: false }],
  examples: [
    { run: "haversack config", says: "all settings" },
    { run: "haversack config skills.maxSkills", says: "one, with its bounds and meaning" },
  ],
  json: "{settings: [{key, value, default, origin, about}], problems: [{level, file, path, text}], ignored: [{key, value, why}], ignoredRules: [{path, skill, why}]}: ignored and ignoredRules have what the project sets and you have not accepted.",
};

export function run(call: Call): ExitCode {
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
}

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
