/**
 * Which stored task is which task of the plan, after the plan was edited: by section, else by title (it was renumbered), else by
 * number (it was renamed). A task that is over is never found by its number alone: a new task would begin as done.
 */
import type { PlannedTask } from "./parse-plan.ts";
import { isSettled, type Task } from "./task.ts";

export interface PlanMatch {
  /** In the plan's order. */
  pairs: { planned: PlannedTask; task?: Task }[];
  /** Stored, and in the plan no more. */
  gone: Task[];
}

export function matchPlan(planned: readonly PlannedTask[], stored: readonly Task[]): PlanMatch {
  const found = new Map<PlannedTask, Task>();
  const left = new Set(stored);
  const match = (isSame: (entry: PlannedTask, task: Task) => boolean): void => {
    for (const entry of planned) {
      if (found.has(entry)) continue;
      const task = [...left].find((candidate) => isSame(entry, candidate));
      if (!task) continue;
      found.set(entry, task);
      left.delete(task);
    }
  };
  match(({ section }, task) => section === task.planSection);
  match(({ title }, task) => plain(title) === plain(task.title));
  match(({ number }, task) => !isSettled(task.status) && number === planNumber(task.planSection ?? ""));
  return {
    pairs: planned.map((entry) => {
      const task = found.get(entry);
      return { planned: entry, ...(task && { task }) };
    }),
    gone: [...left],
  };
}

/** `Task 1.2: Name` and `1.2 Name` to `1.2`. */
export function planNumber(section: string): string | undefined {
  return /^\W*(?:Task\s+#?|T0*(?=\d))?(\d+(?:\.\d+)*[a-z]?)\b/i.exec(section)?.[1];
}

function plain(title: string): string {
  return title
    .toLowerCase()
    .replace(/[\s`*_]+/g, " ")
    .trim();
}
