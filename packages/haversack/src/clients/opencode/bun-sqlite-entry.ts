/** What store/sqlite/quiet.ts exports, under Bun. Only the plugin's bundle loads this file. */
import { type BunDatabaseClass, databaseSyncOn } from "./bun-sqlite.ts";

// Not written as a literal: neither the compiler nor the bundler knows this module.
const module_: string = "bun:sqlite";
const { Database } = (await import(module_)) as { Database: BunDatabaseClass };

export const sqlite = { DatabaseSync: databaseSyncOn(Database) };
