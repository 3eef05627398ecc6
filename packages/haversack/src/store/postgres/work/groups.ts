// Made from store/sqlite/work/groups.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/** Stories and epics follow their tasks: their status, and which of them a task change completes. */

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
import type { Connection } from "../connection.ts";
import { mapEach, someEach } from "../each.ts";
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
export async function followTasks(db: Connection, story: number | null, at: string): Promise<Boundaries> {
  const row = story === null ? undefined : await one<StoryRow>(db, "SELECT * FROM stories WHERE seq = ?", story);
  if (!row) return {};
  const has = async (...statuses: TaskStatus[]) =>
    await someEach(
      statuses,
      async (status) => await one(db, "SELECT 1 FROM tasks WHERE story = ? AND status = ? LIMIT 1", row.seq, status),
    );
  const status = await followed(row.status, has);
  if (staysAs(row.status, status)) return {};
  await setGroup(db, "stories", row.seq, status, at);
  return { ...(status === "done" && { storyCompleted: row.id }), ...(await followStories(db, row.epic, at)) };
}

/** After a story of the epic changed its status, was added or removed. */
export async function followStories(db: Connection, epic: number | null, at: string): Promise<Boundaries> {
  const row = epic === null ? undefined : await one<EpicRow>(db, "SELECT * FROM epics WHERE seq = ?", epic);
  if (!row) return {};
  const has = async (...statuses: TaskStatus[]) =>
    await someEach(
      statuses,
      async (status) => await one(db, "SELECT 1 FROM stories WHERE epic = ? AND status = ? LIMIT 1", row.seq, status),
    );
  const status = await followed(row.status, has);
  if (staysAs(row.status, status)) return {};
  await setGroup(db, "epics", row.seq, status, at);
  return status === "done" ? { epicCompleted: row.id } : {};
}

/** The status of a group, based on its contents. An empty group keeps its status. */
async function followed(now: GroupStatus, has: (...statuses: TaskStatus[]) => Promise<boolean>): Promise<GroupStatus> {
  if (await has("in_progress", "review", "blocked")) return "in_progress";
  const isDone = await has("done");
  if (await has("todo")) return isDone ? "in_progress" : "todo";
  if (isDone) return "done";
  return (await has("archived")) ? "archived" : now;
}

/** An archived group stays archived until something in it is open again. It does not count as completed. */
function staysAs(before: GroupStatus, after: GroupStatus): boolean {
  return before === after || (before === "archived" && after === "done");
}

async function setGroup(
  db: Connection,
  table: "stories" | "epics",
  seq: number,
  status: GroupStatus,
  at: string,
): Promise<void> {
  const sql = `UPDATE ${table} SET status = ?, updated_at = ?, completed_at = ? WHERE seq = ?`;
  await run(db, sql, status, at, status === "done" ? at : null, seq);
}

// Creates, changes, reads and lists epics and stories. Their status follows their tasks (`groups.ts`).

export async function createEpic(db: Connection, epic: NewEpic, by: Actor): Promise<Epic> {
  const title = checkTitle(epic.title);
  checkWord("priority", epic.priority, PRIORITIES);
  const { description, source } = epic;
  const priority = rankOf(epic.priority ?? DEFAULT_PRIORITY);
  const id = await freshId(db, "epics");
  await insert(db, "epics", { id, title, description, priority, source, ...newGroup(by) });
  await note(db, by, "epic-created", id, `created: ${title}`);
  return toEpic(await findEpic(db, id));
}

function newGroup({ at }: Actor): { status: string; created_at: string; updated_at: string } {
  return { status: "todo", created_at: at.toISOString(), updated_at: at.toISOString() };
}

export async function updateEpic(db: Connection, id: string, changes: EpicChanges, by: Actor): Promise<Epic> {
  const before = await findEpic(db, id);
  checkWord("priority", changes.priority, PRIORITIES);
  checkWord("status", changes.status, ["archived", "todo"]);
  const priority = changes.priority === undefined ? undefined : rankOf(changes.priority ?? DEFAULT_PRIORITY);
  const now = by.at.toISOString();
  const { sql, values } = setFields({
    title: changes.title === undefined ? undefined : checkTitle(changes.title),
    description: changes.description,
    priority,
  });
  if (sql) await run(db, `UPDATE epics SET ${sql}, updated_at = ? WHERE seq = ?`, ...values, now, before.seq);
  if (priority !== undefined && priority !== before.priority)
    await shiftEpic(db, before.seq, before.priority, priority);
  const stories = await all<{ id: string }>(db, "SELECT id FROM stories WHERE epic = ?", before.seq);
  if (changes.status === "archived") {
    for (const story of await mapEach(stories, async (each) => await findStory(db, each.id))) {
      await archiveStory(db, story, by);
      if (story.status !== "archived")
        await note(db, by, "story-status", story.id, `${story.status} → archived: its epic was archived`);
    }
    await setGroup(db, "epics", before.seq, "archived", now);
  } else if (changes.status === "todo") {
    for (const story of await mapEach(stories, async (each) => await findStory(db, each.id))) {
      if (story.status !== "archived") continue;
      await reopenStory(db, story, by);
      await note(
        db,
        by,
        "story-status",
        story.id,
        `archived → ${(await findStory(db, story.id)).status}: its epic is back`,
      );
    }
    if (before.status === "archived") await setGroup(db, "epics", before.seq, "todo", now);
    await followStories(db, before.seq, now);
  }
  const after = await findEpic(db, before.id);
  await noteChanges(db, by, "epic", { before, after }, changes);
  return toEpic(after);
}

