/** Creates, changes, reads and lists tasks. */

import type { DatabaseSync } from "node:sqlite";
import { checkCount, checkTitle, checkWord, invalid } from "../../../work/clean-input.ts";
import {
  type Blocker,
  DEFAULT_PRIORITY,
  type Failure,
  PRIORITIES,
  rankOf,
  TASK_STATUSES,
  TASK_TYPES,
  type Task,
  type TaskBrief,
  type TaskDetails,
  type TaskPart,
  type TaskStatus,
} from "../../../work/task.ts";
import type { Wip } from "../../../work/wip/wip.ts";
import type {
  Actor,
  NewTask,
  Page,
  Scope,
  TaskChanges,
  TaskCounts,
  TaskQuery,
  WipHistoryEntry,
  WipMerger,
} from "../../work-store.ts";
import { claimOf, refuseIfHeld, refuseIfLost, waitsFor } from "./claims.ts";
import { addDependency, orderReviews, tasksAbove } from "./dependencies.ts";
import { followTasks } from "./groups.ts";
import { decayCompleted } from "./handoffs.ts";
import { aliasesOf, findSeq, findStory, findTask, freshId, withAlias } from "./ids.ts";
import { followParts, moveInQueue, requeue } from "./queue.ts";
import {
  all,
  brief,
  fromRow,
  insert,
  note,
  one,
  plainColumns,
  type Row,
  run,
  setFields,
  TASK_COLUMNS,
  type TaskRow,
  toTasks,
  toWipChange,
  value,
  WAITING,
  whereGiven,
} from "./rows.ts";

export function createTask(db: DatabaseSync, task: NewTask, by: Actor): Task {
  const title = checkTitle(task.title);
  checkFields(task);
  const parent = task.parentId === undefined ? null : findSeq(db, "task", task.parentId);
  const story = task.storyId === undefined ? groupOf(db, parent) : findStory(db, task.storyId);
  const id = freshId(db, "tasks");
  const now = by.at.toISOString();
  const seq = insert(db, "tasks", {
    id,
    story: story.seq,
    epic: story.epic,
    parent,
    title,
    type: task.type ?? "feature",
    status: "todo",
    priority: rankOf(task.priority ?? DEFAULT_PRIORITY),
    steps: stepsText(task.steps),
    ...plainColumns(task),
    created_at: now,
    updated_at: now,
  });
  setFiles(db, seq, task.files ?? []);
  moveInQueue(db, seq, undefined, "todo");
  for (const dependsOnId of task.dependsOn ?? []) {
    // A new task cannot close a cycle: nothing depends on it yet.
    addDependency(db, { taskId: id, dependsOnId, type: "blocks" }, by);
  }
  orderReviews(db, seq, by);
  followTasks(db, story.seq, now);
  note(db, by, "task-created", id, `created: ${title}`);
  return readTask(db, seq);
}

export function updateTask(db: DatabaseSync, id: string, changes: TaskChanges, by: Actor): Task {
  const before = findTask(db, id);
  refuseIfHeld(db, before, by);
  checkFields(changes);
  const { storyId, parentId, priority, type, title } = changes;
  const parent = parentId === undefined || parentId === null ? parentId : findSeq(db, "task", parentId);
  if (parent) refuseParentCycle(db, before.seq, parent);
  const story = storyAfter(db, before, { storyId, parent });
  const fields = {
    title: title === undefined ? undefined : checkTitle(title),
    type: type === null ? "feature" : type,
    priority: priority === undefined ? undefined : rankOf(priority ?? DEFAULT_PRIORITY),
    ...((storyId !== undefined || story.seq !== before.story) && { story: story.seq, epic: story.epic }),
    parent,
    ...plainColumns(changes),
    steps: changes.steps === undefined ? undefined : stepsText(changes.steps ?? undefined),
  };
  const now = by.at.toISOString();
  const { sql, values } = setFields(fields);
  if (sql) run(db, `UPDATE tasks SET ${sql}, updated_at = ? WHERE seq = ?`, ...values, now, before.seq);
  if (changes.files !== undefined) setFiles(db, before.seq, changes.files ?? []);
  orderReviews(db, before.seq, by, before);
  if (storyId !== undefined || priority !== undefined || story.seq !== before.story) requeue(db, before.seq);
  if (story.seq !== before.story) {
    moveParts(db, { task: before.seq, from: before.story, to: story, at: now });
    // The old story may now be complete.
    decayCompleted(db, followTasks(db, before.story, now), by);
    followTasks(db, story.seq, now);
  }
  if (parent !== undefined && before.parent !== null)
    followParts(db, [before.parent, ...tasksAbove(db, before.parent)]);
  if (parent !== undefined || title !== undefined) followParts(db, tasksAbove(db, before.seq));
  const names = Object.keys(changes).filter((name) => changes[name as keyof TaskChanges] !== undefined);
  if (names.length > 0) note(db, by, "task-updated", before.id, names.join(", "));
  return readTask(db, before.seq);
}

