/**
 * What hooks record about a sub-agent that has documents to read: which documents, and which of their lines its tool calls have shown.
 * The hook bundles this file.
 */

import type { DatabaseSync } from "node:sqlite";
import type { RequiredDocument } from "../../../artifacts/receipts.ts";
import type { NewReceipts } from "../../artifact-records.ts";
import { readStore, type StoreHandle, writeEvent, writeStore } from "../access.ts";
import type { SessionKey } from "../sessions/sqlite-local-store.ts";
import { insert } from "../work/rows.ts";

export interface Expectation {
  /** The role named in the prompt, else the client's sub-agent type. */
  role: string;
  /** The feature's folder, absolute. */
  folder: string;
  iteration?: number;
  documents: readonly RequiredDocument[];
}

export interface SeenLines {
  /** The document's name in the expectation. */
  file: string;
  from: number;
  to: number;
}

export interface AgentEvidence extends Required<SessionKey> {
  role: string;
  folder: string;
  iteration?: number;
  at: Date;
  documents: RequiredDocument[];
  seen: SeenLines[];
  isSentBack: boolean;
  isSettled: boolean;
  isWarned: boolean;
}

/** Stores a call that starts a sub-agent with documents to read. The agent's id is known later. */
export function noteSpawnDocuments(
  handle: StoreHandle,
  { sessionId, toolUseId }: { sessionId: string; toolUseId: string },
  { role, folder, iteration, documents }: Expectation,
  at: Date,
): void {
  const expectation = { role, folder, documents, ...(iteration !== undefined && { iteration }) };
  writeEvent(handle, "spawn-documents", saveSpawnDocuments, { ...expectation, sessionId, toolUseId, at });
}

/** Callers must hold the write lock. This is true for all `save…` functions. */
export function saveSpawnDocuments(
  db: DatabaseSync,
  spawn: Expectation & { sessionId: string; toolUseId: string; at: Date },
): void {
  const { sessionId: session_id, toolUseId: tool_use_id, role, folder, iteration, documents, at } = spawn;
  const said = { role, folder, iteration, documents: JSON.stringify(documents), at: at.toISOString() };
  insert(db, "spawn_documents", { session_id, tool_use_id, ...said }, "INSERT OR REPLACE");
}

/**
 * Links the sub-agent to the call that started it. Calls without documents are stored too, so they are checked only once. Two hooks of
 * one agent may run at once: the second finds no call left and changes nothing.
 */
export function placeReader(
  handle: StoreHandle,
  key: Required<SessionKey>,
  call: { toolUseId: string; agentType: string; at: Date },
): void {
  writeEvent(handle, "place-reader", savePlacedReader, { ...key, ...call });
}

export function savePlacedReader(
  db: DatabaseSync,
  placed: Required<SessionKey> & { toolUseId: string; agentType: string; at: Date },
): void {
  const { sessionId, agentId, toolUseId, agentType, at } = placed;
  const found = db
    .prepare("DELETE FROM spawn_documents WHERE session_id = ? AND tool_use_id = ? RETURNING *")
    .get(sessionId, toolUseId);
  const { role = "", folder = "", iteration = null } = found ?? {};
  const { changes } = db
    .prepare("INSERT OR IGNORE INTO dispatched_agents VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL)")
    .run(sessionId, agentId, found ? role || agentType : "", folder, iteration, at.toISOString());
  if (!found || changes === 0) return;
  insertExpected(db, { sessionId, agentId }, JSON.parse(String(found["documents"])) as RequiredDocument[]);
}

/** Runs when the sub-agent starts. If the same agent is resumed, what it has seen stays and the required documents are replaced. */
export function expectDocuments(handle: StoreHandle, key: SessionKey, expectation: Expectation, at: Date): void {
  const { role, folder, iteration, documents } = expectation;
  const { sessionId, agentId = "" } = key;
  writeStore(handle, (db) => {
    const agent = { session_id: sessionId, agent_id: agentId, role, folder, iteration, at: at.toISOString() };
    insert(db, "dispatched_agents", agent, "INSERT OR REPLACE");
    db.prepare("DELETE FROM expected_documents WHERE session_id = ? AND agent_id = ?").run(sessionId, agentId);
    insertExpected(db, { sessionId, agentId }, documents);
  });
}

function insertExpected(
  db: DatabaseSync,
  { sessionId, agentId }: Required<SessionKey>,
  documents: readonly RequiredDocument[],
): void {
  const insert = db.prepare("INSERT OR REPLACE INTO expected_documents VALUES (?, ?, ?, ?, ?, ?)");
  for (const { file, name, path, lineCount } of documents) insert.run(sessionId, agentId, file, name, path, lineCount);
}

/** The documents that this agent must read. Empty: none, or unknown. One key lookup, because every tool call asks. */
export function expectedOf(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): RequiredDocument[] {
  if (agentId === "") return [];
  return readStore(handle, (db) => db.prepare(EXPECTED).all(sessionId, agentId).map(toDocument));
}

export function recordSeen(handle: StoreHandle, key: SessionKey, seen: readonly SeenLines[]): void {
  if (seen.length > 0) writeEvent(handle, "seen", saveSeen, { ...key, seen });
}

