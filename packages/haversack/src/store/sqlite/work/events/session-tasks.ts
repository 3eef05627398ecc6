/**
 * Which task an agent of a session works on: its latest claim, else the task named in the call that started it. A task that is done,
 * blocked, given back or taken by another agent is no longer bound: its claim is gone, or it is not open. The hook bundles this file.
 */

import type { DatabaseSync } from "node:sqlite";
import type { GitState } from "../../../../work/wip/git-changes.ts";
import { OnStore, readStore, type StoreHandle, writeEvent, writeStore } from "../../access.ts";
import { addToOutbox } from "../../outbox/outbox.ts";
import type { SessionKey } from "../../sessions/sqlite-local-store.ts";
import { agentOfCall } from "../../skills/prompt-ledger.ts";
import { becomeOrchestrator } from "../agents.ts";
import { acceptTime, isStandIn, leaseTime, regainTasks } from "../claims.ts";
import { fromRow, one, type Row } from "../rows.ts";
import { bindNamed } from "../session-work.ts";

export interface BoundTask {
  /** The task's row. */
  seq: number;
  id: string;
  title: string;
  /** The holder and its last sign of life. Absent if nobody in this session holds the task. */
  holder?: string;
  heartbeatAt?: string;
}

export class SessionTasks extends OnStore {
  taskOf(key: SessionKey): BoundTask | undefined {
    return readStore(this.handle, (db) => boundTask(db, key));
  }

  /** The call that started this sub-agent is not known yet, and there are candidates. */
  isUnplaced({ sessionId, agentId = "" }: SessionKey): boolean {
    if (agentId === "") return false;
    // Whether there is a candidate is checked when the spool is read.
    if (this.handle.standIn?.isBlind) return true;
    return this.row(UNPLACED, sessionId, sessionId, agentId) !== undefined;
  }

  /** Links the sub-agent to the call that started it. Calls without a task are stored too, so they are checked only once. */
  placeAgent(key: SessionKey, toolUseId: string, at: Date): void {
    writeEvent(this.handle, "place-agent", savePlace, { ...key, toolUseId, at });
  }
}

/** `toolUseId`: the call that started the sub-agent. Callers must hold the write lock. */
export function savePlace(
  db: DatabaseSync,
  { sessionId, agentId = "", toolUseId, at }: SessionKey & { toolUseId: string; at: Date },
): void {
  db.prepare(PLACE).run({ sessionId, agentId, toolUseId, at: at.toISOString() });
  db.prepare("DELETE FROM spawns WHERE session_id = ? AND tool_use_id = ?").run(sessionId, toolUseId);
  // Rows stored for the call now belong to the sub-agent: its window contains what its prompt included.
  for (const table of BEFORE_ITS_NAME) {
    const sql = `UPDATE OR IGNORE ${table} SET agent_id = ? WHERE session_id = ? AND agent_id = ?`;
    db.prepare(sql).run(agentId, sessionId, agentOfCall(toolUseId));
  }
}

const BEFORE_ITS_NAME = ["ledger", "injections", "skill_uses", "agent_roles", "prompt_matches"];

/** Stores the role that a sub-agent is started in. Callers must hold the write lock. */
export function noteRole(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey, role: string): void {
  const sql = "INSERT OR REPLACE INTO agent_roles (session_id, agent_id, role) VALUES (?, ?, ?)";
  db.prepare(sql).run(sessionId, agentId, role);
}

/** Undefined: it was started without a role. */
export function notedRole(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey): string | undefined {
  const row = db.prepare("SELECT role FROM agent_roles WHERE session_id = ? AND agent_id = ?").get(sessionId, agentId);
  return row && String(row["role"]);
}

/** Callers must hold the write lock. */
export function boundTask(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey): BoundTask | undefined {
  const row =
    one<Row>(db, BY_CLAIM, sessionId, agentId) ?? (agentId ? one<Row>(db, BY_SPAWN, sessionId, agentId) : undefined);
  return row && fromRow<BoundTask>(row, { seq: row["seq"] });
}

/** A claim is extended at the first tool call after this time. Writing at every call would gain nothing. */
const HEARTBEAT_MS = 60_000;

export function isHeartbeatDue(bound: BoundTask | undefined, at: Date): boolean {
  const last = bound?.heartbeatAt;
  return last !== undefined && at.getTime() - Date.parse(last) >= HEARTBEAT_MS;
}

/**
 * The task that an agent is at work on, with the sign of life that its claim needs. A session that was quiet for longer than its lease
 * goes on with its task, unless somebody has taken it. `name`: what the session's agent is called; what was claimed under that name
 * without a session becomes this session's. For callers that hold the write lock already.
 */
