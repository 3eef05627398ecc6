/**
 * Which window an MCP tool call belongs to. One server process serves a session and all its sub-agents, so the call's own marks must
 * tell. Undefined means unknown. Then a skill's text is always sent: sending it twice costs tokens, but withholding it from a window
 * that never had it costs the work.
 */
import { processAncestors, processSpace } from "../base/process-space.ts";
import type { StoreHandle } from "../store/sqlite/access.ts";
import {
  type ProcessesAbove,
  type SessionState,
  sessionAbove,
  takeCall,
} from "../store/sqlite/sessions/session-state.ts";
import type { SessionKey, SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { clientName } from "../work/agent-name.ts";
import type { CallKey } from "./call-key.ts";

export interface CallMarks {
  /** With a thread: the session of the call. Otherwise the session that started the server, which may be over after a `/clear`. */
  sessionId?: string;
  /** The id that the hook before the call has seen, together with session and agent. */
  toolUseId?: string;
  /** Codex: one agent of the session. The main agent's thread has the session's id. */
  threadId?: string;
  /** Codex: changes with every compaction. */
  windowId?: string;
  /** Codex: the call itself. With a model that calls tools from JavaScript it begins with `exec-`. */
  callId?: string;
  /** For clients that send none of the above: what their hook noted before the call. */
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

  // No hook saw the call. It cannot come from a session that hooks never saw or that is over.
  const session = sessions.getSession({ sessionId });
  if (!session || session.endedAt) return undefined;
  return state.hasSubAgents(sessionId) ? undefined : { sessionId };
}

export function windowOfCall(marks: CallMarks, parts: CallerParts): SessionKey | undefined {
  const { threadId, windowId } = marks;
  const caller = callerOfCall(marks, parts);
  const session = caller && parts.sessions.getSession(caller);
  // Without trusted hooks nobody reports a compaction, but the window has its own id.
  if (threadId && !session) return windowId ? { sessionId: windowId } : undefined;
  return session?.client === SHARES_WINDOW ? undefined : caller;
}

/** This client's sub-agents call with the id of the session, although they have their own windows. */
const SHARES_WINDOW = "gemini";

/** A note can be taken only once, but the caller of a call may be asked for twice. */
const taken = new WeakMap<CallMarks, { caller: SessionKey | undefined }>();

/** The caller that the hook noted; otherwise the only session of the client that started this server. */
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

/** Looked up once: the ancestors of a process do not change while its client lives. */
export function processesAbove(): ProcessesAbove {
  found ??= { ids: processAncestors(), space: processSpace() };
  return found;
}
