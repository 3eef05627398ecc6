/**
 * One connection to a database file, with nothing written: no creation of tables, no journal mode.
 * The hook bundles this file.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { sqlite } from "./quiet.ts";
import { GUARDED, GUARDED_OPTIONS } from "./schema.ts";

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

// Why SQLite could not write, by its result code, on Node and on Bun.

const SQLITE_PERM = 3;
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** Another process holds a lock: it will work later. */
export function isLockFault(error: unknown): boolean {
  return [SQLITE_BUSY, SQLITE_LOCKED].includes(primaryCode(error));
}

/**
 * This user may not write the store, or the disk is full; it may still be readable. A WAL database that cannot get its -shm
 * file fails with one of these at its first read.
 */
export function isRefusedWrite(error: unknown): boolean {
  return [SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN].includes(primaryCode(error));
}

/** 0 when the error is not SQLite's. */
export function primaryCode(error: unknown): number {
  // Node has the code in `errcode`, Bun in `errno`; extended codes have the primary one in their low byte.
  const { code, errcode, errno } = error as { code?: unknown; errcode?: unknown; errno?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  return typeof errno === "number" && String(code).startsWith("SQLITE_") ? errno & 0xff : 0;
}
