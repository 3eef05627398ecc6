/** Whether a message waits for an agent of this session: asked at every prompt and tool call, so it is one look into two indexes. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";

export function hasUnread(db: DatabaseSync, sessionId: string, { isMentionOnly }: { isMentionOnly: boolean }): boolean {
  return db.prepare(isMentionOnly ? `${UNREAD} AND r.is_mention = 1` : UNREAD).get(sessionId) !== undefined;
}

const UNREAD =
  "SELECT 1 FROM agents a, message_recipients r WHERE a.session_id = ? AND r.agent = a.seq AND r.read_at IS NULL";
