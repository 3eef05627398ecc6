import type { TaskChanges } from "../../store/work-store.ts";
import { invalid } from "../../work/check-value.ts";
import { cleanTitle } from "../../work/clean-input.ts";
import type { Task } from "../../work/task.ts";
import { cleanTaskFields, type TaskFields } from "./task-input.ts";
import type { WorkParts } from "./work-parts.ts";

export type UpdateTaskInput = { taskId: string } & { [Field in keyof TaskFields]?: TaskFields[Field] | null };

/** Null, or a text with nothing in it, clears a field; what is absent stays. */
export async function updateTask({ taskId, ...fields }: UpdateTaskInput, { store, by }: WorkParts): Promise<Task> {
  const names = (Object.keys(fields) as (keyof TaskFields)[]).filter((name) => fields[name] !== undefined);
  if (names.length === 0) throw invalid("nothing to change was given");
  const isCleared = (name: keyof TaskFields) => fields[name] === null || fields[name] === "";
  if (names.includes("title")) cleanTitle(fields.title);
  const changed = names.filter((name) => !isCleared(name)).map((name) => [name, fields[name]]);
  const cleared = names.filter(isCleared).flatMap((name) => (name === "traceabilityRef" ? PLAN : [name]));
  const changes: TaskChanges = {
    ...cleanTaskFields(Object.fromEntries(changed)),
    ...Object.fromEntries(cleared.map((name) => [name, null])),
  };
  return store.updateTask(taskId, changes, by);
}

const PLAN = ["planFile", "planSection"];
