/** What a session is in the middle of, and which of its agents made a tool call. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { WipPatch } from "../../work/wip.ts";
import type { SessionKey } from "../local-store.ts";
import { readStore, writeEvent, writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";
import { type BoundTask, boundTask, taskWip } from "./session-tasks.ts";
import { saveSeenCall } from "./transcripts.ts";
import { isStandIn, regainTasks } from "./work/hold.ts";
import { acceptTime, leaseTime } from "./work/store-clock.ts";

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

/** A claim is prolonged at the first tool call after this long: a write at every call would buy nothing. */
const HEARTBEAT_MS = 60_000;

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
    const isHeartbeatDue = () =>
      isDue(
        readStore(this.#handle, (db) => boundTask(db, work)),
        work.at,
      );
    if (!hasNews && !isHeartbeatDue()) return;
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

/** A session that was quiet for longer than its lease goes on with its task, unless somebody has taken it. */
function regainTask(
  db: DatabaseSync,
  key: Required<SessionKey>,
  { leaseMs, at }: Pick<ToolWork, "leaseMs" | "at">,
): BoundTask | undefined {
  return regainTasks(db, key, { leaseMs, at, most: 1 }).length > 0 ? boundTask(db, key) : undefined;
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
  const bound = boundTask(db, key) ?? regainTask(db, key, { leaseMs, at });
  if (bound && isDue(bound, at)) {
    const now = isStandIn(db) ? leaseTime(db, at) : acceptTime(db, at);
    db.prepare("UPDATE claims SET heartbeat_at = ?, lease_until = max(lease_until, ?) WHERE task = ?").run(
      now.toISOString(),
      now.getTime() + leaseMs(),
      bound.seq,
    );
  }
  if (!merge) return;
  const home = bound ? taskHome(db, bound, client) : sessionHome(db, key);
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

/** Where WIP is kept. */
interface WipHome {
  text: string | undefined;
  save(data: string, time: string): void;
  note(time: string, path: string, before: string | null, after: string | null): void;
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

function taskHome(db: DatabaseSync, { seq, holder }: BoundTask, client: string): WipHome {
  return {
    text: taskWip(db, seq)?.data,
    save: (data, time) => db.prepare("INSERT OR REPLACE INTO task_wip VALUES (?, ?, ?)").run(seq, data, time),
    note: (time, path, before, after) =>
      db
        .prepare("INSERT INTO task_wip_changes (task, at, actor, path, before, after) VALUES (?, ?, ?, ?, ?, ?)")
        .run(seq, time, holder ?? client, path, before, after),
  };
}

function isDue(bound: BoundTask | undefined, at: Date): boolean {
  const last = bound?.heartbeatAt;
  return last !== undefined && at.getTime() - Date.parse(last) >= HEARTBEAT_MS;
}

const MEET =
  "INSERT OR IGNORE INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at) VALUES (?, ?, ?, ?, ?, ?)";

const SELECT_WIP = "SELECT data, updated_at FROM session_wip WHERE session_id = ? AND agent_id = ?";

function text(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
