/** Where else an agent is at work: sessions of its name that have not ended, with what they hold. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientProcess } from "../local-store.ts";
import { readStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

export interface OtherSession {
  sessionId: string;
  /** Absent: no client has said which it is. */
  process?: ClientProcess;
  /** Newest first. */
  taskIds: string[];
}

export function otherSessions(db: DatabaseSync, name: string, sessionId: string): OtherSession[] {
  return sessionsOf(db.prepare(CLAIMS).all(name, sessionId));
}

/** Of claims, each with its `session`, the `task`, and the client's process as `id` and `space`. */
export function sessionsOf(claims: readonly Record<string, unknown>[]): OtherSession[] {
  const found = new Map<string, OtherSession>();
  for (const row of claims) {
    const key = String(row["session"]);
    const other = found.get(key) ?? {
      sessionId: key,
      ...(row["id"] !== null && { process: processOf(row) }),
      taskIds: [],
    };
    other.taskIds.push(String(row["task"]));
    found.set(key, other);
  }
  return [...found.values()];
}

export function processOf({ id, space }: { id?: unknown; space?: unknown }): ClientProcess {
  return { id: Number(id), space: String(space ?? "") };
}

/** Undefined: no client has said which it is. */
export function processOfSession(handle: StoreHandle, sessionId: string): ClientProcess | undefined {
  return readStore(handle, (db) => {
    const row = db
      .prepare("SELECT process_id AS id, process_space AS space FROM sessions WHERE session_id = ? AND agent_id = ''")
      .get(sessionId);
    return row && row["id"] !== null ? processOf(row) : undefined;
  });
}

const CLAIMS = `SELECT c.session_id AS session, t.id AS task, s.process_id AS id, s.process_space AS space
FROM claims c JOIN tasks t ON t.seq = c.task LEFT JOIN sessions s ON s.session_id = c.session_id AND s.agent_id = ''
WHERE c.agent = ? AND c.session_id <> ? AND s.ended_at IS NULL ORDER BY c.claimed_at DESC, c.task DESC LIMIT 10`;
