/** Dependencies between tasks. A cycle is refused and shown: tasks that wait for one another would never be ready. */
import type { DatabaseSync } from "node:sqlite";
import { checkWord, invalid } from "../../../work/clean-input.ts";
import { DEPENDENCY_TYPES, type Dependency, type DependencyType, type TaskBrief } from "../../../work/task.ts";
import type { Actor, DependencyList, DependencyOutcome } from "../../work-store.ts";
import { note } from "./activity.ts";
import { findTask } from "./ids.ts";
import { tasksAbove, WAITING } from "./parts.ts";
import { followParts, moveDependency } from "./queue.ts";
import { all, brief, one, run } from "./rows.ts";

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
  const before = one<{ type: DependencyType }>(
    db,
    "SELECT type FROM dependencies WHERE task = ? AND depends_on = ?",
    task.seq,
    target.seq,
  )?.type;
  if (before === type) return { kind: "unchanged", dependency };
  if (isWaiting(type)) {
    const path = pathBetween(db, target.seq, task.seq);
    if (path) return { kind: "cycle", path: [task.seq, ...path].map((seq) => briefOf(db, seq)) };
  }
  run(
    db,
    "INSERT INTO dependencies VALUES (?, ?, ?, ?) ON CONFLICT (task, depends_on) DO UPDATE SET type = excluded.type",
    task.seq,
    target.seq,
    type,
    by.at.toISOString(),
  );
  const waited = before !== undefined && isWaiting(before);
  if (isWaiting(type) !== waited) {
    moveDependency(db, task.seq, target.seq, waited ? -1 : 1);
    followParts(db, tasksAbove(db, task.seq));
  }
  note(
    db,
    by,
    "dependency-added",
    task.id,
    isWaiting(type) ? `waits for ${target.id} (${type})` : `relates to ${target.id}`,
  );
  return { kind: "added", dependency };
}

export function removeDependency(
  db: DatabaseSync,
  { taskId, dependsOnId }: Omit<Dependency, "type">,
  by: Actor,
): boolean {
  const task = findTask(db, taskId);
  const target = findTask(db, dependsOnId);
  const before = one<{ type: DependencyType }>(
    db,
    "SELECT type FROM dependencies WHERE task = ? AND depends_on = ?",
    task.seq,
    target.seq,
  )?.type;
  if (before === undefined) return false;
  if (isWaiting(before)) moveDependency(db, task.seq, target.seq, -1);
  run(db, "DELETE FROM dependencies WHERE task = ? AND depends_on = ?", task.seq, target.seq);
  if (isWaiting(before)) followParts(db, tasksAbove(db, task.seq));
  note(
    db,
    by,
    "dependency-removed",
    task.id,
    isWaiting(before) ? `no longer waits for ${target.id}` : `no longer relates to ${target.id}`,
  );
  return true;
}

export function listDependencies(db: DatabaseSync, taskId: string): DependencyList {
  const { seq } = findTask(db, taskId);
  const read = (sql: string) => all<TaskBrief & { type: DependencyType }>(db, sql, seq).map((row) => ({ ...row }));
  return {
    dependsOn: read(
      "SELECT t.id, t.title, t.status, d.type FROM dependencies d JOIN tasks t ON t.seq = d.depends_on WHERE d.task = ? ORDER BY t.seq",
    ),
    neededBy: read(
      "SELECT t.id, t.title, t.status, d.type FROM dependencies d JOIN tasks t ON t.seq = d.task WHERE d.depends_on = ? ORDER BY t.seq",
    ),
  };
}

export function isWaiting(type: DependencyType): boolean {
  return type !== "relates_to";
}

/** From one task to another over what each waits for, both ends included; breadth first, so the shortest. */
export function pathBetween(db: DatabaseSync, from: number, to: number): number[] | undefined {
  const cameFrom = new Map<number, number | undefined>([[from, undefined]]);
  for (const seq of cameFrom.keys()) {
    if (seq === to) {
      const path: number[] = [];
      for (let at: number | undefined = seq; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
      return path;
    }
    const next = all<{ depends_on: number }>(
      db,
      `SELECT depends_on FROM dependencies WHERE task = ? AND type IN ${WAITING}`,
      seq,
    );
    for (const { depends_on } of next) if (!cameFrom.has(depends_on)) cameFrom.set(depends_on, seq);
  }
  return undefined;
}

function briefOf(db: DatabaseSync, seq: number): TaskBrief {
  return brief(one<TaskBrief>(db, "SELECT id, title, status FROM tasks WHERE seq = ?", seq) as TaskBrief);
}
