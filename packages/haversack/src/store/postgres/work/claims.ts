// Made from store/sqlite/work/claims.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/**
 * Claims: one agent holds a task for a limited time. The first claim wins, because the write lock is taken before any read. The first
 * operation after a claim expires returns the task to the queue with its WIP and a note. The last holder stays on record
 * (last-holders.ts).
 */

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
import type { Connection } from "../connection.ts";
import { mapEach } from "../each.ts";
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

export async function hasExpired(db: Connection, at: Date): Promise<boolean> {
  return (await one(db, "SELECT 1 FROM claims WHERE lease_until <= ? LIMIT 1", at.getTime())) !== undefined;
}

async function returnExpired(db: Connection, at: Date): Promise<void> {
  const rows = await all<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.lease_until <= ?`, at.getTime());
  for (const row of rows) {
    const ended = new Date(row.lease_until).toISOString();
    await noteLapsed(db, row);
    const why = `The claim of ${row.agent} expired at ${ended.slice(0, 16)}Z`;
    await giveBack(db, row.task, { at, name: "haversack" }, why, "claim-expired");
  }
}

export async function claimOf(db: Connection, seq: number): Promise<Claim | undefined> {
  const row = await one<ClaimRow>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.task = ?`, seq);
  return row && toClaim(row);
}

type Taken =
  | { kind: "taken"; claim: Claim; note?: string }
  | { kind: "cannot-follow"; task: TaskBrief; allowed: ReturnType<typeof followersOf> }
  | ClaimRefusal;

/** Makes the actor the holder. If that is not possible, says why and changes nothing. */
export async function takeTask(
  db: Connection,
  task: TaskRow,
  { leaseMs, stealReason, isForced, maxClaims }: Omit<ClaimRequest, "taskId">,
  by: Actor,
): Promise<Taken> {
  checkCount("lease_ms", leaseMs);
  const held = await claimOf(db, task.seq);
  if (held && isHolder(held, by)) {
    await prolong(db, task.seq, by, leaseMs);
    const isBound = await bindSession(db, task.seq, held, by);
    const { agent: name, agentId, claimedAt } = held;
    const sessionId = isBound ? by.sessionId : held.sessionId;
    // The agent may claim again from another folder: it works there now.
    const holder = { name, ...(sessionId && { sessionId }), ...(agentId && { agentId }) };
    await noteHolder(db, task.seq, { ...holder, ...(by.place && { place: by.place }) }, claimedAt.toISOString());
    return { kind: "taken", claim: (await claimOf(db, task.seq)) as Claim, ...noteOf(task) };
  }
  const isTransfer = held !== undefined && isFromMainAgent(held, by);
  if (held && !isTransfer && stealReason === undefined) return { kind: "held", task: brief(task), by: held };
  if (!mayFollow(task.status, "in_progress")) {
    return { kind: "cannot-follow", task: brief(task), allowed: followersOf(task.status) };
  }
  const reasons = await openReasons(db, task.seq);
  if (reasons.length > 0) return { kind: "blocked", task: brief(task), reasons };
  const waits = isForced || held ? [] : await waitsFor(db, task.seq);
  if (waits.length > 0) return { kind: "waits", task: brief(task), for: waits };
  if (maxClaims) {
    const holding = await all<{ id: string }>(db, `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ?`, by.name);
    if (holding.length >= maxClaims)
      return { kind: "too-many", limit: maxClaims, holding: holding.map(({ id }) => id) };
  }

  const stolen = held && !isTransfer ? `Taken from ${held.agent} by ${by.name}: ${stealReason}` : undefined;
  if (stolen) await note(db, by, "claim-stolen", task.id, stolen);
  await holdTask(db, task, by, { leaseMs, note: stolen });
  if (!stolen) await note(db, by, "task-claimed", task.id, `claimed by ${by.name}`);
  return { kind: "taken", claim: (await claimOf(db, task.seq)) as Claim, ...noteOf({ note: stolen ?? task.note }) };
}

/** A claim made under a name alone is now tied to its session. From then on, the session's sub-agents may take the task over. */
async function bindSession(db: Connection, seq: number, held: Claim, by: Actor): Promise<boolean> {
  if (held.sessionId !== undefined || !by.isNamed || !by.sessionId || by.agentId) return false;
  return (
    (await run(db, "UPDATE claims SET session_id = ? WHERE task = ? AND session_id IS NULL", by.sessionId, seq)) > 0
  );
}

