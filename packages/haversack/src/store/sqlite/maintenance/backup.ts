/** Makes, checks and restores complete copies of a store. */
import { existsSync, realpathSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HaversackError, isFault } from "../../../base/errors.ts";
import { moveFile, type Place, removeFile, syncPath } from "../../../base/safe-write.ts";
import { folderOf, inTransaction, makePrivateFile, placeOfStore, type StoreHandle } from "../access.ts";
import { DEFAULT_BUSY_MS, fault, guardStore, withConnection } from "../connect.ts";
import { migrations } from "../migrations.ts";
import { notFound, openDatabase } from "../open.ts";
import { afterRestore } from "../outbox/outbox.ts";
import { applyMigrations, readPragma, schemaState } from "../schema.ts";
import { integrityProblems, quoteName, tableNames } from "./check-store.ts";

export interface BackupReport {
  target: string;
  sizeBytes: number;
  version: number;
}

/** `place`: see safe-write.ts; by default the target itself must not be a link. */
export function backupStore(file: string, target: string, place: Place = { within: folderOf(target) }): BackupReport {
  return guardStore(file, () => {
    if (!existsSync(file)) throw notFound(file);
    return withConnection(file, { readOnly: true }, (db) => {
      schemaState(db, file, migrations);
      return copyDatabase(db, target, place);
    });
  });
}

/** Writes what `db` sees now to `target`, under a temporary name until it is complete. */
export function copyDatabase(db: DatabaseSync, target: string, place: Place): BackupReport {
  refuseTarget(target);
  const part = `${target}.part-${process.pid}`;
  try {
    removeFile(part, place);
    makePrivateFile(part, place);
    // VACUUM INTO and not the backup API, which starts over whenever another process writes.
    guardTarget(target, () => db.prepare("VACUUM INTO ?").run(part));
    const version = verifyCopy(part);
    return guardStore(target, () => {
      syncPath(part, "r+");
      if (!moveFile(part, target, { ...place, isNew: true })) throw exists(target);
      syncPath(folderOf(target));
      return { target, sizeBytes: statSync(target).size, version };
    });
  } finally {
    removeFile(part, place);
  }
}

function refuseTarget(target: string): void {
  if (existsSync(target)) throw exists(target);
  if (!statSync(folderOf(target), { throwIfNoEntry: false })?.isDirectory()) {
    throw new HaversackError("not-found", `${target} cannot be written: its folder does not exist`, {
      hint: "make the folder first, or name another place",
    });
  }
}

function exists(target: string): HaversackError {
  return new HaversackError("refused", `${target} exists already, and a backup never replaces a file`, {
    hint: "name another file",
  });
}

const TARGET_FAULTS = new Set<string>(["store-full", "store-read-only", "store-unreadable"]);

/** A full disk or a read-only folder is a fault of the target. Damage and locks are faults of the store and name it. */
function guardTarget(target: string, action: () => void): void {
  try {
    guardStore(target, action);
  } catch (error) {
    if (!isFault(error)) throw error;
    throw TARGET_FAULTS.has(error.code) ? error : error.cause;
  }
}

function verifyCopy(part: string): number {
  return withConnection(part, { readOnly: true }, (copy) => {
    const [problem] = integrityProblems(copy);
    if (problem) throw fault("store-corrupt", `the backup did not pass its check (${problem}) and was not kept`);
    return readPragma(copy, "user_version");
  });
}

// Puts the content of a backup into the store, as seen by others:
// - A process that has the store open keeps working. It sees the old content until the commit and the restored content
//   after it; writers wait. No file is renamed or removed under it.
// - The present content is first kept in a file beside the store, under the same lock, so no write is lost in between.
// - A crash leaves the old content or the restored content.
// Only a damaged file, or one that is no database, is moved aside and replaced. A process that has it open goes on using the
// moved file and must be restarted. SQLite's backup API would not do: Node opens the target itself, outside our lock.

export interface RestoreReport {
  /** Where the previous content is kept; absent when there was no store. */
  kept?: string;
  /** moved-aside: the present file was damaged or not a store; `kept` is that file. */
  way: "in-place" | "moved-aside" | "new";
  tables: number;
}

