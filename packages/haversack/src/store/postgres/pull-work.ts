/**
 * Brings the local snapshot of shared work up to date: everything at first, then the rows that have changed since. Rows that this machine
 * made itself are replaced by those of the server, which has applied the same changes by then; so it waits until the outbox is empty.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { readStore, type StoreHandle } from "../sqlite/access.ts";
import { confirmSnapshot, readSnapshotState, replaceSnapshot, type SnapshotState } from "../sqlite/outbox/outbox.ts";
import type { Connection, SQLOutputValue } from "./connection.ts";
import { WORK_TABLES } from "./copy-work.ts";
import type { Server } from "./server.ts";

export type Pulled =
  | { kind: "pulled"; isFull: boolean; rows: number }
  /** An event of this machine came in between, or another process was faster. */
  | { kind: "busy" };

export async function pullWork(server: Server, handle: StoreHandle, now: Date): Promise<Pulled> {
  const before = readSnapshotState(handle);
  if (before.backlog.count > 0) return { kind: "busy" };
  const stale = before.stale === "all" ? [] : readStore(handle, (db) => staleTasks(db, before.stale as string[]));
  const found = await server.read((db) => readChanges(db, before, stale));
  const { cursor, isFull, parts } = found;
  const rows = parts.reduce((sum, part) => sum + part.rows.length, 0);
  const keys = parts.reduce((sum, part) => sum + (part.keys?.length ?? 0), 0);
  const at = { before, cursor, takenAt: now };
  if (!isFull && keys + rows === 0 && before.stale.length === 0) {
    confirmSnapshot(handle, at);
    return { kind: "pulled", isFull, rows };
  }
  const isDone = replaceSnapshot(handle, at, (db) => replaceRows(db, found, before.marks));
  return isDone ? { kind: "pulled", isFull, rows } : { kind: "busy" };
}

/** Tables whose rows are numbered by the database, with the column. */
const NUMBERED = WORK_TABLES.flatMap(([table, , number]) => (number === undefined ? [] : [[table, number] as const]));

/** The column that says which rows of a table belong together. Absent: they are read together. */
const KEYS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NUMBERED),
  task_files: "task",
  dependencies: "task",
  queue: "task",
  claims: "task",
  task_wip: "task",
  last_holders: "task",
  handoff_details: "handoff",
  message_recipients: "message",
};

/** What a claim of the next task changes. See migrations/004-changes.ts. */
const CLAIMED = ["tasks", "queue", "claims", "last_holders"];
/** What an event of a session may have changed here and not on the server. */
const OF_TASK = [...CLAIMED, "task_wip", "task_files"];

type Row = Record<string, SQLOutputValue>;

interface Part {
  table: string;
  /** Absent: all rows of the table. */
  keys?: number[];
  rows: Row[];
}

interface Found {
  cursor: string;
  isFull: boolean;
  parts: Part[];
}

async function readChanges(db: Connection, before: SnapshotState, stale: readonly string[]): Promise<Found> {
  const [at] = await db.query(NOW);
  const cursor = `${at?.["server"]} ${at?.["now"]} ${at?.["xid"]}`;
  const [server, time, xid] = (before.cursor ?? "").split(" ");
  // The log covers one day, and transaction numbers of another server cannot be compared.
  const isGap = server !== at?.["server"] || Number(at?.["now"]) - Number(time) > LOG_MS;
  if (before.cursor === undefined || before.stale === "all" || isGap) {
    const parts: Part[] = [];
    for (const [table, order] of WORK_TABLES) parts.push({ table, rows: await readAll(db, table, order) });
    return { cursor, isFull: true, parts };
  }
  const changed = new Map<string, Set<number>>();
  const add = (table: string, keys: readonly number[]) => {
    const known = changed.get(table) ?? new Set();
    for (const key of keys) known.add(key);
    changed.set(table, known);
  };
  for (const { tbl, keys } of await db.query(SINCE, xid)) {
    for (const table of tbl === "claimed" ? CLAIMED : [String(tbl)]) add(table, numbersIn(String(keys)));
  }
  for (const { seq, story, epic } of stale.length === 0 ? [] : await db.query(STALE, stale)) {
    for (const table of OF_TASK) add(table, [Number(seq)]);
    if (story !== null) add("stories", [Number(story)]);
    if (epic !== null) add("epics", [Number(epic)]);
  }
  const parts: Part[] = [];
  for (const [table, order] of WORK_TABLES) {
    const keys = changed.get(table);
    if (!keys) continue;
    const column = KEYS[table];
    if (column === undefined) parts.push({ table, rows: await readAll(db, table, order) });
    else {
      const sql = `SELECT * FROM ${table} WHERE ${column} = ANY ($1::bigint[])`;
      parts.push({ table, keys: [...keys], rows: (await db.query(sql, [...keys])) as Row[] });
    }
  }
  return { cursor, isFull: false, parts };
}

