import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { noProject } from "../../engine/no-project.ts";
import { ensureStateFolder, projectPaths } from "../../engine/project.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";

export const spec: CommandSpec = {
  about:
    "Hooks print nothing and record nothing until `haversack on`. Stored state stays as it is. HAVERSACK=0 in the environment does the same for one process.",
  options: { user: { type: "boolean", about: "For you in every project, not for this project." } },
  examples: [
    { run: "haversack off", says: "this project" },
    { run: "haversack off --user", says: "every project of yours" },
    { run: "HAVERSACK=0 claude", says: "one session" },
  ],
  json: "{on: false, file}: file is the mark that switches it off.",
};

export function run(call: Call): ExitCode {
  const paths = projectPaths(call.io.cwd, call.io.env);
  const file = call.options["user"] ? paths.userOffMark : paths.offMark;
  if (call.options["user"]) mkdirSync(dirname(file), { recursive: true });
  else {
    const { why } = noProject(paths) ?? {};
    if (why) throw new HaversackError("no-project", why, { hint: "`haversack off --user` switches it off everywhere" });
    ensureStateFolder(paths);
  }
  writeFileSync(file, `off since ${new Date().toISOString()}\n`);
  print(call, { on: false, file }, () => `Haversack is off (${file}).`);
  return 0;
}
