// Made from store/sqlite/work/dependencies.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/** Dependencies between tasks. A cycle is refused and shown: its tasks would never become ready. */

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
import type { Connection } from "../connection.ts";
import { mapEach } from "../each.ts";
import { findTask } from "./ids.ts";
import { followParts, moveDependency } from "./queue.ts";
import { all, brief, note, one, run, WAITING } from "./rows.ts";

export async function addDependency(
  db: Connection,
  { taskId, dependsOnId, type }: Dependency,
  by: Actor,
): Promise<DependencyOutcome> {
  checkWord("dependency_type", type, DEPENDENCY_TYPES);
  const task = await findTask(db, taskId);
  const target = await findTask(db, dependsOnId);
  const dependency: Dependency = { taskId: task.id, dependsOnId: target.id, type };
  if (task.seq === target.seq && type === "relates_to") throw invalid("a task cannot relate to itself");
  const before = await typeOf(db, task.seq, target.seq);
  if (before === type) return { kind: "unchanged", dependency };
  if (isWaiting(type)) {
    const path = await pathBetween(db, target.seq, task.seq);
    if (path) return { kind: "cycle", path: await mapEach([task.seq, ...path], async (seq) => await briefOf(db, seq)) };
  }
  const sql =
    "INSERT INTO dependencies VALUES (?, ?, ?, ?) ON CONFLICT (task, depends_on) DO UPDATE SET type = excluded.type";
  await run(db, sql, task.seq, target.seq, type, by.at.toISOString());
  const waited = before !== undefined && isWaiting(before);
  if (isWaiting(type) !== waited) {
    await moveDependency(db, task.seq, target.seq, waited ? -1 : 1);
    await followParts(db, await tasksAbove(db, task.seq));
  }
  const text = isWaiting(type) ? `waits for ${target.id} (${type})` : `relates to ${target.id}`;
  await note(db, by, "dependency-added", task.id, text);
  return { kind: "added", dependency };
}

async function typeOf(db: Connection, task: number, dependsOn: number): Promise<DependencyType | undefined> {
  const sql = "SELECT type FROM dependencies WHERE task = ? AND depends_on = ?";
  return (await one<{ type: DependencyType }>(db, sql, task, dependsOn))?.type;
}

export async function removeDependency(
  db: Connection,
  { taskId, dependsOnId }: Omit<Dependency, "type">,
  by: Actor,
): Promise<boolean> {
  const task = await findTask(db, taskId);
  const target = await findTask(db, dependsOnId);
  const before = await typeOf(db, task.seq, target.seq);
  if (before === undefined) return false;
  if (isWaiting(before)) await moveDependency(db, task.seq, target.seq, -1);
  await run(db, "DELETE FROM dependencies WHERE task = ? AND depends_on = ?", task.seq, target.seq);
  if (isWaiting(before)) await followParts(db, await tasksAbove(db, task.seq));
  const text = isWaiting(before) ? `no longer waits for ${target.id}` : `no longer relates to ${target.id}`;
  await note(db, by, "dependency-removed", task.id, text);
  return true;
}

export async function listDependencies(db: Connection, taskId: string): Promise<DependencyList> {
  const { seq } = await findTask(db, taskId);
  const read = async (of: string, other: string): Promise<DependencyList["dependsOn"]> => {
    const sql = `SELECT t.id, t.title, t.status, d.type FROM dependencies d JOIN tasks t ON t.seq = d.${other} WHERE d.${of} = ? ORDER BY t.seq`;
    return (await all<DependencyList["dependsOn"][number]>(db, sql, seq)).map((row) => ({ ...row }));
  };
  return { dependsOn: await read("task", "depends_on"), neededBy: await read("depends_on", "task") };
}

function isWaiting(type: DependencyType): boolean {
  return type !== "relates_to";
}

