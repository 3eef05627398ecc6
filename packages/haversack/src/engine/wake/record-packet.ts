/** What follows from a packet that a window was given: it is in the record, and its skills are in that window. Loaded by the hook. */
import type { DatabaseSync } from "node:sqlite";
import type { Session } from "../../store/local-store.ts";
import { recordRestored, type WindowEntry } from "../../store/sqlite/restored-skills.ts";
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
export const CHARS_PER_TOKEN = 4;

export function recordPacket(
  db: DatabaseSync,
  { text, included, state }: Pick<WakeUp, "text" | "included" | "state">,
  { carried = [], ...window }: PacketWindow,
): void {
  const skills = included.flatMap(({ key, form }) => {
    const { id, hash } = state.skills.find((skill) => key === `skill:${skill.id}`) ?? {};
    return id !== undefined && hash !== undefined ? [{ skill: id, hash, isWhole: form === "full" }] : [];
  });
  recordRestored(db, { ...window, carried, text, tokens: Math.ceil(text.length / CHARS_PER_TOKEN), skills });
}
