/**
 * The half of the store that never leaves the machine: sessions, and with them index, ledger and spool. Always
 * SQLite, and synchronous, because hooks use it.
 */
export interface LocalStore {
  /** Notes that a session was heard from, and makes it on first sight. */
  touchSession(touch: SessionTouch): TouchedSession;
  getSession(key: SessionKey): Session | undefined;
  /** Last seen first. */
  listSessions(query: SessionQuery): Session[];
}

/** A sub-agent shares its parent's session id, so both ids make the key. */
export interface SessionKey {
  sessionId: string;
  /** Default: "", the main agent. */
  agentId?: string;
}

export interface SessionTouch extends SessionKey {
  client: string;
  cwd: string;
  at: Date;
  /**
   * prompt: a prompt came in. window: the model has forgotten (compaction, clear), a new window begins.
   * end: the client says it is over. Default: "seen". Anything but `end` brings an ended session back.
   */
  event?: "seen" | "prompt" | "window" | "end";
  /** The client's process. Absent: what is known of it stays. */
  process?: ClientProcess | undefined;
}

export interface ClientProcess {
  id: number;
  /** Where that number means this process: the machine's start and its process name space. "": not known. */
  space: string;
  /** When it was started, in ticks since the machine's start: the number may be another process's later. Absent: not known. */
  start?: number | undefined;
}

export interface TouchedSession {
  session: Session;
  /** As it was before this touch; absent when the session is new. Idle time is the difference of the two. */
  before?: Session;
}

export interface Session {
  sessionId: string;
  /** "" for the main agent. */
  agentId: string;
  client: string;
  cwd: string;
  startedAt: Date;
  lastSeenAt: Date;
  /** 1, and one more after every compaction or clear. */
  window: number;
  promptCount: number;
  lastPromptAt?: Date;
  endedAt?: Date;
}

export interface SessionQuery {
  limit: number;
  /** Only those seen at or after this time. */
  seenSince?: Date;
}
