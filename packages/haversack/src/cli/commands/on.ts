import { existsSync, rmSync } from "node:fs";
import { offReason, projectPaths } from "../../engine/project.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";

export const spec: CommandSpec = {
  about: "Takes back `haversack off`. HAVERSACK=0 in the environment still switches everything off.",
  options: { user: { type: "boolean", about: "For you in every project, not for this project." } },
  examples: [{ run: "haversack on", says: "hooks and tools of this project work again" }],
  json: "{on, reason}: reason says what still switches it off.",
};

export function run(call: Call): ExitCode {
  const paths = projectPaths(call.io.cwd, call.io.env);
  const mark = call.options["user"] ? paths.userOffMark : paths.offMark;
  const wasOff = existsSync(mark);
  rmSync(mark, { force: true });
  const reason = offReason(paths, call.io.env);
  print(call, { on: !reason, ...(reason && { reason }) }, () =>
    reason ? `Still off: ${reason}.` : wasOff ? "Haversack is on." : "Haversack was on already.",
  );
  return reason ? 1 : 0;
}
