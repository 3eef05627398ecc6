/** A task gets a holder: the claim, who it is, the status, the queue and the story. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { Actor } from "../../work-store.ts";
import { note } from "./activity.ts";
import { followTasks } from "./groups.ts";
import { type LapsedTask, lapsedOf, noteBack, noteHolder } from "./last-holders.ts";
import { noteLoss } from "./lost-claims.ts";
import { run } from "./prepared.ts";
import { markInQueue } from "./queue.ts";
import { leaseTime } from "./store-clock.ts";

export interface Holding {
  leaseMs: number;
  /** Default: now. */
  claimedAt?: string;
  /** Replaces the task's note. */
  note?: string | undefined;
}

/** Whether it may was asked before: what is held is open. */
export function holdTask(
  db: DatabaseSync,
  task: { seq: number; story: number | null },
  by: Actor,
  { leaseMs, claimedAt, note: text }: Holding,
): void {
  const now = by.at.toISOString();
  const start = leaseTime(db, by.at);
  noteLoss(db, task.seq, by);
  run(
    db,
    "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?, ?)",
    task.seq,
    by.name,
    by.sessionId ?? null,
    by.agentId ?? "",
    claimedAt ?? now,
    start.toISOString(),
    start.getTime() + leaseMs,
  );
  noteHolder(db, task.seq, by, claimedAt ?? now);
  run(
    db,
    "UPDATE tasks SET status = 'in_progress', started_at = coalesce(started_at, ?), updated_at = ?, note = coalesce(?, note) WHERE seq = ?",
    now,
    now,
    text ?? null,
    task.seq,
  );
  markInQueue(db, task.seq, "in_progress");
  followTasks(db, task.story, now);
}

/**
 * What an agent of a session held until its lease ended, and nobody has taken since, is its own again: its session is back, or has only
 * been quiet for long. `most`: so many, those that were claimed last.
 */
export function regainTasks(
  db: DatabaseSync,
  { sessionId, agentId = "" }: { sessionId: string; agentId?: string },
  { leaseMs, at, most }: { leaseMs: () => number; at: Date; most?: number },
): LapsedTask[] {
  const lapsed = lapsedOf(db, sessionId, agentId).slice(0, most);
  // While the store is locked only copies of some tables can be written; the spool does it when it is read in.
  if (lapsed.length > 0 && isStandIn(db)) return [];
  for (const task of lapsed) {
    const by = { name: task.agent, sessionId, agentId, at };
    holdTask(db, task, by, { leaseMs: leaseMs(), claimedAt: task.claimedAt });
    note(db, by, "task-claimed", task.id, `claimed again by ${task.agent}: its session is back`);
  }
  if (lapsed.length > 0) noteBack(db, sessionId);
  return lapsed;
}

/** While the store is locked, copies of some tables take their place; `meta` has none. */
export function isStandIn(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM temp.sqlite_schema WHERE name = 'claims'").get() !== undefined;
}
