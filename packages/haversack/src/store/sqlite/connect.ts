/**
 * Opens one connection to a database file and writes nothing: no tables, no journal mode. The hook bundles this file.
 */
import { accessSync, constants, statfsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HaversackError, isFault } from "../../base/errors.ts";
import { folderOf, type StoreHandle } from "./access.ts";
import { sqlite } from "./quiet.ts";
import { GUARDED, GUARDED_OPTIONS } from "./schema.ts";

/** With 32 writers on a busy machine, one of them waited more than five seconds: SQLite does not queue writers. */
export const DEFAULT_BUSY_MS = 15_000;

export function connect(file: string, { readOnly = false, busyMs = DEFAULT_BUSY_MS } = {}): DatabaseSync {
  if (!readOnly) return openAndLook(file, false, busyMs);
  try {
    return openAndLook(file, true, busyMs);
  } catch (error) {
    // A WAL database needs its -shm file, which cannot be created in a read-only folder or on a full disk. If the -wal file is
    // empty, the main file is complete, and `immutable` reads it without -shm.
    if (!isRefusedWrite(error) || hasBytes(`${file}-wal`) || !hasBytes(file)) throw error;
    const uri = `file:${encodeURI(file).replace(/[?#]/g, encodeURIComponent)}?immutable=1`;
    return openAndLook(uri, true, busyMs);
  }
}

