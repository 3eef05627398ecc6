import { readLog } from "../../base/log.ts";
import { requireTrust } from "../../engine/open-project.ts";
import { projectPaths } from "../../engine/project.ts";
import { defineCommand, option, wholeNumber } from "../command.ts";
import { paint } from "../terminal.ts";

export const command = defineCommand({
  about:
    "Prints what hooks and commands logged in .haversack/log/, newest last. Keys, tokens and passwords are masked before they are written.",
  options: {
    limit: wholeNumber("N", "How many entries (default 50)."),
    level: option("LEVEL", "This level and the more severe ones.", { choices: ["error", "warn", "info", "debug"] }),
    part: option("PART", "Only this part, such as hook or skills."),
  },
  examples: {
    "haversack log": "the last 50 entries",
    "haversack log --level error --json": "errors, for a script",
  },
  json: "{entries: [{at, level, part, text, data?}]}.",
  run(call) {
    const { limit = 50, level, part } = call.options;
    const paths = projectPaths(call.io.cwd, call.io.env);
    requireTrust(paths);
    const entries = readLog(paths.log, { limit, ...(level && { level }), ...(part && { part }) });
    const lines = entries.map(({ at, level, part, text }) => {
      const shown = level === "error" ? paint(call.io, "red", "error") : level;
      return `${at.toISOString()} ${shown} ${part}: ${text}`;
    });
    return { data: { entries }, text: lines.join("\n") || "Nothing logged." };
  },
});
