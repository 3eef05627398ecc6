/**
 * Wakes an agent: reads what the store, the plan and the skill index know of its work, and makes the packet that its client has
 * room for. Reads only; what follows from showing it is written when it really is shown.
 */
import { gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import { makePacket, type WakeUp } from "./make-packet.ts";

export type { WakeParts, WakeRequest, WakeSettings } from "./gather-wake.ts";
export type { WakeUp } from "./make-packet.ts";

export function wakeUp(request: WakeRequest, parts: WakeParts): WakeUp {
  return makePacket(gatherWake(request, parts), request, parts);
}