/** Opens a connection for `use` alone. */
export function withConnection<T>(
  file: string,
  options: Parameters<typeof connect>[1],
  use: (db: DatabaseSync) => T,
): T {
  const db = connect(file, options);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

function openAndLook(location: string, readOnly: boolean, busyMs: number): DatabaseSync {
  const db = new sqlite.DatabaseSync(location, { readOnly, ...GUARDED_OPTIONS });
  try {
    // Foreign keys are on by default in Node.
    db.exec(`PRAGMA busy_timeout = ${Math.round(busyMs)}; ${GUARDED}`);
    // SQLite opens lazily; only a read shows whether the database can be used.
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

/** Another process holds a lock; a later attempt can succeed. */
export function isLockFault(error: unknown): boolean {
  return [SQLITE_BUSY, SQLITE_LOCKED].includes(sqliteCode(error));
}

/**
 * This user may not write the store, or the disk is full; it may still be readable. A WAL database that cannot create its -shm
 * file fails with one of these codes at its first read.
 */
export function isRefusedWrite(error: unknown): boolean {
  return [SQLITE_PERM, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN].includes(sqliteCode(error));
}

// Translates errors of SQLite and the file system into the store's faults, each with one line and a hint. Errors of our own
// SQL (syntax, constraint) are bugs and pass through unchanged. The hook bundles this file: `node:fs` and nothing else.

/** Runs `action` and translates its errors. Every access to the store goes through here. */
export function guardStore<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw storeFault(error, file);
  }
}

/** SQLite's primary result code, on Node and on Bun; 0 for other errors. */
export function sqliteCode(error: unknown): number {
  // Node has the code in `errcode`, Bun in `errno`. Extended codes have the primary code in their low byte.
  const { code, errcode, errno } = error as { code?: unknown; errcode?: unknown; errno?: unknown };
  if (typeof errcode === "number") return errcode & 0xff;
  return typeof errno === "number" && String(code).startsWith("SQLITE_") ? errno & 0xff : 0;
}

const SQLITE_PERM = 3;
export const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
export const SQLITE_READONLY = 8;
export const SQLITE_IOERR = 10;
export const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
/** Extended codes for a write that the system refused. Quota and size limits give these, not SQLITE_FULL. */
const REFUSED_WRITES = new Set([778 /* IOERR_WRITE */, 4874 /* IOERR_SHMSIZE */]);

export function storeFault(error: unknown, file: string): unknown {
  // The system refused the write: translate its error. Without a cause, we refused the write ourselves.
  if (isFault(error, "file-unwritable") && error.cause instanceof Error) return storeFault(error.cause, file);
  if (isFault(error) || !(error instanceof Error)) return error;
  const fileCode = (error as NodeJS.ErrnoException).code ?? "";
  switch (sqliteCode(error)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fault("store-locked", `the store is locked: another process keeps ${file} busy`, error);
    case SQLITE_READONLY:
      return readOnly(file, error);
    case SQLITE_FULL:
      return full(file, error);
    case SQLITE_CORRUPT:
      return fault("store-corrupt", `the store is damaged: ${file} (${error.message})`, error);
    case SQLITE_NOTADB:
      return fault("store-not-a-database", `${file} is not a database, so it cannot be used as the store`, error);
    case SQLITE_IOERR:
      if (isDiskFull(file) || REFUSED_WRITES.has((error as { errcode?: number }).errcode ?? 0))
        return full(file, error);
      return unreadable(file, error.message, error);
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return whyNotOpened(file, error);
  }
  if (fileCode === "ENOSPC" || fileCode === "EDQUOT") return full(file, error);
  if (fileCode === "EROFS" || fileCode === "EACCES" || fileCode === "EPERM") return readOnly(file, error);
  if (/^E[A-Z]+$/.test(fileCode)) return unreadable(file, fileCode, error);
  return error;
}

type StoreCode = keyof typeof HINTS;

const HINTS = {
  "store-locked":
    "try again; if it stays locked, end the program that holds it open (a stuck command or a database tool)",
  "store-read-only": "give this user write permission on the file and its folder: SQLite keeps its -wal file beside it",
  "store-full": "free some space, then run it again; what was saved before is still there",
  "store-corrupt":
    "`haversack store check` shows the damage; `haversack store restore FILE` restores a backup and keeps this file",
  "store-not-a-database": "move that file away, or restore a backup with `haversack store restore FILE`",
  "store-unreadable": "check that the path is a file that this user may read",
};

export function fault(code: StoreCode, text: string, cause?: unknown): HaversackError {
  return new HaversackError(code, text.replaceAll("\n", " "), { hint: HINTS[code], cause });
}

const full = (file: string, cause: unknown) =>
  fault("store-full", `the disk is full (or a quota or size limit is reached): ${file} could not be written`, cause);
const readOnly = (file: string, cause: unknown) =>
  fault("store-read-only", `the store cannot be written: ${file} or its folder is read-only`, cause);
const unreadable = (file: string, why: string, cause: unknown) =>
  fault("store-unreadable", `the store cannot be read: ${file} (${why})`, cause);

/** Why a write would fail, found without writing: no permission for the file, its WAL or the folder, or a full disk. Undefined: it would not fail. */
export function whyNotWritable(file: string): HaversackError | undefined {
  try {
    for (const path of [file, folderOf(file), `${file}-wal`, `${file}-shm`]) {
      if (statSync(path, { throwIfNoEntry: false })) accessSync(path, constants.W_OK);
    }
  } catch (reason) {
    return readOnly(file, reason);
  }
  return isDiskFull(file) ? full(file, undefined) : undefined;
}

/** SQLITE_CANTOPEN has a dozen causes and names none. The file system shows the cause. */
function whyNotOpened(file: string, error: Error): HaversackError {
  if (isDiskFull(file)) return full(file, error);
  try {
    if (statSync(file).isDirectory()) return unreadable(file, "it is a folder", error);
    accessSync(file, constants.R_OK);
  } catch (reason) {
    const { code = "" } = reason as NodeJS.ErrnoException;
    if (code !== "ENOENT") return unreadable(file, code, error);
  }
  try {
    accessSync(folderOf(file), constants.W_OK);
  } catch (reason) {
    const { code = "" } = reason as NodeJS.ErrnoException;
    return code === "ENOENT" ? unreadable(file, "its folder does not exist", error) : readOnly(file, error);
  }
  return unreadable(file, error.message, error);
}

function isDiskFull(file: string): boolean {
  try {
    const { bavail, files, ffree } = statfsSync(folderOf(file));
    return bavail === 0 || (files > 0 && ffree === 0);
  } catch {
    return false; // The folder is gone or unreadable: report that instead.
  }
}

/** Changes when another connection has committed. Costs no read of any table. */
export function changeMark({ db, file }: StoreHandle): string {
  return `${file}:${Number(db.prepare("PRAGMA data_version").get()?.["data_version"])}`;
}
