/** Switching Haversack on and off. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { makeFolder, putFile, removeFile, USER } from "../../base/safe-write.ts";
import { CLIENTS } from "../../clients/table.ts";
import {
  deferAgain,
  deferredProjects,
  noteDeferredProject,
  restoreListings,
  type SwitchedSkills,
} from "../../engine/defer-skills.ts";
import {
  ensureStateFolder,
  noProject,
  offReason,
  onSinceFiles,
  type ProjectPaths,
  projectPaths,
} from "../../engine/project.ts";
import { type Call, defineCommand, flag, sayWarning } from "../command.ts";
import { shortPath } from "../print-plan.ts";
import { counted } from "../terminal.ts";

/** `done`: what happened to the skills. Names the projects if there are others than this one. */
function switchLines(listings: readonly SwitchedSkills[], { root, done }: { root: string; done: string }): string[] {
  const changed = listings.filter(({ report }) => report.skills.length > 0 || report.skipped.length > 0);
  const lines = changed.flatMap(({ project, client, report: { file, skills, skipped } }) => {
    const count = `${counted(skills.length, "skill is", "skills are")} ${done}`;
    const where = project === root ? "" : ` in ${shortPath(project)}`;
    return [
      `${client.title}: ${count}${where} (${shortPath(file)}).`,
      ...skipped.map(({ name, why }) => `  not ${name}: ${why}`),
    ];
  });
  return lines.length > 0 ? [...lines, "This takes effect in sessions that start from now on."] : [];
}

function warnOfProblems({ io }: Pick<Call, "io">, listings: readonly SwitchedSkills[], outcome: string): void {
  for (const { client, problem } of listings) {
    if (problem !== undefined) sayWarning(io, `${client.title}: ${outcome}: ${problem}`);
  }
}

/** One switch for the whole project: used in a linked worktree, it applies to the other checkouts too. */
function inWorktrees({ root, because }: ProjectPaths, isUser: boolean): string {
  return because === "main-repository" && !isUser ? ` in ${shortPath(root)} and all its worktrees` : "";
}

/** For `--json`. */
function switchData(listings: readonly SwitchedSkills[]) {
  return listings.map(({ project, client, report: { file, skills, skipped }, problem }) => ({
    ...{ project, client: client.name, file, skills, skipped },
    ...(problem !== undefined && { problem }),
  }));
}

export const commands = {
  on: defineCommand({
    about:
      "Undoes `haversack off`, and hides the skills again that were deferred before. HAVERSACK=0 in the environment still switches everything off.",
    options: { user: flag("For all your projects instead of this one.") },
    examples: { "haversack on": "hooks and tools of this project work again" },
    json: "{on, reason?, listings: [{project, client, file, skills: [name], skipped: [{name, why}], problem?}]}: reason says what still switches it off; listings has the skills that are hidden again.",
    run(call) {
      const { env } = call.io;
      const paths = projectPaths(call.io.cwd, env);
      const isUser = call.options.user === true;
      const mark = isUser ? paths.userOffMark : paths.offMark;
      const wasOff = existsSync(mark);
      const place = { within: isUser ? USER : paths.root };
      removeFile(mark, place);
      // What happened while it was off stays unrecorded, even if the client's transcript has it.
      const since = onSinceFiles(paths)[isUser ? "user" : "project"];
      if (wasOff && since) {
        makeFolder(dirname(since), { ...place, mode: 0o700 });
        putFile(since, `${new Date().toISOString()}\n`, place);
      }
      // The environment variable affects only this process, marks affect every session: so files follow the marks.
      const isOffForUser = existsSync(paths.userOffMark);
      const candidates = isUser ? deferredProjects(paths) : [paths.root];
      const projects = candidates.filter((root) => !isOffForUser && !existsSync(join(root, STATE_FOLDER, "off")));
      const listings = deferAgain(projects, { clients: CLIENTS, env });
      noteDeferredProject(paths);
      warnOfProblems(call, listings, "skills stay listed");
      const reason = offReason(paths, env);
      const head = reason
        ? `Still off: ${reason}.`
        : `Haversack ${wasOff ? "is on" : "was on already"}${inWorktrees(paths, isUser)}.`;
      return {
        data: { on: !reason, ...(reason && { reason }), listings: switchData(listings) },
        text: [head, ...switchLines(listings, { root: paths.root, done: "deferred again" })].join("\n"),
        code: reason ? 1 : 0,
      };
    },
  }),
  off: defineCommand({
    about:
      "Hooks print nothing and record nothing until `haversack on`. Deferred skills go back into the clients' own listings, because nothing would load them. Stored state stays as it is. HAVERSACK=0 in the environment switches off one process; it changes no file, so deferred skills stay hidden in that session.",
    options: { user: flag("For all your projects instead of this one.") },
    examples: {
      "haversack off": "this project",
      "haversack off --user": "every project of yours",
      "HAVERSACK=0 claude": "one session",
    },
    json: "{on: false, file, listings: [{project, client, file, skills: [name], skipped: [{name, why}], problem?}]}: file is the mark that switches it off; listings has the skills that are listed again.",
    run(call) {
      const paths = projectPaths(call.io.cwd, call.io.env);
      const isUser = call.options.user === true;
      const file = isUser ? paths.userOffMark : paths.offMark;
      const place = { within: isUser ? USER : paths.root };
      if (isUser) makeFolder(dirname(file), place);
      else {
        const { why } = noProject(paths) ?? {};
        if (why)
          throw new HaversackError("no-project", why, { hint: "`haversack off --user` switches it off everywhere" });
        ensureStateFolder(paths);
      }
      const wasOff = existsSync(file);
      if (!wasOff) putFile(file, `off since ${new Date().toISOString()}\n`, place);
      const projects = isUser ? deferredProjects(paths) : [paths.root];
      const listings = restoreListings(projects, { clients: CLIENTS, env: call.io.env });
      noteDeferredProject(paths);
      warnOfProblems(call, listings, "skills stay hidden");
      const head = `Haversack ${wasOff ? "was off already" : "is off"}${inWorktrees(paths, isUser)} (${shortPath(file)}).`;
      return {
        data: { on: false, file, listings: switchData(listings) },
        text: [head, ...switchLines(listings, { root: paths.root, done: "back in the listing" })].join("\n"),
      };
    },
  }),
};
