/** The packet of a session, and what follows from showing it: its skills are in this window, its messages are read. Loaded by the hook. */
import { isNothing } from "../../wake/state.ts";
import type { SessionAnswer } from "../events/start-session.ts";
import { gatherWake, type WakeRequest } from "./gather-wake.ts";
import { type PacketWindow, recordPacket } from "./record-packet.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export function showPacket(request: WakeRequest, parts: SessionWakeParts, window: PacketWindow): SessionAnswer {
  const { handle } = parts;
  const gathered = gatherWake(request, parts);
  const { state, agentSeq, problems } = gathered;
  if (isNothing(state)) {
    const nothing = { text: "", included: [], state };
    if (window.carried?.length) recordPacket(handle, nothing, window);
    return { problems };
  }
  const packet = parts.makePacket(gathered, request, parts);
  const { text, messages } = packet;
  const isRead = agentSeq !== undefined && messages.length > 0;
  recordPacket(handle, packet, window, isRead ? { messages: { agent: agentSeq, ids: messages } } : {});
  return { problems: packet.problems, ...(text && { context: text }) };
}
