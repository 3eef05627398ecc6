/** What a session is in the middle of, and which of its agents made a tool call. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { WipPatch } from "../../../work/wip/wip.ts";
import type { SessionKey } from "../../local-store.ts";
import { readStore, writeEvent, writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";
import { type NewInjection, recordInjection } from "../skills/injections.ts";
import { boundTask, isHeartbeatDue, taskAtWork, taskWipHome, type WipHome } from "../work/events/session-tasks.ts";
import { isHolding } from "../work/last-holders.ts";
import { saveSeenCall } from "./transcripts.ts";

export interface WipChange {
  path: string;
  before?: unknown;
  after?: unknown;
}

export interface SessionWip {
  data: Record<string, unknown>;
  updatedAt: string;
}

export interface ToolWork extends SessionKey {
  client: string;
  cwd: string;
  at: Date;
  file?: string | undefined;
  merge?:
    | ((current: Record<string, unknown>) => { wip: Record<string, unknown>; changes: readonly WipChange[] })
    | undefined;
  /** The call is noted as seen: see transcripts.ts. */
  toolUseId?: string | undefined;
  /** What `merge` merges, for the spool. */
  patch?: WipPatch | undefined;
  /** How long a claim holds from now on, in milliseconds. Asked only when one is prolonged. */
  leaseMs: () => number;
}

export class SessionState {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  wip({ sessionId, agentId = "" }: SessionKey): SessionWip | undefined {
    return readStore(this.#handle, (db) => {
      const row = db.prepare(SELECT_WIP).get(sessionId, agentId);
      return row && { data: JSON.parse(String(row["data"])), updatedAt: String(row["updated_at"]) };
    });
  }

  /**
   * What a tool call did: the file it touched, its part of the WIP (the task's, where the agent works on one), and the sign of
   * life that its claim needs. Reads, merges and writes under one lock: hooks of one session run at once, and none may
   * undo another's.
   */
  recordTool(work: ToolWork): void {
    const { file, merge, patch, leaseMs, toolUseId, ...event } = work;
    const hasNews = file !== undefined || merge !== undefined || toolUseId !== undefined;
    if (!hasNews && !readStore(this.#handle, (db) => isHeartbeatDue(boundTask(db, work), work.at))) return;
    writeStore(
      this.#handle,
      (db) => saveTool(db, work),
      () => {
        const news = { ...(file && { file }), ...(patch && { patch }), ...(toolUseId && { toolUseId }) };
        return { kind: "tool", args: { ...event, ...news, leaseMs: leaseMs() } };
      },
    );
  }

  noteToolCall(key: SessionKey, toolUseId: string, at: Date): void {
    writeEvent(this.#handle, "tool-call", saveToolCall, { ...key, toolUseId, at });
  }

  /** Undefined when no hook saw the call: then the agent is not known. */
  agentOfToolCall(sessionId: string, toolUseId: string): string | undefined {
    return readStore(this.#handle, (db) => {
      const row = db
        .prepare("SELECT agent_id FROM tool_calls WHERE session_id = ? AND tool_use_id = ?")
        .get(sessionId, toolUseId);
      return row && String(row["agent_id"]);
    });
  }

  /** Whoever made the call, in whichever session: an MCP server outlives a `/clear`, and its own session id with it. */
  callerOf(toolUseId: string): Required<SessionKey> | undefined {
    return readStore(this.#handle, (db) => {
      const row = db
        .prepare("SELECT session_id, agent_id FROM tool_calls WHERE tool_use_id = ? ORDER BY at DESC LIMIT 1")
        .get(toolUseId);
      return row && { sessionId: String(row["session_id"]), agentId: String(row["agent_id"]) };
    });
  }

  /** Whether a sub-agent of this session is at work. */
  hasSubAgents(sessionId: string): boolean {
    return readStore(this.#handle, (db) => {
      return (
        db
          .prepare("SELECT 1 FROM sessions WHERE session_id = ? AND agent_id <> '' AND ended_at IS NULL LIMIT 1")
          .get(sessionId) !== undefined
      );
    });
  }
}