interface InStory {
  seq: number | null;
  epic: number | null;
}

/** A sub-task created without a story joins its parent's story. Otherwise the story could complete without it. */
function groupOf(db: DatabaseSync, parent: number | null): InStory {
  const sql = "SELECT story AS seq, epic FROM tasks WHERE seq = ?";
  return (parent === null ? undefined : one<InStory>(db, sql, parent)) ?? { seq: null, epic: null };
}

function storyAfter(
  db: DatabaseSync,
  before: TaskRow,
  { storyId, parent }: { storyId: string | null | undefined; parent: number | null | undefined },
): InStory {
  if (typeof storyId === "string") return findStory(db, storyId);
  const stays = { seq: before.story, epic: before.epic };
  if (storyId === null) return groupOf(db, parent === undefined ? before.parent : parent);
  if (!parent || parent === before.parent) return stays;
  const above = groupOf(db, parent);
  return above.seq === null ? stays : above;
}

/** When a task moves to another story, its sub-tasks in the same story move with it. */
function moveParts(
  db: DatabaseSync,
  { task, from, to, at }: { task: number; from: number | null; to: InStory; at: string },
): void {
  const sql = `WITH RECURSIVE moving (seq) AS (
      SELECT CAST(?1 AS BIGINT) UNION SELECT t.seq FROM moving m JOIN tasks t ON t.parent = m.seq WHERE t.story IS NOT DISTINCT FROM ?2
    ) SELECT seq FROM moving WHERE seq <> ?1`;
  for (const { seq } of all<{ seq: number }>(db, sql, task, from)) {
    run(db, "UPDATE tasks SET story = ?, epic = ?, updated_at = ? WHERE seq = ?", to.seq, to.epic, at, seq);
    requeue(db, seq);
  }
}

export function getTask(db: DatabaseSync, id: string): TaskDetails {
  const { seq } = findTask(db, id);
  const found = readTaskWip(db, seq);
  const claim = claimOf(db, seq);
  const related = `SELECT t.id, t.title, t.status FROM dependencies d
    JOIN tasks t ON t.seq = CASE d.task WHEN ?1 THEN d.depends_on ELSE d.task END
    WHERE (d.task = ?1 OR d.depends_on = ?1) AND d.type = 'relates_to' GROUP BY t.seq ORDER BY t.seq LIMIT 20`;
  const waiting = `SELECT t.id, t.title, t.status FROM dependencies d JOIN tasks t ON t.seq = d.task
    WHERE d.depends_on = ? AND d.type IN ${WAITING} AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT 10`;
  const task = readTask(db, seq);
  const aliases = aliasesOf(db, task.id);
  const aliasOf = withAlias(db, "tasks", task.id).map((other) => readTask(db, other.seq));
  return {
    ...task,
    ...(aliases.length > 0 && { aliases }),
    ...(aliasOf.length > 0 && { aliasOf: aliasOf.map(brief) }),
    ...(found && { wip: found.wip, wipUpdatedAt: found.updatedAt }),
    ...(claim && { claim }),
    waitsFor: waitsFor(db, seq),
    waitedForBy: all<TaskBrief>(db, waiting, seq).map(brief),
    relatesTo: all<TaskBrief>(db, related, seq).map(brief),
    parts: partsOf(db, seq),
    blockers: all<Row>(db, `${BLOCKERS} WHERE b.task = ? AND b.resolved_at IS NULL ORDER BY b.id`, seq).map(toBlocker),
    failureCount: value(db, "SELECT count(*) FROM failures WHERE task = ?", seq),
  };
}

