/** What was replaced in a session's WIP. Apart from session-state.ts, which the hook bundles and which only writes it. */
import type { SessionKey } from "../local-store.ts";
import { readStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

export interface SessionWipChange {
  at: Date;
  path: string;
  before?: unknown;
  after?: unknown;
}

/** Newest first. */
export function sessionWipHistory(
  handle: StoreHandle,
  { sessionId, agentId = "", limit }: SessionKey & { limit: number },
): SessionWipChange[] {
  return readStore(handle, (db) => {
    const rows = db
      .prepare(
        "SELECT at, path, before, after FROM wip_changes WHERE session_id = ? AND agent_id = ? ORDER BY id DESC LIMIT ?",
      )
      .all(sessionId, agentId, limit);
    return rows.map(({ at, path, before, after }) => ({
      at: new Date(String(at)),
      path: String(path),
      ...(before !== null && { before: JSON.parse(String(before)) }),
      ...(after !== null && { after: JSON.parse(String(after)) }),
    }));
  });
}
