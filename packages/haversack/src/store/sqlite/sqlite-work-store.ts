/** Work state in SQLite. Open its handle with `durability: "full"`: callers are told that it is saved. */
import type { Activity, ActivityPage, ActivityQuery, NewActivity, WorkStore } from "../work-store.ts";
import { readStore, writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

export class SqliteWorkStore implements WorkStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  async recordActivity({ at, actor, kind, subject, text }: NewActivity): Promise<{ id: number }> {
    return writeStore(this.#handle, (db) => {
      const insert = db.prepare("INSERT INTO activity (at, actor, kind, subject, text) VALUES (?, ?, ?, ?, ?)");
      const { lastInsertRowid } = insert.run(at.toISOString(), actor, kind, subject ?? null, text);
      return { id: Number(lastInsertRowid) };
    });
  }

  async listActivity({ limit, beforeId, kind, subject }: ActivityQuery): Promise<ActivityPage> {
    const conditions: [string, string | number | undefined][] = [
      ["id < ?", beforeId],
      ["kind = ?", kind],
      ["subject = ?", subject],
    ];
    const used = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
    const where = used.length > 0 ? `WHERE ${used.map(({ sql }) => sql).join(" AND ")}` : "";
    return readStore(this.#handle, (db) => {
      const select = db.prepare(
        `SELECT id, at, actor, kind, subject, text FROM activity ${where} ORDER BY id DESC LIMIT ?`,
      );
      // One more than asked for shows whether there is a next page.
      const rows = select.all(...used.map(({ value }) => value), limit + 1) as unknown as ActivityRow[];
      const activity = rows.slice(0, limit).map(toActivity);
      const last = activity.at(-1);
      return rows.length > limit && last ? { activity, nextBeforeId: last.id } : { activity };
    });
  }
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
