/**
 * Copies all work between SQLite and PostgreSQL, row by row: numbers, ids, history and archive stay as they are, so an export of both has
 * the same bytes. The tables have the same columns on both sides.
 */
import { createHash } from "node:crypto";
import type { DatabaseSync, SQLInputValue as SqliteValue } from "node:sqlite";
import { HaversackError } from "../../base/errors.ts";
import { readTogether, type StoreHandle, writeStore } from "../sqlite/access.ts";
import type { Connection, SQLOutputValue } from "./connection.ts";
import { escapeText } from "./dialect.ts";
import type { Server } from "./server.ts";

/** Tables that rows refer to come before those rows. With the column that the database numbers. */
export const WORK_TABLES: readonly (readonly [table: string, order: string, number?: string])[] = [
  ["epics", "seq", "seq"],
  ["stories", "seq", "seq"],
  ["tasks", "seq", "seq"],
  ["task_files", "task, path"],
  ["dependencies", "task, depends_on"],
  ["queue", "task"],
  ["blockers", "id", "id"],
  ["failures", "id", "id"],
  ["claims", "task"],
  ["task_wip", "task"],
  ["task_wip_changes", "id", "id"],
  ["handoffs", "seq", "seq"],
  ["handoff_details", "handoff"],
  ["batches", "id", "id"],
  ["last_holders", "task"],
  ["lost_claims", "token", "token"],
  ["aliases", "alias, id"],
  ["agents", "seq", "seq"],
  ["messages", "seq", "seq"],
  ["message_recipients", "message, agent"],
  ["skill_history", "id", "id"],
  ["activity", "id", "id"],
];

/** Not part of a snapshot: no hook reads them. */
const RUN_TABLES: typeof WORK_TABLES = [
  ["runs", "id"],
  ["run_sessions", "run_id, number"],
  ["run_tasks", "run_id, task_id"],
  ["run_tests", "rowid", "rowid"],
  ["session_metrics", "rowid", "rowid"],
];

const ALL_TABLES = [...WORK_TABLES, ...RUN_TABLES];

/** SQLite numbers the rows of these tables, but not in a column of their own. */
const COLUMNS: Readonly<Record<string, string>> = { run_tests: "rowid, *", session_metrics: "rowid, *" };

type Row = Record<string, SQLOutputValue>;

/** Rows copied, by table. */
export type CopyReport = Readonly<Record<string, number>>;

/** Whether the file has work of its own. */
export function hasWork(handle: StoreHandle): boolean {
  return readTogether(handle, (db) =>
    WORK_TABLES.some(([table]) => db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined),
  );
}

/** Changes with every change of the work. About 1 s for 100,000 tasks. */
export function digestOfWork(db: DatabaseSync): string {
  const hash = createHash("sha256");
  for (const [table, order] of WORK_TABLES) {
    hash.update(`${table}\n`);
    for (const row of db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).iterate())
      hash.update(`${JSON.stringify(row)}\n`);
  }
  return hash.digest("hex");
}

/** In one transaction. Refused if the server's project has work already. */
export async function copyToPostgres(from: StoreHandle, to: Server): Promise<CopyReport> {
  const rows = readTogether(from, readSqlite);
  return to.write(async (db) => {
    for (const [table] of ALL_TABLES) {
      const [found] = await db.exec(`SELECT 1 AS found FROM ${table} LIMIT 1`);
      if (found) {
        throw new HaversackError("refused", `${to.place.shown} has work already (in ${table}); nothing was copied`, {
          hint: "name a new project: ?project=NAME",
        });
      }
    }
    for (const [table, , number] of ALL_TABLES) await insert(db, table, rows.get(table) ?? [], number);
    return countsOf(rows);
  });
}

/**
 * In one transaction. Replaces all work in the file; local state, such as sessions, stays. `includeRuns`: the file is no snapshot but the
 * store that is used from now on.
 */
export async function copyToSqlite(
  from: Server,
  to: StoreHandle,
  { includeRuns = false }: { includeRuns?: boolean } = {},
): Promise<CopyReport> {
  const tables = includeRuns ? ALL_TABLES : WORK_TABLES;
  const rows = await from.read(async (db) => {
    const found = new Map<string, Row[]>();
    for (const [table, order] of tables) {
      const list: Row[] = [];
      for await (const row of db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).iterate()) list.push(row);
      found.set(table, list);
    }
    return found;
  });
  writeStore(to, (db) => {
    db.exec("PRAGMA defer_foreign_keys = ON");
    for (const [table] of tables.toReversed()) db.exec(`DELETE FROM ${table}`);
    for (const [table] of tables) {
      const [first] = rows.get(table) ?? [];
      if (!first) continue;
      const names = Object.keys(first);
      const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
      const statement = db.prepare(sql);
      for (const row of rows.get(table) ?? []) statement.run(...(Object.values(row) as SqliteValue[]));
    }
  });
  return countsOf(rows);
}

function readSqlite(db: DatabaseSync): Map<string, Row[]> {
  return new Map(
    ALL_TABLES.map(([table, order]) => [
      table,
      db.prepare(`SELECT ${COLUMNS[table] ?? "*"} FROM ${table} ORDER BY ${order}`).all() as Row[],
    ]),
  );
}

/** So many rows in one statement. */
const CHUNK = 500;

async function insert(db: Connection, table: string, rows: readonly Row[], number: string | undefined): Promise<void> {
  for (let at = 0; at < rows.length; at += CHUNK) {
    const chunk = rows.slice(at, at + CHUNK);
    await insertJson(
      db,
      `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::json)`,
      chunk,
      table,
    );
  }
  if (table === "tasks") {
    // A parent may have a higher number than its parts.
    const parents = rows.filter(({ parent }) => parent !== null).map(({ seq, parent }) => ({ seq, parent }) as Row);
    const sql =
      "UPDATE tasks t SET parent = p.parent FROM json_populate_recordset(NULL::tasks, $1::json) p WHERE t.seq = p.seq";
    if (parents.length > 0) await insertJson(db, sql, parents);
  }
  if (number === undefined || rows.length === 0) return;
  await db.exec(
    `SELECT setval(pg_get_serial_sequence('${table}', '${number}'), (SELECT max(${number}) FROM ${table}))`,
  );
}

async function insertJson(db: Connection, sql: string, rows: readonly Row[], table?: string): Promise<void> {
  const plain = table === "tasks" ? rows.map((row) => ({ ...row, parent: null })) : rows;
  const json = JSON.stringify(plain, (_, value) => escapeText(value));
  await db.client.query({ text: sql, values: [json] });
}

function countsOf(rows: ReadonlyMap<string, readonly unknown[]>): CopyReport {
  return Object.fromEntries([...rows].map(([table, list]) => [table, list.length]));
}