export async function listEpics(db: Connection, query: GroupQuery): Promise<Page<Epic>> {
  const { status, limit, offset } = checkPage(query);
  const where = status ? "status = ?" : "status <> 'archived' AND ? IS NULL";
  const sql = `SELECT * FROM epics WHERE ${where} ORDER BY priority, seq LIMIT ? OFFSET ?`;
  const items = (await all<EpicRow>(db, sql, status, limit, offset)).map(toEpic);
  return { items, total: await value(db, `SELECT count(*) FROM epics WHERE ${where}`, status) };
}

export async function createStory(db: Connection, story: NewStory, by: Actor): Promise<Story> {
  const title = checkTitle(story.title);
  const { description, acceptanceCriteria: acceptance_criteria, source } = story;
  const epic = story.epicId === undefined ? null : await findSeq(db, "epic", story.epicId);
  const id = await freshId(db, "stories");
  await insert(db, "stories", { id, epic, title, description, acceptance_criteria, source, ...newGroup(by) });
  await followStories(db, epic, by.at.toISOString());
  await note(db, by, "story-created", id, `created: ${title}`);
  return toStory(await findStory(db, id));
}

export async function updateStory(db: Connection, id: string, changes: StoryChanges, by: Actor): Promise<Story> {
  const before = await findStory(db, id);
  checkWord("status", changes.status, ["archived", "todo"]);
  const { epicId } = changes;
  const epic = epicId === undefined ? undefined : epicId === null ? null : await findSeq(db, "epic", epicId);
  const now = by.at.toISOString();
  const { sql, values } = setFields({
    title: changes.title === undefined ? undefined : checkTitle(changes.title),
    description: changes.description,
    acceptance_criteria: changes.acceptanceCriteria,
    epic,
  });
  if (sql) await run(db, `UPDATE stories SET ${sql}, updated_at = ? WHERE seq = ?`, ...values, now, before.seq);
  if (epic !== undefined && epic !== before.epic) {
    await run(db, "UPDATE tasks SET epic = ? WHERE story = ?", epic, before.seq);
    for (const { seq } of await all<{ seq: number }>(db, "SELECT seq FROM tasks WHERE story = ?", before.seq)) {
      await requeue(db, seq);
    }
    // The old epic may now be complete.
    await decayCompleted(db, await followStories(db, before.epic, now), by);
    await followStories(db, epic, now);
  }
  if (changes.status === "archived") await archiveStory(db, await findStory(db, before.id), by);
  else if (changes.status === "todo") {
    await reopenStory(db, await findStory(db, before.id), by);
    await followStories(db, (await findStory(db, before.id)).epic, now);
  }
  const after = await findStory(db, before.id);
  await noteChanges(db, by, "story", { before, after }, changes);
  return toStory(after);
}

export async function listStories(db: Connection, query: GroupQuery & { epicId?: string }): Promise<Page<Story>> {
  const { status, limit, offset } = checkPage(query);
  const epic = query.epicId === undefined ? null : await findSeq(db, "epic", query.epicId);
  const where = "((?1 IS NULL AND s.status <> 'archived') OR s.status = ?1) AND (?2 IS NULL OR s.epic = ?2)";
  const sql = `SELECT ${STORY_COLUMNS} WHERE ${where} ORDER BY s.seq LIMIT ?3 OFFSET ?4`;
  const items = (await all<StoryRow>(db, sql, status, epic, limit, offset)).map(toStory);
  return { items, total: await value(db, `SELECT count(*) FROM stories s WHERE ${where}`, status, epic) };
}

const ARCHIVED_WITH_STORY = "its story was archived";

/** Tasks archived with the story come back. Tasks archived before stay archived. */
async function reopenStory(db: Connection, story: StoryRow, by: Actor): Promise<void> {
  const sql = "SELECT id FROM tasks WHERE story = ? AND status = 'archived' AND note = ?";
  for (const { id } of await all<{ id: string }>(db, sql, story.seq, ARCHIVED_WITH_STORY)) {
    await applyStatus(db, await findTask(db, id), "todo", by, "its story is back");
    await run(db, "UPDATE tasks SET note = NULL WHERE id = ?", id);
  }
  const now = by.at.toISOString();
  if (story.status === "archived") await setGroup(db, "stories", story.seq, "todo", now);
  await followTasks(db, story.seq, now);
}

/** Archives the story's open tasks too: otherwise they would never be picked. */
async function archiveStory(db: Connection, story: StoryRow, by: Actor): Promise<void> {
  const sql = "SELECT id FROM tasks WHERE story = ? AND status NOT IN ('done', 'archived')";
  const tasks = await mapEach(await all<{ id: string }>(db, sql, story.seq), async ({ id }) => await findTask(db, id));
  for (const task of tasks) await refuseIfHeld(db, task, by);
  for (const task of tasks) {
    await applyStatus(db, task, "archived", by, ARCHIVED_WITH_STORY);
    // Marks the task, so it comes back with the story.
    await run(db, "UPDATE tasks SET note = ? WHERE seq = ?", ARCHIVED_WITH_STORY, task.seq);
  }
  const now = by.at.toISOString();
  await setGroup(db, "stories", story.seq, "archived", now);
  await followStories(db, story.epic, now);
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
async function noteChanges(
  db: Connection,
  by: Actor,
  kind: "epic" | "story",
  { before, after }: Record<"before" | "after", { id: string; status: string }>,
  { status, ...changes }: { status?: string } & object,
): Promise<void> {
  const names = Object.entries(changes).flatMap(([name, given]) => (given === undefined ? [] : [name]));
  if (names.length > 0) await note(db, by, `${kind}-updated`, before.id, names.join(", "));
  if (status !== undefined && after.status !== before.status) {
    await note(db, by, `${kind}-status`, before.id, `${before.status} → ${after.status}`);
  }
}
