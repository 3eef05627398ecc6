/** Reads and writes an open store: translates faults, and runs each write in one transaction. The hook bundles this file. */

import { existsSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { checkTrust } from "../../base/project-trust.ts";
import { errnoOf, makeFolder, makePrivate, type Place, putNewFile, syncPath, USER } from "../../base/safe-write.ts";
import { sqlite } from "./quiet.ts";
import { GUARDED, GUARDED_OPTIONS, readMinReader, refuseForeignSchema } from "./schema.ts";
import { SCHEMA_VERSION } from "./schema-version.ts";
import type { SpoolArgs, SpoolEntry, SpoolKind } from "./spool/save-entry.ts";

/**
 * Runs `change` in one transaction. On return it is saved with the durability of the handle. The schema version is checked under
 * the same lock: a program that was opened before a breaking upgrade must not write into tables it does not know.
 *
 * `entry` is put into the spool if another process holds the lock and the handle has a stand-in. Without an entry, the change is
 * made in the stand-in only and lost with this process.
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
        const result = change(db);
        handle.afterChange?.(db, result);
        return result;
      });
    } catch (error) {
      // `change` had no effect: it failed at the lock, or was rolled back.
      const standIn = handle.standInFor?.(error);
      if (!standIn) throw error;
      handle.standIn = standIn;
      return standIn.write(change, entry);
    }
  });
}

/** Saves an event, or puts it into the spool while another process holds the lock. `save` is the function for this kind. */
export function writeEvent<Kind extends SpoolKind, T>(
  handle: StoreHandle,
  kind: Kind,
  save: (db: DatabaseSync, args: SpoolArgs<Kind>) => T,
  args: SpoolArgs<Kind>,
): T {
  return writeStore(
    handle,
    (db) => save(db, args),
    // The signature guarantees that kind and args match.
    () => ({ kind, args }) as SpoolEntry,
  );
}

export function readStore<T>(handle: StoreHandle, read: (db: DatabaseSync) => T): T {
  return handle.guard(() => read(handle.db));
}

/** Reads a consistent snapshot of the store, whatever others write meanwhile. Not inside a write. */
export function readTogether<T>(handle: StoreHandle, read: (db: DatabaseSync) => T): T {
  return handle.guard(() => inTransaction(handle.db, () => read(handle.db), "BEGIN"));
}

/** A part of an open store. */
export class OnStore {
  protected readonly handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.handle = handle;
  }

  /** The first row of a query. */
  protected row(sql: string, ...values: string[]) {
    return readStore(this.handle, (db) => db.prepare(sql).get(...values));
  }
}

/** A store whose operations are functions on the database: here each becomes a method that runs in its own transaction. */
export class Operations extends OnStore {
  protected reads<Args extends unknown[], T>(
    read: (db: DatabaseSync, ...args: Args) => T,
  ): (...args: Args) => Promise<T> {
    return async (...args) => readStore(this.handle, (db) => read(db, ...args));
  }

  protected writes<Args extends unknown[], T>(
    change: (db: DatabaseSync, ...args: Args) => T,
  ): (...args: Args) => Promise<T> {
    return async (...args) => writeStore(this.handle, (db) => change(db, ...args));
  }
}

// One transaction, from begin to commit.

/** Takes the lock at the start, so it never fails half-way on a lock. On return the change is committed. */
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
    // SQLite itself ends the transaction on a full disk or an I/O error. Report the first error.
  }
}

// An open store. It brings its own fault texts and version check, because the hook uses smaller ones.

export interface StoreHandle {
  readonly file: string;
  readonly db: DatabaseSync;
  readonly isReadOnly: boolean;
  /** Runs an access to the store and translates SQLite errors into the store's faults. */
  guard<T>(action: () => T): T;
  /** Called under the write lock. Throws if this program may no longer write the schema. */
  checkVersion(): void;
  /** Returns a stand-in for writes that fail with this error; undefined: it is a fault. */
  standInFor?(error: unknown): StandIn | undefined;
  /** Called after each change, in the same transaction. */
  afterChange?(db: DatabaseSync, result: unknown): void;
  /** Once set, all later writes of this handle go there, which keeps their order. */
  standIn?: StandIn;
}

/** Takes the writes of a process that cannot write: into the spool if possible, and into private tables. */
export interface StandIn {
  /** The store could not be read: decisions that depend on its content have to wait. */
  readonly isBlind: boolean;
  /** false: this user cannot write the store, or the disk is full. Writes are lost when this process ends. */
  readonly isKept: boolean;
  write<T>(change: (db: DatabaseSync) => T, entry: (result: T) => SpoolEntry | undefined): T;
}

