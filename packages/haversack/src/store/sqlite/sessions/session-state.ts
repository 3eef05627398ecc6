/** What a session is working on, and which of its agents made a tool call. The hook bundles this file. */

import type { DatabaseSync } from "node:sqlite";
import type { WipPatch } from "../../../work/wip/wip.ts";
import type { WipHistoryEntry } from "../../work-store.ts";
import { OnStore, readStore, type StoreHandle, writeEvent, writeStore } from "../access.ts";
import { addToOutbox } from "../outbox/outbox.ts";
import { type NewInjection, recordInjection } from "../skills/injections.ts";
import { boundTask, isHeartbeatDue, taskAtWork, taskWipHome, type WipHome } from "../work/events/session-tasks.ts";
import { isHolding } from "../work/last-holders.ts";
import { toWipChange } from "../work/rows.ts";
import { hasUnbound } from "../work/session-work.ts";
import { type SessionKey, saveSeenCall } from "./sqlite-local-store.ts";

export interface SessionWip {
  data: Record<string, unknown>;
  updatedAt: string;
}

export interface ToolWork extends SessionKey {
  client: string;
  cwd: string;
  /** What the session's agent is called, where somebody gave it a name. */
  name?: string | undefined;
  at: Date;
  file?: string | undefined;
  merge?:
    | ((current: Record<string, unknown>) => {
        wip: Record<string, unknown>;
        changes: readonly Omit<WipHistoryEntry, "at" | "actor">[];
      })
    | undefined;
  /** If set, the call is marked as seen: see sqlite-local-store.ts. */
  toolUseId?: string | undefined;
  /** The patch that `merge` applies, for the spool and the outbox. */
  patch?: WipPatch | undefined;
  /** How long a claim lasts from now on, in milliseconds. Called only when a claim is prolonged. */
  leaseMs: () => number;
}

export class SessionState extends OnStore {
  wip({ sessionId, agentId = "" }: SessionKey): SessionWip | undefined {
    const row = this.row(SELECT_WIP, sessionId, agentId);
    return row && { data: JSON.parse(String(row["data"])), updatedAt: String(row["updated_at"]) };
  }

  /**
   * Records a tool call: the file it touched, its WIP (of the agent's task, if it has one), and a heartbeat for the claim. Reads,
   * merges and writes under one lock, because hooks of one session run in parallel and must not undo each other's writes.
   */
  recordTool(work: ToolWork): void {
    const { file, merge, patch, leaseMs, toolUseId, ...event } = work;
    const hasNews = file !== undefined || merge !== undefined || toolUseId !== undefined;
    if (!hasNews && !readStore(this.handle, (db) => isSignDue(db, work))) return;
    writeStore(
      this.handle,
      (db) => saveTool(db, work),
      () => {
        const news = { ...(file && { file }), ...(patch && { patch }), ...(toolUseId && { toolUseId }) };
        return { kind: "tool", args: { ...event, ...news, leaseMs: leaseMs() } };
      },
    );
  }

  noteToolCall(key: SessionKey, toolUseId: string, at: Date): void {
    writeEvent(this.handle, "tool-call", saveToolCall, { ...key, toolUseId, at });
  }

  /** Undefined when no hook saw the call. */
  agentOfToolCall(sessionId: string, toolUseId: string): string | undefined {
    const sql = "SELECT agent_id FROM tool_calls WHERE session_id = ? AND tool_use_id = ?";
    const row = this.row(sql, sessionId, toolUseId);
    return row && String(row["agent_id"]);
  }

  /** The caller in any session: an MCP server keeps running after a `/clear` and then has an outdated session ID. */
  callerOf(toolUseId: string): Required<SessionKey> | undefined {
    const sql = "SELECT session_id, agent_id FROM tool_calls WHERE tool_use_id = ? ORDER BY at DESC LIMIT 1";
    const row = this.row(sql, toolUseId);
    return row && { sessionId: String(row["session_id"]), agentId: String(row["agent_id"]) };
  }

  /** Whether a sub-agent of this session is at work. */
  hasSubAgents(sessionId: string): boolean {
    const sql = "SELECT 1 FROM sessions WHERE session_id = ? AND agent_id <> '' AND ended_at IS NULL LIMIT 1";
    return this.row(sql, sessionId) !== undefined;
  }
}

/** Whether a claim waits for the session, or for a sign of life. */
function isSignDue(db: DatabaseSync, work: ToolWork): boolean {
  return Boolean(work.name && hasUnbound(db, work, work.name)) || isHeartbeatDue(boundTask(db, work), work.at);
}

