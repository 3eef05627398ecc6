/**
 * What SQLite and the file system throw, turned into the store's faults: one line and a hint each.
 * Errors of our own SQL (syntax, constraint) are bugs and pass through unchanged.
 * The hook bundles this file: `node:fs` and nothing else.
 */
import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { HaversackError, isFault } from "../../base/errors.ts";
import { folderOf } from "./store-files.ts";

/** Runs `action` and translates what it throws. Every access to the store goes through here. */
export function guardStore<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw storeFault(error, file);
  }
}

/** SQLite's primary result code, or 0 when the error is not SQLite's. */
export function sqliteCode(error: unknown): number {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === "ERR_SQLITE_ERROR" && typeof errcode === "number" ? errcode & 0xff : 0;
}

export const SQLITE_BUSY = 5;
export const SQLITE_READONLY = 8;
export const SQLITE_CORRUPT = 11;
export const SQLITE_CANTOPEN = 14;
const SQLITE_PERM = 3;
const SQLITE_LOCKED = 6;
export const SQLITE_IOERR = 10;
export const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
/** Extended codes: a write the system refused. Over quota and over a size limit end here, not in SQLITE_FULL. */
const REFUSED_WRITES = new Set([778 /* IOERR_WRITE */, 4874 /* IOERR_SHMSIZE */]);

export function storeFault(error: unknown, file: string): unknown {
  // What the system said to a write of ours, and not that we refused it.
  if (isFault(error, "file-unwritable") && error.cause instanceof Error) return storeFault(error.cause, file);
  if (isFault(error) || !(error instanceof Error)) return error;
  const fileCode = (error as NodeJS.ErrnoException).code ?? "";
  switch (sqliteCode(error)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fault("store-locked", `The store is locked: another process keeps ${file} busy.`, error);
    case SQLITE_READONLY:
      return readOnly(file, error);
    case SQLITE_FULL:
      return full(file, error);
    case SQLITE_CORRUPT:
      return fault("store-corrupt", `The store is damaged: ${file} (${error.message}).`, error);
    case SQLITE_NOTADB:
      return fault("store-not-a-database", `${file} is not a database, so it cannot be used as the store.`, error);
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
    "Try again; if it stays locked, end the program that holds it open (a stuck command or a database tool).",
  "store-read-only":
    "Give this user write permission on the file and its folder: SQLite keeps its -wal file beside it.",
  "store-full": "Free some space, then run it again; what was saved before is still there.",
  "store-corrupt":
    "See `haversack store check`; `haversack store restore FILE` brings a backup back and keeps this file.",
  "store-not-a-database": "Move that file away, or bring a backup back with `haversack store restore FILE`.",
  "store-unreadable": "Check that the path is a file that this user may read.",
};

export function fault(code: StoreCode, text: string, cause?: unknown): HaversackError {
  return new HaversackError(code, text.replaceAll("\n", " "), { hint: HINTS[code], cause });
}

const full = (file: string, cause: unknown) =>
  fault("store-full", `The disk is full (or a quota or size limit is reached): ${file} could not be written.`, cause);
const readOnly = (file: string, cause: unknown) =>
  fault("store-read-only", `The store cannot be written: ${file} or its folder is read-only.`, cause);
const unreadable = (file: string, why: string, cause: unknown) =>
  fault("store-unreadable", `The store cannot be read: ${file} (${why}).`, cause);

/** What a write would meet, without writing: no permission for the file, its log or their folder, or a full disk. Undefined: nothing. */
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

/** SQLITE_CANTOPEN has a dozen causes and names none; the file system can. */
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
    return false; // The folder is gone or unreadable: then that is the news, not the space.
  }
}
