/** Messages: one text, several readers, each with a read mark of its own. */
import type { DatabaseSync } from "node:sqlite";
import type { Message } from "../../../wake/message.ts";
import { checkCount, invalid } from "../../../work/clean-input.ts";
import type { Actor, InboxQuery, NewMessage, Page, SentMessage } from "../../work-store.ts";
import { findAgent, mentionedAgents } from "./agents.ts";
import { freshId } from "./ids.ts";
import { all, run, value } from "./rows.ts";

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

/** The last ones, whoever they are for. */
export function newestMessages(
  db: DatabaseSync,
  { limit, maxChars }: { limit: number; maxChars: number },
): { sender: string; text: string }[] {
  const rows = all<{ sender: string; text: string }>(
    db,
    "SELECT substr(sender, 1, 60) AS sender, substr(text, 1, ?) AS text FROM messages ORDER BY seq DESC LIMIT ?",
    maxChars,
    limit,
  );
  return rows.map(({ sender, text }) => ({ sender, text }));
}
