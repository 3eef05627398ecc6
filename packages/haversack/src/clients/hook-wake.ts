/** Packets of new sessions and of sub-agents, for hook.cjs: loaded, with hook-packet.cjs, when there may be something to go on with. */
import { type SessionAnswer, type StartedSession, wakeSession } from "../engine/wake/wake-session.ts";
import { type StartedAgent, subAgentPacket } from "../engine/wake/wake-sub-agent.ts";
import type { ClientProcess, TouchedSession } from "../store/local-store.ts";
import { SkillCards, type SkillLookup } from "../store/sqlite/skill-cards.ts";
import type { WakePlace } from "./hook-place.ts";
import { sessionParts, wakeParts } from "./wake-parts.ts";

export { showPacket } from "../engine/wake/show-packet.ts";

export function answerStart(
  event: StartedSession,
  { process, ...touched }: TouchedSession & { process: ClientProcess | undefined },
  place: WakePlace,
  index: SkillLookup = new SkillCards(place.handle.db),
): SessionAnswer {
  return wakeSession(event, touched, sessionParts(process, index, place));
}

export function packetFor(start: Omit<StartedAgent, "client">, index: SkillLookup, place: WakePlace): string {
  const { makePacket } = place.packet();
  return subAgentPacket({ ...start, client: place.client() }, { ...wakeParts(index, place), makePacket });
}
