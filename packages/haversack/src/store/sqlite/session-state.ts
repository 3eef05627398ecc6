/** What a session is in the middle of, and which of its agents made a tool call. The hook bundles this file. */
import type { SessionKey } from "../local-store.ts";
import { readStore, writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

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
}

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
   * What a tool call did: the file it touched, and its part of the WIP. Reads, merges and writes under one lock: hooks of one
   * session run at once, and none may undo another's.
   */
  recordTool({ sessionId, agentId = "", cwd, client, at, file, merge }: ToolWork): void {
    const time = at.toISOString();
    writeStore(this.#handle, (db) => {
      // A tool call may be the first that is heard of a session.
      db.prepare(MEET).run(sessionId, agentId, client, cwd, time, time);
      if (file)
        db.prepare("INSERT OR REPLACE INTO session_files VALUES (?, ?, ?, ?)").run(sessionId, agentId, file, time);
      if (!merge) return;
      const row = db.prepare(SELECT_WIP).get(sessionId, agentId);
      const current = row ? (JSON.parse(String(row["data"])) as Record<string, unknown>) : {};
      const { wip, changes } = merge(current);
      // The same object: nothing is new, and there is nothing to write.
      if (wip === current) return;
      db.prepare("INSERT OR REPLACE INTO session_wip VALUES (?, ?, ?, ?)").run(
        sessionId,
        agentId,
        JSON.stringify(wip),
        time,
      );
      const note = db.prepare(
        "INSERT INTO wip_changes (at, session_id, agent_id, path, before, after) VALUES (?, ?, ?, ?, ?, ?)",
      );
      for (const { path, before, after } of changes)
        note.run(time, sessionId, agentId, path, text(before), text(after));
    });
  }

  noteToolCall({ sessionId, agentId = "" }: SessionKey, toolUseId: string, at: Date): void {
    writeStore(this.#handle, (db) => {
      db.prepare("INSERT OR REPLACE INTO tool_calls VALUES (?, ?, ?, ?)").run(
        sessionId,
        toolUseId,
        agentId,
        at.toISOString(),
      );
    });
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

const MEET =
  "INSERT OR IGNORE INTO sessions (session_id, agent_id, client, cwd, started_at, last_seen_at) VALUES (?, ?, ?, ?, ?, ?)";

const SELECT_WIP = "SELECT data, updated_at FROM session_wip WHERE session_id = ? AND agent_id = ?";

function text(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
