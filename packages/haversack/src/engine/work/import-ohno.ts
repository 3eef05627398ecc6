/** Work that was tracked with ohno moves in. Its file is only read; a second time nothing is doubled. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HaversackError } from "../../base/errors.ts";
import { copyToNew, makeScratch, removeScratch } from "../../base/safe-write.ts";
import { sqlite } from "../../store/sqlite/quiet.ts";
import type { ImportReport } from "../../store/work-records.ts";
import type { Actor, WorkStore } from "../../store/work-store.ts";
import { type LeftOver, ohnoRecords } from "./ohno-records.ts";

export interface OhnoReport extends ImportReport {
  file: string;
  /** What could not be carried over, with counts. */
  left: LeftOver[];
}

export async function importOhno(
  store: Pick<WorkStore, "importRecords">,
  { path, isDryRun = false }: { path: string; isDryRun?: boolean },
  by: Actor,
): Promise<OhnoReport> {
  const database = readForeignDatabase(findOhnoFile(path));
  if (!database.tables.has("tasks")) {
    throw new HaversackError("input-invalid", `${database.file} has no table "tasks": it is not ohno's`);
  }
  const { records, left } = ohnoRecords(database);
  return { file: database.file, ...(await store.importRecords(records, { isDryRun }, by)), left };
}

// Another program's SQLite file, read from a copy in a folder of our own: opening a database can leave files beside
// it, and an unfinished write could only be undone by writing. The original is only ever read.

export interface ForeignTable {
  name: string;
  columns: string[];
  rows: Record<string, unknown>[];
}

export interface ForeignDatabase {
  file: string;
  changedAt: Date;
  tables: Map<string, ForeignTable>;
}

/** The file itself, or a folder that has it or has `.ohno/`. */
export function findOhnoFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return path;
  const places = [join(path, "tasks.db"), join(path, ".ohno", "tasks.db")];
  const found = stat && places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile());
  if (found) return found;
  throw new HaversackError(
    "not-found",
    `${path}: ${stat ? "has no tasks.db and no .ohno/tasks.db" : "does not exist"}`,
    {
      hint: "name the project's folder, its .ohno folder, or the tasks.db in it",
    },
  );
}

export function readForeignDatabase(file: string): ForeignDatabase {
  if (!isSqlite(file)) throw notADatabase(file);
  const folder = makeScratch(join(tmpdir(), "haversack-import-"));
  try {
    for (const end of ["", "-wal", "-journal"]) {
      if (statSync(file + end, { throwIfNoEntry: false })?.isFile())
        copyToNew(file + end, join(folder, `copy.db${end}`), { within: folder });
    }
    return { file, changedAt: statSync(file).mtime, tables: readTables(file, join(folder, "copy.db")) };
  } finally {
    removeScratch(folder);
  }
}

function readTables(file: string, copy: string): Map<string, ForeignTable> {
  try {
    const db = new sqlite.DatabaseSync(copy);
    try {
      const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'").all();
      return new Map(
        names.map(({ name }) => {
          const table = String(name);
          const quoted = `"${table.replaceAll('"', '""')}"`;
          const columns = db.prepare(`PRAGMA table_info(${quoted})`).all();
          const rows = db.prepare(`SELECT * FROM ${quoted}`).all() as Record<string, unknown>[];
          return [table, { name: table, columns: columns.map((column) => String(column["name"])), rows }];
        }),
      );
    } finally {
      db.close();
    }
  } catch (error) {
    throw notADatabase(file, error);
  }
}

function isSqlite(file: string): boolean {
  const head = Buffer.alloc(16);
  try {
    const opened = openSync(file, "r");
    try {
      return readSync(opened, head) === 16 && head.toString("latin1") === "SQLite format 3\0";
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    throw new HaversackError("file-unreadable", `${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      cause: error,
    });
  }
}

function notADatabase(file: string, cause?: unknown): HaversackError {
  return new HaversackError("file-unreadable", `${file} is not a SQLite database, or is damaged`, {
    hint: "close ohno and try again, or restore the file from a backup",
    cause,
  });
}
