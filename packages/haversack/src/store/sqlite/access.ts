/** Reading and writing an open store: faults translated, writes in one transaction. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { StoreHandle } from "./handle.ts";
import type { SpoolArgs, SpoolEntry, SpoolKind } from "./spool/spool-entry.ts";

/**
 * Runs `change` in one transaction; when this returns, it is saved as durably as the handle was opened. The version
 * is looked at under the same lock: a program that has been open since before a breaking upgrade must not write into
 * tables it does not know.
 *
 * `entry` says what to put into the spool when another process holds the lock and the handle has a stand-in for that. Without
 * it the change is made in the stand-in alone and lost with this process.
 */
export function writeStore<T>(
  handle: StoreHandle,
  change: (db: DatabaseSync) => T,
  entry: (result: T) => SpoolEntry | undefined = () => undefined,
): T {
  if (handle.standIn) return handle.standIn.write(change, entry);
  const { db } = handle;
  return handle.guard(() => {
    try {
      return inTransaction(db, () => {
        handle.checkVersion();
        return change(db);
      });
    } catch (error) {
      // Nothing of `change` has happened: it failed at the lock, or was rolled back.
      const standIn = handle.standInFor?.(error);
      if (!standIn) throw error;
      handle.standIn = standIn;
      return standIn.write(change, entry);
    }
  });
}

/** Saves an event, or, while another process holds the lock, puts it into the spool. `save` is the kind's own function. */
export function writeEvent<Kind extends SpoolKind, T>(
  handle: StoreHandle,
  kind: Kind,
  save: (db: DatabaseSync, args: SpoolArgs<Kind>) => T,
  args: SpoolArgs<Kind>,
): T {
  return writeStore(
    handle,
    (db) => save(db, args),
    // The two belong together by this function's own types.
    () => ({ kind, args }) as SpoolEntry,
  );
}

export function readStore<T>(handle: StoreHandle, read: (db: DatabaseSync) => T): T {
  return handle.guard(() => read(handle.db));
}

/** As the store stood at one moment, whatever others write meanwhile. Not inside of a write. */
export function readTogether<T>(handle: StoreHandle, read: (db: DatabaseSync) => T): T {
  return handle.guard(() => inTransaction(handle.db, () => read(handle.db), "BEGIN"));
}

// One transaction, from its beginning to the commit.

/** The lock is taken at the start, so it never fails half-way on a lock. When this returns, the change is committed. */
export function inTransaction<T>(db: DatabaseSync, action: () => T, begin = "BEGIN IMMEDIATE"): T {
  db.exec(begin);
  try {
    const result = action();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite ends the transaction itself on a full disk or an I/O error; the first error is the one that counts.
  }
}
