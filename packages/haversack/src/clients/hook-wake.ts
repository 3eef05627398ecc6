/** Packets of new sessions and of sub-agents, for hook.cjs: loaded, with hook-packet.cjs, when there may be something to go on with. */
import type { NotedSession, SessionAnswer, StartedSession } from "../engine/start-session.ts";
import { knownAs } from "../engine/wake/become-known.ts";
import { leftEdits } from "../engine/wake/left-edits.ts";
import { wakeSession } from "../engine/wake/wake-session.ts";
import { type StartedAgent, subAgentPacket } from "../engine/wake/wake-sub-agent.ts";
import { givenName } from "../engine/work/actor.ts";
import type { ClientProcess } from "../store/local-store.ts";
import { SkillCards, type SkillLookup } from "../store/sqlite/skill-cards.ts";
import { isAlive } from "./claude-code/client-process.ts";
import type { WakePlace } from "./hook-place.ts";
import { sessionParts, wakeParts } from "./wake-parts.ts";

export { showPacket } from "../engine/wake/show-packet.ts";

export function becomeKnown(event: StartedSession, { env, now }: WakePlace): ReturnType<typeof knownAs> {
  return knownAs(givenName(env), event, now);
}

export function answerStart(
  event: StartedSession,
  { process, ...noted }: NotedSession & { process: ClientProcess | undefined },
  place: WakePlace,
  index: SkillLookup = new SkillCards(place.handle.db),
): SessionAnswer {
  return wakeSession(event, noted, sessionParts(process, index, place));
}

/** One line on what the last session here left without a task; "" when there is none. */
export function tellLeftEdits(event: StartedSession, space: string, { handle, now }: WakePlace): string {
  return leftEdits(event, { handle, space, isAlive, now });
}

export function packetFor(start: Omit<StartedAgent, "client">, index: SkillLookup, place: WakePlace): string {
  const { makePacket } = place.packet();
  return subAgentPacket({ ...start, client: place.client() }, { ...wakeParts(index, place), makePacket });
}
