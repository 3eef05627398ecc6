/** Tasks: made, changed, read and listed. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { checkCount, checkTitle, checkWord, invalid } from "../../../work/clean-input.ts";
import { rankOf } from "../../../work/queue-order.ts";
import type { TaskBrief, TaskDetails, TaskPart } from "../../../work/task.ts";
import { DEFAULT_PRIORITY, PRIORITIES, TASK_STATUSES, TASK_TYPES, type Task } from "../../../work/task.ts";
import type { Actor, NewTask, Page, Scope, TaskChanges, TaskCounts, TaskQuery } from "../../work-store.ts";
import { note } from "./activity.ts";
import { claimOf, refuseIfHeld, waitsFor } from "./claims.ts";
import { addDependency } from "./dependencies.ts";
import { followTasks } from "./groups.ts";
import { decayCompleted } from "./handoffs.ts";
import { aliasesOf, findSeq, findStory, findTask, freshId, withAlias } from "./ids.ts";
import { orderReviews, tasksAbove, WAITING } from "./parts.ts";
import { followParts, moveInQueue, requeue } from "./queue.ts";
import { all, brief, one, plainColumns, run, setFields, TASK_COLUMNS, type TaskRow, toTasks, value } from "./rows.ts";
import { readTaskWip } from "./wip.ts";

export function createTask(db: DatabaseSync, task: NewTask, by: Actor): Task {
  const title = checkTitle(task.title);
  checkFields(task);
  const parent = task.parentId === undefined ? null : findSeq(db, "task", task.parentId);
  const story = task.storyId === undefined ? groupOf(db, parent) : findStory(db, task.storyId);
  const id = freshId(db, "tasks");
  const now = by.at.toISOString();
  const columns = Object.entries({
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
  const names = columns.map(([name]) => name).join(", ");
  const values = columns.map(([, value]) => value ?? null);
  run(db, `INSERT INTO tasks (${names}) VALUES (${columns.map(() => "?").join(", ")})`, ...values);
  const seq = value(db, "SELECT last_insert_rowid()");
  setFiles(db, seq, task.files ?? []);
  moveInQueue(db, seq, undefined, "todo");
  for (const dependsOnId of task.dependsOn ?? []) {
    // A new task can close no cycle: nothing waits for it yet.
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
    // The story it left may be complete without it.
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

/** A sub-task for which nobody names a story is in that of its parent, so that the story is not complete without it. */
function groupOf(db: DatabaseSync, parent: number | null): InStory {
  const above =
    parent === null
      ? undefined
      : one<{ story: number | null; epic: number | null }>(db, "SELECT story, epic FROM tasks WHERE seq = ?", parent);
  return { seq: above?.story ?? null, epic: above?.epic ?? null };
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

/** After a task moved to another story: its sub-tasks that were in the same one go with it. */
function moveParts(
  db: DatabaseSync,
  { task, from, to, at }: { task: number; from: number | null; to: InStory; at: string },
): void {
  const rows = all<{ seq: number }>(
    db,
    `WITH RECURSIVE moving (seq) AS (
      SELECT ?1 UNION SELECT t.seq FROM moving m JOIN tasks t ON t.parent = m.seq WHERE t.story IS ?2
    ) SELECT seq FROM moving WHERE seq <> ?1`,
    task,
    from,
  );
  for (const { seq } of rows) {
    run(db, "UPDATE tasks SET story = ?, epic = ?, updated_at = ? WHERE seq = ?", to.seq, to.epic, at, seq);
    requeue(db, seq);
  }
}

export function getTask(db: DatabaseSync, id: string): TaskDetails {
  const { seq } = findTask(db, id);
  const found = readTaskWip(db, seq);
  const claim = claimOf(db, seq);
  const related = all<TaskBrief>(
    db,
    "SELECT t.id, t.title, t.status FROM dependencies d JOIN tasks t ON t.seq = CASE d.task WHEN ?1 THEN d.depends_on ELSE d.task END WHERE (d.task = ?1 OR d.depends_on = ?1) AND d.type = 'relates_to' GROUP BY t.seq ORDER BY t.seq LIMIT 20",
    seq,
  );
  const waiting = all<TaskBrief>(
    db,
    `SELECT t.id, t.title, t.status FROM dependencies d JOIN tasks t ON t.seq = d.task WHERE d.depends_on = ? AND d.type IN ${WAITING} AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT 10`,
    seq,
  );
  const blockers = all<{ id: number; reason: string; actor: string; created_at: string }>(
    db,
    "SELECT id, reason, actor, created_at FROM blockers WHERE task = ? AND resolved_at IS NULL ORDER BY id",
    seq,
  );
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
    waitedForBy: waiting.map(brief),
    relatesTo: related.map(brief),
    parts: partsOf(db, seq),
    blockers: blockers.map(({ created_at, ...row }) => ({ ...row, taskId: task.id, at: new Date(created_at) })),
    failureCount: value(db, "SELECT count(*) FROM failures WHERE task = ?", seq),
  };
}

const MOST_PARTS = 50;

