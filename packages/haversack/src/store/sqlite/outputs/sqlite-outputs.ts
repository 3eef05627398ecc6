/** Kept tool outputs in the store. Owns the tables `outputs`, `output_texts` and `shown_reads`. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import { newId } from "../../../base/ids.ts";
import type { NewOutput, OutputFacts, OutputLimits } from "../../../work/outputs/kept-output.ts";
import { OnStore, readStore, writeStore } from "../access.ts";
import type { SessionKey } from "../sessions/sqlite-local-store.ts";

/** A text that a window was shown in full. */
export interface ShownRead extends Required<SessionKey> {
  window: number;
  source: string;
  hash: string;
  at: Date;
}

export class SqliteOutputs extends OnStore {
  /** Returns the handle; the same text in the same session keeps its handle. Then removes outputs beyond the limits. */
  put(output: NewOutput, limits: OutputLimits): string {
    return writeStore(this.handle, (db) => {
      const { at, sessionId, agentId, source, lines, chars, text, hash } = output;
      const known = db.prepare("SELECT handle FROM outputs WHERE hash = ? AND session_id = ?").get(hash, sessionId);
      if (known) {
        db.prepare("UPDATE outputs SET at = ? WHERE handle = ?").run(at.toISOString(), String(known["handle"]));
        return String(known["handle"]);
      }
      const handle = freeHandle(db);
      const bytes = Buffer.byteLength(text);
      db.prepare(
        "INSERT INTO outputs (handle, at, session_id, agent_id, source, lines, chars, bytes, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ).run(handle, at.toISOString(), sessionId, agentId, source, lines, chars, bytes, hash);
      db.prepare("INSERT INTO output_texts (handle, text) VALUES (?, ?)").run(handle, text);
      trim(db, limits, { now: at, keep: handle });
      return handle;
    });
  }

  get(handle: string): (OutputFacts & { text: string }) | undefined {
    return readStore(this.handle, (db) => {
      const row = db.prepare("SELECT * FROM outputs JOIN output_texts USING (handle) WHERE handle = ?").get(handle) as
        | OutputRow
        | undefined;
      return row && { ...factsOf(row), text: String(row["text"]) };
    });
  }

  /** Newest first. With a session: only its own outputs. */
  list(limit: number, sessionId?: string): OutputFacts[] {
    return readStore(this.handle, (db) => {
      const rows =
        sessionId === undefined
          ? db.prepare("SELECT * FROM outputs ORDER BY at DESC, handle LIMIT ?").all(limit)
          : db
              .prepare("SELECT * FROM outputs WHERE session_id = ? ORDER BY at DESC, handle LIMIT ?")
              .all(sessionId, limit);
      return (rows as OutputRow[]).map(factsOf);
    });
  }

  /** Removes all outputs of a session. */
  forget(sessionId: string): void {
    writeStore(this.handle, (db) => {
      db.prepare("DELETE FROM output_texts WHERE handle IN (SELECT handle FROM outputs WHERE session_id = ?)").run(
        sessionId,
      );
      db.prepare("DELETE FROM outputs WHERE session_id = ?").run(sessionId);
    });
  }

  totals(): { count: number; bytes: number } {
    return readStore(this.handle, (db) => {
      const row = db.prepare("SELECT count(*) AS count, ifnull(sum(bytes), 0) AS bytes FROM outputs").get();
      return { count: Number(row?.["count"]), bytes: Number(row?.["bytes"]) };
    });
  }

  /** Records that the window was shown this text in full. True: the window already had the same text. */
  noteRead({ sessionId, agentId, source, window, hash, at }: ShownRead): boolean {
    return writeStore(this.handle, (db) => {
      const known = db
        .prepare("SELECT window, hash FROM shown_reads WHERE session_id = ? AND agent_id = ? AND source = ?")
        .get(sessionId, agentId, source);
      if (known?.["window"] === window && known["hash"] === hash) return true;
      db.prepare(
        "INSERT OR REPLACE INTO shown_reads (session_id, agent_id, source, window, hash, at) VALUES (?, ?, ?, ?, ?, ?)",
      ).run(sessionId, agentId, source, window, hash, at.toISOString());
      return false;
    });
  }

  /** Removes outputs beyond the limits. Returns how many were removed. */
  retire(limits: OutputLimits, now: Date): number {
    return writeStore(this.handle, (db) => trim(db, limits, { now }));
  }
}

type OutputRow = Record<string, unknown>;

function factsOf(row: OutputRow): OutputFacts {
  return {
    handle: String(row["handle"]),
    at: new Date(String(row["at"])),
    sessionId: String(row["session_id"]),
    agentId: String(row["agent_id"]),
    source: String(row["source"]),
    lines: Number(row["lines"]),
    chars: Number(row["chars"]),
  };
}

const HANDLE_DIGITS = 6;

function freeHandle(db: DatabaseSync): string {
  const taken = db.prepare("SELECT 1 FROM outputs WHERE handle = ?");
  for (;;) {
    const handle = newId("K", HANDLE_DIGITS);
    if (!taken.get(handle)) return handle;
  }
}

const DAY_MS = 86_400_000;

/** `keep`: the newest, which is kept even if it alone is beyond the limit. */
function trim(
  db: DatabaseSync,
  { keepDays, maxBytes }: OutputLimits,
  { now, keep = "" }: { now: Date; keep?: string },
) {
  const before = new Date(now.getTime() - keepDays * DAY_MS).toISOString();
  const gone = db.prepare("SELECT handle FROM outputs WHERE at < ? AND handle <> ?").all(before, keep);
  let total = Number(
    db.prepare("SELECT ifnull(sum(bytes), 0) AS bytes FROM outputs WHERE at >= ?").get(before)?.["bytes"],
  );
  if (total > maxBytes) {
    const rows = db.prepare("SELECT handle, bytes FROM outputs WHERE at >= ? AND handle <> ? ORDER BY at");
    for (const row of rows.all(before, keep)) {
      if (total <= maxBytes) break;
      total -= Number(row["bytes"]);
      gone.push(row);
    }
  }
  for (const { handle } of gone) {
    db.prepare("DELETE FROM output_texts WHERE handle = ?").run(handle as string);
    db.prepare("DELETE FROM outputs WHERE handle = ?").run(handle as string);
  }
  return gone.length;
}
