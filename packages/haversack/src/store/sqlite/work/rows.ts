/** Statements, compiled once per connection because a server asks the same questions all day, and rows to what the interface speaks of. Row shapes stay in this folder. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { priorityOf } from "../../../work/queue-order.ts";
import {
  type Claim,
  columnOf,
  type Epic,
  type GroupStatus,
  type KeyOf,
  PLAIN_TASK_FIELDS,
  type PlainTaskField,
  type Story,
  TASK_FIELDS,
  type Task,
  type TaskBrief,
  type TaskFieldValues,
  type TaskStatus,
  type TaskStep,
  type TaskType,
} from "../../../work/task.ts";

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

/** How many rows changed. */
export function run(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): number {
  return Number(statement(db, sql).run(...values).changes);
}

/** The first column of the first row. */
export function value(db: DatabaseSync, sql: string, ...values: SQLInputValue[]): number {
  const row = one<Record<string, unknown>>(db, sql, ...values);
  return Number(row ? Object.values(row)[0] : 0);
}

/** `UPDATE … SET a = ?, b = ?` for the fields that are there. Undefined fields are left alone. */
export function setFields(fields: Readonly<Record<string, SQLInputValue | undefined>>): {
  sql: string;
  values: SQLInputValue[];
} {
  const given = Object.entries(fields).filter((entry): entry is [string, SQLInputValue] => entry[1] !== undefined);
  return { sql: given.map(([name]) => `${name} = ?`).join(", "), values: given.map(([, value]) => value) };
}

// Rows to what the interface speaks of. Row shapes stay in this folder.

export interface EpicRow {
  seq: number;
  id: string;
  title: string;
  description: string | null;
  priority: number;
  status: GroupStatus;
  source: string | null;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
}

export interface StoryRow {
  seq: number;
  id: string;
  epic: number | null;
  epic_id: string | null;
  title: string;
  description: string | null;
  acceptance_criteria: string | null;
  status: GroupStatus;
  source: string | null;
  created_at: string;
  updated_at: string;
  completed_at: string | null;
}

export type TaskRow = PlainColumns & {
  seq: number;
  id: string;
  story: number | null;
  epic: number | null;
  story_id: string | null;
  epic_id: string | null;
  parent: number | null;
  parent_id: string | null;
  title: string;
  type: TaskType;
  status: TaskStatus;
  priority: number;
  steps: string | null;
  note: string | null;
  created_at: string;
  updated_at: string;
  started_at: string | null;
  completed_at: string | null;
};

type PlainColumns = { [Field in PlainTaskField as KeyOf<Field>]: NonNullable<TaskFieldValues[Field]> | null };

/** Undefined for what is not given, null for what is cleared. */
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

/** Every column of a task, with the ids of what it belongs to. */
export const TASK_COLUMNS =
  "t.*, s.id AS story_id, e.id AS epic_id, p.id AS parent_id FROM tasks t LEFT JOIN stories s ON s.seq = t.story LEFT JOIN epics e ON e.seq = t.epic LEFT JOIN tasks p ON p.seq = t.parent";

export const CLAIM_COLUMNS = "c.*, t.id FROM claims c JOIN tasks t ON t.seq = c.task";

export function toEpic({ seq: _, priority, created_at, updated_at, completed_at, ...row }: EpicRow): Epic {
  return {
    ...present({ id: row.id, title: row.title, description: row.description }),
    priority: priorityOf(priority),
    status: row.status,
    ...present({ source: row.source }),
    ...times({ createdAt: created_at, updatedAt: updated_at, completedAt: completed_at }),
  } as Epic;
}

export function toStory(row: StoryRow): Story {
  return {
    ...present({
      id: row.id,
      epicId: row.epic_id,
      title: row.title,
      description: row.description,
      acceptanceCriteria: row.acceptance_criteria,
      status: row.status,
      source: row.source,
    }),
    ...times({ createdAt: row.created_at, updatedAt: row.updated_at, completedAt: row.completed_at }),
  } as Story;
}

/** In the order of the rows. One query for the files of all. */
export function toTasks(db: DatabaseSync, rows: readonly TaskRow[]): Task[] {
  const files = filesOf(
    db,
    rows.map(({ seq }) => seq),
  );
  return rows.map((row) => toTask(row, files.get(row.seq) ?? []));
}

function toTask(row: TaskRow, files: string[]): Task {
  return {
    ...present({
      id: row.id,
      title: row.title,
      status: row.status,
      type: row.type,
      storyId: row.story_id,
      epicId: row.epic_id,
      parentId: row.parent_id,
      ...Object.fromEntries(PLAIN_TASK_FIELDS.map((name) => [name, row[TASK_FIELDS[name].key]])),
      note: row.note,
    }),
    priority: priorityOf(row.priority),
    files,
    steps: row.steps === null ? [] : (JSON.parse(row.steps) as TaskStep[]),
    ...times({
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      startedAt: row.started_at,
      completedAt: row.completed_at,
    }),
  } as Task;
}

export function filesOf(db: DatabaseSync, seqs: readonly number[]): Map<number, string[]> {
  const files = new Map<number, string[]>();
  if (seqs.length === 0) return files;
  const rows = all<{ task: number; path: string }>(
    db,
    "SELECT task, path FROM task_files WHERE task IN (SELECT value FROM json_each(?)) ORDER BY task, path",
    JSON.stringify(seqs),
  );
  for (const { task, path } of rows) {
    const known = files.get(task);
    if (known) known.push(path);
    else files.set(task, [path]);
  }
  return files;
}

export function toClaim(row: ClaimRow): Claim {
  return {
    ...present({ taskId: row.id, agent: row.agent, sessionId: row.session_id, agentId: row.agent_id || null }),
    claimedAt: new Date(row.claimed_at),
    heartbeatAt: new Date(row.heartbeat_at),
    leaseUntil: new Date(row.lease_until),
  } as Claim;
}

export function brief({ id, title, status }: TaskBrief): TaskBrief {
  return { id, title, status };
}

/** Without the fields that are null. */
export function present<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Partial<T>;
}

function times(fields: Record<string, string | null>): Record<string, Date> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, time]) => (time === null ? [] : [[name, new Date(time)]])),
  );
}
