/** The handoff that a sub-agent stored: one statement instead of the whole work store. The hook bundles this file. */
import { readStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

export interface StoredHandoff {
  id: string;
  taskId: string;
  status: string;
  summary: string;
  hasDetails: boolean;
}

/**
 * The latest handoff that this sub-agent stored. Whoever works for a session's sub-agent has a name that ends with the
 * beginning of its id (engine/work/actor.ts). Looks at the newest only: it was stored a moment ago.
 */
export function readHandoffBy(handle: StoreHandle, agentId: string): StoredHandoff | undefined {
  const ending = `.${agentId.replace(/[^A-Za-z0-9]/g, "").slice(0, 8)}`;
  return readStore(handle, (db) => {
    const row = db
      .prepare(NEWEST_HANDOFFS)
      .all()
      .find(({ actor }) => String(actor).endsWith(ending));
    return (
      row && {
        id: String(row["id"]),
        taskId: String(row["task_id"]),
        status: String(row["status"]),
        summary: String(row["summary"]),
        hasDetails: Number(row["details_chars"]) > 0,
      }
    );
  });
}

const NEWEST_HANDOFFS = `SELECT h.id, t.id AS task_id, h.status, h.summary, h.details_chars, h.actor
FROM (SELECT * FROM handoffs ORDER BY seq DESC LIMIT 200) h JOIN tasks t ON t.seq = h.task ORDER BY h.created_at DESC, h.seq DESC`;
