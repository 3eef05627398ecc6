/** Local state in SQLite. The hook bundles this file. */

import type { DatabaseSync } from "node:sqlite";
import { OnStore, readStore, type StoreHandle, writeEvent, writeStore } from "../access.ts";
import { fromRow, type Row } from "../work/rows.ts";

/** Sessions: the part of the store that never leaves the machine. Always SQLite, and synchronous because hooks use it. */
export class SqliteLocalStore extends OnStore {
  /** Records a sign of life of a session, and creates the session if it is new. */
  touchSession(touch: SessionTouch): TouchedSession {
    return writeEvent(this.handle, "touch", touchSession, touch);
  }

  getSession({ sessionId, agentId = "" }: SessionKey): Session | undefined {
    const row = this.row(SELECT_ONE, sessionId, agentId);
    return row && toSession(row);
  }

  /** Last seen first. */
  listSessions({ limit, seenSince }: SessionQuery): Session[] {
    const sql = `${SELECT} WHERE last_seen_at >= ? ORDER BY last_seen_at DESC, session_id, agent_id LIMIT ?`;
    return readStore(this.handle, (db) => db.prepare(sql).all(seenSince?.toISOString() ?? "", limit)).map(toSession);
  }
}

/** For callers that write more in the same transaction. */
export function touchSession(db: DatabaseSync, touch: SessionTouch): TouchedSession {
  const { sessionId, agentId = "", process } = touch;
  const before = db.prepare(SELECT_ONE).get(sessionId, agentId);
  const row = afterTouch(before as SessionRow | undefined, touch);
  db.prepare(before ? UPDATE : INSERT).run({
    ...row,
    process_id: process?.id ?? null,
    process_space: process?.space ?? null,
    // 0: unknown for this process. The value of an earlier process must not stay.
    process_start: process ? (process.start ?? 0) : null,
  });
  return { session: toSession({ ...row }), ...(before && { before: toSession(before) }) };
}

const SELECT = `SELECT session_id, agent_id, client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at, ended_at
FROM sessions`;
const SELECT_ONE = `${SELECT} WHERE session_id = ? AND agent_id = ?`;

// Two statements instead of an upsert: the row was read before under the same lock, and each takes half the time.
const INSERT = `INSERT INTO sessions (client, cwd, started_at, last_seen_at, window, prompt_count, last_prompt_at, ended_at,
  process_id, process_space, process_start, session_id, agent_id) VALUES (:client, :cwd, :started_at, :last_seen_at, :window, :prompt_count,
  :last_prompt_at, :ended_at, :process_id, :process_space, :process_start, :session_id, :agent_id)`;

const UPDATE = `UPDATE sessions SET client = :client, cwd = :cwd, started_at = :started_at, last_seen_at = :last_seen_at, window = :window,
  prompt_count = :prompt_count, last_prompt_at = :last_prompt_at, ended_at = :ended_at, process_id = coalesce(:process_id, process_id),
  process_space = coalesce(:process_space, process_space), process_start = coalesce(:process_start, process_start)
WHERE session_id = :session_id AND agent_id = :agent_id`;

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
 * A client may change its folder within a session. `last_seen_at` never goes back: hooks of one session run in parallel and may
 * commit in a different order.
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

function toSession(row: Row): Session {
  return fromRow(row);
}

// A session's last-seen and end times in one row, for a hook that asks at every event.

/** ISO texts, which sort like times. */
export interface SessionTimes {
  startedAt: string;
  lastSeenAt: string;
  lastPromptAt: string | null;
  endedAt: string | null;
}

export function readSessionTimes(handle: StoreHandle, sessionId: string): SessionTimes | undefined {
  return readStore(handle, (db) => db.prepare(TIMES).get(sessionId) as SessionTimes | undefined);
}

const TIMES = `
SELECT started_at AS startedAt, last_seen_at AS lastSeenAt, last_prompt_at AS lastPromptAt, ended_at AS endedAt
FROM sessions WHERE session_id = ? AND agent_id = ''`;

/** For a killed session, which could not report its own end. */
export function endSession(handle: StoreHandle, sessionId: string, at: Date): void {
  const now = at.toISOString();
  writeStore(handle, (db) => db.prepare(END).run(now, now, sessionId));
}