export function taskAtWork(
  db: DatabaseSync,
  key: Required<SessionKey>,
  { name, leaseMs, at }: { name?: string | undefined; leaseMs: () => number; at: Date },
): { bound: BoundTask | undefined; isNews: boolean } {
  if (name && bindNamed(db, key, name)) addToOutbox(db, "bind", () => ({ ...key, name, at }));
  let bound = boundTask(db, key);
  const isRegained = !bound && regainTasks(db, key, { leaseMs, at, most: 1 }).length > 0;
  if (isRegained) bound = boundTask(db, key);
  const isDue = isHeartbeatDue(bound, at);
  if (bound && isDue) {
    const now = isStandIn(db) ? leaseTime(db, at) : acceptTime(db, at);
    const sql = "UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?";
    db.prepare(sql).run(now.toISOString(), now.getTime() + leaseMs(), bound.seq);
  }
  return { bound, isNews: isRegained || isDue };
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

/** Condition for a task `t`. */
export const IS_OPEN = "t.status IN ('todo', 'in_progress', 'review')";

const BY_CLAIM = `SELECT t.seq, t.id, t.title, c.agent AS holder, c.heartbeat_at AS heartbeatAt FROM claims c JOIN tasks t ON t.seq = c.task
WHERE c.session_id = ? AND c.agent_id = ? ORDER BY c.claimed_at DESC, c.task DESC LIMIT 1`;

const BY_SPAWN = `SELECT t.seq, t.id, t.title, c.agent AS holder, c.heartbeat_at AS heartbeatAt FROM agent_tasks a JOIN tasks t ON t.id = a.task
LEFT JOIN claims c ON c.task = t.seq AND c.session_id = a.session_id
WHERE a.session_id = ? AND a.agent_id = ? AND ${IS_OPEN}
AND NOT EXISTS (SELECT 1 FROM claims o WHERE o.task = t.seq AND o.session_id IS NOT a.session_id)
AND NOT EXISTS (SELECT 1 FROM lost_claims l WHERE l.task = t.seq AND l.session_id = a.session_id)`;

const UNPLACED = `SELECT 1 FROM spawns WHERE session_id = ?
AND NOT EXISTS (SELECT 1 FROM agent_tasks WHERE session_id = ? AND agent_id = ?) LIMIT 1`;

// Two hooks of one agent may run at once: the second finds no call left and changes nothing.
const PLACE = `INSERT OR IGNORE INTO agent_tasks
SELECT :sessionId, :agentId, coalesce(max(task), ''), coalesce(max(at), :at) FROM spawns
WHERE session_id = :sessionId AND tool_use_id = :toolUseId`;

// Calls that start sub-agents for tasks.

export interface Spawn {
  toolUseId: string;
  agentType: string;
  taskId: string;
  /** The call gives the task to the sub-agent. Default: false, the sub-agent only helps with the caller's task. */
  isDispatch?: boolean;
}

export class Spawns extends OnStore {
  /** Stores a call that starts a sub-agent for a task. The agent's id is known later. */
  noteSpawn(sessionId: string, spawn: Spawn, at: Date): void {
    writeEvent(this.handle, "spawn", saveSpawn, { sessionId, ...spawn, at });
  }

  /** The store cannot be read, so the task of a call is not known yet. */
  get isBlind(): boolean {
    return this.handle.standIn?.isBlind ?? false;
  }

  /** Like `noteSpawn`, while `isBlind`: the task is looked up when the spool is read. */
  noteUnresolved(key: SessionKey, call: Omit<UnresolvedSpawn, "at" | keyof SessionKey>, at: Date): void {
    writeEvent(this.handle, "unresolved-spawn", saveUnresolvedSpawn, { ...key, ...call, at });
  }

  /** The first of these ids that matches an open task, by id or else by alias. */
  firstOpen(ids: readonly string[]): string | undefined {
    return ids.length === 0 ? undefined : readStore(this.handle, (db) => firstOpen(db, ids));
  }

  /** The task that an agent works on. None if it holds several: its sub-agents may work on any of them. */
  soleTaskOf(key: SessionKey): BoundTask | undefined {
    return readStore(this.handle, (db) => soleTask(db, key));
  }
}

/** Callers must hold the write lock. The next function needs it too. */
export function saveSpawn(db: DatabaseSync, spawn: Spawn & { sessionId: string; at: Date }): void {
  const { sessionId, toolUseId, agentType, taskId, isDispatch, at } = spawn;
  const add = db.prepare("INSERT OR REPLACE INTO spawns VALUES (?, ?, ?, ?, ?)");
  add.run(sessionId, toolUseId, agentType, taskId, at.toISOString());
  if (!isDispatch) return;
  becomeOrchestrator(db, sessionId);
  addToOutbox(db, "orchestrator", () => ({ sessionId, at }));
}

export interface UnresolvedSpawn extends SessionKey {
  toolUseId: string;
  agentType: string;
  /** Task ids in the call's prompt. */
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

// Reads the handoff that a sub-agent stored, with one statement instead of the whole work store.

export interface StoredHandoff {
  id: string;
  taskId: string;
  status: string;
  summary: string;
  hasDetails: boolean;
}

/** The latest handoff that this sub-agent stored. Only checks the newest ones: it was stored a moment ago. */
export function readHandoffBy(handle: StoreHandle, agentId: string): StoredHandoff | undefined {
  // The name of a session's sub-agent ends with the start of its id (engine/work/actor.ts).
  const ending = `.${agentId.replace(/[^A-Za-z0-9]/g, "").slice(0, 8)}`;
  const rows = readStore(handle, (db) => db.prepare(NEWEST_HANDOFFS).all());
  const { actor: _, details_chars, ...row } = rows.find(({ actor }) => String(actor).endsWith(ending)) ?? {};
  return row["id"] === undefined ? undefined : fromRow(row, { hasDetails: Number(details_chars) > 0 });
}

const NEWEST_HANDOFFS = `SELECT h.id, t.id AS task_id, h.status, h.summary, h.details_chars, h.actor
FROM (SELECT * FROM handoffs ORDER BY seq DESC LIMIT 200) h JOIN tasks t ON t.seq = h.task ORDER BY h.created_at DESC, h.seq DESC`;

// Git state at the time of a claim, and other agents working in a worktree. The hook bundles this file.

export function keepGitState(
  handle: StoreHandle,
  { taskId, worktree }: { taskId: string; worktree: string },
  { head, files }: GitState,
  at: Date,
): void {
  const sql = "INSERT OR REPLACE INTO git_states (task, worktree, head, files, at) VALUES (?, ?, ?, ?, ?)";
  writeStore(handle, (db) => db.prepare(sql).run(taskId, worktree, head, JSON.stringify(files), at.toISOString()));
}

export function keptGitState(
  handle: StoreHandle,
  { taskId, worktree }: { taskId: string; worktree: string },
): (GitState & { at: string }) | undefined {
  const sql = "SELECT head, files, at FROM git_states WHERE task = ? AND worktree = ?";
  const row = readStore(handle, (db) => one<{ head: string; files: string; at: string }>(db, sql, taskId, worktree));
  return row && { ...row, files: JSON.parse(row.files) };
}

/** An agent's current work and what is known about it. */
export interface WorkAtHand {
  /** Absent: the agent works on no task. */
  taskId?: string;
  wip: Record<string, unknown>;
}

export function workAtHand(handle: StoreHandle, { sessionId, agentId = "" }: SessionKey): WorkAtHand {
  return readStore(handle, (db) => {
    const bound = boundTask(db, { sessionId, agentId });
    const text = bound
      ? taskWip(db, bound.seq)?.data
      : db.prepare("SELECT data FROM session_wip WHERE session_id = ? AND agent_id = ?").get(sessionId, agentId)?.[
          "data"
        ];
    const wip = text === undefined ? {} : JSON.parse(String(text));
    return bound ? { taskId: bound.id, wip } : { wip };
  });
}

/**
 * Whether a changed file may belong to this task if no agent was seen changing it. No, if another agent has touched it since, in any
 * session. If others worked on tasks in the same worktree meanwhile: only if the task itself names the file.
 */
export function whoseFile(
  handle: StoreHandle,
  work: SessionKey & { taskId: string; worktree: string; since: string },
): (path: string) => boolean {
  const { taskId, worktree, sessionId, agentId = "", since } = work;
  return readStore(handle, (db) => {
    const touched = db
      .prepare("SELECT path FROM session_files WHERE NOT (session_id = ? AND agent_id = ?) AND at >= ?")
      .all(sessionId, agentId, since);
    const theirs = new Set(touched.map(({ path }) => String(path)));
    const isShared = db.prepare(OTHERS).get(worktree, taskId, since) !== undefined;
    const own = db.prepare(OWN_FILES).all(taskId);
    const named = own.map(({ path }) => String(path).replace(/\/+$/, ""));
    const isNamed = (path: string) => named.some((file) => path === file || path.startsWith(`${file}/`));
    return (path) => !theirs.has(path) && (!isShared || isNamed(path));
  });
}

/** Other tasks that are held now, or were started since. */
const OTHERS = `SELECT 1 FROM git_states g JOIN tasks t ON t.id = g.task
WHERE g.worktree = ? AND g.task <> ? AND (g.at >= ? OR EXISTS (SELECT 1 FROM claims c WHERE c.task = t.seq)) LIMIT 1`;

const OWN_FILES = "SELECT f.path FROM task_files f JOIN tasks t ON t.seq = f.task WHERE t.id = ?";

/** Whether it is worth asking git: an agent of this session works on a task, or has left uncommitted changes. */
export function mayHaveChanged(db: DatabaseSync, { sessionId, agentId = "" }: SessionKey): boolean {
  return db.prepare(ASK).get({ sessionId, agentId }) !== undefined;
}

const ASK = `SELECT 1 FROM claims WHERE session_id = :sessionId
UNION ALL SELECT 1 FROM agent_tasks WHERE session_id = :sessionId AND agent_id = :agentId AND task <> ''
UNION ALL SELECT 1 FROM session_wip WHERE session_id = :sessionId AND agent_id = :agentId AND data LIKE '%"uncommitted_files":["%' LIMIT 1`;
