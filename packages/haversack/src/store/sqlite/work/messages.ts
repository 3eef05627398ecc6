/** Messages: one text, several readers, each with a read mark of its own. */
import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../../../wake/message.ts";
import type { Actor, InboxQuery, NewMessage, Page, SentMessage } from "../../work-store.ts";
import { writeStore } from "../access.ts";
import type { StoreHandle } from "../handle.ts";
import { type Because, recordInjection } from "../skills/injections.ts";
import { findAgent, mentionedAgents } from "./agents.ts";
import { checkCount, invalid } from "./checks.ts";
import { freshId } from "./ids.ts";
import { all, run, value } from "./prepared.ts";

/** To nobody when one of `to` is unknown. Who is named in the text gets it too, but not the sender, who may sign with its name. */
export function sendMessage(
  db: DatabaseSync,
  { to, mentions = [], text, subject, branch }: NewMessage,
  by: Actor,
): SentMessage {
  if (text.trim() === "") throw invalid("text must not be empty");
  const at = { ...(branch !== undefined && { branch }) };
  const addressed = to.map((name) => findAgent(db, { name, ...at }));
  const named = mentions.flatMap((name) => mentionedAgents(db, name, branch)).filter(({ name }) => name !== by.name);
  const readers = new Map([...addressed, ...named].map((agent) => [agent.seq, agent]));
  if (readers.size === 0) throw invalid("to must name at least one agent");
  const id = freshId(db, "messages");
  run(
    db,
    "INSERT INTO messages (id, sender, is_person, text, subject, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    id,
    by.name,
    by.isPerson ? 1 : 0,
    text,
    subject ?? null,
    by.at.toISOString(),
  );
  const seq = value(db, "SELECT seq FROM messages WHERE id = ?", id);
  for (const agent of readers.keys()) run(db, "INSERT INTO message_recipients VALUES (?, ?, 1, NULL)", seq, agent);
  return { id, to: [...new Set([...readers.values()].map(({ name }) => name))] };
}

/** Unread ones oldest first; with `includeRead` all, newest first. */
export function inbox(db: DatabaseSync, { agent, branch, includeRead = false, limit }: InboxQuery): Page<Message> {
  checkCount("limit", limit);
  const { seq } = findAgent(db, { name: agent, ...(branch !== undefined && { branch }) });
  return inboxOf(db, seq, { includeRead, limit });
}

export function inboxOf(
  db: DatabaseSync,
  agent: number,
  { includeRead = false, limit }: { includeRead?: boolean; limit: number },
): Page<Message> {
  const where = includeRead ? "r.agent = ?" : "r.agent = ? AND r.read_at IS NULL";
  const rows = all<MessageRow>(
    db,
    `SELECT m.id, m.sender, m.is_person, m.text, m.subject, m.created_at, r.is_mention, r.read_at FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE ${where} ORDER BY r.message ${includeRead ? "DESC" : ""} LIMIT ?`,
    agent,
    limit,
  );
  return {
    items: rows.map(toMessage),
    total: value(db, `SELECT count(*) FROM message_recipients r WHERE ${where}`, agent),
  };
}

/** How many became read. Without ids: all. */
export function markRead(db: DatabaseSync, agent: number, ids: readonly string[] | undefined, at: Date): number {
  const now = at.toISOString();
  if (ids === undefined) {
    return run(db, "UPDATE message_recipients SET read_at = ? WHERE agent = ? AND read_at IS NULL", now, agent);
  }
  return run(
    db,
    "UPDATE message_recipients SET read_at = ? WHERE agent = ? AND read_at IS NULL AND message IN (SELECT seq FROM messages WHERE id IN (SELECT value FROM json_each(?)))",
    now,
    agent,
    JSON.stringify(ids),
  );
}

interface MessageRow {
  id: string;
  sender: string;
  is_person: number;
  text: string;
  subject: string | null;
  created_at: string;
  is_mention: number;
  read_at: string | null;
}

function toMessage({ id, sender, is_person, text, subject, created_at, is_mention, read_at }: MessageRow): Message {
  return {
    id,
    from: sender,
    ...(is_person === 1 && { isPerson: true }),
    text,
    ...(subject !== null && { subject }),
    at: new Date(created_at),
    isMention: is_mention === 1,
    ...(read_at !== null && { readAt: new Date(read_at) }),
  };
}

// Messages on their way into a running session: each is shown once, whatever hooks run at the same time, because it
// is read and marked under one lock.

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
