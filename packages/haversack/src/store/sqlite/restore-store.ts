/**
 * Puts the content of a backup into the store. What others see:
 * - A process that has the store open keeps working: it sees the old content until the commit and the restored one after it,
 *   and a writer waits for its turn. No file is renamed or removed under it.
 * - The present content is first kept in a file beside the store, under the same lock, so no acknowledged write falls
 *   between the copy and the restore.
 * - A crash leaves the old content or the restored one.
 * Only when the present file is damaged or no database is it moved aside and a new one made. A process that still had
 * the damaged file open goes on in that moved file and must be restarted.
 *
 * Not SQLite's backup API: Node opens the target of a backup itself, so the copy of the present content and the restore could not
 * share one lock.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { HaversackError, isFault } from "../../base/errors.ts";
import { moveFile, removeFile, syncPath } from "../../base/safe-write.ts";
import { copyDatabase } from "./backup-store.ts";
import { integrityProblems, tableNames } from "./check-store.ts";
import { connect, DEFAULT_BUSY_MS } from "./connect.ts";
import { fault, guardStore } from "./faults.ts";
import { folderOf, placeOfStore } from "./folder.ts";
import type { StoreHandle } from "./handle.ts";
import { applyMigrations, schemaState } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { openDatabase } from "./open.ts";
import { replaceContent } from "./replace-content.ts";
import { inTransaction } from "./transaction.ts";

export interface RestoreReport {
  /** Where the content from before is kept; absent when there was no store. */
  kept?: string;
  /** moved-aside: the present file was damaged or no store; `kept` is that file. */
  way: "in-place" | "moved-aside" | "new";
  tables: number;
}

export interface RestoreOptions {
  /** Names the kept file. Default: the present time. */
  now?: Date;
  /** How long to wait for a writer, in milliseconds. Default: 15,000. */
  busyMs?: number;
  /** What is not this user's own is moved aside unopened: all of the store, or names of files beside it. */
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
    // Another name: the damage may have shown only after a good copy was kept.
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

/** Checks the backup and makes a private copy of it: the backup itself is only ever read. */
function takeIn(from: string, incoming: string, file: string): void {
  if (!statSync(from, { throwIfNoEntry: false })?.isFile()) {
    throw new HaversackError("not-found", `There is no backup file at ${from}.`, {
      hint: "Name the file of a backup.",
    });
  }
  if (existsSync(file) && realpathSync(from) === realpathSync(file)) {
    throw new HaversackError("input-invalid", `${from} is the store itself.`, { hint: "Name the backup file." });
  }
  guardStore(from, () => {
    const source = connect(from, { readOnly: true });
    try {
      if (schemaState(source, from, migrations) === "empty")
        throw fault("store-not-a-database", `${from} is empty, not a backup.`);
      const [problem] = integrityProblems(source);
      if (problem) throw fault("store-corrupt", `The backup ${from} is damaged (${problem}); nothing was changed.`);
      removeFile(incoming, placeOfStore(file));
      copyDatabase(source, incoming, placeOfStore(file));
    } finally {
      source.close();
    }
  });
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
    if (kept) keepPresent(file, kept);
    replaceContent(db);
    applyMigrations(db, file, migrations); // In the same transaction: nobody meets a schema older than his program.
    const [problem] = db.prepare("PRAGMA main.foreign_key_check").all();
    if (problem) throw brokenLinks(String(problem["table"]));
    return tableNames(db).length;
  });
}

function brokenLinks(table: string): HaversackError {
  return new HaversackError("input-invalid", `The backup has broken links in table ${table}; nothing was changed.`, {
    hint: "Use another backup.",
  });
}

/** A second connection sees exactly what was committed before our lock. */
function keepPresent(file: string, kept: string): void {
  const db: DatabaseSync = connect(file, { readOnly: true });
  try {
    copyDatabase(db, kept, placeOfStore(file));
  } finally {
    db.close();
  }
}

/** -wal goes with the file it belongs to; -shm is only an index of it. */
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
