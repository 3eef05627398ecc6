/** Stories and epics follow their tasks: their status, and the boundaries that a change of a task crosses. */
import type { DatabaseSync } from "node:sqlite";
import { checkCount, checkTitle, checkWord } from "../../../work/clean-input.ts";
import { rankOf } from "../../../work/queue-order.ts";
import {
  DEFAULT_PRIORITY,
  type Epic,
  GROUP_STATUSES,
  type GroupStatus,
  PRIORITIES,
  type Story,
} from "../../../work/task.ts";
import type {
  Actor,
  Boundaries,
  EpicChanges,
  GroupQuery,
  NewEpic,
  NewStory,
  Page,
  StoryChanges,
} from "../../work-store.ts";
import { note } from "./activity.ts";
import { refuseIfHeld } from "./claims.ts";
import { decayCompleted } from "./handoffs.ts";
import { findEpic, findSeq, findStory, findTask, freshId } from "./ids.ts";
import { requeue, shiftEpic } from "./queue.ts";
import {
  all,
  type EpicRow,
  one,
  run,
  STORY_COLUMNS,
  type StoryRow,
  setFields,
  toEpic,
  toStory,
  value,
} from "./rows.ts";
import { applyStatus } from "./status.ts";

/** After a task of the story changed, came or went. Each question is one look into an index. */
export function followTasks(db: DatabaseSync, story: number | null, at: string): Boundaries {
  if (story === null) return {};
  const row = one<{ id: string; status: GroupStatus; epic: number | null }>(
    db,
    "SELECT id, status, epic FROM stories WHERE seq = ?",
    story,
  );
  if (!row) return {};
  const status = storyStatus(db, story) ?? row.status;
  if (staysAs(row.status, status)) return {};
  setGroup(db, "stories", story, status, at);
  return { ...(status === "done" && { storyCompleted: row.id }), ...followStories(db, row.epic, at) };
}

/** After a story of the epic changed its status, came or went. */
export function followStories(db: DatabaseSync, epic: number | null, at: string): Boundaries {
  if (epic === null) return {};
  const row = one<{ id: string; status: GroupStatus }>(db, "SELECT id, status FROM epics WHERE seq = ?", epic);
  if (!row) return {};
  const status = epicStatus(db, epic) ?? row.status;
  if (staysAs(row.status, status)) return {};
  setGroup(db, "epics", epic, status, at);
  return status === "done" ? { epicCompleted: row.id } : {};
}

/** What was put away stays away until something in it is open again: nothing is completed by it. */
function staysAs(before: GroupStatus, after: GroupStatus): boolean {
  return before === after || (before === "archived" && after === "done");
}

/** Undefined: it has no task, and stays what it is. */
function storyStatus(db: DatabaseSync, story: number): GroupStatus | undefined {
  const has = (statuses: string) =>
    one(db, `SELECT 1 FROM tasks WHERE story = ? AND status IN (${statuses}) LIMIT 1`, story) !== undefined;
  if (has("'in_progress', 'review', 'blocked'")) return "in_progress";
  const isDone = has("'done'");
  if (has("'todo'")) return isDone ? "in_progress" : "todo";
  if (isDone) return "done";
  return has("'archived'") ? "archived" : undefined;
}

function epicStatus(db: DatabaseSync, epic: number): GroupStatus | undefined {
  const has = (status: GroupStatus) =>
    one(db, "SELECT 1 FROM stories WHERE epic = ? AND status = ? LIMIT 1", epic, status) !== undefined;
  if (has("in_progress")) return "in_progress";
  const isDone = has("done");
  if (has("todo")) return isDone ? "in_progress" : "todo";
  if (isDone) return "done";
  return has("archived") ? "archived" : undefined;
}

export function setGroup(
  db: DatabaseSync,
  table: "stories" | "epics",
  seq: number,
  status: GroupStatus,
  at: string,
): void {
  const completedAt = status === "done" ? at : null;
  run(
    db,
    `UPDATE ${table} SET status = ?, updated_at = ?, completed_at = ? WHERE seq = ?`,
    status,
    at,
    completedAt,
    seq,
  );
}

// Epics and stories: made, changed, read and listed. Their status follows their tasks (`groups.ts`).

