/**
 * Whose window an MCP tool call belongs to. The server is one process for a session and all its sub-agents, so the call's own
 * marks must tell. Undefined means unknown, and then a skill's body always comes: to send it twice costs tokens, to
 * withhold it from a window that never had it costs the work.
 */
import type { SessionKey } from "../store/local-store.ts";
import type { SessionState } from "../store/sqlite/session-state.ts";
import type { SqliteLocalStore } from "../store/sqlite/sqlite-local-store.ts";

export interface CallMarks {
  /** With a thread: the session of the call. Else the one that started the server; after a `/clear` the client is in another. */
  sessionId?: string;
  /** The id that the hook before the call has seen, together with session and agent. */
  toolUseId?: string;
  /** Codex: one agent of the session; the main agent's has the session's own id. */
  threadId?: string;
  /** Codex: changes with every compaction. */
  windowId?: string;
  /** Codex: the call itself. With a model that calls tools from JavaScript it begins with `exec-`. */
  callId?: string;
}

export interface CallerParts {
  sessions: SqliteLocalStore;
  state: SessionState;
}

export function windowOfCall(marks: CallMarks, { sessions, state }: CallerParts): SessionKey | undefined {
  const { sessionId, toolUseId, threadId, windowId } = marks;
  if (threadId) {
    const key = !sessionId || threadId === sessionId ? { sessionId: threadId } : { sessionId, agentId: threadId };
    if (sessions.getSession(key)) return key;
    // Without trusted hooks nobody tells us of a compaction, but the window has a name of its own.
    return windowId ? { sessionId: windowId } : undefined;
  }
  if (!sessionId) return undefined;
  const agentId = toolUseId ? state.agentOfToolCall(sessionId, toolUseId) : undefined;
  if (agentId !== undefined) return { sessionId, agentId };
  const caller = toolUseId ? state.callerOf(toolUseId) : undefined;
  if (caller) return caller;

  // No hook saw the call. A session that hooks never saw, or that is over, is not where it comes from.
  const session = sessions.getSession({ sessionId });
  if (!session || session.endedAt) return undefined;
  return state.hasSubAgents(sessionId) ? undefined : { sessionId };
}
