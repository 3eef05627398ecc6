/** Dependencies between tasks. A cycle is refused and shown: its tasks would never become ready. */

import type { DatabaseSync } from "node:sqlite";
import { DEVELOPMENT, roleOfPart } from "../../../wake/workflow.ts";
import { checkWord, invalid } from "../../../work/clean-input.ts";
import {
  DEPENDENCY_TYPES,
  type Dependency,
  type DependencyType,
  isSettled,
  type TaskBrief,
  type TaskStatus,
} from "../../../work/task.ts";
import type { Actor, DependencyList, DependencyOutcome } from "../../work-store.ts";
import { findTask } from "./ids.ts";
import { followParts, moveDependency } from "./queue.ts";
import { all, brief, note, one, run, WAITING } from "./rows.ts";

export function addDependency(
  db: DatabaseSync,
  { taskId, dependsOnId, type }: Dependency,
  by: Actor,
): DependencyOutcome {
  checkWord("dependency_type", type, DEPENDENCY_TYPES);
  const task = findTask(db, taskId);
  const target = findTask(db, dependsOnId);
  const dependency: Dependency = { taskId: task.id, dependsOnId: target.id, type };
  if (task.seq === target.seq && type === "relates_to") throw invalid("a task cannot relate to itself");
  const before = typeOf(db, task.seq, target.seq);
  if (before === type) return { kind: "unchanged", dependency };
  if (isWaiting(type)) {
    const path = pathBetween(db, target.seq, task.seq);
    if (path) return { kind: "cycle", path: [task.seq, ...path].map((seq) => briefOf(db, seq)) };
  }
  const sql =
    "INSERT INTO dependencies VALUES (?, ?, ?, ?) ON CONFLICT (task, depends_on) DO UPDATE SET type = excluded.type";
  run(db, sql, task.seq, target.seq, type, by.at.toISOString());
  const waited = before !== undefined && isWaiting(before);
  if (isWaiting(type) !== waited) {
    moveDependency(db, task.seq, target.seq, waited ? -1 : 1);
    followParts(db, tasksAbove(db, task.seq));
  }
  const text = isWaiting(type) ? `waits for ${target.id} (${type})` : `relates to ${target.id}`;
  note(db, by, "dependency-added", task.id, text);
  return { kind: "added", dependency };
}

function typeOf(db: DatabaseSync, task: number, dependsOn: number): DependencyType | undefined {
  const sql = "SELECT type FROM dependencies WHERE task = ? AND depends_on = ?";
  return one<{ type: DependencyType }>(db, sql, task, dependsOn)?.type;
}

export function removeDependency(
  db: DatabaseSync,
  { taskId, dependsOnId }: Omit<Dependency, "type">,
  by: Actor,
): boolean {
  const task = findTask(db, taskId);
  const target = findTask(db, dependsOnId);
  const before = typeOf(db, task.seq, target.seq);
  if (before === undefined) return false;
  if (isWaiting(before)) moveDependency(db, task.seq, target.seq, -1);
  run(db, "DELETE FROM dependencies WHERE task = ? AND depends_on = ?", task.seq, target.seq);
  if (isWaiting(before)) followParts(db, tasksAbove(db, task.seq));
  const text = isWaiting(before) ? `no longer waits for ${target.id}` : `no longer relates to ${target.id}`;
  note(db, by, "dependency-removed", task.id, text);
  return true;
}

export function listDependencies(db: DatabaseSync, taskId: string): DependencyList {
  const { seq } = findTask(db, taskId);
  const read = (of: string, other: string): DependencyList["dependsOn"] => {
    const sql = `SELECT t.id, t.title, t.status, d.type FROM dependencies d JOIN tasks t ON t.seq = d.${other} WHERE d.${of} = ? ORDER BY t.seq`;
    return all<DependencyList["dependsOn"][number]>(db, sql, seq).map((row) => ({ ...row }));
  };
  return { dependsOn: read("task", "depends_on"), neededBy: read("depends_on", "task") };
}

export function isWaiting(type: string): boolean {
  return type !== "relates_to";
}

