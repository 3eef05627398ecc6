import { loadConfig, type ProjectPaths, projectPaths } from "../../engine/project.ts";
import { broughtAlong } from "../../engine/trust-project.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import {
  CHANGED_JSON,
  configPlace,
  LEVEL_OPTIONS,
  parseSetting,
  printEffective,
  requireSetting,
  SETTING,
  writeSetting,
} from "../config-file.ts";

export const spec: CommandSpec = {
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
};

export function run(call: Call): ExitCode {
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
}

/** Rules that came with the project do not count by a setting alone. */
function noteRules({ io }: Call, paths: ProjectPaths): void {
  const open = broughtAlong(paths, io.env).rules.filter(({ isAccepted }) => !isAccepted).length;
  if (open === 0) return;
  const rules = open === 1 ? "1 rule of this project counts" : `${open} rules of this project count`;
  io.err(`haversack: note: ${rules} only once accepted (\`haversack trust\` shows and asks)\n`);
}
