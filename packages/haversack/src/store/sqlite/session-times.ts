/** When a session was seen, and its end, in one row: for a hook that asks at every event. The hook bundles this file. */
import { readStore, writeStore } from "./access.ts";
import type { StoreHandle } from "./handle.ts";

/** As ISO texts, which compare as times do. */
export interface SessionTimes {
  startedAt: string;
  lastSeenAt: string;
  lastPromptAt: string | null;
  endedAt: string | null;
}

export function readSessionTimes(handle: StoreHandle, sessionId: string): SessionTimes | undefined {
  return readStore(handle, (db) => db.prepare(TIMES).get(sessionId) as SessionTimes | undefined);
}

/** A session that was killed has not said that it is over. */
export function endSession(handle: StoreHandle, sessionId: string, at: Date): void {
  const now = at.toISOString();
  writeStore(handle, (db) => db.prepare(END).run(now, now, sessionId));
}

const TIMES = `
SELECT started_at AS startedAt, last_seen_at AS lastSeenAt, last_prompt_at AS lastPromptAt, ended_at AS endedAt
FROM sessions WHERE session_id = ? AND agent_id = ''`;
const END =
  "UPDATE sessions SET ended_at = ?, last_seen_at = max(last_seen_at, ?) WHERE session_id = ? AND agent_id = ''";