/** All blockers a task has had, oldest first. */
export function listBlockers(db: DatabaseSync, taskId: string): Blocker[] {
  return all<Row>(db, `${BLOCKERS} WHERE b.task = ? ORDER BY b.id`, findSeq(db, "task", taskId)).map(toBlocker);
}

function addBlockers(db: DatabaseSync, tasks: Task[]): void {
  const byTask = new Map(tasks.map((task) => [task.id, task]));
  const sql = `${BLOCKERS} WHERE b.resolved_at IS NULL AND t.id IN (SELECT value FROM json_each(?)) ORDER BY b.id`;
  for (const blocker of all<Row>(db, sql, JSON.stringify([...byTask.keys()])).map(toBlocker)) {
    const task = byTask.get(blocker.taskId);
    if (task) task.blockers = [...(task.blockers ?? []), blocker];
  }
}

const BLOCKERS = `SELECT b.id, t.id AS task_id, b.reason, b.actor, b.created_at AS at, b.resolved_at, b.resolved_by
  FROM blockers b JOIN tasks t ON t.seq = b.task`;

function toBlocker(row: Row): Blocker {
  return fromRow<Blocker>(row);
}

export function recordFailure(
  db: DatabaseSync,
  { taskId, summary, details }: { taskId: string; summary: string; details?: string },
  by: Actor,
): { count: number } {
  if (summary.trim() === "") throw invalid("summary must not be empty");
  const task = findTask(db, taskId);
  refuseIfLost(db, task, by);
  insert(db, "failures", { task: task.seq, actor: by.name, created_at: by.at.toISOString(), summary, details });
  note(db, by, "task-failed", task.id, summary);
  return { count: value(db, "SELECT count(*) FROM failures WHERE task = ?", task.seq) };
}

/** Newest first. */
export function listFailures(db: DatabaseSync, taskId: string): Failure[] {
  const { seq, id } = findTask(db, taskId);
  const sql = "SELECT created_at AS at, actor, summary, details FROM failures WHERE task = ? ORDER BY id DESC";
  return all<Row>(db, sql, seq).map((row) => fromRow<Failure>(row, { taskId: id }));
}

const MOST_PARTS = 50;

/** A task's sub-tasks, in order of creation. */
export function partsOf(db: DatabaseSync, seq: number): TaskPart[] {
  const sql = `SELECT t.id, t.title, t.status, c.agent FROM tasks t LEFT JOIN claims c ON c.task = t.seq
    WHERE t.parent = ? AND t.status <> 'archived' ORDER BY t.seq LIMIT ${MOST_PARTS}`;
  return all<Row>(db, sql, seq).map((row) => fromRow<TaskPart>(row));
}

/** The sections of a list, in order. Each is sorted by an index. */
const SECTIONS: readonly { status: TaskStatus; isReady?: boolean; order: string }[] = [
  { status: "in_progress", order: "t.seq" },
  { status: "review", order: "t.seq" },
  { status: "blocked", order: "t.seq" },
  { status: "todo", isReady: true, order: "q.order_key DESC, q.task" },
  { status: "todo", isReady: false, order: "t.seq" },
  { status: "done", order: "t.seq DESC" },
  { status: "archived", order: "t.seq DESC" },
];

