/**
 * The time by which leases are given and end. Every caller brings its own clock, and one of them may be wrong by years: it must
 * not end everybody's claims, nor keep its own for years. So the store remembers the latest time that it has believed (in `meta`). A
 * clock that is more than a week away from it is in doubt: its leases are counted from the remembered time. It is believed when
 * it has gone on for an hour and nobody has contradicted it, as when a project is taken up again after a month. Whoever works
 * with the right clock contradicts it with the next operation. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import { all, one, run } from "./rows.ts";

/** How far from the last believed time a clock may be without doubt. */
const MAX_JUMP_MS = 7 * 24 * 60 * 60_000;
/** Smaller steps forward are not written: it would be a write for each operation. */
const STEP_MS = 60 * 60_000;
const DOUBT_MS = 60 * 60_000;

/** Under the write lock: what time it is for leases when a caller says `at`. */
export function acceptTime(db: DatabaseSync, at: Date): Date {
  const { believed, doubted } = readClock(db);
  const now = at.getTime();
  if (believed === undefined) put(db, "clock", now);
  else if (isNear(now, believed)) {
    if (doubted !== undefined) run(db, "DELETE FROM meta WHERE key = 'clock-doubt'");
    if (now > believed + STEP_MS) put(db, "clock", now);
  } else if (doubted === undefined || !isNear(now, doubted)) {
    put(db, "clock-doubt", now);
  } else if (now - doubted >= DOUBT_MS) {
    // What was claimed while it was in doubt was counted from the remembered time.
    moveLeases(db, all(db, `${LEASES} WHERE heartbeat_at >= ?`, new Date(believed).toISOString()), doubted - believed);
    put(db, "clock", now);
    run(db, "DELETE FROM meta WHERE key = 'clock-doubt'");
  }
  return leaseTime(db, at);
}

/** The same for those that only prolong a lease: it changes nothing. */
export function leaseTime(db: DatabaseSync, at: Date): Date {
  const { believed, doubted } = readClock(db);
  const now = at.getTime();
  if (believed === undefined || isNear(now, believed)) return at;
  return new Date(believed + (doubted !== undefined && isNear(now, doubted) ? Math.max(0, now - doubted) : 0));
}

/** Claims that came from a clock far ahead: of an import, or from before the store had a clock. */
export function farLeases(db: DatabaseSync, at: Date): Lease[] {
  const limit = at.getTime() + MAX_JUMP_MS;
  return all(db, `${LEASES} WHERE lease_until > ? AND heartbeat_at > ?`, limit, new Date(limit).toISOString());
}

/** They last as long as they were given, from now on. */
export function shortenFarLeases(db: DatabaseSync, at: Date): void {
  for (const lease of farLeases(db, at)) moveLeases(db, [lease], at.getTime() - Date.parse(lease.heartbeat_at));
}

interface Lease {
  task: number;
  heartbeat_at: string;
  lease_until: number;
}

const LEASES = "SELECT task, heartbeat_at, lease_until FROM claims";

function moveLeases(db: DatabaseSync, leases: readonly Lease[], byMs: number): void {
  for (const { task, heartbeat_at, lease_until } of leases) {
    run(
      db,
      "UPDATE claims SET heartbeat_at = ?, lease_until = ? WHERE task = ?",
      new Date(Date.parse(heartbeat_at) + byMs).toISOString(),
      lease_until + byMs,
      task,
    );
  }
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= MAX_JUMP_MS;
}

function readClock(db: DatabaseSync): { believed?: number; doubted?: number } {
  const read = (key: string) => Number(one<{ value: string }>(db, "SELECT value FROM meta WHERE key = ?", key)?.value);
  const [believed, doubted] = [read("clock"), read("clock-doubt")];
  return { ...(Number.isFinite(believed) && { believed }), ...(Number.isFinite(doubted) && { doubted }) };
}

function put(db: DatabaseSync, key: string, value: number): void {
  run(db, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, String(value));
}