/** The shortest path (breadth first) from one task to another along its dependencies, including both ends. */
async function pathBetween(db: Connection, from: number, to: number): Promise<number[] | undefined> {
  const cameFrom = new Map<number, number | undefined>([[from, undefined]]);
  for (const seq of cameFrom.keys()) {
    if (seq === to) {
      const path: number[] = [];
      for (let at: number | undefined = seq; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
      return path;
    }
    const next = await all<{ depends_on: number }>(
      db,
      `SELECT depends_on FROM dependencies WHERE task = ? AND type IN ${WAITING}`,
      seq,
    );
    for (const { depends_on } of next) if (!cameFrom.has(depends_on)) cameFrom.set(depends_on, seq);
  }
  return undefined;
}

async function briefOf(db: Connection, seq: number): Promise<TaskBrief> {
  return brief((await one<TaskBrief>(db, "SELECT id, title, status FROM tasks WHERE seq = ?", seq)) as TaskBrief);
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
export async function isWorkedOnInParts(db: Connection, task: number): Promise<boolean> {
  const parts = await all<Part>(db, BELOW, task);
  const open = parts.filter(({ status }) => !isSettled(status));
  if (open.length === 0) return false;
  const own = parts.filter(({ parent, status }) => parent === task && status !== "archived");
  if (own.length > 0 && own.every((part) => roleRank(part.title) > 0)) return false;
  const later = await waitersAmong(db, task, new Set(open.map(({ seq }) => seq)));
  return open.some(({ seq }) => !later.has(seq));
}

const BELOW = `WITH RECURSIVE below (seq) AS (
  SELECT seq FROM tasks WHERE parent = ? UNION SELECT t.seq FROM below b JOIN tasks t ON t.parent = b.seq
) SELECT t.seq, t.id, t.parent, t.title, t.status FROM below b JOIN tasks t ON t.seq = b.seq`;

/** The candidates that wait for the task, directly or through each other. */
async function waitersAmong(db: Connection, task: number, candidates: ReadonlySet<number>): Promise<Set<number>> {
  const found = new Set<number>();
  const queue = [task];
  for (const seq of queue) {
    const sql = `SELECT task FROM dependencies WHERE depends_on = ? AND type IN ${WAITING}`;
    for (const waiter of await all<{ task: number }>(db, sql, seq)) {
      if (!candidates.has(waiter.task) || found.has(waiter.task)) continue;
      found.add(waiter.task);
      queue.push(waiter.task);
    }
  }
  return found;
}

/** The tasks above it, from its parent upwards. */
export async function tasksAbove(db: Connection, task: number): Promise<number[]> {
  const sql = `WITH RECURSIVE above (seq) AS (
      SELECT parent FROM tasks WHERE seq = ?1 AND parent IS NOT NULL
      UNION SELECT t.parent FROM above a JOIN tasks t ON t.seq = a.seq WHERE t.parent IS NOT NULL
    ) SELECT seq FROM above`;
  return (await all<{ seq: number }>(db, sql, task)).map(({ seq }) => seq);
}

/** The position of a sub-task's role in the workflow, by its title: 0 builds, later ones review, -1 matches no role. */
function roleRank(title: string): number {
  const role = roleOfPart({ id: "", title, status: "todo", parentId: "" }, DEVELOPMENT.roles);
  return role ? DEVELOPMENT.roles.indexOf(role) : -1;
}

// Review order as dependencies. Among the sub-tasks of one task, "Code quality review" waits for "Spec review", and both wait for
// "Implement …", following the order of roles in the workflow. These are real dependencies, so the queue, claims and lists need no
// special rule. A project with another order can remove one with `task dep --rm`.

/** After a sub-task was created, renamed or moved. `before`: its previous state. */
export async function orderReviews(
  db: Connection,
  seq: number,
  by: Actor,
  before?: { title: string; parent: number | null },
): Promise<void> {
  const part = await one<Part>(db, `${PART} WHERE seq = ?`, seq);
  if (!part) return;
  if (before?.title === part.title && before.parent === part.parent) return;
  const wanted = await pairsOf(db, part);
  if (before) {
    for (const { later, earlier } of await pairsOf(db, { ...part, ...before })) {
      const isWanted = wanted.some((pair) => pair.later.seq === later.seq && pair.earlier.seq === earlier.seq);
      if (!isWanted) await removeDependency(db, { taskId: later.id, dependsOnId: earlier.id }, by);
    }
  }
  for (const { later, earlier } of wanted) {
    // A cycle is refused: somebody has chosen another order.
    if ((await typeOf(db, later.seq, earlier.seq)) === undefined && !isSettled(later.status))
      await addDependency(db, { taskId: later.id, dependsOnId: earlier.id, type: "blocks" }, by);
  }
}

const PART = "SELECT seq, id, title, parent, status FROM tasks";

/** Pairs the sub-task with each sibling of another role. */
async function pairsOf(db: Connection, part: Part): Promise<{ later: Part; earlier: Part }[]> {
  const rank = part.parent === null ? -1 : roleRank(part.title);
  if (rank < 0) return [];
  const sql = `${PART} WHERE parent = ? AND seq <> ? AND status <> 'archived' ORDER BY seq`;
  return (await all<Part>(db, sql, part.parent, part.seq)).flatMap((sibling) => {
    const other = roleRank(sibling.title);
    if (other < 0 || other === rank) return [];
    return [other < rank ? { later: part, earlier: sibling } : { later: sibling, earlier: part }];
  });
}
