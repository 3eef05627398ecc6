/** A session starts, anew or again, or its window does: it is noted, and told what it goes on with. Loaded by the hook. */
import type { DatabaseSync } from "node:sqlite";
import { sizeFor } from "../../skills/showing/activation.ts";
import type { DiscoverSettings } from "../../skills/showing/session.ts";
import type { ClientProcess, Session, TouchedSession } from "../../store/local-store.ts";
import { writeStore } from "../../store/sqlite/access.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { hasUntoldEdits } from "../../store/sqlite/sessions/session-state.ts";
import { touchSession } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { hasWorkToFind } from "../../store/sqlite/work/events/session-claims.ts";
import { hasUnread } from "../../store/sqlite/work/events/unread-messages.ts";
import type { KnownAgent } from "../../store/sqlite/work/events/wake-state.ts";
import type { SeenAgent } from "../../store/work-store.ts";
import type { EventAnswer, EventBase, SessionStart } from "./client-event.ts";

export type StartedSession = EventBase & SessionStart;

export interface NamedAgent {
  seen: SeenAgent & { sessionId: string };
  note(db: DatabaseSync): KnownAgent;
}

/** The session as its start left it. */
export interface NotedSession extends TouchedSession {
  /** Who it is, where it has a name. */
  agent?: KnownAgent;
}

/** Problems are with settings. */
export type SessionAnswer = EventAnswer & { problems: string[] };

export interface StartParts {
  handle: StoreHandle;
  settings(): DiscoverSettings;
  env: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** The client's; undefined when it does not say. */
  process(): ClientProcess | undefined;
  /** What the last session here left without a task, when there may be something: see wake/left-edits.ts. */
  leftEdits(event: StartedSession): string;
  /** For a session with a name: which agent it is, and what notes it. */
  becomeKnown(event: StartedSession): NamedAgent | undefined;
  /** What a new session is told, when there may be something. */
  wakeSession(event: StartedSession, noted: NotedSession): SessionAnswer;
  /** What one is told that goes on: its window was compacted, or it is resumed or forked. */
  wakeAgain(event: StartedSession, noted: NotedSession): SessionAnswer;
  warn(problem: string): void;
  /** Checks the index and has a stale one rebuilt by another process. */
  checkIndex(): void;
}

export function startSession(event: StartedSession, parts: StartParts): EventAnswer {
  const noted = noteStart(event, parts);
  const edits = mayHearOfEdits(event, parts) ? parts.leftEdits(event) : "";
  const { problems, ...answer } = mayResume(event, noted.before, parts)
    ? wake(edits ? withRoomFor(edits, event) : event, noted, parts)
    : { problems: [], context: undefined };
  for (const problem of problems) parts.warn(problem);
  if (edits) answer.context = answer.context ? `${edits}\n\n${answer.context}` : edits;
  // With a packet the hook has done enough: 300 files are 3 ms more, and the MCP server looks at them too when it starts.
  if (!answer.context && event.source !== "compact") parts.checkIndex();
  return answer.context ? answer : {};
}

/** Only a new window of the main agent: others know, or have work of their own. One that was started with a packet has its prompt. */
function mayHearOfEdits({ source, agentId, sessionId }: StartedSession, { env, handle }: StartParts): boolean {
  if (agentId !== "" || (source !== "startup" && source !== "clear") || env["HAVERSACK_WOKEN"]) return false;
  return hasUntoldEdits(handle.db, sessionId);
}

/** What is told beside the packet takes of the client's room. */
function withRoomFor(text: string, event: StartedSession): StartedSession {
  const { client } = event;
  return { ...event, client: { ...client, maxChars: client.maxChars - sizeFor(client, text) - 2 } };
}

/** In one transaction, so that of two sessions of one name that start at once the second hears of the first. */
function noteStart(event: StartedSession, { handle, now: at, process, becomeKnown }: StartParts): NotedSession {
  const { sessionId, agentId, client, cwd, source } = event;
  const isCompaction = source === "compact";
  const touch = {
    sessionId,
    agentId,
    client: client.name,
    cwd,
    at,
    event: isCompaction || source === "clear" ? ("window" as const) : ("seen" as const),
    process: isCompaction ? undefined : process(),
  };
  const named = agentId === "" && !isCompaction ? becomeKnown(event) : undefined;
  return writeStore(
    handle,
    (db) => ({ ...touchSession(db, touch), ...(named && { agent: named.note(db) }) }),
    () => ({ kind: "start", args: { ...touch, ...(named && { seen: named.seen }) } }),
  );
}

function wake(event: StartedSession, noted: NotedSession, parts: StartParts): SessionAnswer {
  // A config that cannot be read is silence here as at prompts.
  parts.settings();
  if (!goesOn(event, noted)) return parts.wakeSession(event, noted);
  const answer = parts.wakeAgain(event, noted);
  // A fork of a session that holds nothing, or that nobody knows, may find work that was left like any new one.
  return event.source === "fork" && !answer.context ? parts.wakeSession(event, noted) : answer;
}

/** One that nobody has seen before is new here, however its client calls it. */
function goesOn({ source }: Pick<SessionStart, "source">, { before }: TouchedSession): boolean {
  return source === "compact" || source === "fork" || (source === "resume" && before !== undefined);
}

/** Whether there may be something to go on with: in most projects nobody has claimed anything. */
function mayResume(
  { source, sessionId, agentId }: StartedSession,
  before: Session | undefined,
  { handle, env }: StartParts,
): boolean {
  // A sub-agent is told what it needs when it is started, and again after a compaction; nothing else reaches it.
  if (agentId !== "" && source !== "compact") return false;
  // What it held may be gone.
  if (source === "compact" || (source === "resume" && before)) return before !== undefined;
  return (
    Boolean(env["HAVERSACK_AGENT"]) ||
    hasWorkToFind(handle) ||
    hasUnread(handle.db, sessionId, { isMentionOnly: false })
  );
}
