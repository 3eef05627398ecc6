/**
 * A project's store for events: opened at the first one, with what waits in the spool read in before each. A process that stays keeps it
 * open, and opens it anew when another file has taken its place or its tables were changed (Bun gives a prepared statement's rows
 * the columns that the table had when it was prepared).
 */
import { statSync } from "node:fs";
import { isLockFault } from "../../store/sqlite/connect.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { openForHook } from "../../store/sqlite/open-for-hook.ts";
import { hasSpool } from "../../store/sqlite/spool/spool-files.ts";
import { connectToRead, openBlind, standInAfter } from "../../store/sqlite/spool/stand-in.ts";
import { takeInOrStandIn } from "../../store/sqlite/spool/take-in.ts";

export interface KeptOpenOptions {
  /** How long to wait for other processes, in milliseconds; then the event goes into the spool. */
  busyMs: number;
  /** Where this user's records of trusted projects are. */
  userState: string | undefined;
  warn?(text: string): void;
  /** The process answers one event and ends without closing. Default: false. */
  isForOne?: boolean;
}

/** Undefined when there is no store, or none that this version may use. `sessionId`: whose event it is opened for. */
export function keptOpen(
  file: string,
  { busyMs, userState, warn = () => undefined, isForOne = false }: KeptOpenOptions,
): (sessionId?: string) => StoreHandle | undefined {
  let kept: { handle: StoreHandle; inode: number | undefined; log: number | undefined; schema: unknown } | undefined;
  const inodeOf = (path: string) => (isForOne ? undefined : statSync(path, { throwIfNoEntry: false })?.ino);
  // While we have it open nobody but git or a copy replaces it, and whether the store is still trusted is asked again.
  const isSameLog = () => kept?.log === undefined || kept.log === inodeOf(`${file}-wal`);
  const open = (sessionId: string): StoreHandle | undefined => {
    const inode = inodeOf(file);
    // One that could not write has tables of its own beside the real ones: the next event begins afresh.
    const isSame =
      kept && !kept.handle.standIn && kept.inode === inode && isSameLog() && kept.schema === schemaOf(kept.handle);
    if (!isSame) {
      const last = kept?.handle.db;
      kept = undefined;
      last?.close();
      const handle = openOrRead(file, { busyMs, userState });
      if (!handle || (!isForOne && inode === undefined)) return undefined;
      // A hook leaves the log to the next one; a process that stays has to shorten it itself. Its memory is not ours to fill.
      if (!isForOne) handle.db.exec("PRAGMA wal_autocheckpoint = 1000; PRAGMA cache_size = -1000");
      kept = { handle, inode, log: inodeOf(`${file}-wal`), schema: isForOne ? undefined : schemaOf(handle) };
    }
    const handle = kept?.handle;
    if (!handle) return undefined;
    handle.standInFor = (error) => standInAfter(error, handle, { sessionId, warn });
    if (hasSpool(file)) takeInOrStandIn(handle, { sessionId, warn });
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
function openOrRead(file: string, options: { busyMs: number; userState: string | undefined }): StoreHandle | undefined {
  try {
    return openForHook(file, options);
  } catch (error) {
    if (isLockFault(error)) throw error;
    return openForHook(file, { ...options, readable: connectToRead(error, file) });
  }
}

/** A number that SQLite raises with every change of a table. */
function schemaOf({ db }: StoreHandle): unknown {
  return db.prepare("PRAGMA schema_version").get()?.["schema_version"];
}
