/**
 * What others did to the tasks that a session had in hand, since it was last heard of. The hook bundles this file: it looks at
 * the newest activity only.
 */
import type { WakeActivity } from "../../wake/state.ts";
import { readStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

export interface SessionNews {
  /** Newest first. */
  activity: WakeActivity[];
  /** Tasks that it had, and that are open and not its own any more. */
  lost: { id: string; title: string; status: string; agent?: string }[];
}

export function readNews(
  handle: StoreHandle,
  { sessionId, holder, since }: { sessionId: string; holder: string; since: Date },
): SessionNews {
  return readStore(handle, (db) => {
    const key = { sessionId, holder };
    const activity = db.prepare(NEWS).all({ ...key, since: since.toISOString() });
    const lost = activity.length === 0 ? [] : db.prepare(LOST).all(key);
    return {
      activity: activity.map((row) => ({
        at: new Date(String(row["at"])),
        actor: String(row["actor"]),
        kind: String(row["kind"]),
        text: String(row["text"]),
        subject: String(row["subject"]),
      })),
      lost: lost.map(({ id, title, status, agent }) => ({
        id: String(id),
        title: String(title),
        status: String(status),
        ...(typeof agent === "string" && { agent }),
      })),
    };
  });
}

/** What it holds, and what it has claimed lately. */
const HAD = `SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = :sessionId
UNION SELECT subject FROM (SELECT kind, actor, subject FROM activity ORDER BY id DESC LIMIT 500) WHERE kind = 'task-claimed' AND actor = :holder`;

const NEWS = `SELECT at, actor, kind, subject, substr(text, 1, 500) AS text FROM activity
WHERE subject IN (${HAD}) AND at > :since AND actor <> :holder ORDER BY id DESC LIMIT 10`;

const LOST = `SELECT t.id, t.title, t.status, c.agent FROM tasks t LEFT JOIN claims c ON c.task = t.seq
WHERE t.id IN (${HAD}) AND t.status IN ('todo', 'in_progress') AND c.session_id IS NOT :sessionId ORDER BY t.seq LIMIT 5`;
