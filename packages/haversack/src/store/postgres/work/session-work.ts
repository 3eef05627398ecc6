// Made from store/sqlite/work/session-work.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/**
 * Changes that session events make to claims. Hooks call these functions on the local store. On a shared store, the same functions apply what
 * hooks wrote while nobody waited for the network. The hook bundles this file.
 */

import type { WorkPlace } from "../../work-store.ts";
import type { Connection } from "../connection.ts";
import { leaseTime, regainTasks } from "./claims.ts";
import { type LapsedTask, moveHolder, noteBack, noteEnded, noteOver } from "./last-holders.ts";
import { all, note, one, run } from "./rows.ts";

interface SessionOfWork {
  sessionId: string;
  /** "" or absent: the session's main agent. */
  agentId?: string;
}

interface MovedClaims {
  sessionId: string;
  place: WorkPlace;
  /** Claims of sessions that are over, by task row. */
  free: readonly { seq: number; session: string | null; because: "ended" | "gone" }[];
  /** Claims that move to this session. */
  move: readonly { seq: number; session: string | null }[];
  leaseUntil: number;
  at: Date;
}

/** A new session frees the claims of sessions that are over, and takes over those of its own name. */
export async function moveBetweenSessions(
  db: Connection,
  { sessionId, place, free, move, leaseUntil, at }: MovedClaims,
): Promise<void> {
  // Free it only if the same session still holds it: the task may have been taken before we got the lock.
  for (const { seq, session, because } of free) {
    if ((await run(db, FREE, at.getTime(), seq, session)) > 0) await noteOver(db, seq, because, at);
  }
  for (const { seq, session } of move) {
    if ((await run(db, MOVE, sessionId, at.toISOString(), leaseUntil, seq, session)) > 0)
      await moveHolder(db, seq, { sessionId, place });
  }
}

const FREE = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE task = ? AND session_id = ?";

const MOVE = `UPDATE claims SET session_id = ?, agent_id = '', heartbeat_at = ?, lease_until = max(lease_until, ?)
WHERE task = ? AND session_id IS NOT DISTINCT FROM ?`;

interface TakenBack {
  sessionId: string;
  leaseMs: number;
  at: Date;
}

/** The session is back: its claims last longer, and it regains its tasks that nobody else took. Returns those. */
export async function takeBackTasks(db: Connection, { sessionId, leaseMs, at }: TakenBack): Promise<LapsedTask[]> {
  const now = await leaseTime(db, at);
  const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE session_id = ?";
  if ((await run(db, sql, now.toISOString(), now.getTime() + leaseMs, sessionId)) > 0) await noteBack(db, sessionId);
  return await regainTasks(db, { sessionId }, { leaseMs: () => leaseMs, at });
}

interface EndedHolder extends SessionOfWork {
  at: Date;
  /** Where it was when it ended. */
  place?: WorkPlace;
}

/** The session or one of its agents has ended. False: it had no task. */
export async function letGoOfTasks(
  db: Connection,
  { sessionId, agentId = "", at, place }: EndedHolder,
): Promise<boolean> {
  const changed =
    agentId === ""
      ? await run(db, LET_GO, at.getTime() + GRACE_MS, sessionId)
      : await run(db, LET_GO_OF_AGENT, at.getTime(), sessionId, agentId);
  return (await noteEnded(db, { sessionId, ...(agentId !== "" && { agentId }) }, { at, place })) || changed > 0;
}

const GRACE_MS = 10 * 60_000;

const LET_GO = `UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ?
AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.name = claims.agent)`;

const LET_GO_OF_AGENT = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ? AND agent_id = ?";

interface MovedSession {
  from: NamedSession;
  to: NamedSession;
  place: WorkPlace;
  leaseMs: number;
  at: Date;
}

interface NamedSession {
  sessionId: string;
  name: string;
}

/** Moves all claims of a session to a fork of it. False: it had none. */
export async function moveSession(db: Connection, moved: MovedSession): Promise<boolean> {
  const claims = await all<{ task: number; agent: string; id: string }>(db, OF_SESSION, moved.from.sessionId);
  for (const claim of claims) await moveClaim(db, claim, moved);
  return claims.length > 0;
}

async function moveClaim(
  db: Connection,
  { task, agent: before, id }: { task: number; agent: string; id: string },
  { from, to, place, leaseMs, at }: MovedSession,
): Promise<void> {
  const isUnnamed = before === from.name || before.startsWith(`${from.name}.`);
  const agent = isUnnamed ? to.name : before;
  const now = await leaseTime(db, at);
  await run(db, MOVE_TO_FORK, to.sessionId, agent, now.toISOString(), now.getTime() + leaseMs, task);
  await moveHolder(db, task, { sessionId: to.sessionId, agent, place });
  await note(db, { name: agent, at }, "task-claimed", id, `claimed by ${agent}, a fork of ${before}'s session`);
}

const OF_SESSION = "SELECT c.task, c.agent, t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = ?";

const MOVE_TO_FORK =
  "UPDATE claims SET session_id = ?, agent_id = '', agent = ?, heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";

/** Whether an agent has a claim without a session, for example from a shell. */
async function hasUnbound(db: Connection, { agentId = "" }: SessionOfWork, name: string): Promise<boolean> {
  return (
    agentId === "" && (await one(db, "SELECT 1 FROM claims WHERE agent = ? AND session_id IS NULL", name)) !== undefined
  );
}

/** The first session of the name that works makes such a claim its own. Sub-agents share the name's environment, not its claims. */
export async function bindNamed(db: Connection, key: SessionOfWork, name: string): Promise<boolean> {
  if (!(await hasUnbound(db, key, name))) return false;
  await run(db, BIND_HOLDERS, key.sessionId, name);
  await run(db, BIND_CLAIMS, key.sessionId, name);
  return true;
}

const BIND_HOLDERS = `UPDATE last_holders SET session_id = ?1, agent_id = '', ended_as = NULL, ended_at = NULL
WHERE task IN (SELECT task FROM claims WHERE agent = ?2 AND session_id IS NULL)`;

const BIND_CLAIMS = "UPDATE claims SET session_id = ?1, agent_id = '' WHERE agent = ?2 AND session_id IS NULL";
