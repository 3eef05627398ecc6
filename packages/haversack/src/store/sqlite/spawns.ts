/** Calls that start sub-agents for tasks. Apart from session-tasks.ts: what a tool call did needs no more than that. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { SessionKey } from "../local-store.ts";
import { readStore, writeEvent } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { type BoundTask, boundTask, IS_OPEN } from "./session-tasks.ts";

export interface Spawn {
  toolUseId: string;
  agentType: string;
  taskId: string;
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

  /** The first of these ids that an open task has. */
  firstOpen(ids: readonly string[]): string | undefined {
    return readStore(this.#handle, (db) => firstOpen(db, ids));
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
export function saveSpawn(db: DatabaseSync, { sessionId, toolUseId, agentType, taskId, at }: SpawnEvent): void {
  db.prepare("INSERT OR REPLACE INTO spawns VALUES (?, ?, ?, ?, ?)").run(
    sessionId,
    toolUseId,
    agentType,
    taskId,
    at.toISOString(),
  );
}

export interface UnresolvedSpawn extends SessionKey {
  toolUseId: string;
  agentType: string;
  /** Ids in the call's prompt. */
  taskIds: readonly string[];
  at: Date;
}

export function saveUnresolvedSpawn(db: DatabaseSync, { taskIds, ...call }: UnresolvedSpawn): void {
  const taskId = firstOpen(db, taskIds) ?? soleTask(db, call)?.id;
  if (taskId !== undefined) saveSpawn(db, { ...call, taskId });
}

function firstOpen(db: DatabaseSync, ids: readonly string[]): string | undefined {
  const find = db.prepare(`SELECT t.id FROM tasks t WHERE t.id = ? AND ${IS_OPEN}`);
  return ids.find((id) => find.get(id) !== undefined);
}

function soleTask(db: DatabaseSync, key: SessionKey): BoundTask | undefined {
  const held = db.prepare(HELD).get(key.sessionId, key.agentId ?? "")?.["held"];
  return Number(held) > 1 ? undefined : boundTask(db, key);
}

const HELD = "SELECT count(*) AS held FROM claims WHERE session_id = ? AND agent_id = ?";
