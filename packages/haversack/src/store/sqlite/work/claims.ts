/**
 * Claims: one agent holds a task for a limited time. The first claim wins, because the write lock is taken before any read. The first
 * operation after a claim expires returns the task to the queue with its WIP and a note. The last holder stays on record
 * (last-holders.ts).
 */

import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { checkCount } from "../../../work/clean-input.ts";
import { type Claim, followersOf, mayFollow, type TaskBrief } from "../../../work/task.ts";
import type {
  Actor,
  ClaimOutcome,
  ClaimRefusal,
  ClaimRequest,
  HeartbeatOutcome,
  ReleaseOutcome,
} from "../../work-store.ts";
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
import { firstReady, markInQueue, moveInQueue } from "./queue.ts";
import {
  all,
  brief,
  CLAIM_COLUMNS,
  type ClaimRow,
  insert,
  note,
  one,
  run,
  type TaskRow,
  toClaim,
  WAITING,
} from "./rows.ts";
import { getTask } from "./tasks.ts";

export function hasExpired(db: DatabaseSync, at: Date): boolean {
  return one(db, "SELECT 1 FROM claims WHERE lease_until <= ? LIMIT 1", at.getTime()) !== undefined;
}

export function returnExpired(db: DatabaseSync, at: Date): void {
  const rows = all<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.lease_until <= ?`, at.getTime());
  for (const row of rows) {
    const ended = new Date(row.lease_until).toISOString();
    noteLapsed(db, row);
    const why = `The claim of ${row.agent} expired at ${ended.slice(0, 16)}Z`;
    giveBack(db, row.task, { at, name: "haversack" }, why, "claim-expired");
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

/** Makes the actor the holder. If that is not possible, says why and changes nothing. */
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
    const isBound = bindSession(db, task.seq, held, by);
    const { agent: name, agentId, claimedAt } = held;
    const sessionId = isBound ? by.sessionId : held.sessionId;
    // The agent may claim again from another folder: it works there now.
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

/** A claim made under a name alone is now tied to its session. From then on, the session's sub-agents may take the task over. */
function bindSession(db: DatabaseSync, seq: number, held: Claim, by: Actor): boolean {
  if (held.sessionId !== undefined || !by.isNamed || !by.sessionId || by.agentId) return false;
  return run(db, "UPDATE claims SET session_id = ? WHERE task = ? AND session_id IS NULL", by.sessionId, seq) > 0;
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
  const rows = claimsBy(db, by);
  if (rows.length === 0) return { kind: "none" };
  for (const row of rows) prolong(db, row.task, by, leaseMs);
  return { kind: "prolonged", claims: rows.map(({ task }) => claimOf(db, task) as Claim) };
}

/** Claims under the actor's name, or by the same agent of its session. */
function claimsBy(db: DatabaseSync, by: Actor): ClaimRow[] {
  const sql = `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ? OR (c.session_id = ? AND c.agent_id = ?) ORDER BY c.claimed_at, c.task`;
  return all(db, sql, by.name, by.sessionId ?? null, by.agentId ?? "");
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
  // If the claim expired before, the task is already free. Forget the last holder, so nobody is told about the task again.
  const isLeft = forgetHolder(db, task.seq);
  if (!held && !isLeft) return { kind: "not-held", task: brief(task) };
  giveBack(db, task.seq, by, `Released by ${by.name}${reason ? `: ${reason}` : ""}`, "claim-released");
  return { kind: "released", task: brief(findTask(db, task.id)) };
}

export function listClaims(db: DatabaseSync, agent: string | undefined): Claim[] {
  const sql = `SELECT ${CLAIM_COLUMNS} WHERE ?1 IS NULL OR c.agent = ?1 ORDER BY c.claimed_at, c.task`;
  return all<ClaimRow>(db, sql, agent ?? null).map(toClaim);
}

/**
 * A name that somebody gave identifies the agent in any session. Other names are shortened session ids: for those, compare the session
 * and the agent in it. If either side has no session, equal names are enough.
 */
export function isHolder(held: Claim, by: Actor): boolean {
  if (held.agent === by.name && (by.isNamed || held.sessionId === undefined || by.sessionId === undefined)) return true;
  if (by.isNamed && held.agent !== by.name) return false;
  return held.sessionId !== undefined && held.sessionId === by.sessionId && (held.agentId ?? "") === (by.agentId ?? "");
}

/** Other agents of the holder's session may report on its task, and so may a person. Agents of other sessions may not. */
export function mayChange(held: Claim, by: Actor): boolean {
  if (by.isPerson || isHolder(held, by)) return true;
  return held.sessionId !== undefined && held.sessionId === by.sessionId;
}

/** For changes to a task's content: throws if another agent works on the task. */
export function refuseIfHeld(db: DatabaseSync, task: { seq: number; id: string }, by: Actor): void {
  const held = claimOf(db, task.seq);
  if (!held || mayChange(held, by)) return;
  refuseIfLost(db, task, by);
  const until = held.leaseUntil.toISOString().slice(0, 16);
  throw new HaversackError("refused", `${task.id} is held by ${held.agent} until ${until}Z`, {
    hint: `only ${held.agent} may change it now`,
  });
}

/** For reports on a claim: throws if the actor held the task and somebody else has claimed it since. */
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

/** A coordinator claims the task; the sub-agent that it starts for the task takes over. */
function isFromMainAgent(held: Claim, by: Actor): boolean {
  return held.sessionId !== undefined && held.sessionId === by.sessionId && !held.agentId && Boolean(by.agentId);
}

export function touchClaims(db: DatabaseSync, by: Actor): void {
  for (const row of claimsBy(db, by)) {
    const sinceMs = by.at.getTime() - Date.parse(row.heartbeat_at);
    const leaseMs = row.lease_until - Date.parse(row.heartbeat_at);
    if (sinceMs < Math.min(60_000, leaseMs / 4) || !isHolder(toClaim(row), by)) continue;
    prolong(db, row.task, by, leaseMs);
  }
}

export function prolong(db: DatabaseSync, seq: number, by: Actor, leaseMs: number): void {
  const now = leaseTime(db, by.at);
  // Never shorten a lease: a hook must not cut a long one.
  const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";
  run(db, sql, now.toISOString(), now.getTime() + leaseMs, seq);
}

/** Releases the task on purpose, for any holder. The caller has checked that this is allowed. */
export function returnToQueue(db: DatabaseSync, taskId: string, by: Actor, text: string): void {
  const { seq } = findTask(db, taskId);
  forgetHolder(db, seq);
  giveBack(db, seq, by, text, "claim-released");
}

/** `text`: the reason. The note also mentions WIP that is stored with the task. */
function giveBack(db: DatabaseSync, seq: number, by: Actor, why: string, kind: string): void {
  const now = by.at.toISOString();
  const sql = "SELECT id, status, story FROM tasks WHERE seq = ?";
  const row = one<Pick<TaskRow, "id" | "status" | "story">>(db, sql, seq);
  run(db, "DELETE FROM claims WHERE task = ?", seq);
  if (!row) return;
  const text = hasWip(db, seq) ? `${why}; go on from its WIP.` : `${why}.`;
  if (row.status === "in_progress") {
    run(db, "UPDATE tasks SET status = 'todo', note = ?, updated_at = ? WHERE seq = ?", text, now, seq);
    moveInQueue(db, seq, "in_progress", "todo");
    followTasks(db, row.story, now);
  }
  note(db, by, kind, row.id, text);
}

function hasWip(db: DatabaseSync, seq: number): boolean {
  return one(db, "SELECT 1 FROM task_wip WHERE task = ?", seq) !== undefined;
}

export function waitsFor(db: DatabaseSync, seq: number, limit = 20): TaskBrief[] {
  const sql = `SELECT t.id, t.title, t.status FROM dependencies d JOIN tasks t ON t.seq = d.depends_on
    WHERE d.task = ? AND d.type IN ${WAITING} AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT ?`;
  return all<TaskBrief>(db, sql, seq, limit).map(brief);
}

export function openReasons(db: DatabaseSync, seq: number): string[] {
  const sql = "SELECT reason FROM blockers WHERE task = ? AND resolved_at IS NULL ORDER BY id";
  return all<{ reason: string }>(db, sql, seq).map(({ reason }) => reason);
}

function noteOf({ note: text }: { note: string | null }): { note?: string } {
  return text === null ? {} : { note: text };
}

// Gives a task a holder: writes the claim, the last holder, the status, the queue and the activity.

export interface Holding {
  leaseMs: number;
  /** Default: now. */
  claimedAt?: string;
  /** Replaces the task's note. */
  note?: string | undefined;
}

/** The caller has checked that the actor may hold the task. A held task is open. */
export function holdTask(
  db: DatabaseSync,
  task: { seq: number; story: number | null },
  by: Actor,
  { leaseMs, claimedAt = by.at.toISOString(), note: text }: Holding,
): void {
  const now = by.at.toISOString();
  const start = leaseTime(db, by.at);
  noteLoss(db, task.seq, by);
  const claim = {
    task: task.seq,
    agent: by.name,
    session_id: by.sessionId,
    agent_id: by.agentId ?? "",
    claimed_at: claimedAt,
    heartbeat_at: start.toISOString(),
    lease_until: start.getTime() + leaseMs,
  };
  insert(db, "claims", claim, "INSERT OR REPLACE");
  noteHolder(db, task.seq, by, claimedAt);
  const sql = `UPDATE tasks SET status = 'in_progress', started_at = coalesce(started_at, ?1), updated_at = ?1,
    note = coalesce(?2, note) WHERE seq = ?3`;
  run(db, sql, now, text ?? null, task.seq);
  markInQueue(db, task.seq, "in_progress");
  followTasks(db, task.story, now);
}

/**
 * An agent whose lease expired gets its tasks back unless somebody else has taken them: its session has returned, or was just quiet for
 * long. `most`: the maximum number of tasks, last claimed first. `only`: this one.
 */
export function regainTasks(
  db: DatabaseSync,
  { sessionId, agentId = "" }: { sessionId: string; agentId?: string },
  { leaseMs, at, most, only }: { leaseMs: () => number; at: Date; most?: number; only?: number },
): LapsedTask[] {
  const lapsed = lapsedOf(db, sessionId, agentId)
    .filter(({ seq }) => only === undefined || seq === only)
    .slice(0, most);
  // While the store is locked, only copies of some tables can be written. The tasks are regained when the spool is read.
  if (lapsed.length > 0 && isStandIn(db)) return [];
  for (const task of lapsed) {
    const by = { name: task.agent, sessionId, agentId, at };
    holdTask(db, task, by, { leaseMs: leaseMs(), claimedAt: task.claimedAt });
    note(db, by, "task-claimed", task.id, `claimed again by ${task.agent}: its session is back`);
  }
  if (lapsed.length > 0) noteBack(db, sessionId);
  return lapsed;
}

/** While the store is locked, copies of some tables replace it. `meta` has no copy. */
export function isStandIn(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM temp.sqlite_schema WHERE name = 'claims'").get() !== undefined;
}

/** Sessions that hold a task, and ids of held tasks. A purge of local state must keep them. */
export const HOLDING_SESSIONS = "SELECT session_id FROM claims WHERE session_id IS NOT NULL";

export const HELD_TASKS = "SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task";

// The clock for leases. Callers pass their own time, and one clock may be wrong by years. It must not end everybody's claims, nor keep
// its own for years. So the store remembers the latest trusted time (in `meta`). A clock more than a week away from it is in doubt: its
// leases count from the remembered time. The clock becomes trusted after an hour without contradiction, e.g. when a project resumes
// after a month. Any operation with a correct clock contradicts it. The hook bundles this file.

/** How far a clock may be from the last trusted time. */
const MAX_JUMP_MS = 7 * 24 * 60 * 60_000;

/** Smaller steps forward are not saved: that would add a write to every operation. */
const STEP_MS = 60 * 60_000;

const DOUBT_MS = 60 * 60_000;

/** Returns the time to use for leases when a caller passes `at`. Needs the write lock. */
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
    // Claims made while the clock was in doubt were counted from the remembered time.
    moveLeases(db, all(db, `${LEASES} WHERE heartbeat_at >= ?`, new Date(believed).toISOString()), doubted - believed);
    put(db, "clock", now);
    run(db, "DELETE FROM meta WHERE key = 'clock-doubt'");
  }
  return leaseTime(db, at);
}

/** Like `acceptTime`, but changes nothing. For callers that only extend a lease. */
export function leaseTime(db: DatabaseSync, at: Date): Date {
  const { believed, doubted } = readClock(db);
  const now = at.getTime();
  if (believed === undefined || isNear(now, believed)) return at;
  return new Date(believed + (doubted !== undefined && isNear(now, doubted) ? Math.max(0, now - doubted) : 0));
}

/** Claims from a clock far ahead: imported, or made before the store had a clock. */
export function farLeases(db: DatabaseSync, at: Date): Lease[] {
  const limit = at.getTime() + MAX_JUMP_MS;
  return all(db, `${LEASES} WHERE lease_until > ? AND heartbeat_at > ?`, limit, new Date(limit).toISOString());
}

/** Those claims keep their length, counted from now. */
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
  const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = ? WHERE task = ?";
  for (const { task, heartbeat_at, lease_until } of leases) {
    run(db, sql, new Date(Date.parse(heartbeat_at) + byMs).toISOString(), lease_until + byMs, task);
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

/** See WorkStore. Without a task's id: the next ready one of the scope. */
export function claim(db: DatabaseSync, { taskId, epicId, storyId, ...how }: ClaimRequest, by: Actor): ClaimOutcome {
  const id =
    taskId ?? firstReady(db, { ...(epicId !== undefined && { epicId }), ...(storyId !== undefined && { storyId }) });
  if (id === undefined) return { kind: "nothing-ready" };
  const taken = takeTask(db, findTask(db, id), how, by);
  return taken.kind === "taken" ? { ...taken, kind: "claimed", task: getTask(db, id) } : taken;
}

/** Runs before every operation. Uses the time that the store trusts, which may differ from the caller's. */
export function settleClaims(db: DatabaseSync, at: Date): void {
  const now = acceptTime(db, at);
  shortenFarLeases(db, now);
  if (hasExpired(db, now)) returnExpired(db, now);
}
