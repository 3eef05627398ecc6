/** What happened: append-only. Every operation that changes something leaves a line, in its own transaction. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { checkCount } from "../../../work/clean-input.ts";
import type { Activity, ActivityPage, ActivityQuery, Actor, NewActivity } from "../../work-store.ts";
import { all, one, statement } from "./rows.ts";

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
