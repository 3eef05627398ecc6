/**
 * Changes that session events make to claims. Hooks call these functions on the local store. On a shared store, the same functions apply what
 * hooks wrote while nobody waited for the network. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { WipPatch } from "../../../work/wip/wip.ts";
import type { WorkPlace } from "../../work-store.ts";
import { leaseTime, regainTasks } from "./claims.ts";
import { type LapsedTask, moveHolder, noteBack, noteEnded, noteOver } from "./last-holders.ts";
import { all, note, one, run } from "./rows.ts";

export interface SessionOfWork {
  sessionId: string;
  /** "" or absent: the session's main agent. */
  agentId?: string;
}

export function taskIdOf(db: DatabaseSync, seq: number): string {
  return one<{ id: string }>(db, "SELECT id FROM tasks WHERE seq = ?", seq)?.id ?? "";
}

export interface MovedClaims {
  sessionId: string;
  place: WorkPlace;
  /** Claims of sessions that are over, by task row. */
  free: readonly { seq: number; session: string | null; because: "ended" | "gone" }[];
  move: readonly { seq: number; session: string | null }[];
  leaseUntil: number;
  at: Date;
}

/** A new session frees the claims of sessions that are over, and takes over those of its own name. */
export function moveBetweenSessions(
  db: DatabaseSync,
  { sessionId, place, free, move, leaseUntil, at }: MovedClaims,
): void {
  // Free it only if the same session still holds it: the task may have been taken before we got the lock.
  for (const { seq, session, because } of free) {
    if (run(db, FREE, at.getTime(), seq, session) > 0) noteOver(db, seq, because, at);
  }
  for (const { seq, session } of move) {
    if (run(db, MOVE, sessionId, at.toISOString(), leaseUntil, seq, session) > 0)
      moveHolder(db, seq, { sessionId, place });
  }
}

const FREE = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE task = ? AND session_id = ?";

const MOVE = `UPDATE claims SET session_id = ?, agent_id = '', heartbeat_at = ?, lease_until = max(lease_until, ?)
WHERE task = ? AND session_id IS NOT DISTINCT FROM ?`;

export interface TakenBack {
  sessionId: string;
  leaseMs: number;
  at: Date;
}

/** The session is back: its claims last longer, and it regains its tasks that nobody else took. Returns those. */
export function takeBackTasks(db: DatabaseSync, { sessionId, leaseMs, at }: TakenBack): LapsedTask[] {
  const now = leaseTime(db, at);
  const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE session_id = ?";
  if (run(db, sql, now.toISOString(), now.getTime() + leaseMs, sessionId) > 0) noteBack(db, sessionId);
  return regainTasks(db, { sessionId }, { leaseMs: () => leaseMs, at });
}

export interface EndedHolder extends SessionOfWork {
  at: Date;
  /** Where it was when it ended. */
  place?: WorkPlace;
}

/** The session or one of its agents has ended. False: it had no task. */
export function letGoOfTasks(db: DatabaseSync, { sessionId, agentId = "", at, place }: EndedHolder): boolean {
  const changed =
    agentId === ""
      ? run(db, LET_GO, at.getTime() + GRACE_MS, sessionId)
      : run(db, LET_GO_OF_AGENT, at.getTime(), sessionId, agentId);
  return noteEnded(db, { sessionId, ...(agentId !== "" && { agentId }) }, { at, place }) || changed > 0;
}

const GRACE_MS = 10 * 60_000;

const LET_GO = `UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ?
AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.name = claims.agent)`;

const LET_GO_OF_AGENT = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ? AND agent_id = ?";

export interface MovedSession {
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
export function moveSession(db: DatabaseSync, moved: MovedSession): boolean {
  const claims = all<{ task: number; agent: string; id: string }>(db, OF_SESSION, moved.from.sessionId);
  for (const claim of claims) moveClaim(db, claim, moved);
  return claims.length > 0;
}

function moveClaim(
  db: DatabaseSync,
  { task, agent: before, id }: { task: number; agent: string; id: string },
  { from, to, place, leaseMs, at }: MovedSession,
): void {
  const isUnnamed = before === from.name || before.startsWith(`${from.name}.`);
  const agent = isUnnamed ? to.name : before;
  const now = leaseTime(db, at);
  run(db, MOVE_TO_FORK, to.sessionId, agent, now.toISOString(), now.getTime() + leaseMs, task);
  moveHolder(db, task, { sessionId: to.sessionId, agent, place });
  note(db, { name: agent, at }, "task-claimed", id, `claimed by ${agent}, a fork of ${before}'s session`);
}

const OF_SESSION = "SELECT c.task, c.agent, t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = ?";

const MOVE_TO_FORK =
  "UPDATE claims SET session_id = ?, agent_id = '', agent = ?, heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";

/** Whether an agent has a claim without a session, for example from a shell. */
export function hasUnbound(db: DatabaseSync, { agentId = "" }: SessionOfWork, name: string): boolean {
  return agentId === "" && one(db, "SELECT 1 FROM claims WHERE agent = ? AND session_id IS NULL", name) !== undefined;
}

/** The first session of the name that works makes such a claim its own. Sub-agents share the name's environment, not its claims. */
export function bindNamed(db: DatabaseSync, key: SessionOfWork, name: string): boolean {
  if (!hasUnbound(db, key, name)) return false;
  run(db, BIND_HOLDERS, key.sessionId, name);
  run(db, BIND_CLAIMS, key.sessionId, name);
  return true;
}

const BIND_HOLDERS = `UPDATE last_holders SET session_id = ?1, agent_id = '', ended_as = NULL, ended_at = NULL
WHERE task IN (SELECT task FROM claims WHERE agent = ?2 AND session_id IS NULL)`;

const BIND_CLAIMS = "UPDATE claims SET session_id = ?1, agent_id = '' WHERE agent = ?2 AND session_id IS NULL";

// What is sent to a shared store: tasks, messages and agents by ID and name, because rows have other numbers there.

export interface MovedClaimsById extends Omit<MovedClaims, "free" | "move"> {
  free: readonly { taskId: string; session: string | null; because: "ended" | "gone" }[];
  move: readonly { taskId: string; session: string | null }[];
}

/** A tool call of an agent that works on a task. */
export interface ToolEntry extends SessionOfWork {
  taskId: string;
  /** The name under which the agent holds the task. Absent: it only helps. */
  holder?: string;
  client: string;
  patch?: WipPatch;
  leaseMs: number;
  at: Date;
}

export interface ReadMessages {
  /** With the agent that read each. */
  read: readonly { id: string; name: string; branch: string }[];
  at: Date;
}
