/** Which task waits for which. */
import type { DependencyList } from "../../store/work-store.ts";
import { checkChoice, checkWhole } from "../../work/clean-input.ts";
import { fitList } from "../../work/fit-list.ts";
import { DEPENDENCY_TYPES, type Dependency, type DependencyType, isSettled } from "../../work/task.ts";
import { present, type View } from "../../work/task-view.ts";
import { given, type Refused, refused, type WorkParts } from "./work-parts.ts";

interface Ends {
  taskId: string;
  dependsOnId: string;
}

export async function addDependency(
  { taskId, dependsOnId, type }: Ends & { type?: string | undefined },
  parts: WorkParts,
): Promise<AddedDependency | Refused> {
  const { store, by } = parts;
  const kind = checkChoice(type, { field: "dependency_type", choices: DEPENDENCY_TYPES }) ?? "blocks";
  // Only `relates_to` can weaken a dependency, so only then the previous type matters.
  const before = kind === "relates_to" ? (await store.listDependencies(taskId)).dependsOn : [];
  const outcome = await store.addDependency({ taskId, dependsOnId, type: kind }, by);
  if (outcome.kind === "cycle") return refused(outcome, parts);
  const { dependency } = outcome;
  const was = before.find(({ id }) => id === dependency.dependsOnId)?.type;
  const note =
    kind !== "relates_to"
      ? await whyNoWait(dependency, parts)
      : was !== undefined && was !== "relates_to"
        ? `${dependency.taskId} no longer waits for ${dependency.dependsOnId}: it was ${was}, and relates_to does not block`
        : undefined;
  return { ...outcome, ...given({ note }) };
}

/** Undefined: the task waits now. */
async function whyNoWait({ taskId, dependsOnId }: Dependency, { store, by }: WorkParts): Promise<string | undefined> {
  const task = await store.getTask(taskId, by.at);
  if (isSettled(task.status))
    return `${taskId} is ${task.status}: it waits for ${dependsOnId} only after it is reopened`;
  const target = await store.getTask(dependsOnId, by.at);
  return isSettled(target.status) ? `${dependsOnId} is ${target.status} already: ${taskId} does not wait` : undefined;
}

export interface AddedDependency {
  kind: "added" | "unchanged";
  dependency: Dependency;
  /** Set if the task does not wait: one of the two is done, or `relates_to` replaces a blocking dependency. */
  note?: string;
}

export async function removeDependency(ends: Ends, { store, by }: WorkParts): Promise<{ removed: boolean }> {
  const { taskId, dependsOnId } = ends;
  return { removed: await store.removeDependency({ taskId, dependsOnId }, by) };
}

export interface DependencyView {
  depends_on?: View[];
  needed_by?: View[];
  related_to?: View[];
}

/** How many were not shown, by kind. */
export type DependenciesLeftOut = { [Kind in keyof DependencyView]?: number };

/** Grouped by their effect on the task. Related tasks do not wait for each other, whichever named the other. */
export interface Dependencies extends DependencyList {
  relatedTo: DependencyList["dependsOn"];
}

const DEFAULT_LIMIT = 50;

/** `limit`: per kind. */
export async function listDependencies(
  { taskId, limit, maxTokens }: { taskId: string; limit?: number | undefined; maxTokens?: number | undefined },
  { store }: WorkParts,
): Promise<Dependencies & { view: DependencyView; leftOut: DependenciesLeftOut }> {
  const most = checkWhole(limit, { field: "limit", fallback: DEFAULT_LIMIT });
  const ceiling = maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 1 });
  const { dependsOn, neededBy, relatedTo } = byMeaning(await store.listDependencies(taskId));
  // What the task waits for matters most; the other kinds get the remaining tokens.
  const waits = dependsOn.slice(0, most);
  const needed = neededBy.slice(0, most);
  const related = relatedTo.slice(0, most);
  const { views } = fitList([...waits, ...needed, ...related], {
    // Equally small in every form.
    view: ({ id, title, status, type }) => ({ id, title, status, type }),
    fields: "standard",
    maxTokens: ceiling,
    aroundTokens: AROUND_TOKENS,
  });
  const first = Math.min(waits.length, views.length);
  const second = Math.min(waits.length + needed.length, views.length);
  const shown = {
    dependsOn: waits.slice(0, first),
    neededBy: needed.slice(0, second - first),
    relatedTo: related.slice(0, views.length - second),
  };
  return {
    ...shown,
    view: present({
      depends_on: views.slice(0, first),
      needed_by: views.slice(first, second),
      related_to: views.slice(second),
    }),
    leftOut: present({
      depends_on: dependsOn.length - shown.dependsOn.length || undefined,
      needed_by: neededBy.length - shown.neededBy.length || undefined,
      related_to: relatedTo.length - shown.relatedTo.length || undefined,
    }),
  };
}

function byMeaning({ dependsOn, neededBy }: DependencyList): Dependencies {
  const isRelated = ({ type }: { type: DependencyType }) => type === "relates_to";
  // Each task may have named the other.
  const related = new Map([...dependsOn, ...neededBy].filter(isRelated).map((task) => [task.id, task]));
  return {
    dependsOn: dependsOn.filter((task) => !isRelated(task)),
    neededBy: neededBy.filter((task) => !isRelated(task)),
    relatedTo: [...related.values()],
  };
}

/** `{"depends_on":[],"needed_by":[],"related_to":[],"left_out":{"depends_on":9950,"needed_by":9950,"related_to":9950},"more":"a larger limit or max_tokens"}` */
const AROUND_TOKENS = 65;
