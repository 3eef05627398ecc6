/**
 * The queue: one row per open task (neither done nor archived), always equal to the result of `computeQueue`. Every change of a task, a
 * dependency or an epic's priority goes through here, in the same transaction. Counters are adjusted, not recounted: closing a task
 * that 100,000 others wait for changes their rows once.
 */

import type { DatabaseSync } from "node:sqlite";
import { checkCount, invalid } from "../../../work/clean-input.ts";
import {
  DEPENDENT_POINTS,
  EPIC_POINTS,
  isSettled,
  MOST_DEPENDENTS,
  MS_PER_POINT,
  NO_EPIC_RANK,
  orderKey,
  scoreAt,
  type TaskBrief,
  type TaskStatus,
} from "../../../work/task.ts";
import {
  type Actor,
  COUNTED_READY,
  type GivenBatch,
  type NextQuery,
  type NextTasks,
  type Scope,
} from "../../work-store.ts";
import { isWorkedOnInParts, tasksAbove } from "./dependencies.ts";
import { lastVerdict } from "./handoffs.ts";
import { findSeq, findStory } from "./ids.ts";
import { all, insert, one, run, TASK_COLUMNS, type TaskRow, toTasks, value, WAITING } from "./rows.ts";

/** After the task's status changed in `tasks`. */
export function moveInQueue(db: DatabaseSync, seq: number, from: TaskStatus | undefined, to: TaskStatus): void {
  const wasOpen = from !== undefined && !isSettled(from);
  const isOpen = !isSettled(to);
  if (isOpen && !wasOpen) enter(db, seq);
  else if (wasOpen && !isOpen) leave(db, seq);
  else if (isOpen) markInQueue(db, seq, to);
  followParts(db, tasksAbove(db, seq));
}

/**
 * After a sub-task was added, removed or renamed, or changed its status or dependencies: the tasks above it may become ready, or stop
 * being ready. `waits_for` is one higher for a task that is worked on through its sub-tasks.
 */
export function followParts(db: DatabaseSync, above: readonly number[]): void {
  const sql = "UPDATE queue SET waits_for = ?1, is_ready = (is_todo AND ?1 = 0) WHERE task = ?2 AND waits_for <> ?1";
  for (const seq of above) run(db, sql, countWaits(db, seq), seq);
}

/** Like `moveInQueue`, for a task that was open and stays open. */
export function markInQueue(db: DatabaseSync, seq: number, to: TaskStatus): void {
  const isTodo = to === "todo" ? 1 : 0;
  run(db, "UPDATE queue SET is_todo = ?, is_ready = (? AND waits_for = 0) WHERE task = ?", isTodo, isTodo, seq);
}

function enter(db: DatabaseSync, seq: number): void {
  run(db, `UPDATE queue SET waits_for = waits_for + 1, is_ready = 0 WHERE task IN (${WAITERS})`, seq);
  shiftDependents(db, seq, 1);
  enqueue(db, seq);
}

function leave(db: DatabaseSync, seq: number): void {
  const sql = `UPDATE queue SET waits_for = waits_for - 1, is_ready = (is_todo AND waits_for = 1) WHERE task IN (${WAITERS})`;
  run(db, sql, seq);
  shiftDependents(db, seq, -1);
  run(db, "DELETE FROM queue WHERE task = ?", seq);
}

const WAITERS = `SELECT task FROM dependencies WHERE depends_on = ? AND type IN ${WAITING}`;

function shiftDependents(db: DatabaseSync, seq: number, by: 1 | -1): void {
  const needed = `SELECT depends_on FROM dependencies WHERE task = ?2 AND type IN ${WAITING}`;
  run(db, `UPDATE queue SET ${SHIFT} WHERE task IN (${needed})`, by, seq);
}

const SHIFT = `order_key = order_key + ${DEPENDENT_POINTS * MS_PER_POINT} * (min(dependents + ?1, ${MOST_DEPENDENTS}) - min(dependents, ${MOST_DEPENDENTS})), dependents = dependents + ?1`;

