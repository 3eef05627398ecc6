import { checkChoice } from "../../work/check-value.ts";
import { isSettled, type TaskDetails } from "../../work/task.ts";
import { FIELD_SETS, type FieldSet, present, type View, viewTask } from "../../work/task-view.ts";
import type { WorkParts } from "./work-parts.ts";

/** How many tasks around it are not shown. */
export interface AroundLeftOut {
  waits_for?: number;
  waited_for_by?: number;
  relates_to?: number;
  sub_tasks?: number;
}

export async function getTask(
  { taskId, fields }: { taskId: string; fields?: string | undefined },
  { store, by, for: audience = "agent" }: WorkParts,
): Promise<{ task: TaskDetails; view: View; leftOut: AroundLeftOut }> {
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  const task = await store.getTask(taskId, by.at);
  const leftOut = await aroundLeftOut(task, { store, by });
  const shown = shownOf(leftOut, set);
  const more = moreOf(shown, { id: task.id, audience });
  const view = viewTask(task, set);
  return { task, view: Object.keys(shown).length > 0 ? { ...view, left_out: shown, more } : view, leftOut };
}

function moreOf(shown: AroundLeftOut, { id, audience }: { id: string; audience: string }): string {
  const isParts = Object.keys(shown).join() === "sub_tasks";
  if (audience === "agent") return isParts ? "get_tasks" : "get_task_dependencies";
  return isParts ? `haversack task list --parent ${id}` : `haversack dep list ${id}`;
}

function shownOf(leftOut: AroundLeftOut, set: FieldSet): AroundLeftOut {
  if (set === "full") return leftOut;
  const { waits_for, sub_tasks } = leftOut;
  return set === "standard" ? present({ waits_for, sub_tasks }) : {};
}

/** The store gives the first ten or twenty of each. */
const FEWEST_CUT = 10;

async function aroundLeftOut(
  { id, waitsFor, waitedForBy, relatesTo, parts }: TaskDetails,
  { store, by }: Pick<WorkParts, "store" | "by">,
): Promise<AroundLeftOut> {
  if ([waitsFor, waitedForBy, relatesTo, parts].every(({ length }) => length < FEWEST_CUT)) return {};
  const { total } = await store.listTasks({ parentId: id, limit: 1, at: by.at });
  const { dependsOn, neededBy } = await store.listDependencies(id);
  const open = (tasks: typeof dependsOn) =>
    tasks.filter(({ type, status }) => type !== "relates_to" && !isSettled(status)).length;
  const related = new Set(
    [...dependsOn, ...neededBy].filter(({ type }) => type === "relates_to").map((task) => task.id),
  );
  return present({
    waits_for: open(dependsOn) - waitsFor.length || undefined,
    waited_for_by: open(neededBy) - waitedForBy.length || undefined,
    relates_to: related.size - relatesTo.length || undefined,
    sub_tasks: total - parts.length || undefined,
  });
}
