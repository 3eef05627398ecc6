/**
 * Opens the store with WAL, foreign keys, a busy timeout and the newest schema. The hook has its own, smaller function. If the
 * schema is current and the spool is empty, opening writes nothing.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HaversackError, isFault } from "../../base/errors.ts";
import { hasSpool, makePrivateFile, makePrivateFolderOf, type StoreHandle, tightenStore } from "./access.ts";
import {
  connect,
  DEFAULT_BUSY_MS,
  guardStore,
  SQLITE_BUSY,
  sqliteCode,
  storeFault,
  whyNotWritable,
} from "./connect.ts";
import { type Migration, migrations } from "./migrations.ts";
import { sqlite } from "./quiet.ts";
import { applyMigrations, latestVersion, readPragma, refuseIfTooNew, schemaState, upgradeSchema } from "./schema.ts";
import { standInFor } from "./spool/stand-in.ts";
import { readInSpool } from "./spool/take-in.ts";

/**
 * A long-lived process closes `db` when it is done. A hook does not: it calls process.exit() after its last commit and leaves the
 * WAL to the next process. Run time relative to a bare start: 1.14 with a normal end (which closes), 1.11 with exit().
 */
export interface OpenOptions {
  /** full: a commit survives a power cut. normal: it survives a kill; a power cut may lose the last commits, but only whole ones. */
  durability: "full" | "normal";
  /** Create the folder and the file if they are missing. Default: true, or false with `readOnly`. */
  create?: boolean;
  /** For commands that only read. Still upgrades an older store first. Default: false. */
  readOnly?: boolean;
  /** How long to wait for other processes, in milliseconds. Default: 15,000. */
  busyMs?: number;
  /** Tests hand in their own. */
  migrations?: readonly Migration[];
}

export function openDatabase(file: string, options: OpenOptions): StoreHandle {
  const {
    durability,
    readOnly = false,
    create = !readOnly,
    busyMs = DEFAULT_BUSY_MS,
    migrations: list = migrations,
  } = options;
  return guardStore(file, () => {
    if (create) {
      makePrivateFolderOf(file);
      makePrivateFile(file);
    } else if (!statSync(file, { throwIfNoEntry: false })) throw notFound(file);

    const db = retryWhileBusy(busyMs, () => prepare(file, { readOnly, busyMs, list }));
    // FULL is the default in Node's build. Set it anyway, because the durability we promise depends on it.
    if (!readOnly) db.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
    if (!readOnly) tightenStore(file);
    const handle = guardedHandle(file, db, { list, isReadOnly: readOnly });
    if (hasSpool(file)) readInSpool(handle);
    return handle;
  });
}

/** For callers that only read: if the store cannot be written, it is opened read-only, and a write is a fault. */
export function openToRead(file: string, options: OpenOptions): StoreHandle {
  try {
    return openDatabase(file, options);
  } catch (error) {
    if (!isFault(error, "store-read-only") && !isFault(error, "store-full")) throw error;
    try {
      return openDatabase(file, { ...options, readOnly: true });
    } catch {
      // The first error says what to do about it.
      throw error;
    }
  }
}

/**
 * For callers that answer and also record their answer: the answer matters more than the record. If the store is locked, the record
 * goes into the spool. On a full disk or without write permission it is dropped, and `warn` gets the reason.
 */
export function openToAnswer(
  file: string,
  { warn, ...options }: OpenOptions & { warn(text: string): void },
): StoreHandle {
  const handle = openToRead(file, options);
  const standIn = (isSpooled: boolean) => standInFor(handle, { sessionId: "", isSpooled, warn });
  handle.standInFor = (error) => {
    const fault = storeFault(error, file);
    if (isFault(fault, "store-locked")) return standIn(true);
    if (!isFault(fault, "store-full") && !isFault(fault, "store-read-only")) return undefined;
    warn(fault.message);
    return standIn(false);
  };
  if (handle.isReadOnly) {
    warn(whyNotWritable(file)?.message ?? `${file} can only be read`);
    handle.standIn = standIn(false);
  }
  return handle;
}

export function guardedHandle(
  file: string,
  db: DatabaseSync,
  { list, isReadOnly }: { list: readonly Migration[]; isReadOnly: boolean },
): StoreHandle {
  const known = latestVersion(list);
  return {
    file,
    db,
    isReadOnly,
    guard: (action) => guardStore(file, action),
    checkVersion: () => {
      if (readPragma(db, "user_version") > known) refuseIfTooNew(db, file, known);
    },
  };
}

function prepare(
  file: string,
  { readOnly, busyMs, list }: { readOnly: boolean; busyMs: number; list: readonly Migration[] },
): DatabaseSync {
  const db = connect(file, { readOnly, busyMs });
  try {
    // Checked before anything is written: the file may belong to another program.
    const state = schemaState(db, file, list);
    if (state === "usable" && readOnly) return db;
    if (!readOnly) {
      db.exec("PRAGMA journal_mode = WAL");
      if (state !== "usable") upgradeSchema(db, file, list);
      return db;
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  prepare(file, { readOnly: false, busyMs, list }).close();
  return connect(file, { readOnly, busyMs });
}

/**
 * Switching to WAL needs exclusive access and fails at once, despite the busy timeout, when 15 others do the same. So does
 * opening at the moment the last process closes the file.
 */
function retryWhileBusy<T>(busyMs: number, attempt: () => T): T {
  const deadline = Date.now() + busyMs;
  for (let tries = 1; ; tries++) {
    try {
      return attempt();
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || Date.now() >= deadline) throw error;
      sleep(Math.random() * Math.min(5 * tries, 50));
    }
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

export function notFound(file: string): HaversackError {
  return new HaversackError("not-found", `there is no store at ${file}`, {
    hint: "`haversack init` makes one; so does the first command that saves something",
  });
}

// An in-memory store with the whole schema, for evaluations and for calls with rules other than the project's.

export function openMemoryStore(): StoreHandle {
  const db = new sqlite.DatabaseSync(":memory:");
  applyMigrations(db, ":memory:", migrations);
  return guardedHandle(":memory:", db, { list: migrations, isReadOnly: false });
}
