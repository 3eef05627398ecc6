/**
 * The outbox of a machine that shares its work: every change to the local snapshot, in order, until the shared store has applied it. An
 * entry is saved in the same transaction as the change. A store that shares nothing has no entries. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { SeenAgent } from "../../work-store.ts";
import { readStore, type StoreHandle, writeStore } from "../access.ts";
import { readMeta, readSharedMark } from "../meta.ts";
import type {
  EndedHolder,
  MovedClaimsById,
  MovedSession,
  ReadMessages,
  SessionOfWork,
  TakenBack,
  ToolEntry,
} from "../work/session-work.ts";

/** The contents of entries, by operation. `at`: the time of the change by this machine's clock. */
export interface OutboxOps {
  tool: ToolEntry;
  "take-over": MovedClaimsById;
  "take-back": TakenBack;
  regain: TakenBack & SessionOfWork;
  "let-go": EndedHolder;
  fork: MovedSession;
  bind: SessionOfWork & { name: string; at: Date };
  orchestrator: { sessionId: string; at: Date };
  seen: SeenAgent & { at: Date };
  read: ReadMessages;
  /** A change made through WorkStore while the shared store could not be reached. */
  call: OfflineCall;
}

export interface OfflineCall {
  /** The name of the operation of WorkStore. */
  name: string;
  /** Without the last one, which gives actor and time. */
  args: readonly unknown[];
  /** Absent: the operation takes only a time. */
  by?: object;
  at: Date;
  /** The IDs that it created here, in order. */
  ids: readonly string[];
}

export type OutboxOp = keyof OutboxOps;

export type OutboxEntry = {
  [Op in OutboxOp]: { seq: number; token: string; op: Op; args: OutboxOps[Op]; at: Date; taskId?: string };
}[OutboxOp];

/** For callers that hold the write lock. `make` is called only if work is shared. */
export function addToOutbox<Op extends OutboxOp>(
  db: DatabaseSync,
  op: Op,
  make: () => OutboxOps[Op],
  { taskId, isClaim = false }: { taskId?: string; isClaim?: boolean } = {},
): void {
  if (!readMeta(db, "shared")) return;
  const args = make();
  db.prepare("INSERT INTO outbox (token, op, args, at, task, is_claim) VALUES (?, ?, ?, ?, ?, ?)").run(
    // About 100 bits. `node:crypto` would take a hook 5 ms.
    Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2),
    op,
    JSON.stringify(args),
    args.at.toISOString(),
    taskId ?? null,
    isClaim ? 1 : 0,
  );
}

// For processes that forward the outbox. Hooks do not load this part.

/** Oldest first. */
export function readOutbox(handle: StoreHandle, { limit }: { limit: number }): OutboxEntry[] {
  const sql = "SELECT seq, token, op, args, at, task FROM outbox ORDER BY seq LIMIT ?";
  return readStore(handle, (db) => db.prepare(sql).all(limit)).map(({ seq, token, op, args, at, task }) => {
    const read = JSON.parse(String(args));
    read.at = new Date(read.at);
    return {
      seq: Number(seq),
      token: String(token),
      op: String(op) as OutboxOp,
      args: read,
      at: new Date(String(at)),
      ...(task !== null && { taskId: String(task) }),
    } as OutboxEntry;
  });
}

/** How many entries wait, and since when. */
export interface Backlog {
  count: number;
  oldest?: Date;
}

export function backlogOf(db: DatabaseSync): Backlog {
  const row = db.prepare("SELECT count(*) AS count, min(at) AS oldest FROM outbox").get();
  const oldest = row?.["oldest"];
  return { count: Number(row?.["count"]), ...(typeof oldest === "string" && { oldest: new Date(oldest) }) };
}

/** Tasks that were claimed here and that the shared store has not confirmed yet. */
export function unconfirmedClaims(handle: StoreHandle): Set<string> {
  const sql = "SELECT DISTINCT task FROM outbox WHERE is_claim = 1 AND task IS NOT NULL";
  return new Set(readStore(handle, (db) => db.prepare(sql).all()).map(({ task }) => String(task)));
}