const END =
  "UPDATE sessions SET ended_at = ?, last_seen_at = max(last_seen_at, ?) WHERE session_id = ? AND agent_id = ''";

/** A sub-agent shares its parent's session id, so both ids make the key. */
export interface SessionKey {
  sessionId: string;
  /** Default: "", the main agent. */
  agentId?: string;
}

export interface SessionTouch extends SessionKey {
  client: string;
  cwd: string;
  at: Date;
  /**
   * prompt: a prompt came in. window: a new window begins (compaction, clear). end: the client reports the end of the session.
   * Default: "seen". Any event but `end` reopens an ended session.
   */
  event?: "seen" | "prompt" | "window" | "end";
  /** The client's process. Absent: the stored value stays. */
  process?: ClientProcess | undefined;
}

export interface ClientProcess {
  id: number;
  /** Where the process ID is valid: the machine's boot and its PID namespace. "": not known. */
  space: string;
  /** Start time in ticks since boot, because process IDs are reused. Absent: not known. */
  start?: number | undefined;
}

export interface TouchedSession {
  session: Session;
  /** The session before this touch; absent when it is new. The difference of the two gives the idle time. */
  before?: Session;
}

export interface Session {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  client: string;
  cwd: string;
  startedAt: Date;
  lastSeenAt: Date;
  /** 1, and one more after every compaction or clear. */
  window: number;
  promptCount: number;
  lastPromptAt?: Date;
  endedAt?: Date;
}

export interface SessionQuery {
  limit: number;
  /** Only those seen at or after this time. */
  seenSince?: Date;
}

// How far the clients' transcripts were read, and the tool calls reported by events since. The hook bundles this file.

/** Who reports a session's tool calls; "": not known yet. */
export type ToldBy = "" | "server" | "process";

export interface ReadTranscript extends SessionKey {
  path: string;
  /** In bytes. Everything before it was read. */
  offset: number;
  /** Earlier calls are ignored. ISO text, as all times in the spool except `at`. */
  since: string;
  toldBy: ToldBy;
  at: Date;
  /** Calls before the offset. They are not needed any more. */
  passed?: readonly string[];
}

export interface SeenCall {
  sessionId: string;
  toolUseId: string;
  at: Date;
}

export class Transcripts extends OnStore {
  read({ sessionId, agentId = "" }: SessionKey): ReadTranscript | undefined {
    const sql = "SELECT * FROM transcripts WHERE session_id = ? AND agent_id = ?";
    const row = this.row(sql, sessionId, agentId);
    if (!row) return undefined;
    return {
      sessionId,
      agentId,
      path: String(row["path"]),
      offset: Number(row["offset"]),
      since: String(row["since"]),
      toldBy: String(row["told_by"]) as ToldBy,
      at: new Date(String(row["at"])),
    };
  }

  save(transcript: ReadTranscript): void {
    writeEvent(this.handle, "transcript", saveTranscript, transcript);
  }

  isSeen(sessionId: string, toolUseId: string): boolean {
    const sql = "SELECT 1 FROM seen_calls WHERE session_id = ? AND tool_use_id = ?";
    return this.row(sql, sessionId, toolUseId) !== undefined;
  }

  noteSeen(call: SeenCall): void {
    writeEvent(this.handle, "seen-call", saveSeenCall, call);
  }
}

/** For callers that hold the write lock already. The same holds for the next function. */
export function saveTranscript(db: DatabaseSync, transcript: ReadTranscript): void {
  const { sessionId, agentId = "", path, offset, since, toldBy, at, passed = [] } = transcript;
  db.prepare("INSERT OR REPLACE INTO transcripts VALUES (?, ?, ?, ?, ?, ?, ?)").run(
    ...[sessionId, agentId, path],
    ...[offset, since, toldBy, at.toISOString()],
  );
  const forget = db.prepare("DELETE FROM seen_calls WHERE session_id = ? AND tool_use_id = ?");
  for (const toolUseId of passed) forget.run(sessionId, toolUseId);
}

export function saveSeenCall(db: DatabaseSync, { sessionId, toolUseId, at }: SeenCall): void {
  db.prepare("INSERT OR IGNORE INTO seen_calls VALUES (?, ?, ?)").run(sessionId, toolUseId, at.toISOString());
}