/** For callers that hold the write lock already. */
export function saveTool(db: DatabaseSync, work: ToolWork): void {
  const { sessionId, agentId = "", cwd, client, name, at, file, merge, patch, leaseMs, toolUseId } = work;
  const key = { sessionId, agentId };
  if (toolUseId) saveSeenCall(db, { sessionId, toolUseId, at });
  const time = at.toISOString();
  // A tool call may be the first event of a session.
  if (file !== undefined || merge) db.prepare(MEET).run(sessionId, agentId, client, cwd, time, time);
  if (file) db.prepare("INSERT OR REPLACE INTO session_files VALUES (?, ?, ?, ?)").run(sessionId, agentId, file, time);
  const { bound, isNews } = taskAtWork(db, key, { name, leaseMs, at });
  const isChanged =
    merge !== undefined && mergeInto(bound ? taskWipHome(db, bound, client) : sessionHome(db, key), work);
  if (!bound || !(isNews || isChanged)) return;
  const { id: taskId, holder } = bound;
  const news = { ...(holder !== undefined && { holder }), ...(isChanged && patch && { patch }) };
  addToOutbox(db, "tool", () => ({ ...key, taskId, client, ...news, leaseMs: leaseMs(), at }), { taskId });
}

/** False: nothing changed. */
function mergeInto(home: WipHome, { merge, at }: ToolWork): boolean {
  const time = at.toISOString();
  const current = home.text === undefined ? {} : (JSON.parse(home.text) as Record<string, unknown>);
  const { wip, changes } = merge?.(current) ?? { wip: current, changes: [] };
  // The same object means nothing changed.
  if (wip === current) return false;
  home.save(JSON.stringify(wip), time);
  for (const { path, before, after } of changes) home.note(time, path, text(before), text(after));
  return true;
}

