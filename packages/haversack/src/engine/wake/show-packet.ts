/** The packet of a session, and what follows from showing it: its skills are in this window, its messages are read. Loaded by the hook. */
import { writeStore } from "../../store/sqlite/access.ts";
import { markShown } from "../../store/sqlite/unread-messages.ts";
import { isNothing } from "../../wake/has-work.ts";
import type { SessionAnswer } from "../start-session.ts";
import { gatherWake, type WakeRequest } from "./gather-wake.ts";
import { type PacketWindow, recordPacket } from "./record-packet.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export function showPacket(request: WakeRequest, parts: SessionWakeParts, window: PacketWindow): SessionAnswer {
  const { handle } = parts;
  const gathered = gatherWake(request, parts);
  const { state, agentSeq, problems } = gathered;
  if (isNothing(state)) {
    const nothing = { text: "", included: [], state };
    if (window.carried?.length) writeStore(handle, (db) => recordPacket(db, nothing, window));
    return { problems };
  }
  const packet = parts.makePacket(gathered, request, parts);
  const { text, messages } = packet;
  writeStore(handle, (db) => {
    recordPacket(db, packet, window);
    if (agentSeq !== undefined && messages.length > 0) markShown(db, agentSeq, messages, window.at);
  });
  return { problems: packet.problems, ...(text && { context: text }) };
}
