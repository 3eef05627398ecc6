/** Calls that start sub-agents for tasks. Apart from session-tasks.ts: what a tool call did needs no more than that. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { SessionKey } from "../local-store.ts";
import { readStore, writeEvent } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { becomeOrchestrator } from "./role-now.ts";
import { type BoundTask, boundTask, IS_OPEN } from "./session-tasks.ts";

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
