import { type LogLevel, readLog } from "../../base/log.ts";
import { requireTrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { type Call, type CommandSpec, type ExitCode, option, print, wholeNumber } from "../command.ts";
import { paint } from "../terminal.ts";

export const spec: CommandSpec = {
  about:
    "Prints what hooks and commands logged in .haversack/log/, newest last. Keys, tokens and passwords are masked before they are written.",
  options: {
    limit: wholeNumber("N", "How many entries (default 50)."),
    level: option("LEVEL", "This level and the more severe ones.", { choices: ["error", "warn", "info", "debug"] }),
    part: option("PART", "Only this part, such as hook or skills."),
  },
  examples: [
    { run: "haversack log", says: "the last 50 entries" },
    { run: "haversack log --level error --json", says: "errors, for a script" },
  ],
  json: "{entries: [{at, level, part, text, data?}]}.",
};

export function run(call: Call): ExitCode {
  const { limit = 50, level, part } = call.options as { limit?: number; level?: LogLevel; part?: string };
  const paths = projectPaths(call.io.cwd, call.io.env);
  requireTrust(paths);
  const entries = readLog(paths.log, {
    limit,
    ...(level && { level }),
    ...(part && { part }),
  });
  print(call, { entries }, () => {
    if (entries.length === 0) return "Nothing logged.";
    return entries
      .map((entry) => {
        const shown = entry.level === "error" ? paint(call.io, "red", "error") : entry.level;
        return `${entry.at.toISOString()} ${shown} ${entry.part}: ${entry.text}`;
      })
      .join("\n");
  });
  return 0;
}
