/**
 * The queue: one row per open task (neither done nor archived), always as `computeQueue` would make it. Every change of a
 * task, a dependency or an epic's priority goes through here, in the transaction that makes it. Counters are moved, not
 * counted again: closing a task that 100,000 others wait for changes their rows once.
 */
import type { DatabaseSync } from "node:sqlite";
import { checkCount, invalid } from "../../../work/clean-input.ts";
import {
  DEPENDENT_POINTS,
  EPIC_POINTS,
  MOST_DEPENDENTS,
  MS_PER_POINT,
  NO_EPIC_RANK,
  orderKey,
  scoreAt,
} from "../../../work/queue-order.ts";
import { isSettled, type TaskStatus } from "../../../work/task.ts";
import { COUNTED_READY, type NextQuery, type NextTasks, type Scope } from "../../work-store.ts";
import { findSeq, findStory } from "./ids.ts";
import { isWorkedOnInParts, tasksAbove, WAITING } from "./parts.ts";
import { all, one, run, statement, TASK_COLUMNS, type TaskRow, toTasks, value } from "./rows.ts";

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
 * After a sub-task came, went, was renamed, or changed its status or what it waits for: the tasks above it may be ready, or no longer.
 * `waits_for` counts one more for a task that is worked on through its sub-tasks.
 */
export function followParts(db: DatabaseSync, above: readonly number[]): void {
  for (const seq of above) {
    const waits = countWaits(db, seq);
    run(
      db,
      "UPDATE queue SET waits_for = ?1, is_ready = (is_todo AND ?1 = 0) WHERE task = ?2 AND waits_for <> ?1",
      waits,
      seq,
    );
  }
}

/** The same for one that was open and stays so. */
export function markInQueue(db: DatabaseSync, seq: number, to: TaskStatus): void {
  const isTodo = to === "todo" ? 1 : 0;
  run(db, "UPDATE queue SET is_todo = ?, is_ready = (? AND waits_for = 0) WHERE task = ?", isTodo, isTodo, seq);
}

function enter(db: DatabaseSync, seq: number): void {
  run(db, `UPDATE queue SET waits_for = waits_for + 1, is_ready = 0 WHERE task IN (${WAITERS})`, seq);
  shiftDependents(db, seq, 1);
  insert(db, seq);
}

function leave(db: DatabaseSync, seq: number): void {
  run(
    db,
    `UPDATE queue SET waits_for = waits_for - 1, is_ready = (is_todo AND waits_for = 1) WHERE task IN (${WAITERS})`,
    seq,
  );
  shiftDependents(db, seq, -1);
  run(db, "DELETE FROM queue WHERE task = ?", seq);
}

const WAITERS = `SELECT task FROM dependencies WHERE depends_on = ? AND type IN ${WAITING}`;

function shiftDependents(db: DatabaseSync, seq: number, by: 1 | -1): void {
  run(
    db,
    `UPDATE queue SET ${SHIFT} WHERE task IN (SELECT depends_on FROM dependencies WHERE task = ? AND type IN ${WAITING})`,
    by,
    by,
    seq,
  );
}

const SHIFT = `order_key = order_key + ${DEPENDENT_POINTS * MS_PER_POINT} * (min(dependents + ?, ${MOST_DEPENDENTS}) - min(dependents, ${MOST_DEPENDENTS})), dependents = dependents + ?`;

/** A waiting dependency came or went. */
export function moveDependency(db: DatabaseSync, task: number, dependsOn: number, by: 1 | -1): void {
  const isOpen = (seq: number) => one(db, "SELECT 1 FROM queue WHERE task = ?", seq) !== undefined;
  if (isOpen(dependsOn)) {
    run(
      db,
      "UPDATE queue SET waits_for = waits_for + ?, is_ready = (is_todo AND waits_for + ? = 0) WHERE task = ?",
      by,
      by,
      task,
    );
  }
  if (isOpen(task)) run(db, `UPDATE queue SET ${SHIFT} WHERE task = ?`, by, by, dependsOn);
}

/** After the task's priority, story or epic changed in `tasks`. */
export function requeue(db: DatabaseSync, seq: number): void {
  if (run(db, "DELETE FROM queue WHERE task = ?", seq) > 0) insert(db, seq);
}

/** After an epic's priority changed from `before`, as numbers. */
export function shiftEpic(db: DatabaseSync, epic: number, before: number, after: number): void {
  const points = EPIC_POINTS * (before - after) * MS_PER_POINT;
  run(db, "UPDATE queue SET order_key = order_key + ? WHERE epic = ?", points, epic);
}

/** All from scratch: after an import. */
export function rebuildQueue(db: DatabaseSync): void {
  db.exec("DELETE FROM queue");
  const insertRow = statement(db, INSERT);
  for (const row of computeQueue(db)) insertRow.run(...row);
}

type QueueRow = [
  task: number,
  epic: number | null,
  story: number | null,
  key: number,
  waitsFor: number,
  dependents: number,
  isTodo: number,
  isReady: number,
];

