/** Which task waits for which. */
import type { DependencyList } from "../../store/work-store.ts";
import { checkChoice } from "../../work/check-value.ts";
import { DEPENDENCY_TYPES, type Dependency, type DependencyType, type TaskBrief } from "../../work/task.ts";
import { present } from "../../work/task-view.ts";
import { type Refused, refused, type WorkParts } from "./work-parts.ts";

interface Ends {
  taskId: string;
  dependsOnId: string;
}

export async function addDependency(
  { taskId, dependsOnId, type }: Ends & { type?: string | undefined },
  parts: WorkParts,
): Promise<{ kind: "added" | "unchanged"; dependency: Dependency } | Refused> {
  const kind = checkChoice(type, { field: "dependency_type", choices: DEPENDENCY_TYPES }) ?? "blocks";
  const outcome = await parts.store.addDependency({ taskId, dependsOnId, type: kind }, parts.by);
  return outcome.kind === "cycle" ? refused(outcome, parts) : outcome;
}

export async function removeDependency(ends: Ends, { store, by }: WorkParts): Promise<{ removed: boolean }> {
  const { taskId, dependsOnId } = ends;
  return { removed: await store.removeDependency({ taskId, dependsOnId }, by) };
}

export interface DependencyView {
  depends_on?: object[];
  needed_by?: object[];
}

export async function listDependencies(
  { taskId }: { taskId: string },
  { store }: WorkParts,
): Promise<DependencyList & { view: DependencyView }> {
  const list = await store.listDependencies(taskId);
  const view = { depends_on: list.dependsOn.map(viewEnd), needed_by: list.neededBy.map(viewEnd) };
  return { ...list, view: present(view) };
}

function viewEnd({ id, title, status, type }: TaskBrief & { type: DependencyType }): object {
  return { id, title, status, type };
}
