/** What follows from a packet that a window was given: it is in the record, and its skills are in that window. Loaded by the hook. */
import type { DatabaseSync } from "node:sqlite";
import type { Session } from "../../store/local-store.ts";
import type { Because } from "../../store/sqlite/injections.ts";
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

type RecordedPacket = Pick<WakeUp, "text" | "included" | "state"> &
  Partial<Pick<WakeUp, "leftOut" | "messages" | "sizes">>;

export function recordPacket(
  db: DatabaseSync,
  packet: RecordedPacket,
  { carried = [], ...window }: PacketWindow,
): void {
  const { text, included, state } = packet;
  const skills = included.flatMap(({ key, form }) => {
    const { id, hash } = state.skills.find((skill) => key === `skill:${skill.id}`) ?? {};
    return id !== undefined && hash !== undefined ? [{ skill: id, hash, isWhole: form === "full" }] : [];
  });
  recordRestored(db, { ...window, carried, text, because: becauseOf(packet), skills });
}

/** What `why` needs to say why each part is there. Facts alone: the words are made when somebody asks. */
function becauseOf({ state, included, leftOut = [], messages = [], sizes = {} }: RecordedPacket): Because {
  const { agent, task, leftBy, isCoordinating, alsoHolds, plan, skills, handoffs, wipUpdatedAt } = state;
  const shown = [...(state.newMessage ? [state.newMessage] : []), ...state.messages].filter(({ id }) =>
    messages.includes(id),
  );
  return {
    kind: "packet",
    agent: { name: agent.name, role: agent.role },
    ...(task && {
      task: { id: task.id, title: task.title.slice(0, 120), ...(task.agent !== undefined && { holder: task.agent }) },
    }),
    ...(leftBy && { leftBy }),
    ...(isCoordinating && { isCoordinating }),
    ...(alsoHolds.length > 0 && { alsoHolds: alsoHolds.map(({ id }) => id) }),
    ...(plan && { plan: { file: plan.file, ...(plan.section !== undefined && { section: plan.section }) } }),
    ...(skills.length > 0 && {
      skills: skills.map(({ id, because, hasChanged, isCarried }) => ({
        id,
        because,
        ...(hasChanged && { hasChanged }),
        ...(isCarried && { isCarried }),
      })),
    }),
    ...(handoffs.length > 0 && { handoffs: [...new Set(handoffs.map(({ taskId }) => taskId))] }),
    ...(shown.length > 0 && { messages: shown.map(({ id, from }) => ({ id, from })) }),
    ...(wipUpdatedAt && { wipAt: wipUpdatedAt.toISOString() }),
    parts: included.map(({ key, form }) => ({ key, form, ...(sizes[key] !== undefined && { chars: sizes[key] }) })),
    ...(leftOut.length > 0 && { leftOut: leftOut.map(({ key, count }) => ({ what: key, count })) }),
  };
}
