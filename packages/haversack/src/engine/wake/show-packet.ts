/** The packet of a session, and what follows from showing it: its skills are in this window, its messages are read. Loaded by the hook. */
import type { DatabaseSync } from "node:sqlite";
import { writeStore } from "../../store/sqlite/access.ts";
import { markShown } from "../../store/sqlite/unread-messages.ts";
import { isNothing } from "../../wake/has-work.ts";
import { type Gathered, gatherWake, type WakeRequest } from "./gather-wake.ts";
import type { WakeUp } from "./make-packet.ts";
import { type PacketWindow, recordPacket } from "./record-packet.ts";
import type { SessionAnswer, SessionWakeParts } from "./wake-session.ts";

export interface ShowOptions {
  window: PacketWindow;
  /** What else is written, whatever becomes of the packet. It gets the row of the agent, when there is one. */
  also?: ((db: DatabaseSync, agentSeq: number | undefined) => void) | undefined;
}

export function showPacket(
  request: WakeRequest,
  parts: SessionWakeParts,
  { window, also }: ShowOptions,
): SessionAnswer {
  let gathered: Gathered | undefined;
  let packet: WakeUp | undefined;
  try {
    gathered = gatherWake(request, parts);
    if (!isNothing(gathered.state)) packet = parts.makePacket(gathered, request, parts);
  } finally {
    if (also || packet || window.carried?.length) {
      writeStore(parts.handle, (db) => record(db, { gathered, packet, window, also }));
    }
  }
  const { problems, text } = packet ?? { problems: gathered.problems, text: "" };
  return { problems, ...(text && { context: text }) };
}

function record(
  db: DatabaseSync,
  { gathered, packet, window, also }: { gathered: Gathered | undefined; packet: WakeUp | undefined } & ShowOptions,
): void {
  const { state, agentSeq } = gathered ?? {};
  also?.(db, agentSeq);
  if (!state) return;
  if (packet || window.carried?.length) recordPacket(db, packet ?? { text: "", included: [], state }, window);
  if (agentSeq !== undefined && packet && packet.messages.length > 0) {
    markShown(db, agentSeq, packet.messages, window.at);
  }
}