export async function heartbeat(
  db: Connection,
  { taskId, leaseMs }: { taskId?: string; leaseMs: number },
  by: Actor,
): Promise<HeartbeatOutcome> {
  checkCount("lease_ms", leaseMs);
  if (taskId !== undefined) {
    const task = await findTask(db, taskId);
    const held = await claimOf(db, task.seq);
    if (!held || !isHolder(held, by)) return { kind: "lost", task: brief(task), ...(held && { by: held }) };
    await prolong(db, task.seq, by, leaseMs);
    return { kind: "prolonged", claims: [(await claimOf(db, task.seq)) as Claim] };
  }
  const rows = await claimsBy(db, by);
  if (rows.length === 0) return { kind: "none" };
  for (const row of rows) await prolong(db, row.task, by, leaseMs);
  return { kind: "prolonged", claims: await mapEach(rows, async ({ task }) => (await claimOf(db, task)) as Claim) };
}

/** Claims under the actor's name, or by the same agent of its session. */
async function claimsBy(db: Connection, by: Actor): Promise<ClaimRow[]> {
  const sql = `SELECT ${CLAIM_COLUMNS} WHERE c.agent = ? OR (c.session_id = ? AND c.agent_id = ?) ORDER BY c.claimed_at, c.task`;
  return await all(db, sql, by.name, by.sessionId ?? null, by.agentId ?? "");
}

export async function release(
  db: Connection,
  { taskId, reason }: { taskId: string; reason?: string },
  by: Actor,
): Promise<ReleaseOutcome> {
  const task = await findTask(db, taskId);
  const held = await claimOf(db, task.seq);
  if (held && !mayChange(held, by)) return { kind: "held", task: brief(task), by: held };
  await refuseIfLost(db, task, by);
  // If the claim expired before, the task is already free. Forget the last holder, so nobody is told about the task again.
  const isLeft = await forgetHolder(db, task.seq);
  if (!held && !isLeft) return { kind: "not-held", task: brief(task) };
  await giveBack(db, task.seq, by, `Released by ${by.name}${reason ? `: ${reason}` : ""}`, "claim-released");
  return { kind: "released", task: brief(await findTask(db, task.id)) };
}