export function listTasks(db: DatabaseSync, query: TaskQuery): Page<Task> {
  checkCount("limit", query.limit);
  checkCount("offset", query.offset ?? 0, { minimum: 0 });
  checkWord("status", query.status, TASK_STATUSES);
  checkWord("priority", query.priority, PRIORITIES);
  checkWord("task_type", query.type, TASK_TYPES);
  const filtered = filter(db, query);
  const counts = countByStatus(db, filtered, query.status);
  const items: Task[] = [];
  let total = 0;
  let skip = query.offset ?? 0;
  for (const { status, isReady, order } of SECTIONS) {
    if (query.status ? status !== query.status : status === "archived") continue;
    const count = isReady === undefined ? counts[status] : isReady ? counts.ready : counts.todo - counts.ready;
    total += count;
    const room = query.limit - items.length;
    if (room > 0 && skip < count) {
      const join = isReady === undefined ? "" : "JOIN queue q ON q.task = t.seq";
      // Ready tasks are always `todo`. With that condition, SQLite would sort all tasks instead of reading the queue in
      // its order.
      const section = isReady
        ? "q.is_ready = 1"
        : `t.status = '${status}'${isReady === false ? " AND q.is_ready = 0" : ""}`;
      const where = [section, filtered.where].filter(Boolean).join(" AND ");
      const sql = `SELECT ${TASK_COLUMNS} ${join} WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`;
      const found = toTasks(db, all<TaskRow>(db, sql, ...filtered.values, room, skip));
      if (status === "blocked") addBlockers(db, found);
      items.push(...(isReady === false ? found.map((task) => ({ ...task, isWaiting: true as const })) : found));
    }
    skip = Math.max(0, skip - count);
  }
  return { items, total };
}

export function countTasks(db: DatabaseSync, scope: Scope): TaskCounts {
  return countByStatus(db, filter(db, scope));
}

function countByStatus(db: DatabaseSync, { where, values }: Filter, only?: TaskStatus): TaskCounts {
  const counts = Object.fromEntries(TASK_STATUSES.map((status) => [status, 0]));
  const wanted = [only && "t.status = ?", where].filter(Boolean).join(" AND ") || 1;
  const sql = `SELECT t.status, count(*) AS count FROM tasks t WHERE ${wanted} GROUP BY t.status`;
  const found = all<{ status: string; count: number }>(db, sql, ...(only ? [only] : []), ...values);
  for (const { status, count } of found) counts[status] = count;
  // Only `todo` tasks are ready. Without a filter, the queue's index alone has the answer.
  const join = where ? "JOIN tasks t ON t.seq = q.task" : "";
  const sqlReady = `SELECT count(*) FROM queue q ${join} WHERE q.is_ready = 1 AND ${where || 1}`;
  return { ...counts, ready: counts["todo"] ? value(db, sqlReady, ...values) : 0 } as TaskCounts;
}

type Filter = ReturnType<typeof whereGiven>;

function filter(db: DatabaseSync, query: Partial<TaskQuery>): Filter {
  const { epicId, storyId, priority, type, assignee, parentId, isPart, hasWip, hasHolder, planFile, find } = query;
  const found = find === undefined ? undefined : search(db, find);
  const given = whereGiven({
    "t.epic = ?": epicId === undefined ? undefined : findSeq(db, "epic", epicId),
    "t.story = ?": storyId === undefined ? undefined : findSeq(db, "story", storyId),
    "t.priority = ?": priority === undefined ? undefined : rankOf(priority),
    "t.type = ?": type,
    "t.assignee = ?": assignee,
    "t.parent = ?": parentId === undefined ? undefined : findSeq(db, "task", parentId),
    "t.plan_file = ?": planFile,
    [CONTAINS]: typeof found === "string" ? found : undefined,
    "t.seq IN (SELECT value FROM json_each(?))": typeof found === "object" ? JSON.stringify(found) : undefined,
  });
  const others = [
    isPart && "t.parent IS NOT NULL",
    hasWip && "t.seq IN (SELECT task FROM task_wip)",
    hasHolder && "t.seq IN (SELECT task FROM last_holders)",
  ];
  return { ...given, where: [given.where, ...others].filter(Boolean).join(" AND ") };
}

const CONTAINS = "lower(t.id || ' ' || t.title) LIKE ? ESCAPE '\\'";
/** With more numbers than this, a list of them is slower than one more pass over the titles. */
const MOST_FOUND = 500;

/**
 * Finds tasks whose ID or title contains the text, ignoring case. Returns their numbers, or the pattern if there are too many for a list.
 * SQLite ignores case only for A to Z: other letters are wildcards in the pattern and are compared here.
 */
