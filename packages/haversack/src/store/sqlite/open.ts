/**
 * Opens the store: WAL, foreign keys, a busy time, and the newest schema. The hook has its own, smaller way in.
 * When the schema is current and nothing waits in the spool, opening writes nothing.
 */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HaversackError, isFault } from "../../base/errors.ts";
import { connect, DEFAULT_BUSY_MS } from "./connect.ts";
import { guardStore, SQLITE_BUSY, sqliteCode, storeFault, whyNotWritable } from "./faults.ts";
import type { StoreHandle } from "./handle.ts";
import { type Migration, migrations } from "./migrations.ts";
import { sqlite } from "./quiet.ts";
import { applyMigrations, latestVersion, readPragma, refuseIfTooNew, schemaState, upgradeSchema } from "./schema.ts";
import { standInFor } from "./spool/stand-in.ts";
import { readInSpool } from "./spool/take-in.ts";
import { makePrivateFile, makePrivateFolderOf, tightenStore } from "./store-files.ts";

/**
 * A long process closes `db` when it is done. A hook does not: it ends with process.exit() after its last commit and leaves the
 * log to the next process. Measured against a bare start: 1.14 with a normal end (which closes), 1.11 with exit().
 */
export interface OpenOptions {
  /** full: a commit survives a power cut. normal: it survives a kill; a power cut may take the last ones, never half. */
  durability: "full" | "normal";
  /** Make the folder and the file when they are missing. Default: true, and false with `readOnly`. */
  create?: boolean;
  /** For commands that only look. Still upgrades an older store first. Default: false. */
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
    // FULL is SQLite's default in Node's build; said anyway, because a promise hangs on it.
    if (!readOnly) db.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
    if (!readOnly) tightenStore(file);
    const handle = guardedHandle(file, db, { list, isReadOnly: readOnly });
    readInSpool(handle);
    return handle;
  });
}

/** For those that only look: where the store cannot be written, it is opened for reading, and a write is a fault. */
export function openToRead(file: string, options: OpenOptions): StoreHandle {
  try {
    return openDatabase(file, options);
  } catch (error) {
    if (!isFault(error, "store-read-only") && !isFault(error, "store-full")) throw error;
    try {
      return openDatabase(file, { ...options, readOnly: true });
    } catch {
      // The first one says what can be done about it.
      throw error;
    }
  }
}

/**
 * For those that answer and also note what they answered: where that cannot be written, the answer matters more. What a lock keeps
 * them from writing goes into the spool; on a full disk, or without write permission, it is forgotten, and `warn` hears why.
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
    warn(whyNotWritable(file)?.message ?? `${file} can only be read.`);
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

interface PrepareOptions {
  readOnly: boolean;
  busyMs: number;
  list: readonly Migration[];
}

function prepare(file: string, { readOnly, busyMs, list }: PrepareOptions): DatabaseSync {
  const db = connect(file, { readOnly, busyMs });
  try {
    // Looked at before anything is written: the file may be another program's.
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
 * The switch to WAL needs the file for itself and fails at once, whatever the busy time, when 15 others are at the same point.
 * The same holds for the moment in which the last process closes the file.
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
  return new HaversackError("not-found", `There is no store at ${file}.`, {
    hint: "`haversack init` makes one; so does the first command that saves something.",
  });
}

// A store in memory with the whole schema: for evaluations, and for a call with other rules than the project's.

export function openMemoryStore(): StoreHandle {
  const db = new sqlite.DatabaseSync(":memory:");
  applyMigrations(db, ":memory:", migrations);
  return guardedHandle(":memory:", db, { list: migrations, isReadOnly: false });
}
