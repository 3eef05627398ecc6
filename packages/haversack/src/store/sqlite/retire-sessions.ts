/** Sessions that are over for long, removed in passing: see engine/retire-state.ts. */
import type { DatabaseSync } from "node:sqlite";
import { readStore, writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { retirementRules } from "./purge-rules.ts";
import { removeByRules } from "./purge-store.ts";

const DAY_MS = 86_400_000;
/** Removed at once: some 100 ms, less than a hook waits for the lock. The rest goes on the next days. */
const MOST_SESSIONS = 200;
const MARK = "retired_at";

export function isRetirementDue(handle: StoreHandle, now: Date): boolean {
  return readStore(handle, (db) => isDue(db, now));
}

function isDue(db: DatabaseSync, now: Date): boolean {
  const row = db.prepare("SELECT value FROM meta WHERE key = ?").get(MARK);
  const last = Date.parse(String(row?.["value"] ?? ""));
  // A mark in the future is of a clock that was wrong.
  return !(Math.abs(now.getTime() - last) < DAY_MS);
}

/**
 * False when nothing was looked at. Where every session is old, nothing goes: either the clock is wrong, or the project has rested and
 * its last sessions are what somebody comes back for.
 */
export function retireSessions(handle: StoreHandle, { olderThan, now }: { olderThan: Date; now: Date }): boolean {
  const limit = olderThan.toISOString();
  return writeStore(handle, (db) => {
    if (!isDue(db, now)) return false;
    db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(MARK, now.toISOString());
    const newest = db.prepare("SELECT max(last_seen_at) AS at FROM sessions").get()?.["at"];
    if (typeof newest !== "string" || newest < limit) return true;
    const next = db
      .prepare("SELECT last_seen_at AS at FROM sessions WHERE last_seen_at < ? ORDER BY last_seen_at LIMIT 1 OFFSET ?")
      .get(limit, MOST_SESSIONS)?.["at"];
    removeByRules(db, { rules: retirementRules, before: typeof next === "string" ? next : limit });
    return true;
  });
}
