/**
 * Whose tool call it is, for clients that tell the MCP server nothing: the hook before the call has noted it (`tool_calls`), and the
 * server takes the note. Several clients may run in one project: only notes of the client that the server belongs to count.
 */
import type { DatabaseSync } from "node:sqlite";
import type { SessionKey } from "../../local-store.ts";
import { readStore, writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";

/** The processes above the one that asks, nearest first: one of them is the client. */
export interface ProcessesAbove {
  ids: readonly number[];
  space: string;
}

export interface NotedCall {
  tool: string;
  /** Of tool and arguments; what was noted begins with it. */
  key: string;
}

/** A person may be asked before the call is made. What is older was never made. */
const NOTE_MS = 15 * 60_000;
/** After this a call that is just like it goes ahead: the first one waits for a person. */
const AWAITED_MS = 2_000;

/**
 * Whoever made the call. Of several that made the same one the last: what came before it and was not taken was refused. A
 * client may have changed the arguments on the way: then the note counts if only one caller is waiting for that tool.
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
    // A store that can only be read: the note stays, and is too old after a while.
  }
  return { sessionId: note.session_id, agentId: note.agent_id };
}

/** Another session or agent of this client has begun the very same call, and the server has not taken its note yet. */
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

/**
 * The one session that the nearest client above has open. Undefined where there is none, or several, or sub-agents at work: then
 * the process does not tell who asks.
 */
export function sessionAbove(
  handle: StoreHandle,
  { ids, space }: ProcessesAbove,
): { sessionId: string; client: string; processId: number } | undefined {
  const rows = readStore(handle, (db) => db.prepare(OPEN).all(JSON.stringify(ids))) as unknown as OpenSession[];
  const open = rows.filter((row) => (row.process_space ?? "") === space);
  const nearest = ids.find((id) => open.some((row) => row.process_id === id));
  const [only, ...others] = open.filter(({ process_id: id }) => id === nearest);
  if (!only || others.length > 0 || only.has_agents) return undefined;
  return { sessionId: only.session_id, client: only.client, processId: only.process_id };
}

/** The nearest client above that has a session open here, however many it has. */
export function clientOfProcesses(handle: StoreHandle, { ids, space }: ProcessesAbove): string | undefined {
  const rows = readStore(handle, (db) => db.prepare(OPEN).all(JSON.stringify(ids))) as unknown as OpenSession[];
  const open = rows.filter((row) => (row.process_space ?? "") === space);
  const nearest = ids.find((id) => open.some((row) => row.process_id === id));
  return open.find(({ process_id: id }) => id === nearest)?.client;
}

/** Asked first: without /proc, a program must be started to learn the processes above. */
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

/** A session whose process nobody has told may be the client's. */
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
