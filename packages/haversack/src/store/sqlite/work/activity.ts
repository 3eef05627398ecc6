/** What happened: append-only. Every operation that changes something leaves a line, in its own transaction. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { WakeActivity } from "../../../wake/state.ts";
import type { Activity, ActivityPage, ActivityQuery, Actor, NewActivity } from "../../work-store.ts";
import { readStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";
import { checkCount } from "./checks.ts";
import { all, one, statement } from "./prepared.ts";

export function note(db: DatabaseSync, by: Actor, kind: string, subject: string, text: string): void {
  addActivity(db, { at: by.at, actor: by.name, kind, subject, text });
}

export function addActivity(db: DatabaseSync, { at, actor, kind, subject, text }: NewActivity): number {
  const insert = statement(db, "INSERT INTO activity (at, actor, kind, subject, text) VALUES (?, ?, ?, ?, ?)");
  return Number(insert.run(at.toISOString(), actor, kind, subject ?? null, text).lastInsertRowid);
}

export function listActivity(db: DatabaseSync, { limit, beforeId, kind, subject }: ActivityQuery): ActivityPage {
  checkCount("limit", limit);
  const conditions: [string, SQLInputValue | undefined][] = [
    ["id < ?", beforeId],
    ["kind = ?", kind],
    ["subject = ?", subject],
  ];
  const used = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const where = used.length > 0 ? `WHERE ${used.map(({ sql }) => sql).join(" AND ")}` : "";
  const rows = all<ActivityRow>(
    db,
    `SELECT id, at, actor, kind, subject, text FROM activity ${where} ORDER BY id DESC LIMIT ?`,
    ...used.map(({ value }) => value),
    // One more than asked for shows whether there is a next page.
    limit + 1,
  );
  const activity = rows.slice(0, limit).map(toActivity);
  const last = activity.at(-1);
  if (rows.length <= limit || !last) return { activity, total: activity.length };
  const count = `SELECT count(*) AS total FROM activity ${where}`;
  const total = one<{ total: number }>(db, count, ...used.map(({ value }) => value))?.total ?? 0;
  return { activity, total, nextBeforeId: last.id };
}

interface ActivityRow {
  id: number;
  at: string;
  actor: string;
  kind: string;
  subject: string | null;
  text: string;
}

function toActivity({ at, subject, ...row }: ActivityRow): Activity {
  return { ...row, at: new Date(at), ...(subject === null ? {} : { subject }) };
}

// What others did to the tasks that a session had in hand, since it was last heard of.

export interface SessionNews {
  /** Newest first. */
  activity: WakeActivity[];
  /** Tasks that it had, and that are open and not its own any more. */
  lost: { id: string; title: string; status: string; agent?: string }[];
}

export function readNews(
  handle: StoreHandle,
  { sessionId, holder, since }: { sessionId: string; holder: string; since: Date },
): SessionNews {
  return readStore(handle, (db) => {
    const key = { sessionId, holder };
    const activity = db.prepare(NEWS).all({ ...key, since: since.toISOString() });
    const lost = activity.length === 0 ? [] : db.prepare(LOST).all(key);
    return {
      activity: activity.map((row) => ({
        at: new Date(String(row["at"])),
        actor: String(row["actor"]),
        kind: String(row["kind"]),
        text: String(row["text"]),
        subject: String(row["subject"]),
      })),
      lost: lost.map(({ id, title, status, agent }) => ({
        id: String(id),
        title: String(title),
        status: String(status),
        ...(typeof agent === "string" && { agent }),
      })),
    };
  });
}

/** What it holds, and what it has claimed lately. */
const HAD = `SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = :sessionId
UNION SELECT subject FROM (SELECT kind, actor, subject FROM activity ORDER BY id DESC LIMIT 500) WHERE kind = 'task-claimed' AND actor = :holder`;

const NEWS = `SELECT at, actor, kind, subject, substr(text, 1, 500) AS text FROM activity
WHERE subject IN (${HAD}) AND at > :since AND actor <> :holder ORDER BY id DESC LIMIT 10`;

const LOST = `SELECT t.id, t.title, t.status, c.agent FROM tasks t LEFT JOIN claims c ON c.task = t.seq
WHERE t.id IN (${HAD}) AND t.status IN ('todo', 'in_progress') AND c.session_id IS NOT :sessionId ORDER BY t.seq LIMIT 5`;
