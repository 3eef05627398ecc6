/**
 * Whether a store has exactly the tables that our migrations make. A database can hold programs (triggers, views, generated columns,
 * CHECK constraints, expression indexes), and SQLite runs them inside our own statements; so every open reads the text of the
 * whole schema and compares it before any table is touched. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
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
