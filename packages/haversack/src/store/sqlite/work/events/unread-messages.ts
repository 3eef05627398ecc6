/**
 * Messages on their way into a running session. Each is shown once, whatever hooks run at the same time, because it is read and marked
 * under one lock.
 */
import type { DatabaseSync } from "node:sqlite";
import { writeStore } from "../../access.ts";
import type { StoreHandle } from "../../handle.ts";
import { type Because, recordInjection } from "../../skills/injections.ts";

export interface UnreadMessage {
  /** The agent of the session that it is for. */
  to: string;
  id: string;
  from: string;
  /** Sent by the person at the terminal; else by an agent. */
  isPerson?: boolean;
  text: string;
  /** The id of what it came with. */
  subject?: string;
  at: Date;
}

export interface ShowRequest {
  sessionId: string;
  isMentionOnly: boolean;
  /** For the record of what was shown. */
  event: string;
  at: Date;
}

/** How much one event looks at. */
const MOST_MESSAGES = 50;

/** What waits for a session. */
export interface Waiting {
  /** The oldest. */
  messages: readonly UnreadMessage[];
  /** All of them. */
  total: number;
  /** Those that came since the session was last shown a packet or messages. The others had no room then. */
  newCount: number;
}

/** `write` says which text it made of how many of the oldest; those are read from then on. */
export function showUnread(
  handle: StoreHandle,
  { sessionId, isMentionOnly, event, at }: ShowRequest,
  write: (waiting: Waiting) => { text: string; shown: number },
): string {
  const delivery = { sessionId, event, at };
  const deliver = (db: DatabaseSync): DeliveredMessages => {
    const rows = db.prepare(isMentionOnly ? MENTIONS : UNREAD).all(sessionId);
    const { total, old } = db.prepare(isMentionOnly ? COUNT_MENTIONS : COUNT).get(sessionId) as unknown as Counts;
    const { text, shown } = write({ messages: rows.map(toUnread), total, newCount: total - old });
    const told = text ? rows.slice(0, shown) : [];
    const delivered = {
      ...delivery,
      text,
      read: told.map(({ message, agent }) => [Number(message), Number(agent)] as const),
      messages: told.map((row) => {
        const { text: _, at: sentAt, ...message } = toUnread(row);
        return { ...message, at: sentAt.toISOString() };
      }),
    };
    saveDelivered(db, delivered);
    return delivered;
  };
  const { text } = writeStore(handle, deliver, (args) => (args.text ? { kind: "messages", args } : undefined));
  return text;
}

export interface DeliveredMessages {
  sessionId: string;
  event: string;
  at: Date;
  /** What the model was shown; "": nothing. */
  text: string;
  /** Rows of messages and of the agents that they were for. */
  read: readonly (readonly [message: number, agent: number])[];
  messages: Extract<Because, { kind: "messages" }>["messages"];
}

/** For callers that hold the write lock already. */
export function saveDelivered(db: DatabaseSync, delivered: DeliveredMessages): void {
  const { sessionId, event, at, text, read, messages } = delivered;
  if (!text) return;
  const time = at.toISOString();
  const mark = db.prepare("UPDATE message_recipients SET read_at = ? WHERE message = ? AND agent = ?");
  for (const [message, agent] of read) mark.run(time, message, agent);
  recordInjection(db, { sessionId, at, event, format: "messages", text, because: { kind: "messages", messages } });
}

/** Those that a packet has shown to an agent. */
export function markShown(db: DatabaseSync, agent: number, ids: readonly string[], at: Date): void {
  const mark = db.prepare(
    "UPDATE message_recipients SET read_at = ? WHERE agent = ? AND read_at IS NULL AND message = (SELECT seq FROM messages WHERE id = ?)",
  );
  for (const id of ids) mark.run(at.toISOString(), agent, id);
}

const WAITING = `FROM agents a JOIN message_recipients r ON r.agent = a.seq JOIN messages m ON m.seq = r.message
WHERE a.session_id = ?1 AND r.read_at IS NULL`;
const FROM = `SELECT r.message, r.agent, a.name, m.id, m.sender, m.is_person, substr(m.text, 1, 20000) AS text, m.subject, m.created_at
${WAITING}`;
const FIRST = `ORDER BY r.message LIMIT ${MOST_MESSAGES}`;
const UNREAD = `${FROM} ${FIRST}`;
const MENTIONS = `${FROM} AND r.is_mention = 1 ${FIRST}`;

interface Counts {
  total: number;
  old: number;
}

const COUNT = `SELECT count(*) AS total, count(*) FILTER (WHERE m.created_at <= (SELECT max(at) FROM injections
WHERE session_id = ?1 AND agent_id = '' AND format IN ('restored', 'messages'))) AS old ${WAITING}`;
const COUNT_MENTIONS = `${COUNT} AND r.is_mention = 1`;

function toUnread(row: Record<string, unknown>): UnreadMessage {
  const { subject } = row;
  return {
    to: String(row["name"]),
    id: String(row["id"]),
    from: String(row["sender"]),
    ...(row["is_person"] === 1 && { isPerson: true }),
    text: String(row["text"]),
    ...(typeof subject === "string" && { subject }),
    at: new Date(String(row["created_at"])),
  };
}

// Whether a message waits for an agent of this session: asked at every prompt and tool call, so it is one look into
// two indexes.

export function hasUnread(db: DatabaseSync, sessionId: string, { isMentionOnly }: { isMentionOnly: boolean }): boolean {
  return db.prepare(isMentionOnly ? `${HAS_UNREAD} AND r.is_mention = 1` : HAS_UNREAD).get(sessionId) !== undefined;
}

const HAS_UNREAD =
  "SELECT 1 FROM agents a, message_recipients r WHERE a.session_id = ? AND r.agent = a.seq AND r.read_at IS NULL";
