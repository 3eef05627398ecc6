/** Reading rows for a packet: a statement is asked once, so it is not kept; and absent is absent, not null or "". The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";

/** Longer texts are cut when they are read: a packet has room for none of it. */
export const MOST_CHARS = 40_000;

export function optional<Name extends string, T>(name: Name, value: T | undefined): { [Key in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: T };
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

type Value = string | number | null;

export function get(db: DatabaseSync, sql: string, ...values: Value[]): Record<string, unknown> | undefined {
  return db.prepare(sql).get(...values) as Record<string, unknown> | undefined;
}

export function all(db: DatabaseSync, sql: string, ...values: Value[]): Record<string, unknown>[] {
  return db.prepare(sql).all(...values) as Record<string, unknown>[];
}
