import { checkChoice } from "../../work/check-value.ts";
import type { TaskDetails } from "../../work/task.ts";
import { FIELD_SETS, type View, viewTask } from "../../work/task-view.ts";
import type { WorkParts } from "./work-parts.ts";

export async function getTask(
  { taskId, fields }: { taskId: string; fields?: string | undefined },
  { store, by }: WorkParts,
): Promise<{ task: TaskDetails; view: View }> {
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  const task = await store.getTask(taskId, by.at);
  return { task, view: viewTask(task, set) };
}
