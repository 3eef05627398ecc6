/** One transaction, from its beginning to the commit. */
import type { DatabaseSync } from "node:sqlite";

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
