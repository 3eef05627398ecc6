/**
 * The stand-in of a process that cannot write to the store, usually because another process holds its lock. In WAL mode it can
 * still read. The tables that events change are copied into temporary tables of the same name, which SQLite finds first. Waiting
 * spool entries and this process's own writes are saved into them, so it reads the same as if the lock had been free. Its writes
 * also go into the spool, and from there into the store.
 *
 * If the store is read-only or the disk is full, there is no spool either: events are answered in the same way, and forgotten.
 *
 * If even reading is impossible, an empty store in memory is used instead. The hook bundles this file as a separate chunk.
 */
import type { DatabaseSync } from "node:sqlite";
import { inTransaction, type StandIn, type StoreHandle } from "../access.ts";
import { connect, isLockFault, isRefusedWrite } from "../connect.ts";
import { migrations } from "../migrations.ts";
import { sqlite } from "../quiet.ts";
import { saveEntry } from "./save-entry.ts";
import { addToSpool, readSpooled, spooledNames } from "./spool-files.ts";

export interface StandInOptions {
  /** The session of the events; "" if there are several. */
  sessionId: string;
  /** false: writes are lost when the process ends. Default: true. */
  isSpooled?: boolean;
  /** Logs one line about something that could not be kept. */
  warn(text: string): void;
}

/** A read connection to a store that could not be opened for writing. Rethrows the error if it has another cause. */
export function connectToRead(error: unknown, file: string): DatabaseSync {
  if (!isRefusedWrite(error)) throw error;
  return connect(file, { readOnly: true, busyMs: 0 });
}

/** The stand-in after a write failed with this error. Undefined: the error has another cause. */
export function standInAfter(error: unknown, handle: StoreHandle, options: StandInOptions): StandIn | undefined {
  if (isLockFault(error)) return standInFor(handle, options);
  return isRefusedWrite(error) ? standInFor(handle, { ...options, isSpooled: false }) : undefined;
}

export function standInFor(handle: StoreHandle, options: StandInOptions): StandIn {
  const { db, file } = handle;
  // The process has waited for the lock once. The rest of this event does not wait again.
  db.exec("PRAGMA busy_timeout = 0; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY");
  try {
    inTransaction(db, () => copyTables(db, handle, options), "BEGIN");
  } catch (error) {
    // Reading became impossible after the store was opened. This event's next reads fail, but its writes are kept.
    if (isLockFault(error)) return openBlind(file, options).standIn as StandIn;
    throw error;
  }
  return standIn(handle, { ...options, isBlind: false });
}

/** For a store that cannot be read at all: events are recorded, and answered as in an empty project. */
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

/** The tables that events change. Tables that grow with every event are copied for one session only. */
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
  ["outbox", "none"],
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

/** Saves the entries that other processes have put into the spool. */
function saveWaiting({ db, file }: StoreHandle): void {
  const known = db.prepare("SELECT 1 FROM meta WHERE key = ?");
  for (const name of spooledNames(file)) {
    const spooled = known.get(`spool/${name}`) ? "damaged" : readSpooled(file, name);
    if (typeof spooled === "string") continue;
    try {
      saveEntry(db, spooled.entry, spooled);
    } catch {
      // The process that reads the spool into the store reports the problem.
    }
  }
}