export function saveToolCall(
  db: DatabaseSync,
  { sessionId, agentId = "", toolUseId, at }: SessionKey & { toolUseId: string; at: Date },
): void {
  const add = db.prepare("INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?, ?)");
  add.run(sessionId, toolUseId, agentId, at.toISOString());
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

/** The values that were replaced in a session's WIP, newest first. */
export function sessionWipHistory(
  handle: StoreHandle,
  { sessionId, agentId = "", limit }: SessionKey & { limit: number },
): Omit<WipHistoryEntry, "actor">[] {
  const sql =
    "SELECT at, path, before, after FROM wip_changes WHERE session_id = ? AND agent_id = ? ORDER BY id DESC LIMIT ?";
  return readStore(handle, (db) => db.prepare(sql).all(sessionId, agentId, limit)).map(toWipChange);
}

// Finished sessions that changed files without a task. The work store has no record of them, so the next session in that work
// tree is told about them, once.

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

/** Whether such sessions may exist. Called at every start. */
export function hasUntoldEdits(db: DatabaseSync, sessionId: string): boolean {
  return db.prepare(`SELECT 1 ${FROM_UNTOLD} LIMIT 1`).get(sessionId) !== undefined;
}

/** Sessions whose edits were not reported yet, newest first. Excludes sessions that have or had a task. */
export function untoldSessions(db: DatabaseSync, sessionId: string): EditingSession[] {
  const found = db.prepare(UNTOLD).all(sessionId) as unknown as EditingSession[];
  return found.filter((session) => !isHolding(db, session.sessionId));
}

/** WIP of the session's main agent and its sub-agents, newest first. */
export function wipsOf(db: DatabaseSync, sessionId: string): SessionWip["data"][] {
  return db
    .prepare("SELECT data FROM session_wip WHERE session_id = ? ORDER BY updated_at DESC LIMIT 20")
    .all(sessionId)
    .map(({ data }) => JSON.parse(String(data)) as SessionWip["data"]);
}

/** What a session was told about the edits of other sessions. */
export interface ToldEdits {
  /** Sessions whose edits need no further report. */
  ids: readonly string[];
  injection?: NewInjection;
  at: Date;
}

/** For callers that hold the write lock already. */
export function saveTold(db: DatabaseSync, { ids, injection, at }: ToldEdits): void {
  const mark = db.prepare("UPDATE sessions SET edits_told_at = ? WHERE session_id = ? AND agent_id = ''");
  for (const id of ids) mark.run(at.toISOString(), id);
  if (injection) recordInjection(db, injection);
}

/** How many WIP changes to look back. Older ones are not recent work. */
const REACH = 20;

const FROM_UNTOLD = `FROM (SELECT session_id, updated_at FROM session_wip ORDER BY updated_at DESC LIMIT ${REACH}) w
JOIN sessions s ON s.session_id = w.session_id AND s.agent_id = ''
WHERE s.session_id <> ? AND (s.edits_told_at IS NULL OR s.edits_told_at < w.updated_at)`;

const UNTOLD = `SELECT s.session_id AS sessionId, s.client, s.cwd, s.last_seen_at AS lastSeenAt, s.ended_at AS endedAt,
  s.process_id AS id, s.process_space AS space, s.process_start AS start ${FROM_UNTOLD}
GROUP BY s.session_id ORDER BY max(w.updated_at) DESC`;

// Finds the caller of a tool call for clients that do not pass it to the MCP server. The hook before the call notes it in
// `tool_calls`, and the server takes the note. Several clients may run in one project, so only notes of the server's client count.

/** The ancestors of the asking process, nearest first. One of them is the client. */
export interface ProcessesAbove {
  ids: readonly number[];
  space: string;
}

export interface NotedCall {
  tool: string;
  /** Made from tool and arguments. The stored note starts with it. */
  key: string;
}

/** The user may be asked before the call is made. An older note belongs to a call that was never made. */
const NOTE_MS = 15 * 60_000;

/** After this time an identical call may proceed: the first one is waiting for the user. */
const AWAITED_MS = 2_000;

/**
 * The caller of a tool call. If several made the same call, the last one: earlier notes that were not taken belong to refused
 * calls. The client may have changed the arguments; then a note counts only if a single caller waits for that tool.
 */
export function takeCall(
  handle: StoreHandle,
  { tool, key }: NotedCall,
  { above, at }: { above: ProcessesAbove; at: Date },
): Required<SessionKey> | undefined {
  const notes = readStore(handle, (db) => notesOf(db, tool, at.getTime() - NOTE_MS)).filter((note) =>
    isBelow(note, above),
  );
  const callers = new Set(notes.map(({ session_id: session, agent_id: agent }) => `${session}/${agent}`));
  const note =
    notes.find(({ tool_use_id: id }) => id.startsWith(`${key}@`)) ?? (callers.size === 1 ? notes[0] : undefined);
  if (!note) return undefined;
  try {
    writeStore(handle, (db) => db.prepare(TAKE).run(note.session_id, note.tool_use_id));
  } catch {
    // The store is read-only: the note stays until it expires.
  }
  return { sessionId: note.session_id, agentId: note.agent_id };
}

/** True if another session or agent of this client has begun an identical call whose note is not taken yet. */
export function isCallAwaited(
  handle: StoreHandle,
  { tool, key }: NotedCall,
  { by, above, at }: { by: Required<SessionKey>; above: ProcessesAbove; at: Date },
): boolean {
  return readStore(handle, (db) => notesOf(db, tool, at.getTime() - AWAITED_MS)).some(
    (note) =>
      note.tool_use_id.startsWith(`${key}@`) &&
      !(note.session_id === by.sessionId && note.agent_id === by.agentId) &&
      isBelow(note, above),
  );
}

/** The only open session of the nearest client above. Undefined if there are none or several, or if sub-agents are running. */
export function sessionAbove(
  handle: StoreHandle,
  above: ProcessesAbove,
): { sessionId: string; client: string; processId: number } | undefined {
  const [only, ...others] = nearestOpen(handle, above);
  if (!only || others.length > 0 || only.has_agents) return undefined;
  return { sessionId: only.session_id, client: only.client, processId: only.process_id };
}

/** The open sessions of the nearest client above that has any. */
function nearestOpen(handle: StoreHandle, { ids, space }: ProcessesAbove): OpenSession[] {
  const rows = readStore(handle, (db) => db.prepare(OPEN).all(JSON.stringify(ids))) as unknown as OpenSession[];
  const open = rows.filter((row) => (row.process_space ?? "") === space);
  const nearest = ids.find((id) => open.some((row) => row.process_id === id));
  return open.filter(({ process_id: id }) => id === nearest);
}

/** The nearest client above that has any session open here. */
export function clientOfProcesses(handle: StoreHandle, above: ProcessesAbove): string | undefined {
  return nearestOpen(handle, above)[0]?.client;
}

/** Check this first: without /proc, finding the ancestor processes means starting a program. */
export function hasOpenProcesses(handle: StoreHandle): boolean {
  const sql = "SELECT 1 FROM sessions WHERE process_id IS NOT NULL AND ended_at IS NULL LIMIT 1";
  return readStore(handle, (db) => db.prepare(sql).get()) !== undefined;
}

interface Note {
  session_id: string;
  agent_id: string;
  tool_use_id: string;
  process_id: number | null;
  process_space: string | null;
}

/** Newest first. */
function notesOf(db: DatabaseSync, tool: string, sinceMs: number): Note[] {
  const start = `${tool}#`;
  return db.prepare(NOTES).all(start.length, start, new Date(sinceMs).toISOString()) as unknown as Note[];
}

/** True also if the process of the note's session is unknown. */
function isBelow({ process_id: id, process_space: space }: Note, above: ProcessesAbove): boolean {
  return id === null || (above.ids.includes(id) && (space ?? "") === above.space);
}

const NOTES = `SELECT t.session_id, t.agent_id, t.tool_use_id, s.process_id, s.process_space FROM tool_calls t
LEFT JOIN sessions s ON s.session_id = t.session_id AND s.agent_id = ''
WHERE substr(t.tool_use_id, 1, ?) = ? AND t.at >= ? ORDER BY t.at DESC`;

const TAKE = "DELETE FROM tool_calls WHERE session_id = ? AND tool_use_id = ?";

interface OpenSession {
  session_id: string;
  client: string;
  process_id: number;
  process_space: string | null;
  has_agents: number;
}

const OPEN = `SELECT session_id, client, process_id, process_space, EXISTS (
  SELECT 1 FROM sessions a WHERE a.session_id = s.session_id AND a.agent_id <> '' AND a.ended_at IS NULL) AS has_agents
FROM sessions s WHERE agent_id = '' AND ended_at IS NULL AND process_id IN (SELECT value FROM json_each(?))`;