/** A blocking dependency was added or removed. */
export function moveDependency(db: DatabaseSync, task: number, dependsOn: number, by: 1 | -1): void {
  const isOpen = (seq: number) => one(db, "SELECT 1 FROM queue WHERE task = ?", seq) !== undefined;
  const sql =
    "UPDATE queue SET waits_for = waits_for + ?1, is_ready = (is_todo AND waits_for + ?1 = 0) WHERE task = ?2";
  if (isOpen(dependsOn)) run(db, sql, by, task);
  if (isOpen(task)) run(db, `UPDATE queue SET ${SHIFT} WHERE task = ?2`, by, dependsOn);
}

/** After the task's priority, story or epic changed in `tasks`. */
export function requeue(db: DatabaseSync, seq: number): void {
  if (run(db, "DELETE FROM queue WHERE task = ?", seq) > 0) enqueue(db, seq);
}

/** After an epic's priority changed from `before`, as numbers. */
export function shiftEpic(db: DatabaseSync, epic: number, before: number, after: number): void {
  const points = EPIC_POINTS * (before - after) * MS_PER_POINT;
  run(db, "UPDATE queue SET order_key = order_key + ? WHERE epic = ?", points, epic);
}

/** Rebuilds the queue from scratch, after an import. */
export function rebuildQueue(db: DatabaseSync): void {
  db.exec("DELETE FROM queue");
  for (const row of computeQueue(db)) run(db, INSERT, ...row);
}

const INSERT = "INSERT INTO queue VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

type QueueRow = ReturnType<typeof toQueueRow>;

function enqueue(db: DatabaseSync, seq: number): void {
  const task = one<OpenTask>(db, `SELECT ${OPEN_TASK} WHERE t.seq = ?`, seq);
  if (!task) return;
  const sql = `SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.task WHERE d.depends_on = ? AND d.type IN ${WAITING}`;
  run(db, INSERT, ...toQueueRow(task, countWaits(db, seq), value(db, sql, seq)));
}

/** The correct queue, computed only from the tasks and their dependencies. */
export function computeQueue(db: DatabaseSync): QueueRow[] {
  const open = all<OpenTask>(db, `SELECT ${OPEN_TASK} WHERE t.status NOT IN ('done', 'archived') ORDER BY t.seq`);
  const isOpen = new Set(open.map(({ seq }) => seq));
  const waitsFor = new Map<number, number>();
  const dependents = new Map<number, number>();
  const count = (counts: Map<number, number>, seq: number) => counts.set(seq, (counts.get(seq) ?? 0) + 1);
  const edges = `SELECT task, depends_on FROM dependencies WHERE type IN ${WAITING}`;
  for (const { task, depends_on } of all<{ task: number; depends_on: number }>(db, edges)) {
    if (!isOpen.has(task) || !isOpen.has(depends_on)) continue;
    count(waitsFor, task);
    count(dependents, depends_on);
  }
  const parents = all<{ parent: number }>(db, "SELECT DISTINCT parent FROM tasks WHERE parent IS NOT NULL");
  for (const { parent } of parents) {
    if (isOpen.has(parent) && isWorkedOnInParts(db, parent)) count(waitsFor, parent);
  }
  return open.map((task) => toQueueRow(task, waitsFor.get(task.seq) ?? 0, dependents.get(task.seq) ?? 0));
}

interface OpenTask {
  seq: number;
  epic: number | null;
  story: number | null;
  status: TaskStatus;
  priority: number;
  epic_priority: number | null;
  created_at: string;
}

const OPEN_TASK =
  "t.seq, t.epic, t.story, t.status, t.priority, t.created_at, e.priority AS epic_priority FROM tasks t LEFT JOIN epics e ON e.seq = t.epic";

function countWaits(db: DatabaseSync, seq: number): number {
  const sql = `SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.depends_on WHERE d.task = ? AND d.type IN ${WAITING}`;
  return value(db, sql, seq) + (isWorkedOnInParts(db, seq) ? 1 : 0);
}

/** Values in the order of the table's columns. */
function toQueueRow(task: OpenTask, waitsFor: number, dependents: number) {
  const { seq, epic, story, status, priority, epic_priority, created_at } = task;
  const key = orderKey({
    epicRank: epic_priority ?? NO_EPIC_RANK,
    taskRank: priority,
    dependents,
    createdAtMs: Date.parse(created_at),
  });
  const isTodo = status === "todo" ? 1 : 0;
  return [seq, epic, story, key, waitsFor, dependents, isTodo, waitsFor === 0 ? isTodo : 0] as const;
}

