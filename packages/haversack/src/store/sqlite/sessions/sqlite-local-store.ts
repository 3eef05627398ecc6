/** Local state in SQLite. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { LocalStore, Session, SessionKey, SessionQuery, SessionTouch, TouchedSession } from "../../local-store.ts";
import { readStore, writeEvent, writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";

export class SqliteLocalStore implements LocalStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  touchSession(touch: SessionTouch): TouchedSession {
    return writeEvent(this.#handle, "touch", touchSession, touch);
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

/** For those that write more in the same transaction. */
export function touchSession(db: DatabaseSync, touch: SessionTouch): TouchedSession {
  const { sessionId, agentId = "", process } = touch;
  const before = db.prepare(SELECT_ONE).get(sessionId, agentId) as SessionRow | undefined;
  const row = afterTouch(before, touch);
  db.prepare(before ? UPDATE : INSERT).run(
    row.client,
    row.cwd,
    row.started_at,
    row.last_seen_at,
    row.window,
    row.prompt_count,
    row.last_prompt_at,
    row.ended_at,
    process?.id ?? null,
    process?.space ?? null,
    // 0: not known of this process; what was known of another one must not stay.
    process ? (process.start ?? 0) : null,
    sessionId,
    agentId,
  );
  return before ? { session: toSession(row), before: toSession(before) } : { session: toSession(row) };
}

const SELECT_ONE = "SELECT * FROM sessions WHERE session_id = ? AND agent_id = ?";

// Two statements instead of one that does both: the row is read before, under the same lock, and each takes half the time.
const INSERT = `INSERT INTO sessions (client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at, ended_at,
  process_id, process_space, process_start, session_id, agent_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const UPDATE = `UPDATE sessions SET client = ?, cwd = ?, started_at = ?, last_seen_at = ?, window = ?, prompt_count = ?, last_prompt_at = ?,
  ended_at = ?, process_id = coalesce(?, process_id), process_space = coalesce(?, process_space),
  process_start = coalesce(?, process_start) WHERE session_id = ? AND agent_id = ?`;

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

/**
 * A client may change its folder within a session. The clock of a touch never turns last_seen_at back: hooks of one session run
 * in parallel and may commit in the other order.
 */
function afterTouch(
  before: SessionRow | undefined,
  { sessionId, agentId = "", client, cwd, at, event = "seen" }: SessionTouch,
): SessionRow {
  const now = at.toISOString();
  return {
    session_id: sessionId,
    agent_id: agentId,
    client,
    cwd,
    started_at: before?.started_at ?? now,
    last_seen_at: before && before.last_seen_at > now ? before.last_seen_at : now,
    window: before ? before.window + (event === "window" ? 1 : 0) : 1,
    prompt_count: (before?.prompt_count ?? 0) + (event === "prompt" ? 1 : 0),
    last_prompt_at: event === "prompt" ? now : (before?.last_prompt_at ?? null),
    ended_at: event === "end" ? now : null,
  };
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

// When a session was seen, and its end, in one row: for a hook that asks at every event.

/** As ISO texts, which compare as times do. */
export interface SessionTimes {
  startedAt: string;
  lastSeenAt: string;
  lastPromptAt: string | null;
  endedAt: string | null;
}

export function readSessionTimes(handle: StoreHandle, sessionId: string): SessionTimes | undefined {
  return readStore(handle, (db) => db.prepare(TIMES).get(sessionId) as SessionTimes | undefined);
}

/** A session that was killed has not said that it is over. */
export function endSession(handle: StoreHandle, sessionId: string, at: Date): void {
  const now = at.toISOString();
  writeStore(handle, (db) => db.prepare(END).run(now, now, sessionId));
}

const TIMES = `
SELECT started_at AS startedAt, last_seen_at AS lastSeenAt, last_prompt_at AS lastPromptAt, ended_at AS endedAt
FROM sessions WHERE session_id = ? AND agent_id = ''`;
const END =
  "UPDATE sessions SET ended_at = ?, last_seen_at = max(last_seen_at, ?) WHERE session_id = ? AND agent_id = ''";
