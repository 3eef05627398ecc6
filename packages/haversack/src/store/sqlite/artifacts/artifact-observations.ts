/**
 * What hooks note about a sub-agent that was sent with documents to read: which, and which lines of them its tool calls have
 * shown. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { RequiredDocument } from "../../../artifacts/receipts.ts";
import type { NewReceipts } from "../../artifact-store.ts";
import type { SessionKey } from "../../local-store.ts";
import { readStore, writeEvent, writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";

export interface Expectation {
  /** Whom the prompt is for; where it does not say, the sub-agent's type as the client names it. */
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

/** A call that will start a sub-agent with documents to read. Which agent that will be is known later. */
export function noteSpawnDocuments(
  handle: StoreHandle,
  { sessionId, toolUseId }: { sessionId: string; toolUseId: string },
  { role, folder, iteration, documents }: Expectation,
  at: Date,
): void {
  const expectation = { role, folder, documents, ...(iteration !== undefined && { iteration }) };
  writeEvent(handle, "spawn-documents", saveSpawnDocuments, { ...expectation, sessionId, toolUseId, at });
}

export interface SpawnDocuments extends Expectation {
  sessionId: string;
  toolUseId: string;
  at: Date;
}

/** For callers that hold the write lock already; so are the others that save. */
export function saveSpawnDocuments(db: DatabaseSync, spawn: SpawnDocuments): void {
  const { sessionId, toolUseId, role, folder, iteration, documents, at } = spawn;
  db.prepare("INSERT OR REPLACE INTO spawn_documents VALUES (?, ?, ?, ?, ?, ?, ?)").run(
    sessionId,
    toolUseId,
    role,
    folder,
    iteration ?? null,
    JSON.stringify(documents),
    at.toISOString(),
  );
}

/**
 * The sub-agent was started by this call; one whose call names no documents is kept too, so that it is asked once. Two hooks of
 * one agent may both come first: the second finds no call any more, and changes nothing.
 */
export function placeReader(
  handle: StoreHandle,
  key: Required<SessionKey>,
  call: { toolUseId: string; agentType: string; at: Date },
): void {
  writeEvent(handle, "place-reader", savePlacedReader, { ...key, ...call });
}

export interface PlacedReader extends Required<SessionKey> {
  toolUseId: string;
  agentType: string;
  at: Date;
}

export function savePlacedReader(db: DatabaseSync, placed: PlacedReader): void {
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

/** At the sub-agent's start. Again for the same agent (it goes on): what it has seen stays, what it must read is new. */
export function expectDocuments(handle: StoreHandle, key: SessionKey, expectation: Expectation, at: Date): void {
  const { role, folder, iteration, documents } = expectation;
  const { sessionId, agentId = "" } = key;
  writeStore(handle, (db) => {
    db.prepare("INSERT OR REPLACE INTO dispatched_agents VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL)").run(
      sessionId,
      agentId,
      role,
      folder,
      iteration ?? null,
      at.toISOString(),
    );
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

/** What this agent must read; empty: nothing, or nobody has said. One look-up by key: every tool call asks. */
export function expectedOf(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): RequiredDocument[] {
  if (agentId === "") return [];
  return readStore(handle, (db) => db.prepare(EXPECTED).all(sessionId, agentId).map(toDocument));
}

export function recordSeen(handle: StoreHandle, key: SessionKey, seen: readonly SeenLines[]): void {
  if (seen.length > 0) writeEvent(handle, "seen", saveSeen, { ...key, seen });
}

export interface SeenByAgent extends SessionKey {
  seen: readonly SeenLines[];
}

export function saveSeen(db: DatabaseSync, { sessionId, agentId = "", seen }: SeenByAgent): void {
  const insert = db.prepare("INSERT OR IGNORE INTO seen_lines VALUES (?, ?, ?, ?, ?)");
  for (const { file, from, to } of seen) insert.run(sessionId, agentId, file, from, to);
}

/** Undefined: nobody has said what this agent must read. */
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

/** False: it was marked so before. Of two hooks that ask at once, one gets true. */
export function markAgent(handle: StoreHandle, key: SessionKey, mark: AgentMark, at: Date): boolean {
  return writeEvent(handle, "mark-agent", saveMark, { ...key, mark, at });
}

export interface MarkedAgent extends SessionKey {
  mark: AgentMark;
  at: Date;
}

export function saveMark(db: DatabaseSync, { sessionId, agentId = "", mark, at }: MarkedAgent): boolean {
  // The name of a column cannot be a parameter, and an entry of the spool is only a text.
  if (!MARKS.includes(mark)) throw new Error(`unknown mark ${mark}`);
  const sql = `UPDATE dispatched_agents SET ${mark} = ? WHERE session_id = ? AND agent_id = ? AND ${mark} IS NULL`;
  return db.prepare(sql).run(at.toISOString(), sessionId, agentId).changes === 1;
}

const MARKS: readonly AgentMark[] = ["sent_back_at", "settled_at", "warned_at"];

/** The agents that were sent with documents of a feature, newest first. */
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

// The rows of receipts, apart from the rest: a hook stores what a sub-agent has read.

/** For callers that hold the write lock already. */
export function insertReceipts(db: DatabaseSync, receipts: NewReceipts, at: Date): void {
  const { feature, role, iteration, source, agent, documents } = receipts;
  // A hook may have judged the agent at its end, before its answer is recorded: it counts once.
  if (agent) {
    db.prepare(
      "DELETE FROM receipts WHERE session_id = ? AND agent_id = ? AND (iteration IS ? OR iteration IS NULL)",
    ).run(agent.sessionId, agent.agentId, iteration ?? null);
  }
  const insert = db.prepare(
    `INSERT INTO receipts (feature, role, iteration, file, line_count, share, is_missing, source, claimed_lines,
      session_id, agent_id, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const { file, lineCount, share, isMissing, claimedLines } of documents) {
    insert.run(
      feature,
      role,
      iteration ?? null,
      file,
      lineCount,
      share,
      isMissing ? 1 : 0,
      source,
      claimedLines ?? null,
      agent?.sessionId ?? "",
      agent?.agentId ?? "",
      at.toISOString(),
    );
  }
}

export interface StoredReceipts {
  receipts: NewReceipts;
  at: Date;
}

export function saveReceipts(db: DatabaseSync, { receipts, at }: StoredReceipts): void {
  insertReceipts(db, receipts, at);
}

// Whether a sub-agent has documents to read, or may have: nobody has said yet which call started it, and there are
// calls with documents that it could be. Asked at every tool call of a sub-agent, so it is a look into two or three
// keys.

export function mayHaveToRead(
  db: DatabaseSync,
  { sessionId, agentId }: { sessionId: string; agentId: string },
): boolean {
  return db.prepare(ASK).get({ sessionId, agentId }) !== undefined;
}

const ASK = `SELECT 1 FROM expected_documents WHERE session_id = :sessionId AND agent_id = :agentId
UNION ALL SELECT 1 FROM spawn_documents WHERE session_id = :sessionId
AND NOT EXISTS (SELECT 1 FROM dispatched_agents WHERE session_id = :sessionId AND agent_id = :agentId) LIMIT 1`;
