/** The next ready tasks, read from the indexes that hold nothing else. */
import type { DatabaseSync } from "node:sqlite";
import { scoreAt } from "../../../work/queue-order.ts";
import { COUNTED_READY, type NextQuery, type NextTasks, type Scope } from "../../work-store.ts";
import { checkCount, invalid } from "./checks.ts";
import { findSeq, findStory } from "./find.ts";
import { all, one, value } from "./prepared.ts";
import { TASK_COLUMNS, type TaskRow, toTasks } from "./rows.ts";

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
