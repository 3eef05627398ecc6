/** Stories and epics follow their tasks: their status, and the boundaries that a change of a task crosses. */
import type { DatabaseSync } from "node:sqlite";
import type { GroupStatus } from "../../../work/task.ts";
import type { Boundaries } from "../../work-store.ts";
import { one, run } from "./prepared.ts";

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
