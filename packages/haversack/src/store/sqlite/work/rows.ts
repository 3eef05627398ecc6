/**
 * Statements and row conversion. Statements are compiled once per connection, because a server runs the same ones all day. Row
 * shapes stay in this folder.
 */

import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { checkCount } from "../../../work/clean-input.ts";
import {
  type Claim,
  columnOf,
  type Epic,
  type GroupStatus,
  PLAIN_TASK_FIELDS,
  type PlainTaskField,
  priorityOf,
  type Story,
  type Task,
  type TaskBrief,
  type TaskStep,
} from "../../../work/task.ts";
import type { Activity, ActivityPage, ActivityQuery, Actor, NewActivity, WipHistoryEntry } from "../../work-store.ts";

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

export function statement(db: DatabaseSync, sql: string): StatementSync {
  let known = prepared.get(db);
  if (!known) {
    known = new Map();
    prepared.set(db, known);
  }
  let found = known.get(sql);
  if (!found) {
    found = db.prepare(sql);
    known.set(sql, found);
  }
  return found;
}

export function one<Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row | undefined {
  return statement(db, sql).get(...values) as Row | undefined;
}

export function all<Row>(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): Row[] {
  return statement(db, sql).all(...values) as Row[];
}

/** Returns how many rows changed. */
export function run(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): number {
  return Number(statement(db, sql).run(...values).changes);
}

/** The first column of the first row. */
export function value(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): number {
  const row = one<Record<string, unknown>>(db, sql, ...values);
  return Number(row ? Object.values(row)[0] : 0);
}

/** `UPDATE … SET a = ?, b = ?` for the given fields. Undefined fields stay unchanged. */
export function setFields(fields: Readonly<Record<string, SQLInputValue | undefined>>): {
  sql: string;
  values: SQLInputValue[];
} {
  const given = Object.entries(fields).filter((entry): entry is [string, SQLInputValue] => entry[1] !== undefined);
  return { sql: given.map(([name]) => `${name} = ?`).join(", "), values: given.map(([, value]) => value) };
}

// Converts rows to the types of the interface. Row shapes stay in this folder.

export interface EpicRow {
  seq: number;
  id: string;
  priority: number;
  status: GroupStatus;
}

export interface StoryRow {
  seq: number;
  id: string;
  epic: number | null;
  status: GroupStatus;
}

export interface TaskRow extends TaskBrief {
  seq: number;
  story: number | null;
  epic: number | null;
  parent: number | null;
  priority: number;
  steps: string | null;
  note: string | null;
  completed_at: string | null;
}

/** Undefined if not given, null to clear. */
export function plainColumns(
  fields: { [Field in PlainTaskField]?: string | number | null },
): Record<string, string | number | null | undefined> {
  return Object.fromEntries(PLAIN_TASK_FIELDS.map((name) => [columnOf(name), fields[name]]));
}

export interface ClaimRow {
  task: number;
  id: string;
  agent: string;
  session_id: string | null;
  agent_id: string | null;
  claimed_at: string;
  heartbeat_at: string;
  lease_until: number;
}

export const STORY_COLUMNS = "s.*, e.id AS epic_id FROM stories s LEFT JOIN epics e ON e.seq = s.epic";

/** All columns of a task, with the ids of its epic, story and parent. */
export const TASK_COLUMNS =
  "t.*, s.id AS story_id, e.id AS epic_id, p.id AS parent_id FROM tasks t LEFT JOIN stories s ON s.seq = t.story LEFT JOIN epics e ON e.seq = t.epic LEFT JOIN tasks p ON p.seq = t.parent";

export const CLAIM_COLUMNS = "c.*, t.id FROM claims c JOIN tasks t ON t.seq = c.task";

export function toEpic(row: EpicRow): Epic {
  return fromRow(row, { priority: priorityOf(row.priority) });
}

export function toStory({ epic: _, ...row }: StoryRow): Story {
  return fromRow(row);
}

/** In the order of the rows. Reads the files of all tasks in one query. */
export function toTasks(db: DatabaseSync, rows: readonly TaskRow[]): Task[] {
  const seqs = rows.map(({ seq }) => seq);
  const files = filesOf(db, seqs);
  return rows.map((row) => toTask(row, files.get(row.seq) ?? []));
}

function toTask({ story: _, epic: __, parent: ___, ...row }: TaskRow, files: string[]): Task {
  const steps = row.steps === null ? [] : (JSON.parse(row.steps) as TaskStep[]);
  return fromRow(row, { priority: priorityOf(row.priority), files, steps });
}

export function filesOf(db: DatabaseSync, seqs: readonly number[]): Map<number, string[]> {
  const sql = "SELECT task, path FROM task_files WHERE task IN (SELECT value FROM json_each(?)) ORDER BY task, path";
  const rows = seqs.length === 0 ? [] : all<{ task: number; path: string }>(db, sql, JSON.stringify(seqs));
  const byTask = Map.groupBy(rows, ({ task }) => task);
  return new Map([...byTask].map(([task, files]) => [task, files.map(({ path }) => path)]));
}