export async function listClaims(db: Connection, agent: string | undefined): Promise<Claim[]> {
  const sql = `SELECT ${CLAIM_COLUMNS} WHERE ?1 IS NULL OR c.agent = ?1 ORDER BY c.claimed_at, c.task`;
  return (await all<ClaimRow>(db, sql, agent ?? null)).map(toClaim);
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
export async function refuseIfHeld(db: Connection, task: { seq: number; id: string }, by: Actor): Promise<void> {
  const held = await claimOf(db, task.seq);
  if (!held || mayChange(held, by)) return;
  await refuseIfLost(db, task, by);
  const until = held.leaseUntil.toISOString().slice(0, 16);
  throw new HaversackError("refused", `${task.id} is held by ${held.agent} until ${until}Z`, {
    hint: `only ${held.agent} may change it now`,
  });
}

/** For reports on a claim: throws if the actor held the task and somebody else has claimed it since. */
export async function refuseIfLost(db: Connection, task: { seq: number; id: string }, by: Actor): Promise<void> {
  const taker = await takenBy(db, task.seq, by);
  if (taker === undefined) return;
  const held = await claimOf(db, task.seq);
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

export async function touchClaims(db: Connection, by: Actor): Promise<void> {
  for (const row of await claimsBy(db, by)) {
    const sinceMs = by.at.getTime() - Date.parse(row.heartbeat_at);
    const leaseMs = row.lease_until - Date.parse(row.heartbeat_at);
    if (sinceMs < Math.min(60_000, leaseMs / 4) || !isHolder(toClaim(row), by)) continue;
    await prolong(db, row.task, by, leaseMs);
  }
}

export async function prolong(db: Connection, seq: number, by: Actor, leaseMs: number): Promise<void> {
  const now = await leaseTime(db, by.at);
  // Never shorten a lease: a hook must not cut a long one.
  const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";
  await run(db, sql, now.toISOString(), now.getTime() + leaseMs, seq);
}

/** Releases the task on purpose, for any holder. The caller has checked that this is allowed. */
export async function returnToQueue(db: Connection, taskId: string, by: Actor, text: string): Promise<void> {
  const { seq } = await findTask(db, taskId);
  await forgetHolder(db, seq);
  await giveBack(db, seq, by, text, "claim-released");
}

/** `text`: the reason. The note also mentions WIP that is stored with the task. */
async function giveBack(db: Connection, seq: number, by: Actor, why: string, kind: string): Promise<void> {
  const now = by.at.toISOString();
  const row = await one<Pick<TaskRow, "id" | "status" | "story">>(
    db,
    "SELECT id, status, story FROM tasks WHERE seq = ?",
    seq,
  );
  await run(db, "DELETE FROM claims WHERE task = ?", seq);
  if (!row) return;
  const text = (await hasWip(db, seq)) ? `${why}; go on from its WIP.` : `${why}.`;
  if (row.status === "in_progress") {
    await run(db, "UPDATE tasks SET status = 'todo', note = ?, updated_at = ? WHERE seq = ?", text, now, seq);
    await moveInQueue(db, seq, "in_progress", "todo");
    await followTasks(db, row.story, now);
  }
  await note(db, by, kind, row.id, text);
}

async function hasWip(db: Connection, seq: number): Promise<boolean> {
  return (await one(db, "SELECT 1 FROM task_wip WHERE task = ?", seq)) !== undefined;
}

export async function waitsFor(db: Connection, seq: number, limit = 20): Promise<TaskBrief[]> {
  const sql = `SELECT t.id, t.title, t.status FROM dependencies d JOIN tasks t ON t.seq = d.depends_on
    WHERE d.task = ? AND d.type IN ${WAITING} AND t.status NOT IN ('done', 'archived') ORDER BY t.seq LIMIT ?`;
  return (await all<TaskBrief>(db, sql, seq, limit)).map(brief);
}

async function openReasons(db: Connection, seq: number): Promise<string[]> {
  const sql = "SELECT reason FROM blockers WHERE task = ? AND resolved_at IS NULL ORDER BY id";
  return (await all<{ reason: string }>(db, sql, seq)).map(({ reason }) => reason);
}

function noteOf({ note: text }: { note: string | null }): { note?: string } {
  return text === null ? {} : { note: text };
}

// Gives a task a holder: writes the claim, the last holder, the status, the queue and the activity.

interface Holding {
  leaseMs: number;
  /** Default: now. */
  claimedAt?: string;
  /** Replaces the task's note. */
  note?: string | undefined;
}

/** The caller has checked that the actor may hold the task. A held task is open. */
async function holdTask(
  db: Connection,
  task: { seq: number; story: number | null },
  by: Actor,
  { leaseMs, claimedAt = by.at.toISOString(), note: text }: Holding,
): Promise<void> {
  const now = by.at.toISOString();
  const start = await leaseTime(db, by.at);
  await noteLoss(db, task.seq, by);
  const claim = {
    task: task.seq,
    agent: by.name,
    session_id: by.sessionId,
    agent_id: by.agentId ?? "",
    claimed_at: claimedAt,
    heartbeat_at: start.toISOString(),
    lease_until: start.getTime() + leaseMs,
  };
  await insert(db, "claims", claim, "INSERT OR REPLACE");
  await noteHolder(db, task.seq, by, claimedAt);
  const sql = `UPDATE tasks SET status = 'in_progress', started_at = coalesce(started_at, ?1), updated_at = ?1,
    note = coalesce(?2, note) WHERE seq = ?3`;
  await run(db, sql, now, text ?? null, task.seq);
  await markInQueue(db, task.seq, "in_progress");
  await followTasks(db, task.story, now);
}

/**
 * An agent whose lease expired gets its tasks back unless somebody else has taken them: its session has returned, or was just quiet for
 * long. `most`: the maximum number of tasks, last claimed first. `only`: this one.
 */
export async function regainTasks(
  db: Connection,
  { sessionId, agentId = "" }: { sessionId: string; agentId?: string },
  { leaseMs, at, most, only }: { leaseMs: () => number; at: Date; most?: number; only?: number },
): Promise<LapsedTask[]> {
  const lapsed = (await lapsedOf(db, sessionId, agentId))
    .filter(({ seq }) => only === undefined || seq === only)
    .slice(0, most);
  for (const task of lapsed) {
    const by = { name: task.agent, sessionId, agentId, at };
    await holdTask(db, task, by, { leaseMs: leaseMs(), claimedAt: task.claimedAt });
    await note(db, by, "task-claimed", task.id, `claimed again by ${task.agent}: its session is back`);
  }
  if (lapsed.length > 0) await noteBack(db, sessionId);
  return lapsed;
}

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
async function acceptTime(db: Connection, at: Date): Promise<Date> {
  const { believed, doubted } = await readClock(db);
  const now = at.getTime();
  if (believed === undefined) await put(db, "clock", now);
  else if (isNear(now, believed)) {
    if (doubted !== undefined) await run(db, "DELETE FROM meta WHERE key = 'clock-doubt'");
    if (now > believed + STEP_MS) await put(db, "clock", now);
  } else if (doubted === undefined || !isNear(now, doubted)) {
    await put(db, "clock-doubt", now);
  } else if (now - doubted >= DOUBT_MS) {
    // Claims made while the clock was in doubt were counted from the remembered time.
    await moveLeases(
      db,
      await all(db, `${LEASES} WHERE heartbeat_at >= ?`, new Date(believed).toISOString()),
      doubted - believed,
    );
    await put(db, "clock", now);
    await run(db, "DELETE FROM meta WHERE key = 'clock-doubt'");
  }
  return await leaseTime(db, at);
}

/** Like `acceptTime`, but changes nothing. For callers that only extend a lease. */
export async function leaseTime(db: Connection, at: Date): Promise<Date> {
  const { believed, doubted } = await readClock(db);
  const now = at.getTime();
  if (believed === undefined || isNear(now, believed)) return at;
  return new Date(believed + (doubted !== undefined && isNear(now, doubted) ? Math.max(0, now - doubted) : 0));
}

/** Claims from a clock far ahead: imported, or made before the store had a clock. */
export async function farLeases(db: Connection, at: Date): Promise<Lease[]> {
  const limit = at.getTime() + MAX_JUMP_MS;
  return await all(db, `${LEASES} WHERE lease_until > ? AND heartbeat_at > ?`, limit, new Date(limit).toISOString());
}

/** Those claims keep their length, counted from now. */
async function shortenFarLeases(db: Connection, at: Date): Promise<void> {
  for (const lease of await farLeases(db, at))
    await moveLeases(db, [lease], at.getTime() - Date.parse(lease.heartbeat_at));
}

interface Lease {
  task: number;
  heartbeat_at: string;
  lease_until: number;
}

const LEASES = "SELECT task, heartbeat_at, lease_until FROM claims";

async function moveLeases(db: Connection, leases: readonly Lease[], byMs: number): Promise<void> {
  const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = ? WHERE task = ?";
  for (const { task, heartbeat_at, lease_until } of leases) {
    await run(db, sql, new Date(Date.parse(heartbeat_at) + byMs).toISOString(), lease_until + byMs, task);
  }
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= MAX_JUMP_MS;
}

async function readClock(db: Connection): Promise<{ believed?: number; doubted?: number }> {
  const read = async (key: string) =>
    Number((await one<{ value: string }>(db, "SELECT value FROM meta WHERE key = ?", key))?.value);
  const [believed, doubted] = [await read("clock"), await read("clock-doubt")];
  return { ...(Number.isFinite(believed) && { believed }), ...(Number.isFinite(doubted) && { doubted }) };
}

async function put(db: Connection, key: string, value: number): Promise<void> {
  await run(db, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, String(value));
}

/** See WorkStore. Without a task's id: the next ready one of the scope. */
export async function claim(
  db: Connection,
  { taskId, epicId, storyId, ...how }: ClaimRequest,
  by: Actor,
): Promise<ClaimOutcome> {
  const id =
    taskId ??
    (await firstReady(db, { ...(epicId !== undefined && { epicId }), ...(storyId !== undefined && { storyId }) }));
  if (id === undefined) return { kind: "nothing-ready" };
  const taken = await takeTask(db, await findTask(db, id), how, by);
  return taken.kind === "taken" ? { ...taken, kind: "claimed", task: await getTask(db, id) } : taken;
}

/** Runs before every operation. Uses the time that the store trusts, which may differ from the caller's. */
export async function settleClaims(db: Connection, at: Date): Promise<void> {
  const now = await acceptTime(db, at);
  await shortenFarLeases(db, now);
  if (await hasExpired(db, now)) await returnExpired(db, now);
}
