/** Statements, compiled once per connection: a server asks the same questions all day. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

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
