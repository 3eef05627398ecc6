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
import { newsOf } from "./session-news.ts";
import type { SessionAnswer, StartedSession, WakeAgainParts } from "./wake-session.ts";

export function wakeAgain(
  event: StartedSession,
  { before, session }: TouchedSession,
  parts: WakeAgainParts,
  stores: CompactionStores,
): SessionAnswer {
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
