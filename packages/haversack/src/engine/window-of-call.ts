/**
 * Whose window an MCP tool call belongs to. The server is one process for a session and all its sub-agents, so the call's own
 * marks must tell. Undefined means unknown, and then a skill's body always comes: to send it twice costs tokens, to
 * withhold it from a window that never had it costs the work.
 */
import { processAncestors, processSpace } from "../base/process-space.ts";
import type { SessionKey } from "../store/local-store.ts";
import type { StoreHandle } from "../store/sqlite/handle.ts";
import { type ProcessesAbove, sessionAbove, takeCall } from "../store/sqlite/sessions/call-notes.ts";
import type { SessionState } from "../store/sqlite/sessions/session-state.ts";
import type { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { clientName } from "../work/agent-name.ts";
import type { CallKey } from "./call-key.ts";

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
  /** Of a client that says nothing of the above: what its hook before the call has noted. */
  call?: CallKey;
}

export interface CallerParts {
  handle: StoreHandle;
  sessions: SqliteLocalStore;
  state: SessionState;
  /** Default: those above this process. */
  above?: () => ProcessesAbove;
}

/** Clients that tell an MCP server neither session nor call. */
export function saysNothing(client: string): boolean {
  return ["gemini", "opencode"].includes(clientName(client));
}

/** Who made the call: its session, and the agent in it. Undefined: nobody can tell. */
export function callerOfCall(marks: CallMarks, parts: CallerParts): SessionKey | undefined {
  const { sessionId, toolUseId, threadId } = marks;
  if (threadId)
    return !sessionId || threadId === sessionId ? { sessionId: threadId } : { sessionId, agentId: threadId };
  if (!sessionId) return marks.call && notedCaller(marks, marks.call, parts);

  const { sessions, state } = parts;
  const agentId = toolUseId ? state.agentOfToolCall(sessionId, toolUseId) : undefined;
  if (agentId !== undefined) return { sessionId, agentId };
  const caller = toolUseId ? state.callerOf(toolUseId) : undefined;
  if (caller) return caller;

  // No hook saw the call. A session that hooks never saw, or that is over, is not where it comes from.
  const session = sessions.getSession({ sessionId });
  if (!session || session.endedAt) return undefined;
  return state.hasSubAgents(sessionId) ? undefined : { sessionId };
}

export function windowOfCall(marks: CallMarks, parts: CallerParts): SessionKey | undefined {
  const { threadId, windowId } = marks;
  const caller = callerOfCall(marks, parts);
  const session = caller && parts.sessions.getSession(caller);
  // Without trusted hooks nobody tells us of a compaction, but the window has a name of its own.
  if (threadId && !session) return windowId ? { sessionId: windowId } : undefined;
  return session?.client === SHARES_WINDOW ? undefined : caller;
}

/** Its sub-agents call as the session itself, and their windows are their own. */
const SHARES_WINDOW = "gemini";

/** A note is taken once, and a call may be asked for twice. */
const taken = new WeakMap<CallMarks, { caller: SessionKey | undefined }>();

/** Whoever the hook saw; without a hook that saw it, the only session of the client that started this server. */
function notedCaller(
  marks: CallMarks,
  call: CallKey,
  { handle, above = processesAbove }: CallerParts,
): SessionKey | undefined {
  const before = taken.get(marks);
  if (before) return before.caller;
  const noted = takeCall(handle, call, { above: above(), at: new Date() });
  const only = noted ? undefined : sessionAbove(handle, above());
  const caller = noted ?? (only && { sessionId: only.sessionId });
  taken.set(marks, { caller });
  return caller;
}

let found: ProcessesAbove | undefined;

/** Asked once: what stands above a process does not change while its client lives. */
export function processesAbove(): ProcessesAbove {
  found ??= { ids: processAncestors(), space: processSpace() };
  return found;
}
