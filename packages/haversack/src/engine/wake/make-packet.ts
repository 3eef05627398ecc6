/** The packet of what was gathered, within what the client takes. Loaded by the hook, apart from what gathers: most sessions have nothing to go on with. */
import { type ClientProfile, sizeFor } from "../../skills/showing/activation.ts";
import type { Session } from "../../store/local-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import type { Because } from "../../store/sqlite/skills/injections.ts";
import type { WindowEntry } from "../../store/sqlite/skills/skill-ledger.ts";
import { type ShownPacket, savePacket } from "../../store/sqlite/work/events/wake-state.ts";
import { firstInTurn } from "../../wake/dispatch-order.ts";
import { assemblePacket, type Packet, type PacketOptions } from "../../wake/packet.ts";
import { isNothing, ROLES, type WakeState } from "../../wake/state.ts";
import { DEVELOPMENT } from "../../wake/workflow.ts";
import type { SessionAnswer } from "../events/start-session.ts";
import { type Gathered, gatherWake, type WakeParts, type WakeRequest, type WakeSettings } from "./gather-wake.ts";
import type { SessionWakeParts } from "./wake-session.ts";

export interface WakeUp extends Packet {
  state: WakeState;
  /** The row of the agent, when it has one: for read marks. */
  agentSeq?: number;
}

export function makePacket(
  { state: gathered, agentSeq, problems, ready }: Gathered,
  request: WakeRequest,
  { root, settings, readText }: Pick<WakeParts, "root" | "settings" | "readText">,
): WakeUp {
  const suggested = ready && firstInTurn(ready.tasks, { ...ready, workflow: DEVELOPMENT });
  const state = suggested ? { ...gathered, suggested } : gathered;
  const packet = assemblePacket(state, {
    template:
      request.template ??
      (state.agent.role && readText(`${root}/.haversack/templates/${fileName(state.agent.role)}.md`)),
    workflow: DEVELOPMENT,
    how: waysTo(state.task?.id, request.client),
    ...budgetOf(request, settings),
  });
  return {
    ...packet,
    problems: [...problems, ...packet.problems],
    state,
    ...(agentSeq !== undefined && { agentSeq }),
  };
}

/** Where our MCP server is there, its tools are the way: they need no shell and no permission. */
function waysTo(taskId: string | undefined, { skillTool }: ClientProfile): PacketOptions["how"] {
  if (!skillTool || taskId === undefined) return undefined;
  const task = `get_task(task_id: "${taskId}", fields: "full")`;
  return { task, wip: task, handoffs: `get_task_handoff(task_id: "${taskId}")` };
}

function budgetOf({ budget, client }: WakeRequest, { budgetChars }: WakeSettings) {
  if (budget) return { budget: budget.size, unit: budget.unit, count: budget.count };
  const most = budgetChars > 0 ? Math.min(budgetChars, client.maxChars) : client.maxChars;
  return { budget: most, unit: "chars" as const, count: (text: string) => sizeFor(client, text) };
}

/** A role is a word; whatever else it is must not lead out of the folder. */
function fileName(role: string): string {
  return ROLES.some((known) => known === role) ? role : role.replace(/[^A-Za-z0-9_-]/g, "-");
}

// Wakes an agent: reads what the store, the plan and the skill index know of its work, and makes the packet that its
// client has room for. Reads only; what follows from showing it is written when it really is shown.

export function wakeUp(request: WakeRequest, parts: WakeParts): WakeUp {
  return makePacket(gatherWake(request, parts), request, parts);
}

// The packet of a session, and what follows from showing it: its skills are in this window, its messages are read.
// Loaded by the hook.

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

// What follows from a packet that a window was given: it is in the record, and its skills are in that window. Loaded
// by the hook.

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