function search(db: DatabaseSync, text: string): number[] | string {
  const wanted = text.toLowerCase();
  const isPlain = /^[\x20-\x7e]*$/.test(wanted);
  const pattern = `%${wanted.replace(/[\\%_]/g, "\\$&").replace(/[^\x20-\x7e]+/g, "%")}%`;
  const limit = isPlain ? `LIMIT ${MOST_FOUND + 1}` : "";
  const sql = `SELECT t.seq, t.id, t.title FROM tasks t WHERE ${CONTAINS} ${limit}`;
  const found = all<{ seq: number; id: string; title: string }>(db, sql, pattern);
  if (isPlain && found.length > MOST_FOUND) return pattern;
  // In upper case, because two lower-case letters can share one: σ and ς.
  const capitals = text.toUpperCase();
  return found.filter(({ id, title }) => `${id} ${title}`.toUpperCase().includes(capitals)).map(({ seq }) => seq);
}

export function readTask(db: DatabaseSync, seq: number): Task {
  const row = one<TaskRow>(db, `SELECT ${TASK_COLUMNS} WHERE t.seq = ?`, seq) as TaskRow;
  return toTasks(db, [row])[0] as Task;
}

function checkFields({ type, priority, estimateHours }: Partial<TaskChanges>): void {
  checkWord("task_type", type, TASK_TYPES);
  checkWord("priority", priority, PRIORITIES);
  if (typeof estimateHours === "number" && !(Number.isFinite(estimateHours) && estimateHours >= 0)) {
    throw invalid(`estimate_hours must be a number of at least 0, but is ${estimateHours}`);
  }
}

function setFiles(db: DatabaseSync, seq: number, files: readonly string[]): void {
  run(db, "DELETE FROM task_files WHERE task = ?", seq);
  for (const path of files) run(db, "INSERT OR IGNORE INTO task_files VALUES (?, ?)", seq, path);
}

function stepsText(steps: Task["steps"] | readonly Task["steps"][number][] | undefined): string | null {
  return steps && steps.length > 0 ? JSON.stringify(steps) : null;
}

function refuseParentCycle(db: DatabaseSync, seq: number, parent: number): void {
  for (let at: number | null = parent; at !== null; ) {
    if (at === seq) throw invalid("parent_id would make the task its own ancestor");
    at = one<{ parent: number | null }>(db, "SELECT parent FROM tasks WHERE seq = ?", at)?.parent ?? null;
  }
}

export function newestTitles(db: DatabaseSync, { limit, maxChars }: { limit: number; maxChars: number }): string[] {
  const sql = "SELECT substr(title, 1, ?) AS title FROM tasks ORDER BY seq DESC LIMIT ?";
  return all<{ title: string }>(db, sql, maxChars, limit).map(({ title }) => title);
}

// WIP of tasks: merged under the write lock, with a history of replaced values.

export function readTaskWip(db: DatabaseSync, seq: number): { wip: Wip; updatedAt: Date } | undefined {
  const sql = "SELECT data, updated_at FROM task_wip WHERE task = ?";
  const row = one<{ data: string; updated_at: string }>(db, sql, seq);
  return row && { wip: JSON.parse(row.data) as Wip, updatedAt: new Date(row.updated_at) };
}

export function updateWip(
  db: DatabaseSync,
  { taskId, merge }: { taskId: string; merge: WipMerger },
  by: Actor,
): { wip: Wip; changed: boolean } {
  const task = findTask(db, taskId);
  refuseIfHeld(db, task, by);
  refuseIfLost(db, task, by);
  const { seq } = task;
  const current = readTaskWip(db, seq)?.wip ?? {};
  const { wip, changes } = merge(current);
  if (wip === current) return { wip, changed: false };
  const now = by.at.toISOString();
  run(db, "INSERT OR REPLACE INTO task_wip VALUES (?, ?, ?)", seq, JSON.stringify(wip), now);
  for (const { path, before, after } of changes) {
    const sides = { before: JSON.stringify(before), after: JSON.stringify(after) };
    insert(db, "task_wip_changes", { task: seq, at: now, actor: by.name, path, ...sides });
  }
  return { wip, changed: true };
}

export function wipHistory(db: DatabaseSync, { taskId, limit }: { taskId: string; limit: number }): WipHistoryEntry[] {
  checkCount("limit", limit);
  const { seq } = findTask(db, taskId);
  const sql = "SELECT at, actor, path, before, after FROM task_wip_changes WHERE task = ? ORDER BY id DESC LIMIT ?";
  return all<Row>(db, sql, seq, limit).map(toWipChange);
}