// The next ready tasks, read from indexes that contain only ready tasks.

export function nextTasks(db: DatabaseSync, { limit, at, ...scope }: NextQuery): NextTasks {
  checkCount("limit", limit);
  const { where, values } = scoped(db, scope);
  // The limit is in the subquery, so the joins only see the requested number of rows.
  const sql = `SELECT n.order_key, ${TASK_COLUMNS} JOIN (
      SELECT task, order_key FROM queue q WHERE ${where} ORDER BY q.order_key DESC, q.task LIMIT ?
    ) n ON n.task = t.seq ORDER BY n.order_key DESC, n.task`;
  const rows = all<TaskRow & { order_key: number }>(db, sql, ...values, limit);
  const count = `SELECT count(*) FROM (SELECT 1 FROM queue q WHERE ${where} LIMIT ${COUNTED_READY}) AS counted`;
  const ready = rows.length < limit ? rows.length : value(db, count, ...values);
  const tasks = toTasks(
    db,
    rows.map(({ order_key: _, ...row }) => row),
  );
  return { tasks: tasks.map((task, index) => ({ ...task, score: scoreAt(rows[index]?.order_key ?? 0, at) })), ready };
}

export function firstReady(db: DatabaseSync, scope: Scope): string | undefined {
  const { where, values } = scoped(db, scope);
  const sql = `SELECT t.id FROM queue q JOIN tasks t ON t.seq = q.task WHERE ${where} ORDER BY q.order_key DESC, q.task LIMIT 1`;
  return one<{ id: string }>(db, sql, ...values)?.id;
}

export function filesInProgress(db: DatabaseSync, { epicId, storyId }: Scope): string[] {
  // CROSS keeps the table order. Without it, SQLite reads every file of every task (20 ms at 100,000 tasks).
  const sql = `SELECT DISTINCT f.path FROM claims c CROSS JOIN task_files f ON f.task = c.task JOIN tasks t ON t.seq = c.task
    WHERE (?1 IS NULL OR t.story = ?1) AND (?2 IS NULL OR t.epic = ?2) ORDER BY f.path`;
  const story = storyId === undefined ? null : findSeq(db, "story", storyId);
  const epic = epicId === undefined ? null : findSeq(db, "epic", epicId);
  return all<{ path: string }>(db, sql, story, epic).map(({ path }) => path);
}

function scoped(db: DatabaseSync, { epicId, storyId }: Scope): { where: string; values: number[] } {
  if (storyId !== undefined) {
    const story = findStory(db, storyId);
    if (epicId !== undefined && story.epic !== findSeq(db, "epic", epicId)) {
      throw invalid(`story_id ${story.id} is not a story of epic ${epicId}`);
    }
    return { where: "q.is_ready = 1 AND q.story = ?", values: [story.seq] };
  }
  if (epicId !== undefined) return { where: "q.is_ready = 1 AND q.epic = ?", values: [findSeq(db, "epic", epicId)] };
  return { where: "q.is_ready = 1", values: [] };
}

// Batches of tasks that were given out, each with its recipient.

export function lastBatch(db: DatabaseSync, receiver: string): GivenBatch | undefined {
  const sql = "SELECT size, at, tasks FROM batches WHERE session_id = ? ORDER BY id DESC LIMIT 1";
  const row = one<{ size: number; at: string; tasks: string }>(db, sql, receiver);
  if (!row) return undefined;
  const given = "SELECT seq, id, title, status FROM tasks WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq";
  const tasks = all<TaskBrief & { seq: number }>(db, given, row.tasks).map(({ seq, ...task }) => {
    const verdict = lastVerdict(db, seq);
    return { ...task, ...(verdict && { lastVerdict: verdict }) };
  });
  return { size: row.size, at: new Date(row.at), tasks };
}

export function recordBatch(
  db: DatabaseSync,
  { receiver, size, taskIds }: { receiver: string; size: number; taskIds: readonly string[] },
  by: Actor,
): void {
  checkCount("batch_size", size);
  insert(db, "batches", { session_id: receiver, at: by.at.toISOString(), size, tasks: JSON.stringify(taskIds) });
}
