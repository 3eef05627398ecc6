/**
 * A project's store for a process that stays: opened at its first use, and anew when another file has taken its place or its tables
 * were changed. Bun gives a prepared statement's rows the columns that the table had when it was prepared.
 */
import { statSync } from "node:fs";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { openForHook } from "../../store/sqlite/open-for-hook.ts";

/** How long the store may be locked by others: the client's own screen waits as long. */
export const BUSY_MS = 100;

/** Undefined when there is no store, or none that this version may use. */
export function keptOpen(file: string): () => StoreHandle | undefined {
  let kept: { handle: StoreHandle; inode: number; schema: unknown } | undefined;
  return () => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (kept && kept.inode === inode && kept.schema === schemaOf(kept.handle)) return kept.handle;
    kept?.handle.db.close();
    kept = undefined;
    const handle = openForHook(file, { busyMs: BUSY_MS });
    if (!handle || inode === undefined) return undefined;
    // A hook leaves the log to the next one; a process that stays has to shorten it itself.
    handle.db.exec("PRAGMA wal_autocheckpoint = 1000");
    kept = { handle, inode, schema: schemaOf(handle) };
    return handle;
  };
}

/** A number that SQLite raises with every change of a table. */
function schemaOf({ db }: StoreHandle): unknown {
  return db.prepare("PRAGMA schema_version").get()?.["schema_version"];
}
