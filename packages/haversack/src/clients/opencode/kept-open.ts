/**
 * A project's store for a process that stays: opened at its first use, and anew when another file has taken its place or its tables
 * were changed. Bun gives a prepared statement's rows the columns that the table had when it was prepared.
 */
import { statSync } from "node:fs";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { isLockFault } from "../../store/sqlite/lock-fault.ts";
import { openForHook } from "../../store/sqlite/open-for-hook.ts";
import { connectToRead, openBlind, standInAfter } from "../../store/sqlite/spool/stand-in.ts";
import { takeInOrStandIn } from "../../store/sqlite/spool/take-in.ts";

/** How long the store may be locked by others: the client's own screen waits as long. */
export const BUSY_MS = 100;

export interface KeptOpenOptions {
  /** Where this user's records of trusted projects are. */
  userState: string | undefined;
  warn?(text: string): void;
}

/** Undefined when there is no store, or none that this version may use. `sessionId`: whose event it is opened for. */
export function keptOpen(
  file: string,
  { userState, warn = () => undefined }: KeptOpenOptions,
): (sessionId?: string) => StoreHandle | undefined {
  let kept: { handle: StoreHandle; inode: number; schema: unknown } | undefined;
  const open = (sessionId: string): StoreHandle | undefined => {
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    // One that could not write has tables of its own beside the real ones: the next event begins afresh.
    const isSame = kept && !kept.handle.standIn && kept.inode === inode && kept.schema === schemaOf(kept.handle);
    if (!isSame) {
      const last = kept?.handle.db;
      kept = undefined;
      last?.close();
      const handle = openOrRead(file, userState);
      if (!handle || inode === undefined) return undefined;
      // A hook leaves the log to the next one; a process that stays has to shorten it itself.
      handle.db.exec("PRAGMA wal_autocheckpoint = 1000");
      kept = { handle, inode, schema: schemaOf(handle) };
    }
    const handle = kept?.handle;
    if (!handle) return undefined;
    handle.standInFor = (error) => standInAfter(error, handle, { sessionId, warn });
    takeInOrStandIn(handle, { sessionId, warn });
    return handle;
  };
  return (sessionId = "") => {
    try {
      return open(sessionId);
    } catch (error) {
      if (!isLockFault(error)) {
        // A connection that has failed may keep failing: the next event opens a new one.
        const last = kept?.handle.db;
        kept = undefined;
        try {
          last?.close();
        } catch {
          // It was closed already; the first fault is the one to report.
        }
        throw error;
      }
      return openBlind(file, { sessionId, warn });
    }
  };
}

/** Where the store cannot be written, it is opened for reading: see spool/stand-in.ts. */
function openOrRead(file: string, userState: string | undefined): StoreHandle | undefined {
  try {
    return openForHook(file, { busyMs: BUSY_MS, userState });
  } catch (error) {
    if (isLockFault(error)) throw error;
    return openForHook(file, { busyMs: BUSY_MS, userState, readable: connectToRead(error, file) });
  }
}

/** A number that SQLite raises with every change of a table. */
function schemaOf({ db }: StoreHandle): unknown {
  return db.prepare("PRAGMA schema_version").get()?.["schema_version"];
}