/** A task's sub-tasks, in the order in which they were made. */
export function partsOf(db: DatabaseSync, seq: number): TaskPart[] {
  const rows = all<TaskBrief & { agent: string | null }>(
    db,
    `SELECT t.id, t.title, t.status, c.agent FROM tasks t LEFT JOIN claims c ON c.task = t.seq WHERE t.parent = ? AND t.status <> 'archived' ORDER BY t.seq LIMIT ${MOST_PARTS}`,
    seq,
  );
  return rows.map((row) => ({ ...brief(row), ...(row.agent !== null && { agent: row.agent }) }));
}

/** The parts of a list, in their order, each of them sorted by an index. */
const SECTIONS: readonly { where: string; order: string }[] = [
  { where: "t.status = 'in_progress'", order: "t.seq" },
  { where: "t.status = 'review'", order: "t.seq" },
  { where: "t.status = 'blocked'", order: "t.seq" },
  { where: "t.status = 'todo' AND q.is_ready = 1", order: "q.order_key DESC, q.task" },
  { where: "t.status = 'todo' AND q.is_ready = 0", order: "t.seq" },
  { where: "t.status = 'done'", order: "t.seq DESC" },
  { where: "t.status = 'archived'", order: "t.seq DESC" },
];

export function listTasks(db: DatabaseSync, query: TaskQuery): Page<Task> {
  checkCount("limit", query.limit);
  checkCount("offset", query.offset ?? 0, { minimum: 0 });
  checkWord("status", query.status, TASK_STATUSES);
  checkWord("priority", query.priority, PRIORITIES);
  checkWord("task_type", query.type, TASK_TYPES);
  const { conditions, values } = filter(db, query);
  const sections = SECTIONS.filter(({ where }) =>
    query.status ? where.includes(`'${query.status}'`) : !where.includes("'archived'"),
  );
  const rows: TaskRow[] = [];
  let total = 0;
  let skip = query.offset ?? 0;
  for (const { where, order } of sections) {
    const needsQueue = where.includes("q.");
    const join = needsQueue ? "JOIN queue q ON q.task = t.seq" : "";
    const all_ = [where, ...conditions].join(" AND ");
    const count = value(db, `SELECT count(*) FROM tasks t ${join} WHERE ${all_}`, ...values);
    total += count;
    const room = query.limit - rows.length;
    if (room > 0 && skip < count) {
      rows.push(
        ...all<TaskRow>(
          db,
          `SELECT ${TASK_COLUMNS} ${join} WHERE ${all_} ORDER BY ${order} LIMIT ? OFFSET ?`,
          ...values,
          room,
          skip,
        ),
      );
    }
    skip = Math.max(0, skip - count);
  }
  return { items: toTasks(db, rows), total };
}

export function countTasks(db: DatabaseSync, scope: Scope): TaskCounts {
  const { conditions, values } = filter(db, scope);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  const counts = Object.fromEntries(TASK_STATUSES.map((status) => [status, 0])) as Record<string, number>;
  for (const { status, count } of all<{ status: string; count: number }>(
    db,
    `SELECT t.status, count(*) AS count FROM tasks t ${where} GROUP BY t.status`,
    ...values,
  )) {
    counts[status] = count;
  }
  const ready = value(
    db,
    `SELECT count(*) FROM queue t WHERE ${["t.is_ready = 1", ...conditions].join(" AND ")}`,
    ...values,
  );
  return { ...counts, ready } as TaskCounts;
}

function filter(
  db: DatabaseSync,
  { epicId, storyId, priority, type, assignee, parentId, isPart, hasWip, planFile }: Partial<TaskQuery>,
): { conditions: string[]; values: SQLInputValue[] } {
  const parts: [string, SQLInputValue | undefined][] = [
    ["t.epic = ?", epicId === undefined ? undefined : findSeq(db, "epic", epicId)],
    ["t.story = ?", storyId === undefined ? undefined : findSeq(db, "story", storyId)],
    ["t.priority = ?", priority === undefined ? undefined : rankOf(priority)],
    ["t.type = ?", type],
    ["t.assignee = ?", assignee],
    ["t.parent = ?", parentId === undefined ? undefined : findSeq(db, "task", parentId)],
    ["t.plan_file = ?", planFile],
  ];
  const used = parts.flatMap(([sql, given]) => (given === undefined ? [] : [{ sql, given }]));
  const conditions = used.map(({ sql }) => sql);
  if (isPart) conditions.push("t.parent IS NOT NULL");
  if (hasWip) conditions.push("t.seq IN (SELECT task FROM task_wip)");
  return { conditions, values: used.map(({ given }) => given) };
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

/** Of the tasks that were made last. */
export function newestTitles(db: DatabaseSync, { limit, maxChars }: { limit: number; maxChars: number }): string[] {
  const rows = all<{ title: string }>(
    db,
    "SELECT substr(title, 1, ?) AS title FROM tasks ORDER BY seq DESC LIMIT ?",
    maxChars,
    limit,
  );
  return rows.map(({ title }) => title);
}