// How the hook opens the store: only an existing one, with a schema it knows. It creates and upgrades nothing; the CLI and the
// MCP server do that, because they can report errors. The hook bundles this file.

/**
 * The first process to open the store reads its WAL file from the start: 3 ms for 4 MB. Hooks exit without closing, because
 * closing would copy the WAL into the store each time (4 ms). A hook that finds a long WAL closes properly, which removes it.
 */
export function closeIfLogIsLong({ file, db }: StoreHandle): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > LONG_LOG_BYTES) db.close();
}

const LONG_LOG_BYTES = 512_000;

export interface HookOpenOptions {
  /** How long to wait for other processes, in milliseconds. */
  busyMs: number;
  /** Where this user's trust records are. */
  userState: string | undefined;
  /** A read-only connection, for a store that cannot be opened otherwise. */
  readable?: DatabaseSync;
}

/** Undefined if there is no store, it is not this user's own, or its schema is older or too new. Throws if its tables are not exactly ours. */
export function openForHook(file: string, { busyMs, userState, readable }: HookOpenOptions): StoreHandle | undefined {
  if (checkTrust(folderOf(file), userState).kind !== "trusted") return undefined;
  const db = readable ?? new sqlite.DatabaseSync(file, { timeout: busyMs, ...GUARDED_OPTIONS });
  db.exec(GUARDED);
  const version = db.prepare("PRAGMA user_version");
  const readVersion = () => Number(version.get()?.["user_version"]);
  const isUsable = () => {
    const found = readVersion();
    if (found === SCHEMA_VERSION) return true;
    if (found < SCHEMA_VERSION) return false;
    return readMinReader(db) <= SCHEMA_VERSION;
  };
  try {
    if (readVersion() < SCHEMA_VERSION) return closed(db);
    refuseForeignSchema(db, file, readVersion);
    if (!isUsable()) return closed(db);
  } catch (error) {
    closed(db);
    throw error;
  }
  db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
  return {
    file,
    db,
    isReadOnly: readable !== undefined,
    guard: (action) => action(),
    checkVersion: () => {
      if (!isUsable()) throw new Error(`${file} was upgraded by a newer Haversack`);
    },
  };
}

/** Closes a store that cannot be used: a long-lived process would otherwise keep the file open. */
function closed(db: StoreHandle["db"]): undefined {
  db.close();
}

// Folder and file modes of a store. Hooks load this, so it does not use `node:path`.

export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return cut > 0 ? file.slice(0, cut) : cut === 0 ? file.slice(0, 1) : ".";
}

/** The folder that changes beside a store must stay in: the project, or the store's own folder if it is kept elsewhere. */
export function placeOfStore(file: string): { within: string } {
  const folder = folderOf(file);
  return { within: folder.endsWith(`/${STATE_FOLDER}`) ? folderOf(folder) : folder };
}

// Prompts and work are private: the store and the files beside it have mode 0600, in a folder with mode 0700. SQLite gives
// -wal and -shm the mode of the store. Not for hooks, which create no store.

/** Creates an empty file for SQLite to fill. An existing file stays unchanged. */
export function makePrivateFile(file: string, place: Place = placeOfStore(file)): void {
  try {
    putNewFile(file, "", { ...place, mode: 0o600 });
  } catch (error) {
    // The file cannot be created. SQLite reports that next, and we translate its error.
    if (!["EACCES", "EPERM", "EROFS", "ENOSPC"].includes(errnoOf(error))) throw error;
  }
}

export function makePrivateFolderOf(file: string): void {
  const folder = folderOf(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const { within } = placeOfStore(file);
  // A store outside a project is in a folder of the user's own.
  const [made] = makeFolder(folder, { within: within === folder ? USER : within, mode: 0o700 });
  if (made !== undefined) syncPath(folderOf(made));
}

/** For a store made by an older version or with a loose umask. */
export function tightenStore(file: string): void {
  for (const path of [`${file}-wal`, `${file}-shm`, file]) makePrivate(path, 0o600);
  const folder = folderOf(file);
  if (folder.endsWith(`/${STATE_FOLDER}`)) makePrivate(folder, 0o700);
}

export function spoolOf(storeFile: string): string {
  return `${folderOf(storeFile)}/spool`;
}

export function hasSpool(storeFile: string): boolean {
  return existsSync(spoolOf(storeFile));
}
