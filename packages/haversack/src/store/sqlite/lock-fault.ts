/** Whether SQLite gave up because another process holds a lock. The hook bundles this file. */

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

export function isLockFault(error: unknown): boolean {
  // Node has the code in `errcode`, Bun in `errno`; extended codes have the primary one in their low byte.
  const { errcode, errno } = error as { errcode?: unknown; errno?: unknown };
  const code = typeof errcode === "number" ? errcode : typeof errno === "number" ? errno : 0;
  const isSqlite = errcode !== undefined || String((error as { code?: unknown }).code).startsWith("SQLITE_");
  return isSqlite && ((code & 0xff) === SQLITE_BUSY || (code & 0xff) === SQLITE_LOCKED);
}
