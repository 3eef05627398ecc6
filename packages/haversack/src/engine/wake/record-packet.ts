/** What follows from a packet that a window was given: it is in the record, and its skills are in that window. Loaded by the hook. */
import type { Session } from "../../store/local-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import type { WindowEntry } from "../../store/sqlite/restored-skills.ts";
import { type ShownPacket, savePacket } from "../../store/sqlite/shown-packet.ts";
import type { WakeUp } from "./make-packet.ts";

export interface PacketWindow {
  sessionId: string;
  agentId: string;
  at: Date;
  /** What brought it: `compaction`, `agent-start`, or the source of a session's start. */
  event: string;
  /** What the window has without us. */
  carried?: readonly WindowEntry[];
  /** As the event left it. Default: as the store has it. */
  session?: Session | undefined;
}

/** For the record. The estimator proper costs a hook 3 ms for a packet. */
const CHARS_PER_TOKEN = 4;

/** `messages`: those that it has shown, and to whom. */
export function recordPacket(
  handle: StoreHandle,
  { text, included, state }: Pick<WakeUp, "text" | "included" | "state">,
  { carried = [], session, ...window }: PacketWindow,
  messages?: ShownPacket["messages"],
): void {
  const skills = included.flatMap(({ key, form }) => {
    const { id, hash } = state.skills.find((skill) => key === `skill:${skill.id}`) ?? {};
    return id !== undefined && hash !== undefined ? [{ skill: id, hash, isWhole: form === "full" }] : [];
  });
  writeEvent(handle, "packet", savePacket, {
    ...window,
    ...(session && { session: { window: session.window, promptCount: session.promptCount } }),
    carried,
    text,
    tokens: Math.ceil(text.length / CHARS_PER_TOKEN),
    skills,
    ...(messages && { messages }),
  });
}
