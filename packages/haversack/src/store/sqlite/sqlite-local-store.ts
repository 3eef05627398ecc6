/** Local state in SQLite. The hook bundles this file. */
import type { LocalStore, Session, SessionKey, SessionQuery, SessionTouch, TouchedSession } from "../local-store.ts";
import { readStore, writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

export class SqliteLocalStore implements LocalStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  touchSession({ sessionId, agentId = "", client, cwd, at, event = "seen", process }: SessionTouch): TouchedSession {
    return writeStore(this.#handle, (db) => {
      const before = db.prepare(SELECT_ONE).get(sessionId, agentId) as SessionRow | undefined;
      const touch = { sessionId, agentId, client, cwd, at: at.toISOString(), event };
      const after = db
        .prepare(UPSERT)
        .get({ ...touch, processId: process?.id ?? null, processSpace: process?.space ?? null });
      const session = toSession(after as unknown as SessionRow);
      return before ? { session, before: toSession(before) } : { session };
    });
  }

  getSession({ sessionId, agentId = "" }: SessionKey): Session | undefined {
    return readStore(this.#handle, (db) => {
      const row = db.prepare(SELECT_ONE).get(sessionId, agentId) as SessionRow | undefined;
      return row && toSession(row);
    });
  }

  listSessions({ limit, seenSince }: SessionQuery): Session[] {
    return readStore(this.#handle, (db) => {
      const select = db.prepare(
        "SELECT * FROM sessions WHERE last_seen_at >= ? ORDER BY last_seen_at DESC, session_id, agent_id LIMIT ?",
      );
      return (select.all(seenSince?.toISOString() ?? "", limit) as unknown as SessionRow[]).map(toSession);
    });
  }
}

const SELECT_ONE = "SELECT * FROM sessions WHERE session_id = ? AND agent_id = ?";

// A client may change its folder within a session. The clock of a touch never turns last_seen_at back: hooks of
// one session run in parallel and may commit in the other order.
const UPSERT = `
INSERT INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at, ended_at, process_id, process_space)
VALUES (:sessionId, :agentId, :client, :cwd, :at, :at, 1, :event = 'prompt',
  CASE WHEN :event = 'prompt' THEN :at END, CASE WHEN :event = 'end' THEN :at END, :processId, :processSpace)
ON CONFLICT DO UPDATE SET
  client = excluded.client,
  cwd = excluded.cwd,
  last_seen_at = max(last_seen_at, excluded.last_seen_at),
  window = window + (:event = 'window'),
  prompt_count = prompt_count + excluded.prompt_count,
  last_prompt_at = coalesce(excluded.last_prompt_at, last_prompt_at),
  ended_at = excluded.ended_at,
  process_id = coalesce(excluded.process_id, process_id),
  process_space = coalesce(excluded.process_space, process_space)
RETURNING *`;

interface SessionRow {
  session_id: string;
  agent_id: string;
  client: string;
  cwd: string;
  started_at: string;
  last_seen_at: string;
  window: number;
  prompt_count: number;
  last_prompt_at: string | null;
  ended_at: string | null;
}

function toSession(row: SessionRow): Session {
  return {
    sessionId: row.session_id,
    agentId: row.agent_id,
    client: row.client,
    cwd: row.cwd,
    startedAt: new Date(row.started_at),
    lastSeenAt: new Date(row.last_seen_at),
    window: row.window,
    promptCount: row.prompt_count,
    ...(row.last_prompt_at === null ? {} : { lastPromptAt: new Date(row.last_prompt_at) }),
    ...(row.ended_at === null ? {} : { endedAt: new Date(row.ended_at) }),
  };
}
