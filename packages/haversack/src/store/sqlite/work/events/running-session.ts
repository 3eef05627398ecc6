/**
 * What events ask of work for a running session: its unread messages, and the task that it holds. A message is shown once even if several
 * hooks run at the same time, because it is read and marked under one lock.
 */

import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../../../../wake/text.ts";
import { readStore, type StoreHandle, writeStore } from "../../access.ts";
import { addToOutbox } from "../../outbox/outbox.ts";
import type { SessionKey } from "../../sessions/sqlite-local-store.ts";
import { type Because, recordInjection } from "../../skills/injections.ts";
import { all, fromRow, type Row } from "../rows.ts";
import type { ReadMessages } from "../session-work.ts";

export interface UnreadMessage extends Omit<Message, "isMention" | "readAt"> {
  /** The recipient: an agent of the session. */
  to: string;
}

export interface ShowRequest {
  sessionId: string;
  isMentionOnly: boolean;
  /** The hook event, recorded with what was shown. */
  event: string;
  at: Date;
}

/** Limit per event. */
const MOST_MESSAGES = 50;

export interface Waiting {
  /** The oldest messages. */
  messages: readonly UnreadMessage[];
  /** How many are waiting in total. */
  total: number;
  /** Messages that arrived since the session was last shown a packet or messages. The older ones had no room then. */
  newCount: number;
}

/** `write` returns its text and how many of the oldest messages it used. Those are then marked as read. */
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
  /** The text that the model was shown. "": nothing. */
  text: string;
  /** Rows of messages and of their recipients. */
  read: readonly (readonly [message: number, agent: number])[];
  messages: Extract<Because, { kind: "messages" }>["messages"];
}

/** Callers must hold the write lock. */
export function saveDelivered(db: DatabaseSync, delivered: DeliveredMessages): void {
  const { sessionId, event, at, text, read, messages } = delivered;
  if (!text) return;
  const time = at.toISOString();
  const mark = db.prepare("UPDATE message_recipients SET read_at = ? WHERE message = ? AND agent = ?");
  for (const [message, agent] of read) mark.run(time, message, agent);
  noteRead(db, read, at);
  recordInjection(db, { sessionId, at, event, format: "messages", text, because: { kind: "messages", messages } });
}

/** Marks the messages that a packet has shown to an agent. */
export function markShown(db: DatabaseSync, agent: number, ids: readonly string[], at: Date): void {
  const mark = db.prepare(
    "UPDATE message_recipients SET read_at = ? WHERE agent = ? AND read_at IS NULL AND message = (SELECT seq FROM messages WHERE id = ?)",
  );
  for (const id of ids) mark.run(at.toISOString(), agent, id);
  if (ids.length === 0) return;
  const seq = db.prepare("SELECT seq FROM messages WHERE id = ?");
  noteRead(
    db,
    ids.map((id) => [Number(seq.get(id)?.["seq"]), agent] as const),
    at,
  );
}

function noteRead(db: DatabaseSync, read: DeliveredMessages["read"], at: Date): void {
  addToOutbox(db, "read", () => {
    const sql = "SELECT m.id, a.name, a.branch FROM messages m, agents a WHERE m.seq = ? AND a.seq = ?";
    const named = read.flatMap(([message, agent]) => all<ReadMessages["read"][number]>(db, sql, message, agent));
    return { read: named, at };
  });
}

const WAITING = `FROM agents a JOIN message_recipients r ON r.agent = a.seq JOIN messages m ON m.seq = r.message
WHERE a.session_id = ?1 AND r.read_at IS NULL`;

const FROM = `SELECT r.message, r.agent, a.name AS "to", m.id, m.sender AS "from", nullif(m.is_person, 0) AS is_person,
  substr(m.text, 1, 20000) AS text, m.subject, m.created_at AS at
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

function toUnread({ message: _, agent: __, ...row }: Row): UnreadMessage {
  return fromRow(row);
}

// Whether a message waits for an agent of this session. Runs at every prompt and tool call, so it only looks into two indexes.

export function hasUnread(db: DatabaseSync, sessionId: string, { isMentionOnly }: { isMentionOnly: boolean }): boolean {
  return db.prepare(isMentionOnly ? `${HAS_UNREAD} AND r.is_mention = 1` : HAS_UNREAD).get(sessionId) !== undefined;
}

const HAS_UNREAD =
  "SELECT 1 FROM agents a, message_recipients r WHERE a.session_id = ? AND r.agent = a.seq AND r.read_at IS NULL";

/** The task that a session works on, as far as matching skills needs it. One statement, because every prompt asks. */
export function readTaskInHand(
  handle: StoreHandle,
  { sessionId, agentId = "" }: SessionKey,
): { title: string; type: string } | undefined {
  const row = readStore(handle, (db) => db.prepare(LATEST_CLAIM).get(sessionId, agentId));
  return row && { title: String(row["title"]), type: String(row["type"]) };
}

const LATEST_CLAIM = `SELECT t.title, t.type FROM claims c JOIN tasks t ON t.seq = c.task
WHERE c.session_id = ? AND c.agent_id = ? ORDER BY c.claimed_at DESC, c.task DESC LIMIT 1`;
