/** Packets of sub-agents, and messages, for hook.cjs: loaded when one starts with a task, or a message waits. */
import { deliverMessages } from "../engine/wake/deliver-messages.ts";
import type { MakePacket } from "../engine/wake/wake-session.ts";
import { type StartedAgent, subAgentPacket } from "../engine/wake/wake-sub-agent.ts";
import type { SkillLookup } from "../store/sqlite/skill-cards.ts";
import type { WakePlace } from "./hook-place.ts";
import { wakeParts } from "./wake-parts.ts";

export function packetFor(start: Omit<StartedAgent, "client">, index: SkillLookup, place: WakePlace): string {
  const makePacket: MakePacket = (...args) => place.packet().makePacket(...args);
  return subAgentPacket({ ...start, client: place.client() }, { ...wakeParts(index, place), makePacket });
}

/** `used`: what the answer has already. */
export function messagesFor(
  sessionId: string,
  { event, used }: { event: string; used: number },
  { handle, now, client }: WakePlace,
): string {
  const isMentionOnly = event === "Stop";
  const { maxChars, sizeOf } = client();
  return deliverMessages({ sessionId, maxChars: maxChars - used, sizeOf, isMentionOnly, event }, { handle, now });
}
