import { existsSync } from "node:fs";
import { join } from "node:path";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { removeFile, USER } from "../../base/safe-write.ts";
import { CLIENTS } from "../../clients/table.ts";
import { deferredProjects, noteDeferredProject } from "../../engine/deferred-projects.ts";
import { offReason, projectPaths } from "../../engine/project.ts";
import { deferAgain } from "../../engine/switch-deferred.ts";
import { type Call, type CommandSpec, type ExitCode, print } from "../command.ts";
import { switchData, switchLines, warnOfProblems } from "../switch.ts";

export const spec: CommandSpec = {
  about:
    "Takes back `haversack off`, and defers the skills again that were deferred before. HAVERSACK=0 in the environment still switches everything off.",
  options: { user: { type: "boolean", about: "For you in every project, not for this project." } },
  examples: [{ run: "haversack on", says: "hooks and tools of this project work again" }],
  json: "{on, reason?, listings: [{project, client, file, skills: [name], skipped: [{name, why}], problem?}]}: reason says what still switches it off; listings has the skills that are hidden again.",
};

export function run(call: Call): ExitCode {
  const { env } = call.io;
  const paths = projectPaths(call.io.cwd, env);
  const isUser = call.options["user"] === true;
  const mark = isUser ? paths.userOffMark : paths.offMark;
  const wasOff = existsSync(mark);
  removeFile(mark, { within: isUser ? USER : paths.root });
  // The environment counts for this process alone, the marks for every session: files follow the marks.
  const isOffForUser = existsSync(paths.userOffMark);
  const candidates = isUser ? deferredProjects(paths) : [paths.root];
  const projects = candidates.filter((root) => !isOffForUser && !existsSync(join(root, STATE_FOLDER, "off")));
  const listings = deferAgain(projects, { clients: CLIENTS, env });
  noteDeferredProject(paths);
  warnOfProblems(call, listings, "skills stay listed");
  const reason = offReason(paths, env);
  print(call, { on: !reason, ...(reason && { reason }), listings: switchData(listings) }, () =>
    [
      reason ? `Still off: ${reason}.` : wasOff ? "Haversack is on." : "Haversack was on already.",
      ...switchLines(listings, { root: paths.root, done: "deferred again" }),
    ].join("\n"),
  );
  return reason ? 1 : 0;
}
