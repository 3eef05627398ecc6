import { projectPaths } from "../../engine/project.ts";
import type { Call, CommandSpec, ExitCode } from "../command.ts";
import {
  CHANGED_JSON,
  configPlace,
  LEVEL_OPTIONS,
  printEffective,
  removeSetting,
  requireSetting,
  SETTING,
} from "../config-file.ts";
import { refuse } from "../work.ts";

export const spec: CommandSpec = {
  about:
    "Removes a setting from a config file and prints the value in effect: yours, or the default. Exit 1 if it is not set there.",
  arguments: [SETTING],
  options: LEVEL_OPTIONS,
  examples: [
    { run: "haversack config unset skills.maxSkills", says: "back to your value or the default" },
    { run: "haversack config unset skills.enforce --user", says: "from your own file" },
  ],
  json: CHANGED_JSON,
};

export function run(call: Call): ExitCode {
  const key = requireSetting(call.arguments[0] ?? "");
  const paths = projectPaths(call.io.cwd, call.io.env);
  const place = configPlace(call, paths);
  if (!removeSetting(place, key)) return refuse(call, { text: `${key} is not set in ${place.file}` });
  printEffective(call, paths, { key, file: place.file });
  return 0;
}
