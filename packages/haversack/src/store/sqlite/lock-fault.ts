/** Why SQLite could not write, by its result code, on Node and on Bun. The hook bundles this file. */

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
