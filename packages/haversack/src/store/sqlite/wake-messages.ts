/** The messages of an agent that its packet shows. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { WakeMessage } from "../../wake/state.ts";
import { all, get, MOST_CHARS, optional, textOf } from "./wake-rows.ts";

const MOST_MESSAGES = 20;
/** Nobody needs to know whether it is 10,000 or more. */
const MOST_COUNTED = 10_000;
const MOST_HEARD = 5;
/** So many messages back: of older ones nothing is looked for. */
const HEARD_REACH = 1_000;

/** Heard: read, in a window that is gone; what was asked for there still holds. */
export function readMessages(
  db: DatabaseSync,
  agent: number,
  inHand: number | undefined,
  since: Date | undefined,
): Record<"unread" | "heard", WakeMessage[]> & { unreadCount: number } {
  const unread: WakeMessage[] = [];
  const heard: WakeMessage[] = [];
  for (const row of all(db, MESSAGES, agent, inHand ?? null, since?.toISOString() ?? null)) {
    (row["is_read"] === 1 ? heard : unread).push(toMessage(row));
  }
  const isAll = unread.length < MOST_MESSAGES;
  return { unread, heard, unreadCount: isAll ? unread.length : Number(get(db, UNREAD_COUNT, agent)?.["count"]) };
}

const UNREAD_COUNT = `SELECT count(*) AS count FROM (SELECT 1 FROM message_recipients
  WHERE agent = ? AND read_at IS NULL LIMIT ${MOST_COUNTED})`;

/** The newest unread: what was said last may take back what was said before. */
const MESSAGES = `SELECT m.id, m.sender, m.is_person, substr(m.text, 1, ${MOST_CHARS}) AS text, m.subject, m.created_at, r.is_mention,
  r.read_at IS NOT NULL AS is_read
FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE r.agent = ?1 AND r.message IN (
  SELECT message FROM (SELECT message FROM message_recipients WHERE agent = ?1 AND read_at IS NULL ORDER BY message DESC LIMIT ${MOST_MESSAGES})
  UNION ALL SELECT message FROM (SELECT message FROM message_recipients
    WHERE agent = ?1 AND message > (SELECT max(seq) FROM messages) - ${HEARD_REACH}
    AND read_at >= coalesce((SELECT claimed_at FROM claims WHERE task = ?2), ?3) ORDER BY message DESC LIMIT ${MOST_HEARD}))
ORDER BY r.message`;

function toMessage(row: Record<string, unknown>): WakeMessage {
  return {
    id: String(row["id"]),
    from: String(row["sender"]),
    ...(row["is_person"] === 1 && { isPerson: true }),
    text: String(row["text"]),
    at: new Date(String(row["created_at"])),
    isMention: Number(row["is_mention"]) === 1,
    ...optional("taskId", textOf(row["subject"])),
  };
}
