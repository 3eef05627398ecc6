/** Turns a plan file into tasks. Importing it again updates them. */
import { HaversackError } from "../../base/errors.ts";
import type { Actor, PlanReport, PlanStore } from "../../store/work-store.ts";
import { parsePlan } from "../../work/plan/parse-plan.ts";

export interface PlanFile {
  /** Relative to the project's root. */
  file: string;
  text: string;
  storyId?: string;
  epicId?: string;
  isSequential?: boolean;
  isDryRun?: boolean;
}

export async function importPlan(store: PlanStore, { text, ...plan }: PlanFile, by: Actor): Promise<PlanReport> {
  if (plan.storyId !== undefined && plan.epicId !== undefined) {
    throw new HaversackError(
      "input-invalid",
      "story_id and epic_id cannot be used together: a story has its epic already",
    );
  }
  const file = plan.file.replaceAll("\\", "/");
  const { title = nameOf(file), tasks, problems } = parsePlan(text);
  const report: PlanReport =
    tasks.length === 0
      ? { created: [], updated: [], unchanged: [], gone: [], behind: [], problems: [] }
      : await store.importPlan({ ...plan, file, title, tasks }, by);
  return {
    ...report,
    problems: [
      ...problems.map((problem) => ({ where: file, text: problem })),
      ...tasks.flatMap(({ number, problems: own }) =>
        own.map((problem) => ({ where: `Task ${number}`, text: problem })),
      ),
      ...report.problems,
    ],
  };
}

/** `docs/2026-11-16-dark-mode.md` to `dark mode`. */
function nameOf(file: string): string {
  const base = file.slice(file.lastIndexOf("/") + 1).replace(/\.[^.]+$/, "");
  const words = base
    .replace(/^\d{4}-\d\d-\d\d-?/, "")
    .replace(/[-_\s]+/g, " ")
    .trim();
  return words || base || "plan";
}