export function toClaim({ task: _, id, agent_id, lease_until, ...row }: ClaimRow): Claim {
  return fromRow({ ...row, agent_id: agent_id || null }, { taskId: id, leaseUntil: new Date(lease_until) });
}

/** A WHERE clause from the conditions that have a value ("" if none has). */
export function whereGiven(conditions: Readonly<Record<string, SQLInputValue | undefined>>): {
  where: string;
  values: SQLInputValue[];
} {
  const used = Object.entries(conditions).filter((entry): entry is [string, SQLInputValue] => entry[1] !== undefined);
  return { where: used.map(([sql]) => sql).join(" AND "), values: used.map(([, value]) => value) };
}

export function brief({ id, title, status }: TaskBrief): TaskBrief {
  return { id, title, status };
}

export function present<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Partial<T>;
}

// The activity log, append-only. Every operation that changes something adds a line in its own transaction.

export function note(db: DatabaseSync, by: Actor, kind: string, subject: string, text: string): void {
  addActivity(db, { at: by.at, actor: by.name, kind, subject, text });
}

export function addActivity(db: DatabaseSync, activity: NewActivity): number {
  const { at, actor, kind, subject, text } = activity;
  return insert(db, "activity", { at: at.toISOString(), actor, kind, subject, text });
}

export function listActivity(db: DatabaseSync, { limit, beforeId, kind, subject }: ActivityQuery): ActivityPage {
  checkCount("limit", limit);
  const given = whereGiven({ "id < ?": beforeId, "kind = ?": kind, "subject = ?": subject });
  const where = given.where && `WHERE ${given.where}`;
  // Reads one more row than requested, to see whether there is a next page.
  const sql = `SELECT id, at, actor, kind, subject, text FROM activity ${where} ORDER BY id DESC LIMIT ?`;
  const rows = all<Row>(db, sql, ...given.values, limit + 1);
  const activity = rows.slice(0, limit).map((row) => fromRow<Activity>(row));
  const last = activity.at(-1);
  if (rows.length <= limit || !last) return { activity, total: activity.length };
  const total = value(db, `SELECT count(*) FROM activity ${where}`, ...given.values);
  return { activity, total, nextBeforeId: last.id };
}

/** Dependency types that make a task wait. A list instead of a negation, so SQLite can use the index. */
export const WAITING = "('blocks', 'requires')";

/** The columns of a new row by name. Columns without a value become NULL. */
export type Columns = Readonly<Record<string, SQLInputValue | undefined>>;

/** Returns the new row's number. */
export function insert(db: DatabaseSync, table: string, columns: Columns, how = "INSERT"): number {
  const names = Object.keys(columns);
  const sql = `${how} INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
  return Number(statement(db, sql).run(...Object.values(columns).map((value) => value ?? null)).lastInsertRowid);
}

// Converts rows to the types of the interfaces. Row shapes stay in this folder.

export type Row = Readonly<Record<string, SQLOutputValue>>;

/**
 * Uses camelCase names, dates for times (`at`, `…_at`), booleans for flags (`is_…`), and omits NULL columns. `more`: fields that do not
 * follow these rules. Row numbers (`seq`) stay in the store.
 */
export function fromRow<T>(row: object, more: Partial<Record<keyof NoInfer<T>, unknown>> = {}): T {
  const fields: Record<string, unknown> = {};
  const cells = row as Row;
  // A board reads hundreds of rows with dozens of columns, most of them empty.
  for (const column in cells) {
    const value = cells[column];
    if (value === null || value === undefined || column === "seq") continue;
    const { name, kind } = fieldOf(column);
    fields[name] = kind === "time" ? new Date(String(value)) : kind === "flag" ? value === 1 : value;
  }
  return Object.assign(fields, more) as T;
}

interface FieldOfColumn {
  name: string;
  kind: "time" | "flag" | "as-is";
}

const fieldsOfColumns = new Map<string, FieldOfColumn>();

function fieldOf(column: string): FieldOfColumn {
  const known = fieldsOfColumns.get(column);
  if (known) return known;
  const isTime = column === "at" || column.endsWith("_at");
  const kind = isTime ? "time" : column.startsWith("is_") ? "flag" : "as-is";
  const field: FieldOfColumn = { name: column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), kind };
  fieldsOfColumns.set(column, field);
  return field;
}

/** Converts a stored WIP change. The values before and after are JSON. */
export function toWipChange({ before, after, ...row }: Row): WipHistoryEntry {
  return fromRow(row, {
    ...(before !== null && { before: JSON.parse(String(before)) }),
    ...(after !== null && { after: JSON.parse(String(after)) }),
  });
}
