/**
 * What a session hears that goes on: after a compaction what this window had in hand; when it is resumed or forked only what
 * changed meanwhile, because its window still has the rest. A fork also hears whose its tasks are now. Loaded by the hook, apart from what new sessions need.
 */
import { hasLapsed, regain, takeBack } from "../../store/sqlite/work/session-claims.ts";
import type { NotedSession, SessionAnswer, StartedSession } from "../events/start-session.ts";
import { afterCompaction, type CompactionStores } from "./after-compaction.ts";
import { ownFork } from "./own-fork.ts";
import { runningBeside } from "./running-beside.ts";
import { newsOf } from "./session-news.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export function wakeAgain(
  event: StartedSession,
  { before, session }: NotedSession,
  given: SessionWakeParts,
  stores: CompactionStores,
): SessionAnswer {
  const parts = { isRunning: runningBeside(given), ...given };
  const { source, sessionId } = event;
  if (source === "compact") {
    if (!before) return { problems: [] };
    // The window that is compacted may have been quiet for longer than its lease.
    if (hasLapsed(parts.handle, event)) regain(parts.handle, event, { leaseMs: parts.leaseMs(), at: parts.now });
    return afterCompaction(event, { before, session }, parts, stores);
  }
  const told = source === "fork" ? ownFork(event, parts) : "";
  const regained =
    source === "resume" ? takeBack(parts.handle, { sessionId }, { leaseMs: parts.leaseMs(), at: parts.now }) : [];
  return newsOf(event, before, { ...parts, regained }, told);
}