export function createEpic(db: DatabaseSync, epic: NewEpic, by: Actor): Epic {
  const title = checkTitle(epic.title);
  checkWord("priority", epic.priority, PRIORITIES);
  const id = freshId(db, "epics");
  const now = by.at.toISOString();
  run(
    db,
    "INSERT INTO epics (id, title, description, priority, status, source, created_at, updated_at) VALUES (?, ?, ?, ?, 'todo', ?, ?, ?)",
    id,
    title,
    epic.description ?? null,
    rankOf(epic.priority ?? DEFAULT_PRIORITY),
    epic.source ?? null,
    now,
    now,
  );
  note(db, by, "epic-created", id, `created: ${title}`);
  return toEpic(findEpic(db, id));
}

export function updateEpic(db: DatabaseSync, id: string, changes: EpicChanges, by: Actor): Epic {
  const before = findEpic(db, id);
  checkWord("priority", changes.priority, PRIORITIES);
  checkWord("status", changes.status, ["archived", "todo"]);
  const priority = changes.priority === undefined ? undefined : rankOf(changes.priority ?? DEFAULT_PRIORITY);
  const now = by.at.toISOString();
  const { sql, values } = setFields({
    title: changes.title === undefined ? undefined : checkTitle(changes.title),
    description: changes.description,
    priority,
  });
  if (sql) run(db, `UPDATE epics SET ${sql}, updated_at = ? WHERE seq = ?`, ...values, now, before.seq);
  if (priority !== undefined && priority !== before.priority) shiftEpic(db, before.seq, before.priority, priority);
  if (changes.status === "archived") {
    for (const { id: story } of all<{ id: string }>(db, "SELECT id FROM stories WHERE epic = ?", before.seq)) {
      const was = findStory(db, story);
      archiveStory(db, was, by);
      if (was.status !== "archived")
        note(db, by, "story-status", story, `${was.status} → archived: its epic was archived`);
    }
    setGroup(db, "epics", before.seq, "archived", now);
  } else if (changes.status === "todo") {
    for (const { id: story } of all<{ id: string }>(
      db,
      "SELECT id FROM stories WHERE epic = ? AND status = 'archived'",
      before.seq,
    )) {
      reopenStory(db, findStory(db, story), by);
      note(db, by, "story-status", story, `archived → ${findStory(db, story).status}: its epic is back`);
    }
    if (before.status === "archived") setGroup(db, "epics", before.seq, "todo", now);
    followStories(db, before.seq, now);
  }
  const after = findEpic(db, before.id);
  noteChanges(db, by, "epic", { before, after }, changes);
  return toEpic(after);
}

export function listEpics(db: DatabaseSync, { status, limit, offset = 0 }: GroupQuery): Page<Epic> {
  checkPage({ status, limit, offset });
  const where = status ? "status = ?" : "status <> 'archived' AND ? IS NULL";
  const rows = all<EpicRow>(
    db,
    `SELECT * FROM epics WHERE ${where} ORDER BY priority, seq LIMIT ? OFFSET ?`,
    status ?? null,
    limit,
    offset,
  );
  return { items: rows.map(toEpic), total: value(db, `SELECT count(*) FROM epics WHERE ${where}`, status ?? null) };
}

export function createStory(db: DatabaseSync, story: NewStory, by: Actor): Story {
  const title = checkTitle(story.title);
  const epic = story.epicId === undefined ? null : findSeq(db, "epic", story.epicId);
  const id = freshId(db, "stories");
  const now = by.at.toISOString();
  run(
    db,
    "INSERT INTO stories (id, epic, title, description, acceptance_criteria, status, source, created_at, updated_at) VALUES (?, ?, ?, ?, ?, 'todo', ?, ?, ?)",
    id,
    epic,
    title,
    story.description ?? null,
    story.acceptanceCriteria ?? null,
    story.source ?? null,
    now,
    now,
  );
  followStories(db, epic, now);
  note(db, by, "story-created", id, `created: ${title}`);
  return toStory(findStory(db, id));
}

