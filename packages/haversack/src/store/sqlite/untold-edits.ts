/**
 * Sessions that changed files without a task and are over: nothing in the work store speaks of them, so the next session in that
 * work tree is told, once. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import { type NewInjection, recordInjection } from "./injections.ts";
import type { SessionWip } from "./session-state.ts";

export interface EditingSession {
  sessionId: string;
  client: string;
  cwd: string;
  lastSeenAt: string;
  endedAt: string | null;
  /** The client's process. */
  id: number | null;
  space: string | null;
  start: number | null;
}

/** Whether there may be some: asked at every start. */
export function hasUntoldEdits(db: DatabaseSync, sessionId: string): boolean {
  return db.prepare(`SELECT 1 ${FROM_UNTOLD} LIMIT 1`).get(sessionId) !== undefined;
}

/** The last ones whose edits nobody has been told of yet, newest first. One that has or had a task is none of them. */
export function untoldSessions(db: DatabaseSync, sessionId: string): EditingSession[] {
  return db.prepare(UNTOLD).all(sessionId) as unknown as EditingSession[];
}

/** Of the session's main agent and its sub-agents, newest first. */
export function wipsOf(db: DatabaseSync, sessionId: string): SessionWip["data"][] {
  return db
    .prepare("SELECT data FROM session_wip WHERE session_id = ? ORDER BY updated_at DESC LIMIT 20")
    .all(sessionId)
    .map(({ data }) => JSON.parse(String(data)) as SessionWip["data"]);
}

/** What a session was told of another's edits. */
export interface ToldEdits {
  /** Sessions whose edits are no news any more. */
  ids: readonly string[];
  injection?: NewInjection;
  at: Date;
}

/** For callers that hold the write lock already. */
export function saveTold(db: DatabaseSync, { ids, injection, at }: ToldEdits): void {
  markTold(db, ids, at);
  if (injection) recordInjection(db, injection);
}

function markTold(db: DatabaseSync, sessionIds: readonly string[], at: Date): void {
  const mark = db.prepare("UPDATE sessions SET edits_told_at = ? WHERE session_id = ? AND agent_id = ''");
  for (const id of sessionIds) mark.run(at.toISOString(), id);
}

/** So many changes of WIP back: what is older is not what was going on. */
const REACH = 20;

const FROM_UNTOLD = `FROM (SELECT session_id, updated_at FROM session_wip ORDER BY updated_at DESC LIMIT ${REACH}) w
JOIN sessions s ON s.session_id = w.session_id AND s.agent_id = ''
WHERE s.session_id <> ? AND (s.edits_told_at IS NULL OR s.edits_told_at < w.updated_at)`;

const UNTOLD = `SELECT s.session_id AS sessionId, s.client, s.cwd, s.last_seen_at AS lastSeenAt, s.ended_at AS endedAt,
  s.process_id AS id, s.process_space AS space, s.process_start AS start ${FROM_UNTOLD}
AND NOT EXISTS (SELECT 1 FROM last_holders h WHERE h.session_id = s.session_id)
GROUP BY s.session_id ORDER BY max(w.updated_at) DESC`;
