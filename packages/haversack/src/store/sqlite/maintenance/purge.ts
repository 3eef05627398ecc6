/** Removes rows from a store: on demand by `haversack store purge`, and old sessions automatically. */
import type { DatabaseSync } from "node:sqlite";
import { writeStore } from "../access.ts";
import { openDatabase } from "../open.ts";
import { HELD_TASKS, HOLDING_SESSIONS } from "../work/claims.ts";
import { quoteName } from "./check-store.ts";

/**
 * What `haversack store purge` may remove. A part that keeps local rows adds its rules here; rows that depend on others come
 * first. Work state is never listed unless its part says when a row is worthless.
 */
export interface PurgeRule {
  table: string;
  /** SQL condition on that table; `:before` is the time limit as ISO text. */
  where: string;
}

/** Sessions that ended or went silent before the limit. For `(session_id, agent_id) IN (…)` in dependent tables. */
export const OLD_SESSIONS = "SELECT session_id, agent_id FROM sessions WHERE last_seen_at < :before";

/** A session that holds a task is kept. */
const FREE = `session_id NOT IN (${HOLDING_SESSIONS})`;

/** What `store purge` removes on request. */
export const purgeRules: readonly PurgeRule[] = rulesFor();

/** What is removed automatically: the same, except for rows of tasks in progress. */
export const retirementRules: readonly PurgeRule[] = rulesFor(` AND ${FREE}`, ` AND task NOT IN (${HELD_TASKS})`);

function rulesFor(isKept = "", gitStates = ""): PurgeRule[] {
  const ofOldSessions = `(session_id, agent_id) IN (${OLD_SESSIONS}${isKept})`;
  return [
    ...[
      "ledger",
      "session_files",
      "prompt_matches",
      "injections",
      "skill_uses",
      "session_wip",
      "wip_changes",
      "tool_calls",
      "agent_tasks",
      "agent_roles",
      "seen_lines",
      "expected_documents",
      "dispatched_agents",
    ].map((table) => ({ table, where: ofOldSessions })),
    // Rows of sub-agents that never started: see agentOfCall.
    ...["ledger", "injections", "skill_uses", "agent_roles", "prompt_matches"].map((table) => ({
      table,
      where: `agent_id GLOB 'call:*' AND session_id IN (SELECT session_id FROM sessions WHERE last_seen_at < :before)${isKept}`,
    })),
    { table: "spawns", where: "at < :before" },
    { table: "spawn_documents", where: "at < :before" },
    { table: "transcripts", where: "at < :before" },
    { table: "seen_calls", where: "at < :before" },
    { table: "output_texts", where: "handle IN (SELECT handle FROM outputs WHERE at < :before)" },
    { table: "outputs", where: "at < :before" },
    { table: "shown_reads", where: "at < :before" },
    { table: "git_states", where: `at < :before${gitStates}` },
    // Last: the rows of other tables are found through it.
    { table: "sessions", where: `last_seen_at < :before${isKept}` },
  ];
}

// Removes old rows by the rules above, in one transaction.

export interface PurgeReport {
  /** Rows removed (or, in a dry run, that would be), by table; tables with nothing to remove are listed with 0. */
  removed: Record<string, number>;
  dryRun: boolean;
}

export interface PurgeOptions {
  olderThan: Date;
  dryRun: boolean;
  /** Tests hand in their own. */
  rules?: readonly PurgeRule[];
}

/** For callers that hold the write lock already. Rows removed, by table. */
export function removeByRules(
  db: DatabaseSync,
  { rules, before }: { rules: readonly PurgeRule[]; before: string },
): Record<string, number> {
  const removed: Record<string, number> = {};
  for (const { table, where } of rules) {
    const { changes } = db.prepare(`DELETE FROM ${quoteName(table)} WHERE ${where}`).run({ before });
    removed[table] = (removed[table] ?? 0) + Number(changes);
  }
  return removed;
}

export function purgeStore(file: string, { olderThan, dryRun, rules = purgeRules }: PurgeOptions): PurgeReport {
  const handle = openDatabase(file, { durability: "full", create: false });
  const before = olderThan.toISOString();
  let removed: Record<string, number> = {};
  try {
    writeStore(handle, (db) => {
      // A dry run removes and rolls back, because each rule depends on what the rules before it left.
      db.exec("SAVEPOINT purge");
      removed = removeByRules(db, { rules, before });
      if (dryRun) db.exec("ROLLBACK TO purge");
      db.exec("RELEASE purge");
    });
  } finally {
    handle.db.close();
  }
  return { removed, dryRun };
}

// Removes sessions that ended long ago, during other work: see engine/open-project.ts. Callers hold the write lock.

/** Sessions removed at once. This takes some 100 ms, less than a hook waits for the lock. The rest follows on the next days. */
const MOST_SESSIONS = 200;

/**
 * If every session is old, nothing is removed: either the clock is wrong, or the project was
 * paused and the user may come back for its last sessions.
 */
export function retireSessions(db: DatabaseSync, { olderThan }: { olderThan: Date }): void {
  const limit = olderThan.toISOString();
  const newest = db.prepare("SELECT max(last_seen_at) AS at FROM sessions").get()?.["at"];
  if (typeof newest !== "string" || newest < limit) return;
  const next = db
    .prepare("SELECT last_seen_at AS at FROM sessions WHERE last_seen_at < ? ORDER BY last_seen_at LIMIT 1 OFFSET ?")
    .get(limit, MOST_SESSIONS)?.["at"];
  removeByRules(db, { rules: retirementRules, before: typeof next === "string" ? next : limit });
}