export function updateStory(db: DatabaseSync, id: string, changes: StoryChanges, by: Actor): Story {
  const before = findStory(db, id);
  checkWord("status", changes.status, ["archived", "todo"]);
  const { epicId } = changes;
  const epic = epicId === undefined ? undefined : epicId === null ? null : findSeq(db, "epic", epicId);
  const now = by.at.toISOString();
  const { sql, values } = setFields({
    title: changes.title === undefined ? undefined : checkTitle(changes.title),
    description: changes.description,
    acceptance_criteria: changes.acceptanceCriteria,
    epic,
  });
  if (sql) run(db, `UPDATE stories SET ${sql}, updated_at = ? WHERE seq = ?`, ...values, now, before.seq);
  if (epic !== undefined && epic !== before.epic) {
    run(db, "UPDATE tasks SET epic = ? WHERE story = ?", epic, before.seq);
    for (const { seq } of all<{ seq: number }>(db, "SELECT seq FROM tasks WHERE story = ?", before.seq)) {
      requeue(db, seq);
    }
    // The epic it left may be complete without it.
    decayCompleted(db, followStories(db, before.epic, now), by);
    followStories(db, epic, now);
  }
  if (changes.status === "archived") archiveStory(db, findStory(db, before.id), by);
  else if (changes.status === "todo") {
    reopenStory(db, findStory(db, before.id), by);
    followStories(db, findStory(db, before.id).epic, now);
  }
  const after = findStory(db, before.id);
  noteChanges(db, by, "story", { before, after }, changes);
  return toStory(after);
}

export function listStories(
  db: DatabaseSync,
  { status, epicId, limit, offset = 0 }: GroupQuery & { epicId?: string },
): Page<Story> {
  checkPage({ status, limit, offset });
  const epic = epicId === undefined ? null : findSeq(db, "epic", epicId);
  const where = "((?1 IS NULL AND s.status <> 'archived') OR s.status = ?1) AND (?2 IS NULL OR s.epic = ?2)";
  const rows = all<StoryRow>(
    db,
    `SELECT ${STORY_COLUMNS} WHERE ${where} ORDER BY s.seq LIMIT ?3 OFFSET ?4`,
    status ?? null,
    epic,
    limit,
    offset,
  );
  const total = value(db, `SELECT count(*) FROM stories s WHERE ${where}`, status ?? null, epic);
  return { items: rows.map(toStory), total };
}

const ARCHIVED_WITH_STORY = "its story was archived";

/** What went with it comes back; what was archived before stays. */
function reopenStory(db: DatabaseSync, story: StoryRow, by: Actor): void {
  const tasks = all<{ id: string }>(
    db,
    "SELECT id FROM tasks WHERE story = ? AND status = 'archived' AND note = ?",
    story.seq,
    ARCHIVED_WITH_STORY,
  );
  for (const { id } of tasks) {
    applyStatus(db, findTask(db, id), "todo", by, "its story is back");
    run(db, "UPDATE tasks SET note = NULL WHERE id = ?", id);
  }
  const now = by.at.toISOString();
  if (story.status === "archived") setGroup(db, "stories", story.seq, "todo", now);
  followTasks(db, story.seq, now);
}

/** Its open tasks go with it: a task whose story is put away would never be asked for. */
function archiveStory(db: DatabaseSync, story: StoryRow, by: Actor): void {
  const open = all<{ id: string }>(
    db,
    "SELECT id FROM tasks WHERE story = ? AND status NOT IN ('done', 'archived')",
    story.seq,
  );
  const tasks = open.map(({ id }) => findTask(db, id));
  for (const task of tasks) refuseIfHeld(db, task, by);
  for (const task of tasks) {
    applyStatus(db, task, "archived", by, ARCHIVED_WITH_STORY);
    // Known again when the story comes back.
    run(db, "UPDATE tasks SET note = ? WHERE seq = ?", ARCHIVED_WITH_STORY, task.seq);
  }
  const now = by.at.toISOString();
  setGroup(db, "stories", story.seq, "archived", now);
  followStories(db, story.epic, now);
}

function checkPage({
  status,
  limit,
  offset,
}: {
  status: GroupStatus | undefined;
  limit: number;
  offset: number;
}): void {
  checkWord("status", status, GROUP_STATUSES);
  checkCount("limit", limit);
  checkCount("offset", offset, { minimum: 0 });
}

/** What became of its status, as with tasks, and the names of the other fields that were given. */
function noteChanges(
  db: DatabaseSync,
  by: Actor,
  kind: "epic" | "story",
  { before, after }: Record<"before" | "after", { id: string; status: string }>,
  { status, ...changes }: { status?: string } & object,
): void {
  const names = Object.entries(changes).flatMap(([name, given]) => (given === undefined ? [] : [name]));
  if (names.length > 0) note(db, by, `${kind}-updated`, before.id, names.join(", "));
  if (status !== undefined && after.status !== before.status) {
    note(db, by, `${kind}-status`, before.id, `${before.status} → ${after.status}`);
  }
}
