/**
 * Replaces store/sqlite/connect.ts under Bun. Only the plugin's bundle loads this file. On a runtime without Bun's SQLite, such as Node in a
 * benchmark, it uses Node's own.
 */
import { type BunDatabaseClass, databaseSyncOn } from "./bun-sqlite.ts";

export const sqlite = { DatabaseSync: await databaseClass() };

async function databaseClass() {
  if (!process.versions["bun"]) return process.getBuiltinModule("node:sqlite").DatabaseSync;
  // Not a literal, because neither the compiler nor the bundler knows this module.
  const module_: string = "bun:sqlite";
  const { Database } = (await import(module_)) as { Database: BunDatabaseClass };
  return databaseSyncOn(Database);
}
