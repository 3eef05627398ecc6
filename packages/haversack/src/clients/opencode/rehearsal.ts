/**
 * Runs what an event would run, on the real store, and takes all of it back: whatever it writes is in one transaction that is never
 * committed. Done before the first prompt, it saves that prompt what is read, compiled and prepared at its first use.
 */
import type { StoreHandle } from "../../store/sqlite/handle.ts";

/** False: somebody else is writing just now, and nothing was run. `busyMs`: the handle's own patience, which comes back afterwards. */
export function rehearse(
  handle: StoreHandle,
  action: (rehearsed: StoreHandle) => void,
  { busyMs }: { busyMs: number },
): boolean {
  const { db } = handle;
  if (!takeLock(handle, busyMs)) return false;
  try {
    action({ ...handle, db: withoutCommits(db) });
  } finally {
    db.exec("ROLLBACK");
  }
  return true;
}

/** Nobody waits for a rehearsal, and it waits for nobody. */
function takeLock({ db }: StoreHandle, busyMs: number): boolean {
  db.exec("PRAGMA busy_timeout = 0");
  try {
    db.exec("BEGIN IMMEDIATE");
    return true;
  } catch {
    // Locked, or it cannot be written at all: the first event that needs to write says which.
    return false;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
  }
}

/** Transactions inside the one that is rolled back. */
const INSIDE: Readonly<Record<string, string>> = {
  BEGIN: "SAVEPOINT rehearsal",
  "BEGIN IMMEDIATE": "SAVEPOINT rehearsal",
  COMMIT: "RELEASE rehearsal",
  ROLLBACK: "ROLLBACK TO rehearsal; RELEASE rehearsal",
};

function withoutCommits(db: StoreHandle["db"]): StoreHandle["db"] {
  return {
    prepare: (sql: string) => db.prepare(sql),
    exec: (sql: string) => db.exec(INSIDE[sql] ?? sql),
    close: () => undefined,
  } as StoreHandle["db"];
}