export function saveSeen(
  db: DatabaseSync,
  { sessionId, agentId = "", seen }: SessionKey & { seen: readonly SeenLines[] },
): void {
  const insert = db.prepare("INSERT OR IGNORE INTO seen_lines VALUES (?, ?, ?, ?, ?)");
  for (const { file, from, to } of seen) insert.run(sessionId, agentId, file, from, to);
}

/** Undefined: unknown what this agent must read. */
export function readSeen(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): AgentEvidence | undefined {
  return readStore(handle, (db) => {
    const row = db
      .prepare("SELECT * FROM dispatched_agents WHERE session_id = ? AND agent_id = ?")
      .get(sessionId, agentId);
    if (!row) return undefined;
    const { role, folder, iteration, at, sent_back_at: sentBack, settled_at: settled, warned_at: warned } = row;
    return {
      sessionId,
      agentId,
      role: String(role),
      folder: String(folder),
      ...(iteration !== null && { iteration: Number(iteration) }),
      at: new Date(String(at)),
      documents: db.prepare(EXPECTED).all(sessionId, agentId).map(toDocument),
      seen: db.prepare(SEEN).all(sessionId, agentId) as unknown as SeenLines[],
      isSentBack: sentBack !== null,
      isSettled: settled !== null,
      isWarned: warned !== null,
    };
  });
}

export type AgentMark = "sent_back_at" | "settled_at" | "warned_at";

/** Returns false if the mark was already set. If two hooks ask at once, only one gets true. */
export function markAgent(handle: StoreHandle, key: SessionKey, mark: AgentMark, at: Date): boolean {
  return writeEvent(handle, "mark-agent", saveMark, { ...key, mark, at });
}

export function saveMark(
  db: DatabaseSync,
  { sessionId, agentId = "", mark, at }: SessionKey & { mark: AgentMark; at: Date },
): boolean {
  // A column name cannot be a parameter, and spool entries are untrusted text.
  if (!MARKS.includes(mark)) throw new Error(`unknown mark ${mark}`);
  const sql = `UPDATE dispatched_agents SET ${mark} = ? WHERE session_id = ? AND agent_id = ? AND ${mark} IS NULL`;
  return db.prepare(sql).run(at.toISOString(), sessionId, agentId).changes === 1;
}

const MARKS: readonly AgentMark[] = ["sent_back_at", "settled_at", "warned_at"];

/** The agents that got documents of a feature to read, newest first. */
export function agentsOf(handle: StoreHandle, folder: string, { limit = 50 }: { limit?: number } = {}): SessionKey[] {
  return readStore(handle, (db) =>
    db
      .prepare("SELECT session_id, agent_id FROM dispatched_agents WHERE folder = ? ORDER BY at DESC LIMIT ?")
      .all(folder, limit)
      .map((row) => ({ sessionId: String(row["session_id"]), agentId: String(row["agent_id"]) })),
  );
}

const EXPECTED = "SELECT file, name, path, line_count FROM expected_documents WHERE session_id = ? AND agent_id = ?";

const SEEN =
  'SELECT file, first_line AS "from", last_line AS "to" FROM seen_lines WHERE session_id = ? AND agent_id = ?';

function toDocument({ file, name, path, line_count: lineCount }: Record<string, unknown>): RequiredDocument {
  return { file: String(file), name: String(name), path: String(path), lineCount: Number(lineCount) };
}

// Receipt rows are separate from the rest of the store, because a hook writes them.

/** Callers must hold the write lock. */
export function insertReceipts(db: DatabaseSync, receipts: NewReceipts, at: Date): void {
  const { feature, role, iteration, source, agent, documents } = receipts;
  // A hook may have stored the receipts when the agent ended, before its answer is recorded. They count once.
  if (agent) {
    const sql = "DELETE FROM receipts WHERE session_id = ? AND agent_id = ? AND (iteration IS ? OR iteration IS NULL)";
    db.prepare(sql).run(agent.sessionId, agent.agentId, iteration ?? null);
  }
  const by = { session_id: agent?.sessionId ?? "", agent_id: agent?.agentId ?? "", at: at.toISOString() };
  for (const { file, lineCount: line_count, share, isMissing, claimedLines: claimed_lines } of documents) {
    const read = { file, line_count, share, is_missing: isMissing ? 1 : 0, claimed_lines };
    insert(db, "receipts", { feature, role, iteration, source, ...read, ...by });
  }
}

export function saveReceipts(db: DatabaseSync, { receipts, at }: { receipts: NewReceipts; at: Date }): void {
  insertReceipts(db, receipts, at);
}

/**
 * Whether a sub-agent has documents to read, or may have: its call is unknown and some calls with documents are unassigned. Every
 * tool call asks, so it only looks up keys.
 */
export function mayHaveToRead(db: DatabaseSync, { sessionId, agentId }: Required<SessionKey>): boolean {
  return db.prepare(ASK).get({ sessionId, agentId }) !== undefined;
}

const ASK = `SELECT 1 FROM expected_documents WHERE session_id = :sessionId AND agent_id = :agentId
UNION ALL SELECT 1 FROM spawn_documents WHERE session_id = :sessionId
AND NOT EXISTS (SELECT 1 FROM dispatched_agents WHERE session_id = :sessionId AND agent_id = :agentId) LIMIT 1`;
