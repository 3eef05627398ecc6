/** What follows from a packet that a window was given: it is in the record, and its skills are in that window. Loaded by the hook. */
import type { SkillLedger, WindowEntry } from "../../store/sqlite/skill-ledger.ts";
import type { WakeUp } from "./make-packet.ts";

export interface PacketWindow {
  sessionId: string;
  agentId: string;
  at: Date;
  /** What brought it: `compaction`, `agent-start`, or the source of a session's start. */
  event: string;
  /** What the window has without us. */
  carried?: readonly WindowEntry[];
}

/** For the record. The estimator proper costs a hook 3 ms for a packet. */
const CHARS_PER_TOKEN = 4;

export function recordPacket(
  { text, included, state }: Pick<WakeUp, "text" | "included" | "state">,
  { carried = [], ...window }: PacketWindow,
  ledger: SkillLedger,
): void {
  const skills = included.flatMap(({ key, form }) => {
    const { id, hash } = state.skills.find((skill) => key === `skill:${skill.id}`) ?? {};
    return id !== undefined && hash !== undefined ? [{ skill: id, hash, isWhole: form === "full" }] : [];
  });
  ledger.recordRestored({ ...window, carried, text, tokens: Math.ceil(text.length / CHARS_PER_TOKEN), skills });
}
