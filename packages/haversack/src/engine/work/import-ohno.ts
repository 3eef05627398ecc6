/** Imports work that was tracked with ohno. Only reads its file; a second import creates no duplicates. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HaversackError, isFault } from "../../base/errors.ts";
import { copyToNew, makeScratch, removeScratch } from "../../base/safe-write.ts";
import type { ImportReport, WorkRecord } from "../../store/record-fields.ts";
import { sqlite } from "../../store/sqlite/quiet.ts";
import type { Actor, WorkStore } from "../../store/work-store.ts";
import { type LeftOver, ohnoRecords } from "./ohno-records.ts";

export interface OhnoReport extends ImportReport {
  file: string;
  /** What could not be carried over, with counts. */
  left: LeftOver[];
}

export async function importOhno(
  store: Pick<WorkStore, "importRecords"> & ThingStore,
  { path, isDryRun = false }: { path: string; isDryRun?: boolean },
  by: Actor,
): Promise<OhnoReport> {
  const database = readForeignDatabase(findOhnoFile(path));
  if (!database.tables.has("tasks")) {
    throw new HaversackError("input-invalid", `${database.file} has no table "tasks": it is not ohno's`);
  }
  // What has no time got that of the file. If it is here already, it must not win over what was done here since.
  const fileTime = database.changedAt.toISOString();
  const untimed = ohnoRecords(database).records.filter(
    (record) => "updated_at" in record && record.updated_at === fileTime,
  );
  const { records, left } = ohnoRecords(database, await findKnown(store, untimed, by.at));
  return { file: database.file, ...(await store.importRecords(records, { isDryRun }, by)), left };
}

export interface KnownTimes {
  createdAt: Date;
  updatedAt: Date;
}

export type ThingStore = Pick<WorkStore, "getTask" | "getStory" | "getEpic">;

/** Which things of an import the store has already, with their times there, by the id in the import, which may be an alias here. */
export async function findKnown(
  store: ThingStore,
  records: readonly WorkRecord[],
  at: Date,
): Promise<Map<string, KnownTimes>> {
  const known = new Map<string, KnownTimes>();
  for (const record of records) {
    if (record.kind !== "task" && record.kind !== "story" && record.kind !== "epic") continue;
    const { kind, id } = record;
    try {
      const found = await {
        task: () => store.getTask(id, at),
        story: () => store.getStory(id),
        epic: () => store.getEpic(id),
      }[kind]();
      // The lookup also accepts a prefix.
      if (found.id === id || ("aliases" in found && found.aliases?.includes(id))) known.set(id, found);
    } catch (error) {
      if (!isFault(error, "not-found")) throw error;
    }
  }
  return known;
}

// Reads another program's SQLite file from a copy in our own folder: opening a database can leave files beside it, and
// an unfinished write can only be rolled back by writing. The original is only read.

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

/** Whether this folder is an ohno project or its folder `.ohno`. */
export function hasOhno(folder: string): boolean {
  return placeIn(folder) !== undefined;
}

function placeIn(folder: string): string | undefined {
  const places = [join(folder, "tasks.db"), join(folder, ".ohno", "tasks.db")];
  return places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile());
}

/** The file itself, or a folder that contains it or `.ohno/`. */
export function findOhnoFile(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return path;
  const found = stat && placeIn(path);
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
