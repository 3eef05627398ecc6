/** Calls that start sub-agents for tasks. Apart from session-tasks.ts: what a tool call did needs no more than that. The hook bundles this file. */
import type { SessionKey } from "../local-store.ts";
import { readStore, writeStore } from "./access.ts";
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
  noteSpawn(sessionId: string, { toolUseId, agentType, taskId, isDispatch }: Spawn, at: Date): void {
    writeStore(this.#handle, (db) => {
      db.prepare("INSERT OR REPLACE INTO spawns VALUES (?, ?, ?, ?, ?)").run(
        sessionId,
        toolUseId,
        agentType,
        taskId,
        at.toISOString(),
      );
      if (isDispatch) becomeOrchestrator(db, sessionId);
    });
  }

  /** The first of these ids that an open task has, as its id or else as an alias. */
  firstOpen(ids: readonly string[]): string | undefined {
    if (ids.length === 0) return undefined;
    return readStore(this.#handle, (db) => {
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
    });
  }

  /** The task that an agent works on; none for one that holds several: whom it starts may work on any of them. */
  soleTaskOf(key: SessionKey): BoundTask | undefined {
    return readStore(this.#handle, (db) => {
      const held = db.prepare(HELD).get(key.sessionId, key.agentId ?? "")?.["held"];
      return Number(held) > 1 ? undefined : boundTask(db, key);
    });
  }
}

const HELD = "SELECT count(*) AS held FROM claims WHERE session_id = ? AND agent_id = ?";
