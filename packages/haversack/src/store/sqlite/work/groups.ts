/** Stories and epics follow their tasks: their status, and which of them a task change completes. */

import type { DatabaseSync } from "node:sqlite";
import { checkCount, checkTitle, checkWord } from "../../../work/clean-input.ts";
import {
  DEFAULT_PRIORITY,
  type Epic,
  GROUP_STATUSES,
  type GroupStatus,
  PRIORITIES,
  rankOf,
  type Story,
  type TaskStatus,
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
import { refuseIfHeld } from "./claims.ts";
import { decayCompleted } from "./handoffs.ts";
import { findEpic, findSeq, findStory, findTask, freshId } from "./ids.ts";
import { requeue, shiftEpic } from "./queue.ts";
import {
  all,
  type EpicRow,
  insert,
  note,
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

/** After a task of the story was changed, added or removed. Each check is one index lookup. */
export function followTasks(db: DatabaseSync, story: number | null, at: string): Boundaries {
  const row = story === null ? undefined : one<StoryRow>(db, "SELECT * FROM stories WHERE seq = ?", story);
  if (!row) return {};
  const status = followed(db, row, "SELECT 1 FROM tasks WHERE story = ? AND status = ? LIMIT 1");
  if (staysAs(row.status, status)) return {};
  setGroup(db, "stories", row.seq, status, at);
  return { ...(status === "done" && { storyCompleted: row.id }), ...followStories(db, row.epic, at) };
}

/** After a story of the epic changed its status, was added or removed. */
export function followStories(db: DatabaseSync, epic: number | null, at: string): Boundaries {
  const row = epic === null ? undefined : one<EpicRow>(db, "SELECT * FROM epics WHERE seq = ?", epic);
  if (!row) return {};
  const status = followed(db, row, "SELECT 1 FROM stories WHERE epic = ? AND status = ? LIMIT 1");
  if (staysAs(row.status, status)) return {};
  setGroup(db, "epics", row.seq, status, at);
  return status === "done" ? { epicCompleted: row.id } : {};
}

/** The status of a group, based on its contents. An empty group keeps its status. `sql`: whether one of them has a status. */
function followed(db: DatabaseSync, { seq, status: now }: EpicRow | StoryRow, sql: string): GroupStatus {
  const has = (...statuses: TaskStatus[]) => statuses.some((status) => one(db, sql, seq, status) !== undefined);
  if (has("in_progress", "review", "blocked")) return "in_progress";
  const isDone = has("done");
  if (has("todo")) return isDone ? "in_progress" : "todo";
  if (isDone) return "done";
  return has("archived") ? "archived" : now;
}

/** An archived group stays archived until something in it is open again. It does not count as completed. */
function staysAs(before: GroupStatus, after: GroupStatus): boolean {
  return before === after || (before === "archived" && after === "done");
}

export function setGroup(
  db: DatabaseSync,
  table: "stories" | "epics",
  seq: number,
  status: GroupStatus,
  at: string,
): void {
  const sql = `UPDATE ${table} SET status = ?, updated_at = ?, completed_at = ? WHERE seq = ?`;
  run(db, sql, status, at, status === "done" ? at : null, seq);
}

// Creates, changes, reads and lists epics and stories. Their status follows their tasks (`groups.ts`).

export function createEpic(db: DatabaseSync, epic: NewEpic, by: Actor): Epic {
  const title = checkTitle(epic.title);
  checkWord("priority", epic.priority, PRIORITIES);
  const { description, source } = epic;
  const priority = rankOf(epic.priority ?? DEFAULT_PRIORITY);
  const id = freshId(db, "epics");
  insert(db, "epics", { id, title, description, priority, source, ...newGroup(by) });
  note(db, by, "epic-created", id, `created: ${title}`);
  return toEpic(findEpic(db, id));
}

function newGroup({ at }: Actor): { status: string; created_at: string; updated_at: string } {
  return { status: "todo", created_at: at.toISOString(), updated_at: at.toISOString() };
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
  const stories = all<{ id: string }>(db, "SELECT id FROM stories WHERE epic = ?", before.seq);
  if (changes.status === "archived") {
    for (const story of stories.map((each) => findStory(db, each.id))) {
      archiveStory(db, story, by);
      if (story.status !== "archived")
        note(db, by, "story-status", story.id, `${story.status} → archived: its epic was archived`);
    }
    setGroup(db, "epics", before.seq, "archived", now);
  } else if (changes.status === "todo") {
    for (const story of stories.map((each) => findStory(db, each.id))) {
      if (story.status !== "archived") continue;
      reopenStory(db, story, by);
      note(db, by, "story-status", story.id, `archived → ${findStory(db, story.id).status}: its epic is back`);
    }
    if (before.status === "archived") setGroup(db, "epics", before.seq, "todo", now);
    followStories(db, before.seq, now);
  }
  const after = findEpic(db, before.id);
  noteChanges(db, by, "epic", { before, after }, changes);
  return toEpic(after);
}

export function listEpics(db: DatabaseSync, query: GroupQuery): Page<Epic> {
  const { status, limit, offset } = checkPage(query);
  const where = status ? "status = ?" : "status <> 'archived' AND ? IS NULL";
  const sql = `SELECT * FROM epics WHERE ${where} ORDER BY priority, seq LIMIT ? OFFSET ?`;
  const items = all<EpicRow>(db, sql, status, limit, offset).map(toEpic);
  return { items, total: value(db, `SELECT count(*) FROM epics WHERE ${where}`, status) };
}

export function createStory(db: DatabaseSync, story: NewStory, by: Actor): Story {
  const title = checkTitle(story.title);
  const { description, acceptanceCriteria: acceptance_criteria, source } = story;
  const epic = story.epicId === undefined ? null : findSeq(db, "epic", story.epicId);
  const id = freshId(db, "stories");
  insert(db, "stories", { id, epic, title, description, acceptance_criteria, source, ...newGroup(by) });
  followStories(db, epic, by.at.toISOString());
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
    // The old epic may now be complete.
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

export function listStories(db: DatabaseSync, query: GroupQuery & { epicId?: string }): Page<Story> {
  const { status, limit, offset } = checkPage(query);
  const epic = query.epicId === undefined ? null : findSeq(db, "epic", query.epicId);
  const where = "((?1 IS NULL AND s.status <> 'archived') OR s.status = ?1) AND (?2 IS NULL OR s.epic = ?2)";
  const sql = `SELECT ${STORY_COLUMNS} WHERE ${where} ORDER BY s.seq LIMIT ?3 OFFSET ?4`;
  const items = all<StoryRow>(db, sql, status, epic, limit, offset).map(toStory);
  return { items, total: value(db, `SELECT count(*) FROM stories s WHERE ${where}`, status, epic) };
}

const ARCHIVED_WITH_STORY = "its story was archived";

/** Tasks archived with the story come back. Tasks archived before stay archived. */
function reopenStory(db: DatabaseSync, story: StoryRow, by: Actor): void {
  const sql = "SELECT id FROM tasks WHERE story = ? AND status = 'archived' AND note = ?";
  for (const { id } of all<{ id: string }>(db, sql, story.seq, ARCHIVED_WITH_STORY)) {
    applyStatus(db, findTask(db, id), "todo", by, "its story is back");
    run(db, "UPDATE tasks SET note = NULL WHERE id = ?", id);
  }
  const now = by.at.toISOString();
  if (story.status === "archived") setGroup(db, "stories", story.seq, "todo", now);
  followTasks(db, story.seq, now);
}

/** Archives the story's open tasks too: otherwise they would never be picked. */
function archiveStory(db: DatabaseSync, story: StoryRow, by: Actor): void {
  const sql = "SELECT id FROM tasks WHERE story = ? AND status NOT IN ('done', 'archived')";
  const tasks = all<{ id: string }>(db, sql, story.seq).map(({ id }) => findTask(db, id));
  for (const task of tasks) refuseIfHeld(db, task, by);
  for (const task of tasks) {
    applyStatus(db, task, "archived", by, ARCHIVED_WITH_STORY);
    // Marks the task, so it comes back with the story.
    run(db, "UPDATE tasks SET note = ? WHERE seq = ?", ARCHIVED_WITH_STORY, task.seq);
  }
  const now = by.at.toISOString();
  setGroup(db, "stories", story.seq, "archived", now);
  followStories(db, story.epic, now);
}

function checkPage({ status, limit, offset = 0 }: GroupQuery): Record<"limit" | "offset", number> & {
  status: GroupStatus | null;
} {
  checkWord("status", status, GROUP_STATUSES);
  checkCount("limit", limit);
  checkCount("offset", offset, { minimum: 0 });
  return { status: status ?? null, limit, offset };
}

/** Records the status change, as for tasks, and the names of the other given fields. */
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
