import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { makeFolder, putFile, USER } from "../../base/safe-write.ts";
import { CLIENTS } from "../../clients/table.ts";
import { deferredProjects, noteDeferredProject } from "../../engine/deferred-projects.ts";
import { ensureStateFolder, noProject, projectPaths } from "../../engine/project.ts";
import { restoreListings } from "../../engine/switch-deferred.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { switchData, switchLines, warnOfProblems } from "../switch.ts";

export const spec: CommandSpec = {
  about:
    "Hooks print nothing and record nothing until `haversack on`. Deferred skills go back into the clients' own listings, because nothing would bring them. Stored state stays as it is. HAVERSACK=0 in the environment switches one process off; it changes no file, so that deferred skills stay out of that session's listing.",
  options: { user: { type: "boolean", about: "For you in every project, not for this project." } },
  examples: [
    { run: "haversack off", says: "this project" },
    { run: "haversack off --user", says: "every project of yours" },
    { run: "HAVERSACK=0 claude", says: "one session" },
  ],
  json: "{on: false, file, listings: [{project, client, file, skills: [name], skipped: [{name, why}], problem?}]}: file is the mark that switches it off; listings has the skills that are listed again.",
};

export function run(call: Call): ExitCode {
  const paths = projectPaths(call.io.cwd, call.io.env);
  const isUser = call.options["user"] === true;
  const file = isUser ? paths.userOffMark : paths.offMark;
  const place = { within: isUser ? USER : paths.root };
  if (isUser) makeFolder(dirname(file), place);
  else {
    const { why } = noProject(paths) ?? {};
    if (why) throw new HaversackError("no-project", why, { hint: "`haversack off --user` switches it off everywhere" });
    ensureStateFolder(paths);
  }
  const wasOff = existsSync(file);
  if (!wasOff) putFile(file, `off since ${new Date().toISOString()}\n`, place);
  const projects = isUser ? deferredProjects(paths) : [paths.root];
  const listings = restoreListings(projects, { clients: CLIENTS, env: call.io.env });
  noteDeferredProject(paths);
  warnOfProblems(call, listings, "skills stay hidden");
  print(call, { on: false, file, listings: switchData(listings) }, () =>
    [
      `Haversack ${wasOff ? "was off already" : "is off"} (${file}).`,
      ...switchLines(listings, { root: paths.root, done: "back in the listing" }),
    ].join("\n"),
  );
  return 0;
}
