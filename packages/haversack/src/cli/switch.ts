/** What `off` and `on` say of deferred skills. */
import type { SwitchedSkills } from "../engine/switch-deferred.ts";
import type { Call } from "./command.ts";
import { shortPath } from "./print-plan.ts";

/** `done`: what became of the skills. Projects are named where it is not this one alone. */
export function switchLines(
  listings: readonly SwitchedSkills[],
  { root, done }: { root: string; done: string },
): string[] {
  const changed = listings.filter(({ report }) => report.skills.length > 0 || report.skipped.length > 0);
  const lines = changed.flatMap(({ project, client, report: { file, skills, skipped } }) => {
    const count = `${skills.length} ${skills.length === 1 ? "skill is" : "skills are"} ${done}`;
    const where = project === root ? "" : ` in ${shortPath(project)}`;
    return [
      `${client.title}: ${count}${where} (${shortPath(file)}).`,
      ...skipped.map(({ name, why }) => `  not ${name}: ${why}`),
    ];
  });
  return lines.length > 0 ? [...lines, "It counts in sessions that start from now on."] : [];
}

export function warnOfProblems({ io }: Call, listings: readonly SwitchedSkills[], outcome: string): void {
  for (const { client, problem } of listings) {
    if (problem !== undefined) io.err(`haversack: ${client.title}: ${outcome}: ${problem}\n`);
  }
}

/** For `--json`. */
export function switchData(listings: readonly SwitchedSkills[]) {
  return listings.map(({ project, client, report: { file, skills, skipped }, problem }) => ({
    project,
    client: client.name,
    file,
    skills,
    skipped,
    ...(problem !== undefined && { problem }),
  }));
}
