/**
 * Aliases: ids that other clones have for things of this store. An import adds them when two clones gave the same id to different
 * things. A thing's own id always comes before an alias.
 */
import type { DatabaseSync } from "node:sqlite";
import { all, run } from "./prepared.ts";

export type ThingTable = "epics" | "stories" | "tasks" | "handoffs" | "messages";

export function addAlias(db: DatabaseSync, alias: string, id: string): void {
  run(db, "INSERT OR IGNORE INTO aliases (alias, id) VALUES (?, ?)", alias, id);
}

/** The aliases of one thing, in order. */
export function aliasesOf(db: DatabaseSync, id: string): string[] {
  return all<{ alias: string }>(db, "SELECT alias FROM aliases WHERE id = ? ORDER BY alias", id).map(
    ({ alias }) => alias,
  );
}

/** What has the alias, oldest first. Usually one thing. */
export function withAlias(db: DatabaseSync, table: ThingTable, alias: string): { seq: number; id: string }[] {
  return all(
    db,
    `SELECT t.seq, t.id FROM aliases a JOIN ${table} t ON t.id = a.id WHERE a.alias = ? ORDER BY t.seq`,
    alias,
  );
}
