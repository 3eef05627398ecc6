/** What follows from a packet that a window was given: it is in the record, and its skills are in that window. Loaded by the hook. */
import type { Session } from "../../store/local-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import type { Because } from "../../store/sqlite/skills/injections.ts";
import type { WindowEntry } from "../../store/sqlite/skills/skill-ledger.ts";
import { type ShownPacket, savePacket } from "../../store/sqlite/work/wake-state.ts";
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

/** `messages`: those that it has shown, and to whom. `role`: the one that a sub-agent is started in. */
export function recordPacket(
  handle: StoreHandle,
  packet: RecordedPacket,
  { carried = [], session, ...window }: PacketWindow,
  { messages, role }: Pick<ShownPacket, "messages" | "role"> = {},
): void {
  const { text, included, state } = packet;
  const skills = included.flatMap(({ key, form }) => {
    const { id, hash } = state.skills.find((skill) => key === `skill:${skill.id}`) ?? {};
    return id !== undefined && hash !== undefined ? [{ skill: id, hash, isWhole: form === "full" }] : [];
  });
  writeEvent(handle, "packet", savePacket, {
    ...window,
    ...(session && { session: { window: session.window, promptCount: session.promptCount } }),
    carried,
    text,
    because: becauseOf(packet),
    skills,
    ...(messages && { messages }),
    ...(role !== undefined && { role }),
  });
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
    ...(leftBy && { leftBy: { agent: leftBy.agent, because: leftBy.because } }),
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
