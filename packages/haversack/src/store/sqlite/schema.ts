/** The schema of a store: compares it with the result of the migrations, creates it, and upgrades it. */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../base/errors.ts";
import { inTransaction } from "./access.ts";
import { fault } from "./connect.ts";
import { readMeta, writeMeta } from "./meta.ts";
import { type Migration, migrations } from "./migrations.ts";
import { sqlite } from "./quiet.ts";
import { SCHEMA_VERSION } from "./schema-version.ts";

/** "HVSK" in ASCII. `file` shows it. A database without it belongs to another program and is not touched. */
export const APPLICATION_ID = 0x4856534b;

/** Run on every connection before any other statement. */
export const GUARDED = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON";

/** Node 22.16 ignores both options. Our schema has no triggers, so none may run; none of our texts is this long. */
export const GUARDED_OPTIONS = { defensive: true, limits: { triggerDepth: 0, length: 200_000_000 } };

/**
 * The whole schema as one text: a count, then a head line and the SQL of each entry, with a blank line between entries. Sorted,
 * because a restore changes the order. Undefined when the text contains a NUL: Node would cut it there.
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
 * One line per entry that does not belong in a store of this version. Empty: the store may be used. `expected` is the schema text
 * of this version, or of the newest known one if the store is newer (`isNewer`).
 *
 * What a newer version added is unknown here. It may add plain tables, columns and indexes, which cannot hide an expression. The same
 * holds for SQLite's internal tables, whose SQL may change with its version.
 */
export function schemaProblems(
  db: DatabaseSync,
  { expected = newestSchema(), isNewer }: { expected?: string; isNewer: boolean },
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

/** A table or index without expressions. CHECK, DEFAULT and AS need parentheses for theirs, and an index only names columns. */
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

/** Names come from the file: strip control characters and limit their length. */
function shown(name: string): string {
  return name.replace(/[^\w.-]/g, "?").slice(0, 60);
}

/** For the hook. Throws, so the reason gets into the log. */
export function refuseForeignSchema(db: DatabaseSync, file: string, readVersion: () => number): void {
  const isOurs = db.prepare("PRAGMA application_id").get()?.["application_id"] === APPLICATION_ID;
  if (!isOurs) throw new Error(`${file} is a database of another program, not a Haversack store`);
  const version = readVersion();
  if (version === SCHEMA_VERSION && readSchemaText(db) === newestSchema()) return;
  const problems = schemaProblems(db, { isNewer: version > SCHEMA_VERSION });
  if (problems.length === 0) return;
  // After a breaking upgrade the tables may differ. The caller then ignores the store silently.
  if (version > SCHEMA_VERSION && isMetaSound(problems) && readMinReader(db) > SCHEMA_VERSION) return;
  // The store was upgraded between the two reads: tables and version change in one commit.
  if (readVersion() !== version) refuseForeignSchema(db, file, readVersion);
  else throw new Error(notOurs(file, problems));
}

/** Whether `meta` can be read even if other entries are wrong. */
export function isMetaSound(problems: readonly string[]): boolean {
  return !problems.some((problem) => problem.endsWith(" meta"));
}

/** The lowest schema version that a program must know to use this store. */
export function readMinReader(db: DatabaseSync): number {
  return Number(readMeta(db, "min_reader") ?? Number.POSITIVE_INFINITY);
}

export function notOurs(file: string, problems: readonly string[]): string {
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  return `${file} does not have exactly the tables of a Haversack store, so it is not used (${problems.slice(0, 3).join("; ")}${more})`;
}

// Upgrades a store to the newest schema, or says why this program may not use it. `PRAGMA user_version` is the schema version,
// `PRAGMA application_id` marks the file as ours, and `meta.min_reader` is the version of the last breaking migration: the
// lowest version a program must know. All three change in the same transaction as the tables, so a crash leaves the old
// schema or the new one.

/** usable: at this program's version, or newer but compatible. behind: must be upgraded first. */
export type SchemaState = "usable" | "behind" | "empty";

/** Only reads. Throws for another program's database, for a store that is too new, and for tables that are not exactly ours. */
export function schemaState(db: DatabaseSync, file: string, list: readonly Migration[]): SchemaState {
  const { state, problems } = examineSchema(db, file, list);
  if (problems.length > 0) throw fault("store-not-a-database", notOurs(file, problems));
  return state;
}

/** Like `schemaState`, but returns table problems as lines. Only the schema was read; if there are problems, read nothing else. */
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
  // The store was upgraded between the two reads: tables and version change in one commit.
  if (problems.length > 0 && readPragma(db, "user_version") !== version) return examineSchema(db, file, list);
  if (isNewer && isMetaSound(problems)) refuseIfTooNew(db, file, known);
  return { state, problems };
}

/** The schema after the migrations up to a version. */
export function expectedSchema(list: readonly Migration[], version: number): string {
  if (list === migrations && version === latestVersion(list)) return newestSchema();
  return schemaAfter(list.filter((migration) => migration.version <= version));
}

let newest: string | undefined;

/** What all migrations leave behind. The build puts this text in, because running them takes too long for a hook. */
export function newestSchema(): string {
  if (typeof __SCHEMA_TEXT__ === "string") return __SCHEMA_TEXT__;
  newest ??= schemaAfter(migrations);
  return newest;
}

function schemaAfter(list: readonly Migration[]): string {
  const ideal = new sqlite.DatabaseSync(":memory:");
  try {
    for (const { sql } of list) ideal.exec(sql);
    return readSchemaText(ideal) ?? "";
  } finally {
    ideal.close();
  }
}

/** Uses only the two numbers in the file's header. */
function versionState(db: DatabaseSync, file: string, list: readonly Migration[]): SchemaState {
  const owner = readPragma(db, "application_id");
  if (owner !== APPLICATION_ID) {
    if (owner === 0 && !db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get()) return "empty";
    // Another process may have created the store between the two reads (seen with 16 at once). Tables and id come in one
    // commit, so once tables were seen, the second read of the id is final.
    if (readPragma(db, "application_id") !== APPLICATION_ID) {
      throw fault("store-not-a-database", `${file} is a database of another program, not a Haversack store`);
    }
  }
  return readPragma(db, "user_version") < latestVersion(list) ? "behind" : "usable";
}

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
    `${file} was written by a newer Haversack: it needs schema ${needed}, this program knows ${known}`,
    { hint: "update Haversack on this machine; nothing was changed" },
  );
}

/** Takes the write lock, checks again (another process may have been faster), and upgrades in one transaction. */
export function upgradeSchema(db: DatabaseSync, file: string, list: readonly Migration[]): void {
  inTransaction(db, () => applyMigrations(db, file, list));
}

/** The upgrade itself. The caller has started a transaction. */
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
    writeMeta(db, "min_reader", String(minReader));
  }
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${latestVersion(list)}`);
}