/** The shortest path (breadth first) from one task to another along its dependencies, including both ends. `among`: follow only these. */
export function pathBetween(
  db: DatabaseSync,
  from: number,
  to: number,
  among?: ReadonlySet<number>,
): number[] | undefined {
  const cameFrom = new Map<number, number | undefined>([[from, undefined]]);
  for (const seq of cameFrom.keys()) {
    if (seq === to) {
      const path: number[] = [];
      for (let at: number | undefined = seq; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
      return path;
    }
    const sql = `SELECT depends_on FROM dependencies WHERE task = ? AND type IN ${WAITING}`;
    const next = all<{ depends_on: number }>(db, sql, seq);
    for (const { depends_on } of next)
      if (!cameFrom.has(depends_on) && (among?.has(depends_on) ?? true)) cameFrom.set(depends_on, seq);
  }
  return undefined;
}

function briefOf(db: DatabaseSync, seq: number): TaskBrief {
  return brief(one<TaskBrief>(db, "SELECT id, title, status FROM tasks WHERE seq = ?", seq) as TaskBrief);
}

// Sub-tasks: which are open, and the order of reviews.

interface Part {
  seq: number;
  id: string;
  title: string;
  parent: number | null;
  status: TaskStatus;
}

/**
 * Checks sub-tasks at any depth, using only `tasks` and `dependencies`. Two kinds of sub-tasks do not hold a task back, because they
 * come after its own work: those that wait for the task itself, and reviews without another sub-task that does the reviewed work.
 */
export function isWorkedOnInParts(db: DatabaseSync, task: number): boolean {
  const parts = all<Part>(db, BELOW, task);
  const open = parts.filter(({ status }) => !isSettled(status));
  if (open.length === 0) return false;
  const own = parts.filter(({ parent, status }) => parent === task && status !== "archived");
  if (own.length > 0 && own.every((part) => roleRank(part.title) > 0)) return false;
  const later = waitersAmong(db, task, new Set(open.map(({ seq }) => seq)));
  return open.some(({ seq }) => !later.has(seq));
}

const BELOW = `WITH RECURSIVE below (seq) AS (
  SELECT seq FROM tasks WHERE parent = ? UNION SELECT t.seq FROM below b JOIN tasks t ON t.parent = b.seq
) SELECT t.seq, t.id, t.parent, t.title, t.status FROM below b JOIN tasks t ON t.seq = b.seq`;

/** The candidates that wait for the task, directly or through each other. */
function waitersAmong(db: DatabaseSync, task: number, candidates: ReadonlySet<number>): Set<number> {
  const found = new Set<number>();
  const queue = [task];
  for (const seq of queue) {
    const sql = `SELECT task FROM dependencies WHERE depends_on = ? AND type IN ${WAITING}`;
    for (const waiter of all<{ task: number }>(db, sql, seq)) {
      if (!candidates.has(waiter.task) || found.has(waiter.task)) continue;
      found.add(waiter.task);
      queue.push(waiter.task);
    }
  }
  return found;
}

/** The tasks above it, from its parent upwards. */
export function tasksAbove(db: DatabaseSync, task: number): number[] {
  const sql = `WITH RECURSIVE above (seq) AS (
      SELECT parent FROM tasks WHERE seq = ?1 AND parent IS NOT NULL
      UNION SELECT t.parent FROM above a JOIN tasks t ON t.seq = a.seq WHERE t.parent IS NOT NULL
    ) SELECT seq FROM above`;
  return all<{ seq: number }>(db, sql, task).map(({ seq }) => seq);
}

/** The position of a sub-task's role in the workflow, by its title: 0 builds, later ones review, -1 matches no role. */
export function roleRank(title: string): number {
  const role = roleOfPart({ title, parentId: "" });
  return role ? DEVELOPMENT.roles.indexOf(role) : -1;
}

// Review order as dependencies. Among the sub-tasks of one task, "Code quality review" waits for "Spec review", and both wait for
// "Implement …", following the order of roles in the workflow. These are real dependencies, so the queue, claims and lists need no
// special rule. A project with another order can remove one with `task dep --rm`.

/** After a sub-task was created, renamed or moved. `before`: its previous state. */
export function orderReviews(
  db: DatabaseSync,
  seq: number,
  by: Actor,
  before?: { title: string; parent: number | null },
): void {
  const part = one<Part>(db, `${PART} WHERE seq = ?`, seq);
  if (!part) return;
  if (before?.title === part.title && before.parent === part.parent) return;
  const wanted = pairsOf(db, part);
  if (before) {
    for (const { later, earlier } of pairsOf(db, { ...part, ...before })) {
      const isWanted = wanted.some((pair) => pair.later.seq === later.seq && pair.earlier.seq === earlier.seq);
      if (!isWanted) removeDependency(db, { taskId: later.id, dependsOnId: earlier.id }, by);
    }
  }
  for (const { later, earlier } of wanted) {
    // A cycle is refused: somebody has chosen another order.
    if (typeOf(db, later.seq, earlier.seq) === undefined && !isSettled(later.status))
      addDependency(db, { taskId: later.id, dependsOnId: earlier.id, type: "blocks" }, by);
  }
}

const PART = "SELECT seq, id, title, parent, status FROM tasks";

/** Pairs the sub-task with each sibling of another role. */
function pairsOf(db: DatabaseSync, part: Part): { later: Part; earlier: Part }[] {
  const rank = part.parent === null ? -1 : roleRank(part.title);
  if (rank < 0) return [];
  const sql = `${PART} WHERE parent = ? AND seq <> ? AND status <> 'archived' ORDER BY seq`;
  return all<Part>(db, sql, part.parent, part.seq).flatMap((sibling) => {
    const other = roleRank(sibling.title);
    if (other < 0 || other === rank) return [];
    return [other < rank ? { later: part, earlier: sibling } : { later: sibling, earlier: part }];
  });
}
