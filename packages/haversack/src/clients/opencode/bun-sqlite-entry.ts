/**
 * What store/sqlite/connect.ts exports, under Bun. Only the plugin's bundle loads this file. On a runtime without Bun's SQLite, such as the
 * Node of a benchmark, it is Node's own.
 */
import { type BunDatabaseClass, databaseSyncOn } from "./bun-sqlite.ts";

export const sqlite = { DatabaseSync: await databaseClass() };

async function databaseClass() {
  if (!process.versions["bun"]) return process.getBuiltinModule("node:sqlite").DatabaseSync;
  // Not written as a literal: neither the compiler nor the bundler knows this module.
  const module_: string = "bun:sqlite";
  const { Database } = (await import(module_)) as { Database: BunDatabaseClass };
  return databaseSyncOn(Database);
}
