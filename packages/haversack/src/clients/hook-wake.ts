/** Packets of new sessions and of sub-agents, for hook.cjs: loaded, with hook-packet.cjs, when there may be something to go on with. */
import type { DatabaseSync } from "node:sqlite";
import { gitPlace } from "../base/git-place.ts";
import type { NotedSession, SessionAnswer, StartedSession } from "../engine/start-session.ts";
import { wakeSession } from "../engine/wake/wake-session.ts";
import { type StartedAgent, subAgentPacket } from "../engine/wake/wake-sub-agent.ts";
import { givenName } from "../engine/work/actor.ts";
import type { ClientProcess } from "../store/local-store.ts";
import * as agents from "../store/sqlite/known-agent.ts";
import { SkillCards, type SkillLookup } from "../store/sqlite/skill-cards.ts";
import { isAgentName } from "../wake/message.ts";
import type { WakePlace } from "./hook-place.ts";
import { sessionParts, wakeParts } from "./wake-parts.ts";

export { showPacket } from "../engine/wake/show-packet.ts";

/** Undefined where the name that was given cannot be one. */
export function becomeKnown(
  { client, sessionId, cwd }: StartedSession,
  { env, now }: WakePlace,
): ((db: DatabaseSync) => agents.KnownAgent) | undefined {
  const name = givenName(env);
  if (!isAgentName(name)) return undefined;
  const seen = { name, client: client.name, sessionId, ...gitPlace(cwd) };
  return (db) => agents.becomeKnown(db, seen, now);
}

export function answerStart(
  event: StartedSession,
  { process, ...noted }: NotedSession & { process: ClientProcess | undefined },
  place: WakePlace,
  index: SkillLookup = new SkillCards(place.handle.db),
): SessionAnswer {
  return wakeSession(event, noted, sessionParts(process, index, place));
}

export function packetFor(start: Omit<StartedAgent, "client">, index: SkillLookup, place: WakePlace): string {
  const { makePacket } = place.packet();
  return subAgentPacket({ ...start, client: place.client() }, { ...wakeParts(index, place), makePacket });
}