/** A change that the shared store refused for good. */
export interface Conflict {
  /** When the change was made on this machine. */
  number: number;
  /** The operation of its entry. */
  token: string;
  op: string;
  /** The refused change as JSON, so nothing is lost. */
  args: string;
  at: Date;
  taskId?: string;
  agent?: string;
  reason: string;
  foundAt: Date;
}

/** Oldest first. */
export function listConflicts(handle: StoreHandle, { limit }: { limit: number }): Conflict[] {
  const sql =
    "SELECT number, token, op, args, at, task, agent, reason, found_at FROM conflicts ORDER BY number LIMIT ?";
  return readStore(handle, (db) => db.prepare(sql).all(limit)).map((row) => ({
    number: Number(row["number"]),
    token: String(row["token"]),
    op: String(row["op"]),
    args: String(row["args"]),
    at: new Date(String(row["at"])),
    ...(row["task"] !== null && { taskId: String(row["task"]) }),
    ...(row["agent"] !== null && { agent: String(row["agent"]) }),
    reason: String(row["reason"]),
    foundAt: new Date(String(row["found_at"])),
  }));
}

/** Removes conflicts that somebody has handled; without numbers, all. Returns how many there were. */
export function settleConflicts(handle: StoreHandle, numbers?: readonly number[]): number {
  return writeStore(handle, (db) => {
    if (!numbers) return Number(db.prepare("DELETE FROM conflicts").run().changes);
    const remove = db.prepare("DELETE FROM conflicts WHERE number = ?");
    return numbers.reduce((sum, number) => sum + Number(remove.run(number).changes), 0);
  });
}

/**
 * Removes applied entries from the outbox and stores refused ones as conflicts, in one transaction. `lastConflict`: the number of the
 * last conflict there.
 */
