/** Agents with the sessions in which they were last seen, and a session that says which agent it is. */
import type { DatabaseSync } from "node:sqlite";
import type { SeenAgent } from "../../../work-store.ts";
import { type AgentRow, noteSeen, ROLE_NOW } from "../agents.ts";
import { type OtherSession, processOf } from "./session-claims.ts";

export interface KnownAgent {
  /** As it is now. */
  row: AgentRow;
  /** There are messages, its own or others'. */
  hasMessages: boolean;
  seen: SeenAgent;
  /** Where an agent of that name was seen last, when that was elsewhere, has not ended, and its process is known. */
  lastSession?: OtherSession;
}

export interface AgentWithSession extends AgentRow {
  has_messages: number;
  /** Of its session's client, unless that has ended. */
  id: number | null;
  space: string | null;
}

/** Most projects have no messages at all. */
const AGENTS = `SELECT agents.*, ${ROLE_NOW} AS role, EXISTS (SELECT 1 FROM messages) AS has_messages, s.process_id AS id, s.process_space AS space
FROM agents LEFT JOIN sessions s ON s.session_id = agents.session_id AND s.agent_id = '' AND s.ended_at IS NULL`;

/** Those of all branches before the others. */
export function agentsNamed(db: DatabaseSync, name: string): AgentWithSession[] {
  return db
    .prepare(`${AGENTS} WHERE agents.name = ? AND agents.removed_at IS NULL ORDER BY agents.branch`)
    .all(name) as unknown as AgentWithSession[];
}

export function agentsOfSession(db: DatabaseSync, sessionId: string): AgentWithSession[] {
  const select = db.prepare(
    `${AGENTS} WHERE agents.session_id = ? ORDER BY agents.last_seen_at DESC, agents.seq LIMIT 1`,
  );
  return select.all(sessionId) as unknown as AgentWithSession[];
}

/** Under a write lock: of two that start at once the second finds the first. */
export function becomeKnown(db: DatabaseSync, seen: SeenAgent & { sessionId: string }, at: Date): KnownAgent {
  const rows = agentsNamed(db, seen.name);
  const lastSession = lastSessionOf(rows, seen.sessionId);
  return {
    row: noteSeen(db, rows, seen, at),
    // None that is new has any.
    hasMessages: rows[0]?.has_messages === 1,
    seen,
    ...(lastSession && { lastSession }),
  };
}

function lastSessionOf(rows: readonly AgentWithSession[], sessionId: string): OtherSession | undefined {
  let last: AgentWithSession | undefined;
  for (const row of rows) {
    if (row.session_id === sessionId || row.id === null) continue;
    if (!last || (row.last_seen_at ?? "") > (last.last_seen_at ?? "")) last = row;
  }
  return last && { sessionId: last.session_id ?? "", process: processOf(last), taskIds: [] };
}
