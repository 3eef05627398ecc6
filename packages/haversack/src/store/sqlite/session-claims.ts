/**
 * What becomes of claims when a session starts, ends or is gone: whoever holds a task and can no longer work on it must not keep
 * it from others until the lease ends. The hook bundles this file: it moves the ends of leases, and the next operation of the
 * work store returns what has ended, with a note.
 */
import type { DatabaseSync } from "node:sqlite";
import type { SessionKey } from "../local-store.ts";
import { readStore, writeEvent } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { type OtherSession, sessionsOf } from "./other-sessions.ts";

/** A task that a session held which is over. */
export interface LeftTask {
  taskId: string;
  agent: string;
  /** ended: the client said so. gone: its process is no more. */
  because: "ended" | "gone";
  /** Where that session worked. */
  cwd: string;
}

export interface StartingSession {
  sessionId: string;
  /** The name it goes by: what an earlier session of that name held becomes its own. */
  name?: string | undefined;
  /** Of its client; "" when that cannot be known. */
  processSpace: string;
  isAlive(processId: number): boolean;
  leaseMs(): number;
  at: Date;
}

/** Anybody's: without claims there is nothing that a new session could go on with. */
export function hasClaims(handle: StoreHandle): boolean {
  return readStore(handle, (db) => db.prepare("SELECT 1 FROM claims LIMIT 1").get() !== undefined);
}

export function holdsTask(handle: StoreHandle, agent: string): boolean {
  return readStore(handle, (db) => db.prepare("SELECT 1 FROM claims WHERE agent = ? LIMIT 1").get(agent) !== undefined);
}

export interface TakenOver {
  /** What became free, newest work first. */
  left: LeftTask[];
  /** Of the same name, and not over. */
  others: OtherSession[];
}

/**
 * Frees what sessions hold that are over, and gives this one what its own name held. A named agent's tasks stay its own when its
 * session has ended: it is idle until somebody wakes it.
 */
export function takeOver(
  handle: StoreHandle,
  { sessionId, name, processSpace, isAlive, leaseMs, at }: StartingSession,
): TakenOver {
  const claims = readStore(handle, (db) => othersClaims(db, sessionId));
  const over = claims.filter(
    ({ isEnded, id, space }) =>
      isEnded || (id !== null && processSpace !== "" && space === processSpace && !isAlive(id)),
  );
  const others = sessionsOf(
    claims.filter((claim) => claim.agent === name && !over.includes(claim)).slice(0, MOST_OTHERS),
  );
  const own = over.filter(({ agent }) => agent === name);
  const left = over.filter(({ agent, isEnded, isNamed }) => agent !== name && !(isEnded && isNamed));
  const now = at.getTime();
  // What another start has freed before is only waiting for the next operation of the work store.
  const held = left.filter(({ leaseUntil }) => leaseUntil > now);
  if (own.length + held.length > 0) {
    const claims = (some: readonly OtherClaim[]) => some.map(({ seq, session }) => ({ seq, session }));
    const leaseUntil = own.length > 0 ? now + leaseMs() : now;
    const moved = { sessionId, free: claims(held), move: claims(own), leaseUntil, at };
    writeEvent(handle, "take-over", saveTakeOver, moved);
  }
  return {
    left: left.map(({ task, agent, isEnded, cwd }) => ({
      taskId: task,
      agent,
      because: isEnded ? "ended" : "gone",
      cwd: cwd ?? "",
    })),
    others,
  };
}

export interface MovedClaims {
  sessionId: string;
  /** Claims of sessions that are over, by the task's row. */
  free: readonly { seq: number; session: string }[];
  /** What this session holds from now on. */
  move: readonly { seq: number; session: string }[];
  leaseUntil: number;
  at: Date;
}

/** For callers that hold the write lock already; so are the others that save. */
export function saveTakeOver(db: DatabaseSync, { sessionId, free, move, leaseUntil, at }: MovedClaims): void {
  // Only while it is the same session's: it may have been taken between the look and the lock.
  for (const { seq, session } of free) db.prepare(FREE).run(at.getTime(), seq, session);
  for (const { seq, session } of move) db.prepare(MOVE).run(sessionId, at.toISOString(), leaseUntil, seq, session);
}

/** The session is back: what it held, and nobody took, is its own again. */
export function takeBack(
  handle: StoreHandle,
  { sessionId }: SessionKey,
  { leaseMs, at }: { leaseMs: number; at: Date },
): void {
  writeEvent(handle, "take-back", saveTakeBack, { sessionId, leaseMs, at });
}

export interface TakenBack {
  sessionId: string;
  leaseMs: number;
  at: Date;
}

export function saveTakeBack(db: DatabaseSync, { sessionId, leaseMs, at }: TakenBack): void {
  db.prepare("UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE session_id = ?").run(
    at.toISOString(),
    at.getTime() + leaseMs,
    sessionId,
  );
}

/**
 * The session has ended. A resume within the grace takes its tasks back, a new session finds them at once, and all others have
 * them in the queue after it. Not at once for all: whatever command comes next would return them, and the session that is
 * started in place of this one would not know what it was.
 */
export function letGo(handle: StoreHandle, { sessionId }: SessionKey, at: Date): void {
  writeEvent(handle, "let-go", saveLetGo, { sessionId, at });
}

/** A sub-agent that has ended will not go on: what it still holds is free at once, for a fixer or whoever comes next. */
export function letGoOfAgent(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey, at: Date): void {
  if (agentId !== "") writeEvent(handle, "let-go", saveLetGo, { sessionId, agentId, at });
}

export interface EndedHolder extends SessionKey {
  at: Date;
}

export function saveLetGo(db: DatabaseSync, { sessionId, agentId = "", at }: EndedHolder): void {
  if (agentId === "") db.prepare(LET_GO).run(at.getTime() + GRACE_MS, sessionId);
  else db.prepare(LET_GO_OF_AGENT).run(at.getTime(), sessionId, agentId);
}

const GRACE_MS = 10 * 60_000;

const LET_GO = `UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ?
AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.name = claims.agent)`;

const LET_GO_OF_AGENT = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE session_id = ? AND agent_id = ?";

const FREE = "UPDATE claims SET lease_until = min(lease_until, ?) WHERE task = ? AND session_id = ?";

const MOVE =
  "UPDATE claims SET session_id = ?, agent_id = '', heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ? AND session_id = ?";

/** More would be a list, not a hint. */
const MOST_OTHERS = 10;

interface OtherClaim extends Record<string, unknown> {
  seq: number;
  task: string;
  agent: string;
  session: string;
  leaseUntil: number;
  /** Null: no client has said anything of that session. */
  cwd: string | null;
  isEnded: number;
  isNamed: number;
  /** The client's process. */
  id: number | null;
  space: string | null;
}

function othersClaims(db: DatabaseSync, sessionId: string): OtherClaim[] {
  return db.prepare(OTHERS).all(sessionId) as unknown as OtherClaim[];
}

const OTHERS = `SELECT c.task AS seq, t.id AS task, c.agent, c.session_id AS session, c.lease_until AS leaseUntil, s.cwd, s.ended_at IS NOT NULL AS isEnded,
  EXISTS (SELECT 1 FROM agents a WHERE a.name = c.agent) AS isNamed, s.process_id AS id, s.process_space AS space
FROM claims c JOIN tasks t ON t.seq = c.task LEFT JOIN sessions s ON s.session_id = c.session_id AND s.agent_id = ''
LEFT JOIN task_wip w ON w.task = c.task
WHERE c.session_id <> ? ORDER BY max(c.heartbeat_at, coalesce(w.updated_at, '')) DESC, c.task DESC`;
