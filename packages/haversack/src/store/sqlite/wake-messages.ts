/** The messages of an agent that its packet shows. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { WakeMessage } from "../../wake/state.ts";
import { all, MOST_CHARS, optional, textOf } from "./wake-rows.ts";

const MOST_MESSAGES = 20;
const MOST_HEARD = 5;
/** So many messages back: of older ones nothing is looked for. */
const HEARD_REACH = 1_000;

/** Heard: read, in a window that is gone; what was asked for there still holds. */
export function readMessages(
  db: DatabaseSync,
  agent: number,
  inHand: number | undefined,
  since: Date | undefined,
): Record<"unread" | "heard", WakeMessage[]> {
  const unread: WakeMessage[] = [];
  const heard: WakeMessage[] = [];
  for (const row of all(db, MESSAGES, agent, inHand ?? null, since?.toISOString() ?? null)) {
    (row["is_read"] === 1 ? heard : unread).push(toMessage(row));
  }
  return { unread, heard };
}

const MESSAGES = `SELECT m.id, m.sender, substr(m.text, 1, ${MOST_CHARS}) AS text, m.subject, m.created_at, r.is_mention,
  r.read_at IS NOT NULL AS is_read
FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE r.agent = ?1 AND r.message IN (
  SELECT message FROM (SELECT message FROM message_recipients WHERE agent = ?1 AND read_at IS NULL ORDER BY message LIMIT ${MOST_MESSAGES})
  UNION ALL SELECT message FROM (SELECT message FROM message_recipients
    WHERE agent = ?1 AND message > (SELECT max(seq) FROM messages) - ${HEARD_REACH}
    AND read_at >= coalesce((SELECT claimed_at FROM claims WHERE task = ?2), ?3) ORDER BY message DESC LIMIT ${MOST_HEARD}))
ORDER BY r.message`;

function toMessage(row: Record<string, unknown>): WakeMessage {
  return {
    id: String(row["id"]),
    from: String(row["sender"]),
    text: String(row["text"]),
    at: new Date(String(row["created_at"])),
    isMention: Number(row["is_mention"]) === 1,
    ...optional("taskId", textOf(row["subject"])),
  };
}