/** What the queue must be, from the tasks and their dependencies alone. */
export function computeQueue(db: DatabaseSync): QueueRow[] {
  const open = all<OpenTask>(db, `SELECT ${OPEN_TASK} WHERE t.status NOT IN ('done', 'archived') ORDER BY t.seq`);
  const isOpen = new Set(open.map(({ seq }) => seq));
  const waitsFor = new Map<number, number>();
  const dependents = new Map<number, number>();
  const edges = all<{ task: number; depends_on: number }>(
    db,
    `SELECT task, depends_on FROM dependencies WHERE type IN ${WAITING}`,
  );
  for (const { task, depends_on } of edges) {
    if (!isOpen.has(task) || !isOpen.has(depends_on)) continue;
    waitsFor.set(task, (waitsFor.get(task) ?? 0) + 1);
    dependents.set(depends_on, (dependents.get(depends_on) ?? 0) + 1);
  }
  const parents = all<{ parent: number }>(db, "SELECT DISTINCT parent FROM tasks WHERE parent IS NOT NULL");
  for (const { parent } of parents) {
    if (isOpen.has(parent) && isWorkedOnInParts(db, parent)) waitsFor.set(parent, (waitsFor.get(parent) ?? 0) + 1);
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

const INSERT = "INSERT INTO queue VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

function insert(db: DatabaseSync, seq: number): void {
  const task = one<OpenTask>(db, `SELECT ${OPEN_TASK} WHERE t.seq = ?`, seq);
  if (!task) return;
  const dependents = value(
    db,
    `SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.task WHERE d.depends_on = ? AND d.type IN ${WAITING}`,
    seq,
  );
  statement(db, INSERT).run(...toQueueRow(task, countWaits(db, seq), dependents));
}

function countWaits(db: DatabaseSync, seq: number): number {
  const open = value(
    db,
    `SELECT count(*) FROM dependencies d JOIN queue q ON q.task = d.depends_on WHERE d.task = ? AND d.type IN ${WAITING}`,
    seq,
  );
  return open + (isWorkedOnInParts(db, seq) ? 1 : 0);
}

function toQueueRow(
  { seq, epic, story, status, priority, epic_priority, created_at }: OpenTask,
  waitsFor: number,
  dependents: number,
): QueueRow {
  const key = orderKey({
    epicRank: epic_priority ?? NO_EPIC_RANK,
    taskRank: priority,
    dependents,
    createdAtMs: Date.parse(created_at),
  });
  const isTodo = status === "todo" ? 1 : 0;
  return [seq, epic, story, key, waitsFor, dependents, isTodo, isTodo && waitsFor === 0 ? 1 : 0];
}

// The next ready tasks, read from the indexes that hold nothing else.

export function nextTasks(db: DatabaseSync, { limit, at, ...scope }: NextQuery): NextTasks {
  checkCount("limit", limit);
  const { where, values } = scoped(db, scope);
  const rows = all<TaskRow & { order_key: number }>(
    db,
    // The limit stands inside: the joins see only as many rows as are asked for.
    `SELECT n.order_key, ${TASK_COLUMNS} JOIN (SELECT task, order_key FROM queue q WHERE ${where} ORDER BY q.order_key DESC, q.task LIMIT ?) n ON n.task = t.seq ORDER BY n.order_key DESC, n.task`,
    ...values,
    limit,
  );
  const ready =
    rows.length < limit
      ? rows.length
      : value(db, `SELECT count(*) FROM (SELECT 1 FROM queue q WHERE ${where} LIMIT ${COUNTED_READY})`, ...values);
  const tasks = toTasks(db, rows);
  return { tasks: tasks.map((task, index) => ({ ...task, score: scoreAt(rows[index]?.order_key ?? 0, at) })), ready };
}

/** The first one's id. */
export function firstReady(db: DatabaseSync, scope: Scope): string | undefined {
  const { where, values } = scoped(db, scope);
  return one<{ id: string }>(
    db,
    `SELECT t.id FROM queue q JOIN tasks t ON t.seq = q.task WHERE ${where} ORDER BY q.order_key DESC, q.task LIMIT 1`,
    ...values,
  )?.id;
}

export function filesInProgress(db: DatabaseSync, scope: Scope): string[] {
  const { epicId, storyId } = scope;
  const rows = all<{ path: string }>(
    db,
    // CROSS keeps the order of the tables: without it every file of every task is looked at (20 ms at 100,000 tasks).
    "SELECT DISTINCT f.path FROM claims c CROSS JOIN task_files f ON f.task = c.task JOIN tasks t ON t.seq = c.task WHERE (?1 IS NULL OR t.story = ?1) AND (?2 IS NULL OR t.epic = ?2) ORDER BY f.path",
    storyId === undefined ? null : findSeq(db, "story", storyId),
    epicId === undefined ? null : findSeq(db, "epic", epicId),
  );
  return rows.map(({ path }) => path);
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
