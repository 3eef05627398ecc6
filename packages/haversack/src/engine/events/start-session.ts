/** A session or its window starts: it is recorded, and told what to continue with. Loaded by the hook. */
import type { DatabaseSync } from "node:sqlite";
import type { DiscoverSettings } from "../../skills/showing/disclosure.ts";
import { type StoreHandle, writeStore } from "../../store/sqlite/access.ts";
import { hasUntoldEdits } from "../../store/sqlite/sessions/session-state.ts";
import {
  type ClientProcess,
  type Session,
  type TouchedSession,
  touchSession,
} from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { hasUnread } from "../../store/sqlite/work/events/running-session.ts";
import { hasWorkToFind } from "../../store/sqlite/work/events/session-claims.ts";
import type { KnownAgent } from "../../store/sqlite/work/events/wake-state.ts";
import type { SeenAgent } from "../../store/work-store.ts";
import type { EventAnswer, EventBase, SessionStart } from "./client-event.ts";
import { withRoomFor } from "./event-project.ts";

export type StartedSession = EventBase & SessionStart;

export interface NamedAgent {
  seen: SeenAgent & { sessionId: string };
  note(db: DatabaseSync): KnownAgent;
}

/** The session after its start was recorded. */
export interface NotedSession extends TouchedSession {
  /** Which agent it is, if it has a name. */
  agent?: KnownAgent;
}

/** Problems concern settings. */
export type SessionAnswer = EventAnswer & { problems: string[] };

export interface StartParts {
  handle: StoreHandle;
  settings(): DiscoverSettings;
  env: Readonly<Record<string, string | undefined>>;
  now: Date;
  /** The client's process; undefined if it is not known. */
  process(): ClientProcess | undefined;
  /** What the last session here left without a task, if anything: see wake/left-edits.ts. */
  leftEdits(event: StartedSession): string;
  /** For a session with a name: which agent it is, and the function that records it. */
  becomeKnown(event: StartedSession): NamedAgent | undefined;
  /** What a new session is told, if there may be something. */
  wakeSession(event: StartedSession, noted: NotedSession): SessionAnswer;
  /** What a continuing session is told, after a compaction, resume or fork. */
  wakeAgain(event: StartedSession, noted: NotedSession): SessionAnswer;
  warn(problem: string): void;
  /** Checks the index, and has another process rebuild a stale one. */
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
  // Skip the check after a packet: 300 files take 3 ms more, and the MCP server checks them at its start too.
  if (!answer.context && event.source !== "compact") parts.checkIndex();
  return answer.context ? answer : {};
}

/** Only for a new window of the main agent: others know already, or have their own work. A woken session has its prompt. */
function mayHearOfEdits({ source, agentId, sessionId }: StartedSession, { env, handle }: StartParts): boolean {
  if (agentId !== "" || (source !== "startup" && source !== "clear") || env["HAVERSACK_WOKEN"]) return false;
  return hasUntoldEdits(handle.db, sessionId);
}

/** In one transaction: if two sessions of one name start at once, the second is told about the first. */
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
  // Throws if the config cannot be read; the session is then told nothing, as at prompts.
  parts.settings();
  if (!goesOn(event, noted)) return parts.wakeSession(event, noted);
  const answer = parts.wakeAgain(event, noted);
  // A fork of an unknown session, or of one that holds nothing, may be offered left tasks like any new session.
  return event.source === "fork" && !answer.context ? parts.wakeSession(event, noted) : answer;
}

/** An unknown session counts as new, even if its client says "resume". */
function goesOn({ source }: Pick<SessionStart, "source">, { before }: TouchedSession): boolean {
  return source === "compact" || source === "fork" || (source === "resume" && before !== undefined);
}

/** Whether there may be something to continue with. In most projects nobody has claimed anything. */
function mayResume(
  { source, sessionId, agentId }: StartedSession,
  before: Session | undefined,
  { handle, env }: StartParts,
): boolean {
  // A sub-agent is told what it needs at its start and after a compaction; nothing else reaches it.
  if (agentId !== "" && source !== "compact") return false;
  // Tasks that it held may have been taken meanwhile.
  if (source === "compact" || (source === "resume" && before)) return before !== undefined;
  return (
    Boolean(env["HAVERSACK_AGENT"]) ||
    hasWorkToFind(handle) ||
    hasUnread(handle.db, sessionId, { isMentionOnly: false })
  );
}
