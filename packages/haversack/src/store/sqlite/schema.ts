/** The schema of a store: compared with the one that the migrations make, made, and upgraded. */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../base/errors.ts";
import { inTransaction } from "./access.ts";
import { fault } from "./faults.ts";
import { type Migration, migrations } from "./migrations.ts";
import { sqlite } from "./quiet.ts";
import { SCHEMA_TEXT } from "./schema-text.ts";
import { SCHEMA_VERSION } from "./schema-version.ts";

/** "HVSK" in ASCII. `file` shows it; a database without it is someone else's and stays untouched. */
export const APPLICATION_ID = 0x4856534b;

/** For every connection, before its first other statement. */
export const GUARDED = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON";

/** Node 22.16 knows neither and ignores them. Our schema has no triggers, so none may run; no text of ours is this long. */
export const GUARDED_OPTIONS = { defensive: true, limits: { triggerDepth: 0, length: 200_000_000 } };

/**
 * The whole schema as one text: a count, then a head line and the SQL of each entry, with a blank line between entries. Sorted, because a
 * restore changes their order. Undefined when the text holds a NUL: Node would cut it there.
 */
export function readSchemaText(db: DatabaseSync): string | undefined {
  const row = db.prepare(SCHEMA).get() as { text: string; bytes: number };
  return Buffer.byteLength(row.text) === row.bytes ? row.text : undefined;
}

const SCHEMA = `SELECT text, length(CAST(text AS BLOB)) AS bytes FROM (
  SELECT count(*) || ifnull(group_concat(entry, ''), '') AS text FROM (
    SELECT char(10, 10) || type || ' ' || name || ' ' || tbl_name || char(10) || ifnull(sql, '-') AS entry
    FROM main.sqlite_schema ORDER BY type, name))`;

/**
 * One line per entry that does not belong into a store of this version; none: the store may be used. `expected` is the text for
 * this version, or for the newest known one when the store is newer (`isNewer`).
 *
 * What a newer version added cannot be known here. It may have plain tables, columns and indexes: nothing in which an expression
 * can hide. The same holds for the tables that SQLite itself makes, whose text may change with its version.
 */
export function schemaProblems(
  db: DatabaseSync,
  { expected = SCHEMA_TEXT, isNewer }: { expected?: string; isNewer: boolean },
): string[] {
  const missing = entriesOf(expected);
  const problems: string[] = [];
  for (const { type, name, of, sql, hasNul } of db.prepare(ENTRIES).all() as unknown as SchemaEntry[]) {
    const head = `${type} ${name} ${of}`;
    const known = missing.get(head);
    missing.delete(head);
    if (hasNul === 0 && known === sql) continue;
    if (hasNul === 0 && (isNewer || MADE_BY_SQLITE.test(name)) && isPlain(sql)) continue;
    problems.push(`${known === undefined ? "unknown" : "changed"}: ${shown(type)} ${shown(name)}`);
  }
  for (const head of missing.keys()) {
    const [type, name] = head.split(" ");
    // A newer version may have replaced an index.
    if (type === "table" || !isNewer) problems.push(`missing: ${type} ${name}`);
  }
  return problems;
}

interface SchemaEntry {
  type: string;
  name: string;
  of: string;
  sql: string;
  hasNul: number;
}

const ENTRIES = `SELECT type, name, tbl_name AS "of", ifnull(sql, '-') AS sql,
  instr(CAST(type || name || tbl_name || ifnull(sql, '') AS BLOB), x'00') AS hasNul FROM main.sqlite_schema ORDER BY type = 'table', name LIMIT 2000`;

const MADE_BY_SQLITE = /^(skills_search_(data|idx|docsize|config|content)|sqlite_(stat[14]|sequence))$/;

function entriesOf(text: string): Map<string, string> {
  const [, ...entries] = text.split("\n\n");
  return new Map(
    entries.map((entry) => {
      const end = entry.indexOf("\n");
      return [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
}

/** A table or an index without expressions: CHECK, DEFAULT and AS need parentheses for theirs, and an index only names columns. */
function isPlain(sql: string): boolean {
  if (sql === "-") return true; // The index of a UNIQUE or PRIMARY KEY.
  const bare = sql
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, (token) =>
      /^(--|\/\*)/.test(token) ? " " : " q ",
    )
    .replace(/\s+/g, " ")
    .trim();
  if (PLAIN_INDEX.test(bare)) return true;
  return PLAIN_TABLE.test(bare.replace(/\b(PRIMARY KEY|UNIQUE|REFERENCES \w+) ?\([\w ,]*\)/gi, "$1"));
}

const PLAIN_TABLE = /^CREATE TABLE \w+ ?\([^()]*\)[\w ,]*$/i;
const PLAIN_INDEX =
  /^CREATE (UNIQUE )?INDEX \w+ ON \w+ ?\( ?\w+( (ASC|DESC))?( ?, ?\w+( (ASC|DESC))?)* ?\)( WHERE \w+ (IS (NOT )?NULL|= ?\d+)( AND \w+ (IS (NOT )?NULL|= ?\d+))*)?$/i;

/** Names come from the file: no control characters, no walls of text. */
function shown(name: string): string {
  return name.replace(/[^\w.-]/g, "?").slice(0, 60);
}

/** For the hook. Throws, so that the log says why. */
export function refuseForeignSchema(db: DatabaseSync, file: string, readVersion: () => number): void {
  const isOurs = db.prepare("PRAGMA application_id").get()?.["application_id"] === APPLICATION_ID;
  if (!isOurs) throw new Error(`${file} is a database of another program, not a Haversack store.`);
  const version = readVersion();
  if (version === SCHEMA_VERSION && readSchemaText(db) === SCHEMA_TEXT) return;
  const problems = schemaProblems(db, { isNewer: version > SCHEMA_VERSION });
  if (problems.length === 0) return;
  // After a breaking upgrade the tables may be others; then the caller leaves the store alone without a word.
  if (version > SCHEMA_VERSION && isMetaSound(problems) && readMinReader(db) > SCHEMA_VERSION) return;
  // Upgraded between the two looks: tables and version change in one commit.
  if (readVersion() !== version) refuseForeignSchema(db, file, readVersion);
  else throw new Error(notOurs(file, problems));
}

/** Whether `meta` may be read although other entries are wrong. */
export function isMetaSound(problems: readonly string[]): boolean {
  return !problems.some((problem) => problem.endsWith(" meta"));
}

/** The least schema version that a program must know to use this store. */
export function readMinReader(db: DatabaseSync): number {
  const row = db.prepare("SELECT value FROM meta WHERE key = 'min_reader'").get();
  return Number(row?.["value"] ?? Number.POSITIVE_INFINITY);
}

export function notOurs(file: string, problems: readonly string[]): string {
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  return `${file} does not have exactly the tables of a Haversack store, so it is not used (${problems.slice(0, 3).join("; ")}${more}).`;
}

// Brings a store to the newest schema, or says why this program may not use it. `PRAGMA user_version` is the schema's
// version, `PRAGMA application_id` says that the file is ours, and `meta.min_reader` is the version of the last
// breaking migration: the least a program must know. All three change in the same transaction as the tables, so a
// crash leaves the old schema or the new one.

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
