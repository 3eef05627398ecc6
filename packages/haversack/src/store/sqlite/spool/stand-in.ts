/**
 * What a process does that cannot write to the store. Mostly another one holds its lock. In WAL mode it can still read, so the tables that events change are
 * copied into temporary ones of the same name, which SQLite finds first; what waits in the spool is saved into them, and so is
 * what this process writes. Everything it then reads is as if the lock had been free. What it writes goes into the spool as
 * well, and from there into the store.
 *
 * Where the store may only be read, or the disk is full, there is no spool either: events are answered in the same way, and
 * forgotten.
 *
 * Where not even reading is possible, an empty store in memory takes the place of the whole. The hook bundles this file, in a
 * part of its own.
 */
import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "../access.ts";
import { connect, isLockFault, isRefusedWrite } from "../connect.ts";
import type { StandIn, StoreHandle } from "../handle.ts";
import { migrations } from "../migrations.ts";
import { sqlite } from "../quiet.ts";
import { saveEntry } from "./save-entry.ts";
import { addToSpool, readSpooled, spooledNames } from "./spool-files.ts";

export interface StandInOptions {
  /** Whose events they are; "": of several. */
  sessionId: string;
  /** false: what is written is forgotten with the process. Default: true. */
  isSpooled?: boolean;
  /** Something could not be kept: one line for the log. */
  warn(text: string): void;
}

/** A connection to a store that could not be opened because it cannot be written. Throws the error again when it has another cause. */
export function connectToRead(error: unknown, file: string): DatabaseSync {
  if (!isRefusedWrite(error)) throw error;
  return connect(file, { readOnly: true, busyMs: 0 });
}

/** For a write that failed with this error. Undefined: the error has another cause. */
export function standInAfter(error: unknown, handle: StoreHandle, options: StandInOptions): StandIn | undefined {
  if (isLockFault(error)) return standInFor(handle, options);
  return isRefusedWrite(error) ? standInFor(handle, { ...options, isSpooled: false }) : undefined;
}

export function standInFor(handle: StoreHandle, options: StandInOptions): StandIn {
  const { db, file } = handle;
  // It has waited once; the rest of this event does not wait again.
  db.exec("PRAGMA busy_timeout = 0; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY");
  try {
    inTransaction(db, () => copyTables(db, handle, options), "BEGIN");
  } catch (error) {
    // Since it was opened, reading has become impossible too. What this event reads next fails, but what it writes is kept.
    if (isLockFault(error)) return openBlind(file, options).standIn as StandIn;
    throw error;
  }
  return standIn(handle, { ...options, isBlind: false });
}

/** A store of which nothing can be read: events are noted, and answered as in a project that has nothing yet. */
export function openBlind(file: string, options: StandInOptions): StoreHandle {
  const db = new sqlite.DatabaseSync(":memory:");
  db.exec("PRAGMA foreign_keys = OFF");
  for (const { sql } of migrations) db.exec(sql);
  const handle: StoreHandle = {
    file,
    db,
    isReadOnly: false,
    guard: (action) => action(),
    checkVersion: () => undefined,
  };
  saveWaiting(handle);
  handle.standIn = standIn(handle, { ...options, isBlind: true });
  return handle;
}

function standIn(
  { db, file }: StoreHandle,
  { isBlind, isSpooled = true, warn }: StandInOptions & { isBlind: boolean },
): StandIn {
  return {
    isBlind,
    isKept: isSpooled,
    write(change, entryFor) {
      const result = inTransaction(db, () => change(db), "BEGIN");
      const entry = isSpooled ? entryFor(result) : undefined;
      const problem = entry && addToSpool(file, { entry, isBlind });
      if (problem) warn(`the store is locked and ${problem}: an event is lost`);
      return result;
    },
  };
}

/** What events change. By session where a table grows with every event. */
const TABLES: readonly (readonly [table: string, rows: "all" | "session" | "none"])[] = [
  ["sessions", "all"],
  ["session_files", "session"],
  ["session_wip", "all"],
  ["wip_changes", "none"],
  ["ledger", "session"],
  ["injections", "session"],
  ["skill_uses", "none"],
  ["prompt_matches", "session"],
  ["slow_patterns", "all"],
  ["tool_calls", "session"],
  ["transcripts", "session"],
  ["seen_calls", "session"],
  ["spawns", "all"],
  ["agent_tasks", "all"],
  ["agent_roles", "all"],
  ["claims", "all"],
  ["last_holders", "all"],
  ["task_wip", "all"],
  ["task_wip_changes", "none"],
  ["agents", "all"],
  ["message_recipients", "all"],
  ["spawn_documents", "session"],
  ["dispatched_agents", "session"],
  ["expected_documents", "session"],
  ["seen_lines", "session"],
  ["receipts", "session"],
];

function copyTables(db: DatabaseSync, handle: StoreHandle, { sessionId }: StandInOptions): void {
  for (const [table, rows] of TABLES) {
    const sql = db.prepare("SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = ?").get(table)?.["sql"];
    if (typeof sql !== "string") continue;
    db.exec(sql.replace(/^CREATE TABLE/i, "CREATE TEMP TABLE"));
    if (rows === "all") db.exec(`INSERT INTO temp.${table} SELECT * FROM main.${table}`);
    if (rows === "session" && sessionId === "") db.exec(`INSERT INTO temp.${table} SELECT * FROM main.${table}`);
    else if (rows === "session") {
      db.prepare(`INSERT INTO temp.${table} SELECT * FROM main.${table} WHERE session_id = ?`).run(sessionId);
    }
  }
  saveWaiting(handle);
}

/** What other processes could not write either. */
function saveWaiting({ db, file }: StoreHandle): void {
  const known = db.prepare("SELECT 1 FROM meta WHERE key = ?");
  for (const name of spooledNames(file)) {
    const spooled = known.get(`spool/${name}`) ? "damaged" : readSpooled(file, name);
    if (typeof spooled === "string") continue;
    try {
      saveEntry(db, spooled.entry, spooled);
    } catch {
      // Whoever reads it in says what is wrong with it.
    }
  }
}