export function acknowledge(
  handle: StoreHandle,
  answered: { applied: number; conflicts: readonly Omit<Conflict, "number">[]; lastConflict: number; stale: Stale },
): void {
  const { applied, conflicts, lastConflict, stale } = answered;
  writeStore(handle, (db) => {
    db.prepare("DELETE FROM outbox WHERE seq <= ?").run(applied);
    const sql = `INSERT OR IGNORE INTO conflicts (token, op, args, at, task, agent, reason, found_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
    const add = db.prepare(sql);
    for (const { token, op, args, at, taskId, agent, reason, foundAt } of conflicts) {
      add.run(token, op, args, at.toISOString(), taskId ?? null, agent ?? null, reason, foundAt.toISOString());
    }
    if (conflicts.length > 0) put(db, "last-conflict", String(lastConflict));
    noteStale(db, stale);
  });
}

/** The part of the snapshot to read again, even if the shared store reports no change: all of it, or these tasks. */
export type Stale = "all" | readonly string[];

function noteStale(db: DatabaseSync, stale: Stale): void {
  if (stale.length === 0) return;
  const before = staleIn(db);
  const merged = stale === "all" || before === "all" ? "all" : [...new Set([...before, ...stale])];
  put(db, "stale", JSON.stringify(merged));
}

function staleIn(db: DatabaseSync): Stale {
  const text = get(db, "stale");
  return text === undefined ? [] : (JSON.parse(text) as Stale);
}

/** What this machine knows of the shared store. */
export interface SnapshotState {
  /** The name of this outbox in the shared store. Absent: nothing was sent yet. A copy of the store has the same name. */
  outbox?: string;
  /** Where to continue reading changes. Absent: read everything. */
  cursor?: string;
  /** The highest row numbers from the shared store, by table. Rows with higher numbers were created here. */
  marks: Readonly<Record<string, number>>;
  stale: Stale;
  /** When the snapshot was last known to be up to date, by this machine's clock. */
  takenAt?: Date;
  /** Since when the shared store cannot be reached, and why. `key`: under this address. */
  offline?: { since: Date; until: Date; reason: string; key?: string };
  /** The shared store's number of the last conflict that is known here. */
  lastConflict: number;
  backlog: Backlog;
  conflicts: number;
}

export function readSnapshotState(handle: StoreHandle): SnapshotState {
  return readStore(handle, stateIn);
}

function stateIn(db: DatabaseSync): SnapshotState {
  const [outbox, cursor, takenAt, offline] = ["outbox", "cursor", "taken-at", "offline"].map((key) => get(db, key));
  const { since, until, reason, key } = offline === undefined ? {} : JSON.parse(offline);
  return {
    ...(outbox !== undefined && { outbox }),
    ...(cursor !== undefined && { cursor }),
    marks: JSON.parse(get(db, "marks") ?? "{}"),
    stale: staleIn(db),
    ...(takenAt !== undefined && { takenAt: new Date(takenAt) }),
    ...(since !== undefined && {
      offline: { since: new Date(since), until: new Date(until), reason, ...(key && { key }) },
    }),
    lastConflict: Number(get(db, "last-conflict") ?? 0),
    backlog: backlogOf(db),
    conflicts: Number(db.prepare("SELECT count(*) AS count FROM conflicts").get()?.["count"]),
  };
}

/** The name of this outbox, made when it is first needed. */
export function nameOutbox(handle: StoreHandle, made: string): string {
  return writeStore(handle, (db) => {
    const known = get(db, "outbox");
    if (known === undefined) put(db, "outbox", made);
    return known ?? made;
  });
}

/** Undefined: it can be reached. */
export function noteOffline(handle: StoreHandle, offline: SnapshotState["offline"]): void {
  writeStore(handle, (db) => {
    if (!offline) {
      // Meanwhile, commands may have returned expired claims to the queue, but only in the snapshot.
      noteStale(db, "all");
      return remove(db, "offline");
    }
    const before = get(db, "offline");
    const since = before === undefined ? offline.since : (JSON.parse(before).since as string);
    put(db, "offline", JSON.stringify({ ...offline, since }));
  });
}

/**
 * Replaces rows of the snapshot, unless something has changed since `before` was read: another process was faster, or an event of this
 * machine waits in the outbox. Then it does nothing and returns false.
 */
export function replaceSnapshot(
  handle: StoreHandle,
  { before, cursor, takenAt }: { before: SnapshotState; cursor: string; takenAt: Date },
  replace: (db: DatabaseSync) => Readonly<Record<string, number>>,
): boolean {
  return writeStore(handle, (db) => {
    const now = stateIn(db);
    const isSame = now.cursor === before.cursor && JSON.stringify(now.stale) === JSON.stringify(before.stale);
    if (!isSame || now.backlog.count > 0 || !readSharedMark(db)) return false;
    put(db, "marks", JSON.stringify(replace(db)));
    put(db, "cursor", cursor);
    put(db, "taken-at", takenAt.toISOString());
    remove(db, "stale");
    return true;
  });
}

/** Nothing has changed: the snapshot is up to date at this time. */
export function confirmSnapshot(
  handle: StoreHandle,
  { before, cursor, takenAt }: { before: SnapshotState; cursor: string; takenAt: Date },
): void {
  writeStore(handle, (db) => {
    if (get(db, "cursor") !== before.cursor) return;
    put(db, "cursor", cursor);
    put(db, "taken-at", takenAt.toISOString());
  });
}

/** Work is no longer shared, or is shared elsewhere. Conflicts stay until somebody has handled them. */
export function forgetSnapshot(handle: StoreHandle): void {
  writeStore(handle, (db) => {
    db.exec("DELETE FROM outbox; DELETE FROM snapshot_state");
  });
}

/** To be called after an older copy of the store was restored. For callers that hold the write lock. */
export function afterRestore(db: DatabaseSync): void {
  if (readSharedMark(db)) noteStale(db, "all");
}

function get(db: DatabaseSync, key: string): string | undefined {
  const value = db.prepare("SELECT value FROM snapshot_state WHERE key = ?").get(key)?.["value"];
  return value === undefined ? undefined : String(value);
}

function put(db: DatabaseSync, key: string, value: string): void {
  db.prepare("INSERT OR REPLACE INTO snapshot_state VALUES (?, ?)").run(key, value);
}

function remove(db: DatabaseSync, key: string): void {
  db.prepare("DELETE FROM snapshot_state WHERE key = ?").run(key);
}
