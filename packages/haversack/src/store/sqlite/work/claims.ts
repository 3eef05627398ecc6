/**
 * Claims: one agent holds a task until a time. The first wins, because the write lock is taken before anything is looked at;
 * one that has expired goes back to the queue with its WIP and a note, at the first operation after its end. Who held it stays
 * known (last-holders.ts).
 */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { checkCount } from "../../../work/clean-input.ts";
import { type Claim, followersOf, mayFollow, type TaskBrief } from "../../../work/task.ts";
import type { Actor, ClaimRefusal, ClaimRequest, HeartbeatOutcome, ReleaseOutcome } from "../../work-store.ts";
import { note } from "./activity.ts";
import { followTasks } from "./groups.ts";
import { findTask } from "./ids.ts";
import {
  forgetHolder,
  type LapsedTask,
  lapsedOf,
  noteBack,
  noteHolder,
  noteLapsed,
  noteLoss,
  takenBy,
} from "./last-holders.ts";
import { WAITING } from "./parts.ts";
import { markInQueue, moveInQueue } from "./queue.ts";
import { all, brief, CLAIM_COLUMNS, type ClaimRow, one, run, type TaskRow, toClaim } from "./rows.ts";
import { leaseTime } from "./store-clock.ts";

export function hasExpired(db: DatabaseSync, at: Date): boolean {
  return one(db, "SELECT 1 FROM claims WHERE lease_until <= ? LIMIT 1", at.getTime()) !== undefined;
}

export function returnExpired(db: DatabaseSync, at: Date): void {
  const rows = all<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.lease_until <= ?`, at.getTime());
  for (const row of rows) {
    const ended = new Date(row.lease_until).toISOString();
    const text = `The claim of ${row.agent} expired at ${ended.slice(0, 16)}Z; go on from its WIP.`;
    noteLapsed(db, row);
    giveBack(db, row.task, { at, name: "haversack" }, text, "claim-expired");
  }
}

export function claimOf(db: DatabaseSync, seq: number): Claim | undefined {
  const row = one<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.task = ?`, seq);
  return row && toClaim(row);
}

export type Taken =
  | { kind: "taken"; claim: Claim; note?: string }
  | { kind: "cannot-follow"; task: TaskBrief; allowed: ReturnType<typeof followersOf> }
  | ClaimRefusal;