const LOG_MS = 20 * 60 * 60_000;

/** All transactions below `xid` have ended; of the others, some may be committed later. `server`: changes when it is restored or replaced. */
const NOW = `SELECT (pg_control_system()).system_identifier || '/' || (pg_control_checkpoint()).timeline_id AS server,
  floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, pg_snapshot_xmin(pg_current_snapshot())::text AS xid`;

const SINCE = `SELECT tbl, keys::text AS keys FROM changes WHERE xid >= $1::text::xid8
  UNION ALL SELECT 'claimed', array_remove(tasks, NULL)::text FROM operations WHERE xid >= $1::text::xid8 AND tasks IS NOT NULL
  UNION ALL SELECT 'activity', array_agg(a.id)::text FROM operations o JOIN tasks t ON t.seq = ANY (o.tasks)
    JOIN activity a ON a.subject = t.id AND a.kind = 'task-claimed' WHERE o.xid >= $1::text::xid8 AND o.tasks IS NOT NULL HAVING count(*) > 0`;

const STALE = `SELECT seq, story, epic FROM tasks WHERE id = ANY ($1)`;

async function readAll(db: Connection, table: string, order: string): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of db.prepare(`SELECT * FROM ${table} ORDER BY ${order}`).iterate()) rows.push(row);
  return rows;
}

/** `{1,2,3}` */
function numbersIn(text: string): number[] {
  const inner = text.slice(1, -1);
  return inner === "" ? [] : inner.split(",").map(Number);
}

/** IDs of tasks, and those of the sessions among them (`session:…`). */
function staleTasks(db: DatabaseSync, stale: readonly string[]): string[] {
  const ids = stale.filter((item) => !item.startsWith(SESSION));
  const sql = `SELECT t.id FROM tasks t WHERE t.seq IN (SELECT task FROM claims WHERE session_id = ?1 UNION SELECT task FROM last_holders WHERE session_id = ?1)`;
  const ofSession = db.prepare(sql);
  for (const item of stale) {
    if (item.startsWith(SESSION)) ids.push(...ofSession.all(item.slice(SESSION.length)).map(({ id }) => String(id)));
  }
  return [...new Set(ids)];
}

/** Marks a session in the list of what is stale. */
export const SESSION = "session:";

/** Returns the highest numbers that came from the server. For callers that hold the write lock. */
function replaceRows(
  db: DatabaseSync,
  { isFull, parts }: Found,
  before: SnapshotState["marks"],
): SnapshotState["marks"] {
  db.exec("PRAGMA defer_foreign_keys = ON");
  const tables = WORK_TABLES.map(([table]) => table).toReversed();
  if (isFull) for (const table of tables) db.exec(`DELETE FROM ${table}`);
  else removeOwn(db, before);
  for (const { table, keys } of isFull ? [] : parts.toReversed()) {
    const column = KEYS[table];
    if (keys && column) {
      const remove = db.prepare(`DELETE FROM ${table} WHERE ${column} = ?`);
      for (const key of keys) remove.run(key);
    } else db.exec(`DELETE FROM ${table}`);
  }
  const marks: Record<string, number> = isFull ? {} : { ...before };
  for (const { table, rows } of parts) {
    const [first] = rows;
    if (!first) continue;
    const names = Object.keys(first);
    const sql = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
    const insert = db.prepare(sql);
    const number = NUMBERED.find(([name]) => name === table)?.[1];
    for (const row of rows) {
      insert.run(...(Object.values(row) as SQLInputValue[]));
      if (number !== undefined) marks[table] = Math.max(marks[table] ?? 0, Number(row[number]));
    }
  }
  return marks;
}

/** Rows that were made here: the server has numbers of its own for them. */
function removeOwn(db: DatabaseSync, marks: SnapshotState["marks"]): void {
  const above = (table: string, column: string, of: string) =>
    db.prepare(`DELETE FROM ${table} WHERE ${column} > ?`).run(marks[of] ?? 0);
  for (const table of ["task_files", "dependencies", "queue", "claims", "task_wip", "last_holders"]) {
    above(table, "task", "tasks");
  }
  above("dependencies", "depends_on", "tasks");
  above("handoff_details", "handoff", "handoffs");
  above("message_recipients", "message", "messages");
  above("message_recipients", "agent", "agents");
  for (const [table, number] of NUMBERED.toReversed()) above(table, number, table);
}
