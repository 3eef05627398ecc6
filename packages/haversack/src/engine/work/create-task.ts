import { cleanName, cleanTitle } from "../../work/clean-input.ts";
import type { Task } from "../../work/task.ts";
import { cleanTaskFields, type TaskFields } from "./task-input.ts";
import { given, type WorkParts } from "./work-parts.ts";

export interface NewTaskInput extends TaskFields {
  title: string;
  source?: string | undefined;
  /** Tasks that must be done first. */
  dependsOn?: readonly string[] | undefined;
}

/** Needs no story and no epic. */
export function createTask({ source, dependsOn, ...fields }: NewTaskInput, { store, by }: WorkParts): Promise<Task> {
  return store.createTask(
    {
      ...cleanTaskFields(fields),
      title: cleanTitle(fields.title),
      ...given({ source: cleanName(source, { field: "source" }), dependsOn }),
    },
    by,
  );
}
