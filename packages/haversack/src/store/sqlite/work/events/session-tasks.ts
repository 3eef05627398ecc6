/**
 * Which task an agent of a session works on: what it claimed last, else the task that the call which started it names. A task
 * that is done, blocked, given back or taken by another is bound no more: its claim is gone, or it is not open. The hook
 * bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { SessionKey } from "../../../local-store.ts";
import { readStore, writeEvent } from "../../access.ts";
import type { StoreHandle } from "../../handle.ts";
import { agentOfCall } from "../../skills/prompt-ledger.ts";
import { becomeOrchestrator } from "../agents.ts";
import { isStandIn, regainTasks } from "../claims.ts";
import { acceptTime, leaseTime } from "../store-clock.ts";

export interface BoundTask {
  /** Its row. */
  seq: number;
  id: string;
  title: string;
  /** Who holds it, and the last sign of life; absent when nobody of this session does. */
  holder?: string;
  heartbeatAt?: string;
}

export class SessionTasks {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  taskOf(key: SessionKey): BoundTask | undefined {
    return readStore(this.#handle, (db) => boundTask(db, key));
  }

  /** Nobody has said yet which call started this sub-agent, and there are calls that it could be. */
  isUnplaced({ sessionId, agentId = "" }: SessionKey): boolean {
    if (agentId === "") return false;
    // Whether there is such a call is seen when the spool is read in.
    if (this.#handle.standIn?.isBlind) return true;
    return readStore(this.#handle, (db) => db.prepare(UNPLACED).get(sessionId, sessionId, agentId) !== undefined);
  }

  /** The sub-agent was started by this call; one that names no task is kept too, so that it is asked once. */
  placeAgent(key: SessionKey, toolUseId: string, at: Date): void {
    writeEvent(this.#handle, "place-agent", savePlace, { ...key, toolUseId, at });
  }
}

export interface PlacedAgent extends SessionKey {
  /** The call that started it. */
  toolUseId: string;
  at: Date;
}

/** For callers that hold the write lock already. */
export function savePlace(db: DatabaseSync, { sessionId, agentId = "", toolUseId, at }: PlacedAgent): void {
  db.prepare(PLACE).run({ sessionId, agentId, toolUseId, at: at.toISOString() });
  db.prepare("DELETE FROM spawns WHERE session_id = ? AND tool_use_id = ?").run(sessionId, toolUseId);
  // What its prompt brought is in its window.
  for (const table of BEFORE_ITS_NAME) {
    db.prepare(`UPDATE OR IGNORE ${table} SET agent_id = ? WHERE session_id = ? AND agent_id = ?`).run(
      agentId,
      sessionId,
      agentOfCall(toolUseId),
    );
  }
}

const BEFORE_ITS_NAME = ["ledger", "injections", "skill_uses", "agent_roles", "prompt_matches"];

/** The role that a sub-agent is started in. For callers that hold the write lock already. */
export function noteRole(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey, role: string): void {
  db.prepare("INSERT OR REPLACE INTO agent_roles (session_id, agent_id, role) VALUES (?, ?, ?)").run(
    sessionId,
    agentId,
    role,
  );
}

/** Undefined: it was started in none. */
export function notedRole(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey): string | undefined {
  const row = db.prepare("SELECT role FROM agent_roles WHERE session_id = ? AND agent_id = ?").get(sessionId, agentId);
  return row && String(row["role"]);
}

/** For callers that hold the write lock already. */
export function boundTask(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey): BoundTask | undefined {
  const row =
    db.prepare(BY_CLAIM).get(sessionId, agentId) ??
    (agentId === "" ? undefined : db.prepare(BY_SPAWN).get(sessionId, agentId));
  return row && toBound(row);
}

/** A claim is prolonged at the first tool call after this long: a write at every call would buy nothing. */
const HEARTBEAT_MS = 60_000;

export function isHeartbeatDue(bound: BoundTask | undefined, at: Date): boolean {
  const last = bound?.heartbeatAt;
  return last !== undefined && at.getTime() - Date.parse(last) >= HEARTBEAT_MS;
}

/**
 * The task that an agent is at work on, with the sign of life that its claim needs. A session that was quiet for longer than its lease
 * goes on with its task, unless somebody has taken it. For callers that hold the write lock already.
 */
export function taskAtWork(
  db: DatabaseSync,
  key: Required<SessionKey>,
  { leaseMs, at }: { leaseMs: () => number; at: Date },
): BoundTask | undefined {
  const bound =
    boundTask(db, key) ?? (regainTasks(db, key, { leaseMs, at, most: 1 }).length > 0 ? boundTask(db, key) : undefined);
  if (bound && isHeartbeatDue(bound, at)) {
    const now = isStandIn(db) ? leaseTime(db, at) : acceptTime(db, at);
    db.prepare("UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?").run(
      now.toISOString(),
      now.getTime() + leaseMs(),
      bound.seq,
    );
  }
  return bound;
}

/** Where WIP is kept: with a task, or with a session that works on none. */
export interface WipHome {
  text: string | undefined;
  save(data: string, time: string): void;
  note(time: string, path: string, before: string | null, after: string | null): void;
}

export function taskWipHome(db: DatabaseSync, { seq, holder }: BoundTask, client: string): WipHome {
  return {
    text: taskWip(db, seq)?.data,
    save: (data, time) => db.prepare("INSERT OR REPLACE INTO task_wip VALUES (?, ?, ?)").run(seq, data, time),
    note: (time, path, before, after) =>
      db
        .prepare("INSERT INTO task_wip_changes (task, at, actor, path, before, after) VALUES (?, ?, ?, ?, ?, ?)")
        .run(seq, time, holder ?? client, path, before, after),
  };
}

/** The task's WIP as JSON text, with the time of its last change. */
export function taskWip(db: DatabaseSync, seq: number): { data: string; updatedAt: string } | undefined {
  const row = db.prepare("SELECT data, updated_at FROM task_wip WHERE task = ?").get(seq);
  return row && { data: String(row["data"]), updatedAt: String(row["updated_at"]) };
}

/** Of a task `t`. */
export const IS_OPEN = "t.status IN ('todo', 'in_progress', 'review')";

const BY_CLAIM = `SELECT t.seq, t.id, t.title, c.agent, c.heartbeat_at FROM claims c JOIN tasks t ON t.seq = c.task
WHERE c.session_id = ? AND c.agent_id = ? ORDER BY c.claimed_at DESC, c.task DESC LIMIT 1`;

// The claim may be the coordinator's, who took the task and has it done by this agent.
const BY_SPAWN = `SELECT t.seq, t.id, t.title, c.agent, c.heartbeat_at FROM agent_tasks a JOIN tasks t ON t.id = a.task
LEFT JOIN claims c ON c.task = t.seq AND c.session_id = a.session_id
WHERE a.session_id = ? AND a.agent_id = ? AND ${IS_OPEN}
AND NOT EXISTS (SELECT 1 FROM claims o WHERE o.task = t.seq AND o.session_id IS NOT a.session_id)
AND NOT EXISTS (SELECT 1 FROM lost_claims l WHERE l.task = t.seq AND l.session_id = a.session_id)`;

const UNPLACED = `SELECT 1 FROM spawns WHERE session_id = ?
AND NOT EXISTS (SELECT 1 FROM agent_tasks WHERE session_id = ? AND agent_id = ?) LIMIT 1`;

// Two hooks of one agent may both come first: the second finds no call any more, and changes nothing.
const PLACE = `INSERT OR IGNORE INTO agent_tasks
SELECT :sessionId, :agentId, coalesce(max(task), ''), coalesce(max(at), :at) FROM spawns
WHERE session_id = :sessionId AND tool_use_id = :toolUseId`;

function toBound({ seq, id, title, agent, heartbeat_at: heartbeatAt }: Record<string, unknown>): BoundTask {
  return {
    seq: Number(seq),
    id: String(id),
    title: String(title),
    ...(typeof agent === "string" && { holder: agent }),
    ...(typeof heartbeatAt === "string" && { heartbeatAt }),
  };
}

// Calls that start sub-agents for tasks.

export interface Spawn {
  toolUseId: string;
  agentType: string;
  taskId: string;
  /** The call gives the task to the sub-agent. Default: false, it helps with what the caller works on. */
  isDispatch?: boolean;
}

export class Spawns {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  /** A call that starts a sub-agent for a task. Which agent that will be is known later. */
  noteSpawn(sessionId: string, spawn: Spawn, at: Date): void {
    writeEvent(this.#handle, "spawn", saveSpawn, { sessionId, ...spawn, at });
  }

  /** The store cannot be read, so nobody can say yet which task a call is about. */
  get isBlind(): boolean {
    return this.#handle.standIn?.isBlind ?? false;
  }

  /** As `noteSpawn`, for that case: the task is looked up when the spool is read in. */
  noteUnresolved(key: SessionKey, call: Omit<UnresolvedSpawn, "at" | keyof SessionKey>, at: Date): void {
    writeEvent(this.#handle, "unresolved-spawn", saveUnresolvedSpawn, { ...key, ...call, at });
  }

  /** The first of these ids that an open task has, as its id or else as an alias. */
  firstOpen(ids: readonly string[]): string | undefined {
    return ids.length === 0 ? undefined : readStore(this.#handle, (db) => firstOpen(db, ids));
  }

  /** The task that an agent works on; none for one that holds several: whom it starts may work on any of them. */
  soleTaskOf(key: SessionKey): BoundTask | undefined {
    return readStore(this.#handle, (db) => soleTask(db, key));
  }
}

export interface SpawnEvent extends Spawn {
  sessionId: string;
  at: Date;
}

/** For callers that hold the write lock already; so is the next one. */
export function saveSpawn(db: DatabaseSync, spawn: SpawnEvent): void {
  const { sessionId, toolUseId, agentType, taskId, isDispatch, at } = spawn;
  db.prepare("INSERT OR REPLACE INTO spawns VALUES (?, ?, ?, ?, ?)").run(
    sessionId,
    toolUseId,
    agentType,
    taskId,
    at.toISOString(),
  );
  if (isDispatch) becomeOrchestrator(db, sessionId);
}

export interface UnresolvedSpawn extends SessionKey {
  toolUseId: string;
  agentType: string;
  /** Ids in the call's prompt. */
  taskIds: readonly string[];
  at: Date;
}

export function saveUnresolvedSpawn(db: DatabaseSync, { taskIds, ...call }: UnresolvedSpawn): void {
  const named = firstOpen(db, taskIds);
  const taskId = named ?? soleTask(db, call)?.id;
  if (taskId !== undefined) saveSpawn(db, { ...call, taskId, isDispatch: named !== undefined });
}

function firstOpen(db: DatabaseSync, ids: readonly string[]): string | undefined {
  const byId = db.prepare(`SELECT t.id, ${IS_OPEN} AS is_open FROM tasks t WHERE t.id = ?`);
  const byAlias = db.prepare(
    `SELECT t.id, ${IS_OPEN} AS is_open FROM aliases a JOIN tasks t ON t.id = a.id WHERE a.alias = ?`,
  );
  for (const id of ids) {
    const own = byId.get(id);
    const [task, ...others] = own ? [own] : byAlias.all(id);
    if (task?.["is_open"] === 1 && others.length === 0) return String(task["id"]);
  }
  return undefined;
}

function soleTask(db: DatabaseSync, key: SessionKey): BoundTask | undefined {
  const held = db.prepare(HELD).get(key.sessionId, key.agentId ?? "")?.["held"];
  return Number(held) > 1 ? undefined : boundTask(db, key);
}

const HELD = "SELECT count(*) AS held FROM claims WHERE session_id = ? AND agent_id = ?";

// The handoff that a sub-agent stored: one statement instead of the whole work store.

export interface StoredHandoff {
  id: string;
  taskId: string;
  status: string;
  summary: string;
  hasDetails: boolean;
}

/**
 * The latest handoff that this sub-agent stored. Whoever works for a session's sub-agent has a name that ends with the
 * beginning of its id (engine/work/actor.ts). Looks at the newest only: it was stored a moment ago.
 */
export function readHandoffBy(handle: StoreHandle, agentId: string): StoredHandoff | undefined {
  const ending = `.${agentId.replace(/[^A-Za-z0-9]/g, "").slice(0, 8)}`;
  return readStore(handle, (db) => {
    const row = db
      .prepare(NEWEST_HANDOFFS)
      .all()
      .find(({ actor }) => String(actor).endsWith(ending));
    return (
      row && {
        id: String(row["id"]),
        taskId: String(row["task_id"]),
        status: String(row["status"]),
        summary: String(row["summary"]),
        hasDetails: Number(row["details_chars"]) > 0,
      }
    );
  });
}

const NEWEST_HANDOFFS = `SELECT h.id, t.id AS task_id, h.status, h.summary, h.details_chars, h.actor
FROM (SELECT * FROM handoffs ORDER BY seq DESC LIMIT 200) h JOIN tasks t ON t.seq = h.task ORDER BY h.created_at DESC, h.seq DESC`;