/** Makes the actor the holder, or says why not. Nothing has changed then. */
export function takeTask(
  db: DatabaseSync,
  task: TaskRow,
  { leaseMs, stealReason, isForced, maxClaims }: Omit<ClaimRequest, "taskId">,
  by: Actor,
): Taken {
  checkCount("lease_ms", leaseMs);
  const held = claimOf(db, task.seq);
  if (held && isHolder(held, by)) {
    prolong(db, task.seq, by, leaseMs);
    const { agent: name, sessionId, agentId, claimedAt } = held;
    // Claimed again, perhaps from another folder: that is where it works now.
    const holder = { name, ...(sessionId && { sessionId }), ...(agentId && { agentId }) };
    noteHolder(db, task.seq, { ...holder, ...(by.place && { place: by.place }) }, claimedAt.toISOString());
    return { kind: "taken", claim: claimOf(db, task.seq) as Claim, ...noteOf(task) };
  }
  const isTransfer = held !== undefined && isFromMainAgent(held, by);
  if (held && !isTransfer && stealReason === undefined) return { kind: "held", task: brief(task), by: held };
  if (!mayFollow(task.status, "in_progress")) {
    return { kind: "cannot-follow", task: brief(task), allowed: followersOf(task.status) };
  }
  const reasons = openReasons(db, task.seq);
  if (reasons.length > 0) return { kind: "blocked", task: brief(task), reasons };
  const waits = isForced || held ? [] : waitsFor(db, task.seq);
  if (waits.length > 0) return { kind: "waits", task: brief(task), for: waits };
  if (maxClaims) {
    const holding = all<{ id: string }>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ?`, by.name);
    if (holding.length >= maxClaims)
      return { kind: "too-many", limit: maxClaims, holding: holding.map(({ id }) => id) };
  }

  const stolen = held && !isTransfer ? `Taken from ${held.agent} by ${by.name}: ${stealReason}` : undefined;
  if (stolen) note(db, by, "claim-stolen", task.id, stolen);
  holdTask(db, task, by, { leaseMs, note: stolen });
  if (!stolen) note(db, by, "task-claimed", task.id, `claimed by ${by.name}`);
  return { kind: "taken", claim: claimOf(db, task.seq) as Claim, ...noteOf({ note: stolen ?? task.note }) };
}

export function heartbeat(
  db: DatabaseSync,
  { taskId, leaseMs }: { taskId?: string; leaseMs: number },
  by: Actor,
): HeartbeatOutcome {
  checkCount("lease_ms", leaseMs);
  if (taskId !== undefined) {
    const task = findTask(db, taskId);
    const held = claimOf(db, task.seq);
    if (!held || !isHolder(held, by)) return { kind: "lost", task: brief(task), ...(held && { by: held }) };
    prolong(db, task.seq, by, leaseMs);
    return { kind: "prolonged", claims: [claimOf(db, task.seq) as Claim] };
  }
  const rows = all<ClaimRow>(
    db,
    `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ? OR (c.session_id = ? AND c.agent_id = ?) ORDER BY c.claimed_at, c.task`,
    by.name,
    by.sessionId ?? null,
    by.agentId ?? "",
  );
  if (rows.length === 0) return { kind: "none" };
  for (const row of rows) prolong(db, row.task, by, leaseMs);
  return { kind: "prolonged", claims: rows.map(({ task }) => claimOf(db, task) as Claim) };
}

export function release(
  db: DatabaseSync,
  { taskId, reason }: { taskId: string; reason?: string },
  by: Actor,
): ReleaseOutcome {
  const task = findTask(db, taskId);
  const held = claimOf(db, task.seq);
  if (held && !mayChange(held, by)) return { kind: "held", task: brief(task), by: held };
  refuseIfLost(db, task, by);
  // A claim that has ended by itself leaves the task to whoever comes; nobody is told of it again after this.
  const isLeft = forgetHolder(db, task.seq);
  if (!held && !isLeft) return { kind: "not-held", task: brief(task) };
  giveBack(
    db,
    task.seq,
    by,
    `Released by ${by.name}${reason ? `: ${reason}` : ""}; go on from its WIP.`,
    "claim-released",
  );
  return { kind: "released", task: brief(findTask(db, task.id)) };
}

export function listClaims(db: DatabaseSync, agent: string | undefined): Claim[] {
  const rows =
    agent === undefined
      ? all<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} ORDER BY c.claimed_at, c.task`)
      : all<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ? ORDER BY c.claimed_at, c.task`, agent);
  return rows.map(toClaim);
}

/**
 * A name that somebody gave is the agent, in whichever session. Any other is made from a session's id and cut short: then the
 * session and the agent in it decide, and the name alone only where neither says a session.
 */
export function isHolder(held: Claim, by: Actor): boolean {
  if (held.agent === by.name && (by.isNamed || held.sessionId === undefined || by.sessionId === undefined)) return true;
  if (by.isNamed && held.agent !== by.name) return false;
  return held.sessionId !== undefined && held.sessionId === by.sessionId && (held.agentId ?? "") === (by.agentId ?? "");
}

/** Others of the same session may report on a task that one of them holds; so may a person. Another agent may not. */
export function mayChange(held: Claim, by: Actor): boolean {
  if (by.isPerson || isHolder(held, by)) return true;
  return held.sessionId !== undefined && held.sessionId === by.sessionId;
}

/** For changes of a task's content: a fault when another agent works on it. */
export function refuseIfHeld(db: DatabaseSync, task: { seq: number; id: string }, by: Actor): void {
  const held = claimOf(db, task.seq);
  if (!held || mayChange(held, by)) return;
  refuseIfLost(db, task, by);
  const until = held.leaseUntil.toISOString().slice(0, 16);
  throw new HaversackError("refused", `${task.id} is held by ${held.agent} until ${until}Z`, {
    hint: `only ${held.agent} may change it now`,
  });
}

/** For reports on a claim: a fault when the actor held the task, and somebody else has claimed it since. */
export function refuseIfLost(db: DatabaseSync, task: { seq: number; id: string }, by: Actor): void {
  const taker = takenBy(db, task.seq, by);
  if (taker === undefined) return;
  const held = claimOf(db, task.seq);
  if (held && mayChange(held, by)) return;
  throw new HaversackError(
    "refused",
    `${task.id} is no longer yours: your claim ended, and ${taker} has claimed it since`,
    {
      hint: held
        ? `${held.agent} holds it until ${held.leaseUntil.toISOString().slice(0, 16)}Z: send ${held.agent} a message, or claim it when it is free`
        : `nobody holds it now: claim it again, then report`,
    },
  );
}

/** A coordinator claims, and the sub-agent that it starts for the task takes over. */
function isFromMainAgent(held: Claim, by: Actor): boolean {
  return held.sessionId !== undefined && held.sessionId === by.sessionId && !held.agentId && Boolean(by.agentId);
}

/**
 * Whatever a holder does is a sign of life: its claims last as long again as they were given. Written at most once a minute, and
 * more often only for leases that are shorter than a few.
 */
export function touchClaims(db: DatabaseSync, by: Actor): void {
  const rows = all<ClaimRow>(
    db,
    `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ? OR (c.session_id = ? AND c.agent_id = ?)`,
    by.name,
    by.sessionId ?? null,
    by.agentId ?? "",
  );
  for (const row of rows) {
    const sinceMs = by.at.getTime() - Date.parse(row.heartbeat_at);
    const leaseMs = row.lease_until - Date.parse(row.heartbeat_at);
    if (sinceMs < Math.min(60_000, leaseMs / 4) || !isHolder(toClaim(row), by)) continue;
    prolong(db, row.task, by, leaseMs);
  }
}

function prolong(db: DatabaseSync, seq: number, by: Actor, leaseMs: number): void {
  const now = leaseTime(db, by.at);
  run(
    db,
    // Never shorter than it is: a hook of a long lease must not cut it.
    "UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?",
    now.toISOString(),
    now.getTime() + leaseMs,
    seq,
  );
}

/** Released on purpose, whoever holds it and whoever asks: the caller has decided that it may. */
export function returnToQueue(db: DatabaseSync, taskId: string, by: Actor, text: string): void {
  const { seq } = findTask(db, taskId);
  forgetHolder(db, seq);
  giveBack(db, seq, by, text, "claim-released");
}

function giveBack(db: DatabaseSync, seq: number, by: Actor, text: string, kind: string): void {
  const now = by.at.toISOString();
  const row = one<{ id: string; status: TaskRow["status"]; story: number | null }>(
    db,
    "SELECT id, status, story FROM tasks WHERE seq = ?",
    seq,
  );
  run(db, "DELETE FROM claims WHERE task = ?", seq);
  if (!row) return;
  if (row.status === "in_progress") {
    run(db, "UPDATE tasks SET status = 'todo', note = ?, updated_at = ? WHERE seq = ?", text, now, seq);
    moveInQueue(db, seq, "in_progress", "todo");
    followTasks(db, row.story, now);
  }
  note(db, by, kind, row.id, text);
}

export function waitsFor(db: DatabaseSync, seq: number, limit = 20): TaskBrief[] {
  return all<TaskBrief>(
    db,
    `SELECT t.id, t.title, t.status FROM dependencies d JOIN tasks t ON t.seq = d.depends_on WHERE d.task = ? AND d.type IN ${WAITING} AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT ?`,
    seq,
    limit,
  ).map(brief);
}

export function openReasons(db: DatabaseSync, seq: number): string[] {
  return all<{ reason: string }>(
    db,
    "SELECT reason FROM blockers WHERE task = ? AND resolved_at IS NULL ORDER BY id",
    seq,
  ).map(({ reason }) => reason);
}

function noteOf({ note: text }: { note: string | null }): { note?: string } {
  return text === null ? {} : { note: text };
}

// A task gets a holder: the claim, who it is, the status, the queue and the story.

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

/** The sessions that hold a task, and the ids of the tasks that are held: what a purge of local state must leave alone. */
export const HOLDING_SESSIONS = "SELECT session_id FROM claims WHERE session_id IS NOT NULL";
export const HELD_TASKS = "SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task";
