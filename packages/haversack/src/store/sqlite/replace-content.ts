/**
 * Makes `main` hold what the attached database `incoming` holds: tables, rows and indexes. Runs inside a transaction
 * of the caller's, with foreign keys off, on `main` and on a private copy that nobody else has open. The schema of both has been checked.
 *
 * It works as VACUUM does: ordinary tables are created from their own SQL and filled; a virtual table is entered into the
 * schema as it is, because its content lies in ordinary tables (`x_data`, `x_idx`, …) that were copied with the rest.
 */
import type { DatabaseSync } from "node:sqlite";
import { quoteName } from "./check-store.ts";

export function replaceContent(db: DatabaseSync): void {
  // Newer Node guards schema and shadow tables against SQL by default; older ones have no such switch.
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
  copySequences(db, objects);
  enterDirectly(db);
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

/** A virtual table has no page of its own. */
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

/** The highest id ever given: without it AUTOINCREMENT would hand out ids a second time. */
function copySequences(db: DatabaseSync, objects: SchemaRow[]): void {
  if (!objects.some(({ name }) => name === "sqlite_sequence")) return;
  db.exec("DELETE FROM main.sqlite_sequence; INSERT INTO main.sqlite_sequence SELECT * FROM incoming.sqlite_sequence");
}

/** Virtual tables: their row in the schema is all there is to them. */
function enterDirectly(db: DatabaseSync): void {
  db.exec(`PRAGMA writable_schema = ON;
    INSERT INTO main.sqlite_schema SELECT type, name, tbl_name, 0, sql FROM incoming.sqlite_schema
      WHERE type = 'table' AND rootpage = 0;
    PRAGMA writable_schema = RESET`);
}

function pragma(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA incoming.${name}`).get() ?? {})[0]);
}