export interface RestoreOptions {
  /** Names the kept file. Default: the present time. */
  now?: Date;
  /** How long to wait for a writer, in milliseconds. Default: 15,000. */
  busyMs?: number;
  /** Files that are not this user's own are moved aside unopened: the whole store, or the named files beside it. */
  foreign?: "store" | readonly string[];
}

export function restoreStore(
  file: string,
  from: string,
  { now = new Date(), busyMs = DEFAULT_BUSY_MS, foreign = [] }: RestoreOptions = {},
): RestoreReport {
  const incoming = `${file}.incoming-${process.pid}`;
  const stamp = now.toISOString().replace(/[-:]/g, "").replace(".", "-");
  const kept = `${file}.before-restore-${stamp}`;
  try {
    const hadStore = existsSync(file);
    takeIn(from, incoming, file);
    if (!hadStore) return { way: "new", tables: replaceAll(file, incoming, { busyMs }) };
    // A different name, because the damage may have shown only after a good copy was kept.
    const aside = `${file}.moved-aside-${stamp}`;
    if (foreign !== "store") {
      for (const name of foreign) moveBeside(file, aside, name.slice(baseName(file).length));
      try {
        return { way: "in-place", kept, tables: replaceAll(file, incoming, { busyMs, kept }) };
      } catch (error) {
        if (!isFault(error, "store-corrupt") && !isFault(error, "store-not-a-database")) throw error;
      }
    }
    moveAside(file, aside);
    return { way: "moved-aside", kept: aside, tables: replaceAll(file, incoming, { busyMs }) };
  } finally {
    removeFile(incoming, placeOfStore(file));
  }
}

/** Checks the backup and makes a private copy of it. The backup itself is only read. */
function takeIn(from: string, incoming: string, file: string): void {
  if (!statSync(from, { throwIfNoEntry: false })?.isFile()) {
    throw new HaversackError("not-found", `there is no backup file at ${from}`, {
      hint: "name the file of a backup",
    });
  }
  if (existsSync(file) && realpathSync(from) === realpathSync(file)) {
    throw new HaversackError("input-invalid", `${from} is the store itself`, { hint: "name the backup file" });
  }
  guardBackup(from, () =>
    withConnection(from, { readOnly: true }, (source) => {
      if (schemaState(source, from, migrations) === "empty")
        throw fault("store-not-a-database", `${from} is empty, not a backup`);
      const [problem] = integrityProblems(source);
      if (problem) throw fault("store-corrupt", `the backup ${from} is damaged (${problem}); nothing was changed`);
      removeFile(incoming, placeOfStore(file));
      copyDatabase(source, incoming, placeOfStore(file));
    }),
  );
}

/** The usual hints are about the store; this file is not it. */
function guardBackup(from: string, action: () => unknown): void {
  try {
    guardStore(from, action);
  } catch (error) {
    if (isFault(error, "store-not-a-database")) {
      throw new HaversackError(error.code, `${from} is not a backup of a store; nothing was changed`, {
        hint: "name the file of a backup",
        cause: error,
      });
    }
    if (!isFault(error, "store-corrupt")) throw error;
    throw new HaversackError(error.code, error.message, { hint: "use another backup", cause: error });
  }
}

function replaceAll(file: string, incoming: string, { busyMs, kept }: { busyMs: number; kept?: string }): number {
  const handle = openDatabase(file, { durability: "full", busyMs });
  try {
    return guardStore(file, () => replaceUnderLock(handle, incoming, kept));
  } finally {
    handle.db.close();
  }
}

function replaceUnderLock({ db, file }: StoreHandle, incoming: string, kept: string | undefined): number {
  db.prepare("ATTACH ? AS incoming").run(incoming);
  db.exec("PRAGMA foreign_keys = OFF"); // Has no effect inside a transaction.
  return inTransaction(db, () => {
    // A second connection sees exactly what was committed before our lock.
    if (kept) withConnection(file, { readOnly: true }, (before) => copyDatabase(before, kept, placeOfStore(file)));
    replaceContent(db);
    applyMigrations(db, file, migrations); // In the same transaction, so no process sees an old schema.
    afterRestore(db);
    const [problem] = db.prepare("PRAGMA main.foreign_key_check").all();
    if (problem) {
      const text = `the backup has broken links in table ${problem["table"]}; nothing was changed`;
      throw new HaversackError("store-corrupt", text, { hint: "use another backup" });
    }
    return tableNames(db).length;
  });
}

