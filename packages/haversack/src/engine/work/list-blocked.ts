import type { Task } from "../../work/task.ts";
import { present, viewTask } from "../../work/task-view.ts";
import { checkListInput, type ListInput } from "./list-tasks.ts";
import { given, type Listed, listed, type WorkParts } from "./work-parts.ts";

export type BlockedTask = Task & { reasons: string[] };

/** Blocked tasks with what stands in their way. */
export async function listBlocked(
  input: ListInput & { epicId?: string | undefined; storyId?: string | undefined },
  { store, by }: WorkParts,
): Promise<Listed<BlockedTask>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const scope = given({ epicId: input.epicId, storyId: input.storyId });
  const { items, total } = await store.listTasks({ ...scope, status: "blocked", limit, offset, at: by.at });
  const tasks: BlockedTask[] = [];
  for (const task of items) {
    const open = (await store.listBlockers(task.id)).filter(({ resolvedAt }) => !resolvedAt);
    tasks.push({ ...task, reasons: open.map(({ reason }) => reason) });
  }
  const view = ({ reasons, ...task }: BlockedTask, set: typeof fields) =>
    present({ ...viewTask(task, set), blockers: reasons });
  return listed({ items: tasks, total }, { view, fields, maxTokens, offset, text: input.text });
}
