/**
 * A new id that nothing in the store has. Called in the transaction that inserts the row, so it is still free then. Its length
 * follows the project's size (`digitsFor`).
 */
import type { DatabaseSync } from "node:sqlite";
import { digitsFor, MOST_DIGITS, newId, type RandomSource } from "../../../base/ids.ts";
import type { ThingTable } from "./aliases.ts";
import { one, value } from "./prepared.ts";

export interface FreshIdOptions {
  /** Ids that are not stored yet but must stay free. */
  isReserved?: (id: string) => boolean;
  /** Default: the system's. */
  random?: RandomSource;
}

export function freshId(
  db: DatabaseSync,
  table: ThingTable,
  { isReserved = () => false, random }: FreshIdOptions = {},
): string {
  // The last row's number: rows are never deleted, and counting would read the whole table for every new task.
  const size = value(db, `SELECT coalesce(max(seq), 0) + 1 FROM ${table}`);
  for (let digits = digitsFor(size); ; digits = Math.min(digits + 1, MOST_DIGITS)) {
    for (let tries = 0; tries < TRIES; tries++) {
      const id = newId(LETTERS[table], digits, random);
      if (!isReserved(id) && !isTaken(db, id)) return id;
    }
    // Numbers of this length are scarce, e.g. after an import of many short ids.
  }
}

export const LETTERS: Readonly<Record<ThingTable, string>> = {
  epics: "E",
  stories: "S",
  tasks: "T",
  handoffs: "H",
  messages: "M",
};

/** By the rule for the length at most 1 in 28 is taken; all of 10 are then taken about never. */
const TRIES = 10;

/** By anything, as an id or as an alias: imported ids need not begin with the letter of their kind. */
export function isTaken(db: DatabaseSync, id: string): boolean {
  return one(db, TAKEN, id) !== undefined;
}

const TAKEN = [...Object.keys(LETTERS).map((table) => `SELECT 1 FROM ${table} WHERE id = ?1`)]
  .concat("SELECT 1 FROM aliases WHERE alias = ?1")
  .join(" UNION ALL ");