/** -wal moves with the file it belongs to; -shm is only an index of it. */
function moveAside(file: string, aside: string): void {
  guardStore(file, () => {
    for (const part of ["-wal", "-journal", "-shm"]) moveBeside(file, aside, part);
    moveFile(file, aside, placeOfStore(file));
    syncPath(folderOf(file));
  });
}

function moveBeside(file: string, aside: string, part: string): void {
  const place = placeOfStore(file);
  if (part === "-shm") removeFile(file + part, place);
  else if (existsSync(file + part)) moveFile(file + part, aside + part, place);
}

function baseName(file: string): string {
  return file.slice(folderOf(file).length + 1);
}

// Replaces the content of `main` (tables, rows, indexes) with the content of the attached database `incoming`. The caller
// has started a transaction, turned foreign keys off and checked both schemas; `incoming` is a private copy. It works as
// VACUUM does: ordinary tables are created from their own SQL and filled. A virtual table is only entered into the schema,
// because its content is in ordinary tables (`x_data`, `x_idx`, …) that were copied with the rest.

export function replaceContent(db: DatabaseSync): void {
  // Newer Node versions protect the schema and shadow tables by default; older ones have no such switch.
  (db as { enableDefensive?: (active: boolean) => void }).enableDefensive?.(false);
  dropEverything(db);

  const objects = db
    .prepare("SELECT type, name, sql, rootpage FROM incoming.sqlite_schema WHERE sql IS NOT NULL")
    .all() as unknown as SchemaRow[];
  const own = objects.filter(({ name }) => !name.startsWith("sqlite_"));
  for (const { name, sql } of own.filter(isStoredTable)) {
    db.exec(sql);
    const columns = storedColumns(db, name);
    db.exec(`INSERT INTO main.${quoteName(name)} (${columns}) SELECT ${columns} FROM incoming.${quoteName(name)}`);
  }
  for (const { sql } of own.filter(({ type }) => type === "index")) db.exec(sql);
  if (objects.some(({ name }) => name === "sqlite_sequence")) {
    // The highest ids ever given. Without them AUTOINCREMENT would reuse ids.
    db.exec(
      "DELETE FROM main.sqlite_sequence; INSERT INTO main.sqlite_sequence SELECT * FROM incoming.sqlite_sequence",
    );
  }
  // For virtual tables: only their schema row has to be written.
  db.exec(`PRAGMA writable_schema = ON;
    INSERT INTO main.sqlite_schema SELECT type, name, tbl_name, 0, sql FROM incoming.sqlite_schema
      WHERE type = 'table' AND rootpage = 0;
    PRAGMA writable_schema = RESET`);
  db.exec(
    `PRAGMA main.user_version = ${pragma(db, "user_version")}; PRAGMA main.application_id = ${pragma(db, "application_id")}`,
  );
}

interface SchemaRow {
  type: "table" | "index" | "view" | "trigger";
  name: string;
  sql: string;
  rootpage: number;
}

/** A virtual table has no root page. */
const isStoredTable = ({ type, rootpage }: SchemaRow) => type === "table" && rootpage > 0;

/** All but generated columns, which cannot be inserted into. */
function storedColumns(db: DatabaseSync, table: string): string {
  const select = db.prepare("SELECT name FROM pragma_table_xinfo(?, 'incoming') WHERE hidden = 0");
  return select
    .all(table)
    .map((row) => quoteName(String(row["name"])))
    .join(", ");
}

function dropEverything(db: DatabaseSync): void {
  // Virtual tables first: dropping one drops the tables that hold its content.
  const select = db.prepare(`SELECT type, name FROM main.sqlite_schema
    WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type = 'view' DESC, rootpage > 0`);
  for (const { type, name } of select.all() as unknown as SchemaRow[]) {
    db.exec(`DROP ${type} IF EXISTS main.${quoteName(name)}`);
  }
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA incoming.${name}`).get() ?? {})[0]);
}