/** For callers that hold the write lock already. */
export function saveTool(
  db: DatabaseSync,
  { sessionId, agentId = "", cwd, client, at, file, merge, leaseMs, toolUseId }: ToolWork,
): void {
  const key = { sessionId, agentId };
  if (toolUseId) saveSeenCall(db, { sessionId, toolUseId, at });
  const time = at.toISOString();
  // A tool call may be the first that is heard of a session.
  if (file !== undefined || merge) db.prepare(MEET).run(sessionId, agentId, client, cwd, time, time);
  if (file) db.prepare("INSERT OR REPLACE INTO session_files VALUES (?, ?, ?, ?)").run(sessionId, agentId, file, time);
  const bound = taskAtWork(db, key, { leaseMs, at });
  if (!merge) return;
  const home = bound ? taskWipHome(db, bound, client) : sessionHome(db, key);
  const current = home.text === undefined ? {} : (JSON.parse(home.text) as Record<string, unknown>);
  const { wip, changes } = merge(current);
  // The same object: nothing is new, and there is nothing to write.
  if (wip === current) return;
  home.save(JSON.stringify(wip), time);
  for (const { path, before, after } of changes) home.note(time, path, text(before), text(after));
}

export interface ToolCall extends SessionKey {
  toolUseId: string;
  at: Date;
}

export function saveToolCall(db: DatabaseSync, { sessionId, agentId = "", toolUseId, at }: ToolCall): void {
  db.prepare("INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?, ?)").run(
    sessionId,
    toolUseId,
    agentId,
    at.toISOString(),
  );
}

function sessionHome(db: DatabaseSync, { sessionId, agentId }: Required<SessionKey>): WipHome {
  const row = db.prepare(SELECT_WIP).get(sessionId, agentId);
  return {
    text: row && String(row["data"]),
    save: (data, time) =>
      db.prepare("INSERT OR REPLACE INTO session_wip VALUES (?, ?, ?, ?)").run(sessionId, agentId, data, time),
    note: (time, path, before, after) =>
      db
        .prepare("INSERT INTO wip_changes (at, session_id, agent_id, path, before, after) VALUES (?, ?, ?, ?, ?, ?)")
        .run(time, sessionId, agentId, path, before, after),
  };
}

const MEET =
  "INSERT OR IGNORE INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at) VALUES (?, ?, ?, ?, ?, ?)";

const SELECT_WIP = "SELECT data, updated_at FROM session_wip WHERE session_id = ? AND agent_id = ?";

function text(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

// What was replaced in a session's WIP.

export interface SessionWipChange {
  at: Date;
  path: string;
  before?: unknown;
  after?: unknown;
}

/** Newest first. */
export function sessionWipHistory(
  handle: StoreHandle,
  { sessionId, agentId = "", limit }: SessionKey & { limit: number },
): SessionWipChange[] {
  return readStore(handle, (db) => {
    const rows = db
      .prepare(
        "SELECT at, path, before, after FROM wip_changes WHERE session_id = ? AND agent_id = ? ORDER BY id DESC LIMIT ?",
      )
      .all(sessionId, agentId, limit);
    return rows.map(({ at, path, before, after }) => ({
      at: new Date(String(at)),
      path: String(path),
      ...(before !== null && { before: JSON.parse(String(before)) }),
      ...(after !== null && { after: JSON.parse(String(after)) }),
    }));
  });
}

// Sessions that changed files without a task and are over: nothing in the work store speaks of them, so the next
// session in that work tree is told, once.

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
  const found = db.prepare(UNTOLD).all(sessionId) as unknown as EditingSession[];
  return found.filter((session) => !isHolding(db, session.sessionId));
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
GROUP BY s.session_id ORDER BY max(w.updated_at) DESC`;
