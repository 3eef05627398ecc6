/**
 * One connection to a database file, with nothing written: no creation of tables, no journal mode.
 * The hook bundles this file.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { isRefusedWrite } from "./lock-fault.ts";
import { sqlite } from "./quiet.ts";
import { GUARDED, GUARDED_OPTIONS } from "./schema-check.ts";

/** With 32 writers on a busy machine one of them waited more than five seconds: SQLite does not queue them. */
export const DEFAULT_BUSY_MS = 15_000;

export function connect(file: string, { readOnly = false, busyMs = DEFAULT_BUSY_MS } = {}): DatabaseSync {
  if (!readOnly) return openAndLook(file, false, busyMs);
  try {
    return openAndLook(file, true, busyMs);
  } catch (error) {
    // A WAL database cannot be read where its -shm file can be neither found nor made: a read-only folder, a full disk.
    // Without changes in a -wal file the main file is whole, and `immutable` reads it as it is.
    if (!isRefusedWrite(error) || hasBytes(`${file}-wal`) || !hasBytes(file)) throw error;
    const uri = `file:${encodeURI(file).replace(/[?#]/g, encodeURIComponent)}?immutable=1`;
    return openAndLook(uri, true, busyMs);
  }
}

function openAndLook(location: string, readOnly: boolean, busyMs: number): DatabaseSync {
  const db = new sqlite.DatabaseSync(location, { readOnly, ...GUARDED_OPTIONS });
  try {
    // Foreign keys are on by default in Node.
    db.exec(`PRAGMA busy_timeout = ${Math.round(busyMs)}; ${GUARDED}`);
    // SQLite opens lazily; only a read shows whether this is a database that can be used here.
    if (readOnly) db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get();
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

function hasBytes(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
