/**
 * Brings a store to the newest schema, or says why this program may not use it.
 *
 * `PRAGMA user_version` is the schema's version, `PRAGMA application_id` says that the file is ours, and
 * `meta.min_reader` is the version of the last breaking migration: the least a program must know. All three change
 * in the same transaction as the tables, so a crash leaves the old schema or the new one.
 */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../base/errors.ts";
import { inTransaction } from "./access.ts";
import { fault } from "./faults.ts";
import { type Migration, migrations } from "./migrations.ts";
import { sqlite } from "./quiet.ts";
import { APPLICATION_ID, isMetaSound, notOurs, readMinReader, readSchemaText, schemaProblems } from "./schema-check.ts";
import { SCHEMA_TEXT } from "./schema-text.ts";

/** usable: at this program's version, or newer but still readable. behind: must be upgraded first. */
export type SchemaState = "usable" | "behind" | "empty";

/** Reads only. Throws for a database of another program, for a store that is too new, and for tables that are not exactly ours. */
export function schemaState(db: DatabaseSync, file: string, list: readonly Migration[]): SchemaState {
  const { state, problems } = examineSchema(db, file, list);
  if (problems.length > 0) throw fault("store-not-a-database", notOurs(file, problems));
  return state;
}

/** The same, with what is wrong with the tables as lines: nothing but the schema has been read then, and nothing else should be. */
export function examineSchema(
  db: DatabaseSync,
  file: string,
  list: readonly Migration[],
): { state: SchemaState; problems: string[] } {
  const state = versionState(db, file, list);
  if (state === "empty") return { state, problems: [] };
  const version = readPragma(db, "user_version");
  const known = latestVersion(list);
  const isNewer = version > known;
  const expected = expectedSchema(list, Math.min(version, known));
  const problems = !isNewer && readSchemaText(db) === expected ? [] : schemaProblems(db, { expected, isNewer });
  // Upgraded between the two looks: tables and version change in one commit.
  if (problems.length > 0 && readPragma(db, "user_version") !== version) return examineSchema(db, file, list);
  if (isNewer && isMetaSound(problems)) refuseIfTooNew(db, file, known);
  return { state, problems };
}

/** What the migrations up to a version leave behind. Of the newest it is known; of others they are run in memory. */
export function expectedSchema(list: readonly Migration[], version: number): string {
  if (list === migrations && version === latestVersion(list)) return SCHEMA_TEXT;
  const ideal = new sqlite.DatabaseSync(":memory:");
  try {
    for (const migration of list) if (migration.version <= version) ideal.exec(migration.sql);
    return readSchemaText(ideal) ?? "";
  } finally {
    ideal.close();
  }
}

/** By the two numbers in the file's header alone. */
function versionState(db: DatabaseSync, file: string, list: readonly Migration[]): SchemaState {
  const owner = readPragma(db, "application_id");
  if (owner !== APPLICATION_ID) {
    if (owner === 0 && !db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get()) return "empty";
    // Another process may have made the store between the two looks (seen with 16 at once). Tables and id come in one
    // commit, so after tables were seen the second look at the id is final.
    if (readPragma(db, "application_id") !== APPLICATION_ID) {
      throw fault("store-not-a-database", `${file} is a database of another program, not a Haversack store.`);
    }
  }
  return readPragma(db, "user_version") < latestVersion(list) ? "behind" : "usable";
}

/** The newest version in the list. */
export function latestVersion(list: readonly Migration[]): number {
  return list.at(-1)?.version ?? 0;
}

export function readPragma(db: DatabaseSync, name: string): number {
  return Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}

/** For a store whose version is above `known`: throws unless all migrations since then were additive. */
export function refuseIfTooNew(db: DatabaseSync, file: string, known: number): void {
  const needed = readMinReader(db);
  if (needed <= known) return;
  throw new HaversackError(
    "store-too-new",
    `${file} was written by a newer Haversack: it needs schema ${needed}, this program knows ${known}.`,
    { hint: "Update Haversack on this machine; nothing was changed." },
  );
}

/** Takes the write lock, looks again (another process may have been faster), and upgrades in one transaction. */
export function upgradeSchema(db: DatabaseSync, file: string, list: readonly Migration[]): void {
  inTransaction(db, () => applyMigrations(db, file, list));
}

/** The upgrade itself, inside a transaction of the caller's. */
export function applyMigrations(db: DatabaseSync, file: string, list: readonly Migration[]): void {
  const state = schemaState(db, file, list);
  if (state === "usable") return;
  const from = state === "empty" ? 0 : readPragma(db, "user_version");
  let minReader = 0;
  for (const migration of list) {
    if (migration.version <= from) continue;
    db.exec(migration.sql);
    if (migration.kind === "breaking") minReader = migration.version;
  }
  if (minReader > 0) {
    db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('min_reader', ?)").run(String(minReader));
  }
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${latestVersion(list)}`);
}
