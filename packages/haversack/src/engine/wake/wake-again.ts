/**
 * What a session hears that goes on: after a compaction what this window had in hand; when it is resumed or forked only what
 * changed meanwhile, because its window still has the rest. Loaded by the hook, apart from what new sessions need.
 */
import { gitPlace } from "../../base/git-place.ts";
import type { TouchedSession } from "../../store/local-store.ts";
import { writeStore } from "../../store/sqlite/access.ts";
import { takeBack } from "../../store/sqlite/session-claims.ts";
import { seeAgent } from "../../store/sqlite/work/agents.ts";
import { isAgentName } from "../../wake/message.ts";
import { afterCompaction, type CompactionStores } from "./after-compaction.ts";
import { runningBeside } from "./running-beside.ts";
import { newsOf } from "./session-news.ts";
import type { showPacket } from "./show-packet.ts";
import type { SessionAnswer, SessionWakeParts, StartedSession } from "./wake-session.ts";

export interface WakeAgainParts extends SessionWakeParts {
  /** Given: the file of the hook that this stands in is loaded beside the one that has it. */
  showPacket: typeof showPacket;
}

export function wakeAgain(
  event: StartedSession,
  { before, session }: TouchedSession,
  given: WakeAgainParts,
  stores: CompactionStores,
): SessionAnswer {
  const parts = { isRunning: runningBeside(given), ...given };
  const { source, agentId, sessionId, client, cwd } = event;
  const { handle, name, now: at } = parts;
  if (source === "compact")
    return before ? afterCompaction(event, { before, session }, parts, stores) : { problems: [] };
  if (agentId === "" && isAgentName(name)) {
    writeStore(handle, (db) => seeAgent(db, { name, client: client.name, sessionId, ...gitPlace(cwd) }, at));
  }
  if (source === "resume") takeBack(handle, { sessionId }, { leaseMs: parts.leaseMs(), at });
  return newsOf(event, before, parts);
}
