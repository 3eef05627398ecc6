/** Makes the packet from what was gathered, within the client's limit. A separate chunk of the hook: most sessions need no packet. */

import { gitPlace, workPlace } from "../../base/project-root.ts";
import { type ClientProfile, sizeFor } from "../../skills/showing/activation.ts";
import { type StoreHandle, writeEvent } from "../../store/sqlite/access.ts";
import type { ClientProcess, Session } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { type Because, noteInjection } from "../../store/sqlite/skills/injections.ts";
import type { WindowEntry } from "../../store/sqlite/skills/skill-ledger.ts";
import { holdsTask, takeBack, takeOver } from "../../store/sqlite/work/events/session-claims.ts";
import { becomeKnown, type ShownPacket, savePacket } from "../../store/sqlite/work/events/wake-state.ts";
import { assemblePacket, type Packet, type PacketOptions } from "../../wake/packet.ts";
import { leftLines } from "../../wake/packet-pieces.ts";
import { isNothing, ROLES, type WakeState } from "../../wake/state.ts";
import { isAgentName } from "../../wake/text.ts";
import { firstInTurn } from "../../wake/workflow.ts";
import type { NamedAgent, NotedSession, SessionAnswer, StartedSession } from "../events/start-session.ts";
import { type Gathered, gatherWake, type WakeParts, type WakeRequest, type WakeSettings } from "./gather-wake.ts";

export interface WakeUp extends Packet {
  state: WakeState;
  /** The agent's row, if it has one, for marking messages as read. */
  agentSeq?: number;
}

export function makePacket(
  { state: gathered, agentSeq, problems, ready }: Gathered,
  request: WakeRequest,
  { root, settings, readText }: Pick<WakeParts, "root" | "settings" | "readText">,
): WakeUp {
  const suggested = ready && firstInTurn(ready.tasks, ready);
  const state = suggested ? { ...gathered, suggested } : gathered;
  const { role } = state.agent;
  // A role should be a word. Anything else must not lead out of the folder.
  const file = ROLES.some((known) => known === role) ? role : role.replace(/[^A-Za-z0-9_-]/g, "-");
  const packet = assemblePacket(state, {
    template: request.template ?? (role && readText(`${root}/.haversack/templates/${file}.md`)),
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

/** Prefers the tools of our MCP server, if it is there: they need no shell and no permission. */
function waysTo(taskId: string | undefined, { skillTool }: ClientProfile): PacketOptions["how"] {
  if (!skillTool || taskId === undefined) return undefined;
  const task = `get_task(task_id: "${taskId}", fields: "full")`;
  return { task, wip: task, handoffs: `get_task_handoff(task_id: "${taskId}")` };
}

function budgetOf({ budget, client }: WakeRequest, { "wake.budget_chars": budgetChars = 0 }: WakeSettings) {
  if (budget) return { budget: budget.size, unit: budget.unit, count: budget.count };
  const most = budgetChars > 0 ? Math.min(budgetChars, client.maxChars) : client.maxChars;
  return { budget: most, unit: "chars" as const, count: (text: string) => sizeFor(client, text) };
}

// Wakes an agent: reads what the store, the plan and the skill index know about its work, and makes a packet that fits its
// client. Only reads; side effects are written when the packet is really shown.

export function wakeUp(request: WakeRequest, parts: WakeParts): WakeUp {
  return makePacket(gatherWake(request, parts), request, parts);
}

// Makes and shows the packet of a session, and records the effects: its skills are in this window, its messages are read.
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

// Records a packet that a window received: in the history, and its skills in that window. Loaded by the hook.

export interface PacketWindow {
  sessionId: string;
  agentId: string;
  at: Date;
  /** What triggered it: `compaction`, `agent-start`, or the source of a session's start. */
  event: string;
  /** Skills that are in the window without our help. */
  carried?: readonly WindowEntry[];
  /** The session after the event. Default: from the store. */
  session?: Session | undefined;
}

type RecordedPacket = Pick<WakeUp, "text" | "included" | "state"> &
  Partial<Pick<WakeUp, "leftOut" | "messages" | "sizes">>;

/** `messages`: those that the packet showed, and to whom. `role`: the role that a sub-agent is started in. */
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

/** Facts that `why` needs to explain each part. The sentences are made on request. */
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

// What a new session is told: tasks that its name holds, or tasks that others left. A task left in this work tree comes with
// everything known about it; further ones, and those of other work trees, get one line each. Loaded by the hook. For sessions
// that continue, see wake-again.ts.

/** Makes the packet. Loaded only when there is something to put into it. */
export type MakePacket = (gathered: Gathered, request: WakeRequest, parts: WakeParts) => WakeUp;

export interface SessionWakeParts extends WakeParts {
  /** `haversack agent prompt` started it with the packet as its prompt. */
  isWoken?: boolean;
  makePacket: MakePacket;
  /** The agent name of this process; "" if none is set. */
  name: string;
  process: ClientProcess | undefined;
  isAlive(processId: number): boolean;
  leaseMs(): number;
}

export function wakeSession(
  { sessionId, agentId, client, cwd, ...event }: StartedSession,
  { before, session, agent }: NotedSession,
  given: SessionWakeParts,
): SessionAnswer {
  const parts = { isRunning: runningBeside(given), ...given };
  const source = event.source === "clear" ? "clear" : "startup";
  const { handle, name, process, isAlive, leaseMs, now: at } = parts;
  if (event.source === "resume") takeBack(handle, { sessionId }, { leaseMs: leaseMs(), at });
  const place = { ...workPlace(cwd), client: client.name };
  const { left, others } = takeOver(handle, {
    sessionId,
    name,
    place,
    worktreeOf: (folder) => workPlace(folder).worktree,
    processSpace: process?.space ?? "",
    isAlive,
    leaseMs,
    at,
  });
  const hasOwn = left.length > 0 && holdsTask(handle, { name, sessionId });
  const found = hasOwn ? undefined : left.find(({ isHere, isOpen }) => isHere && !isOpen);
  // An agent with work of its own is not sent to other work trees.
  const rest = left.filter((task) => task !== found && (task.isHere || !hasOwn));
  // The longer of two forms. Which one is used is known once the packet is made.
  const lines = leftLines(rest, { at, hasPacket: false });
  const last = agent?.lastSession;
  const isLastRunning = last?.process !== undefined && parts.isRunning(last.process);
  const request: WakeRequest = {
    key: {
      sessionId,
      isNew: event.source === "startup" && before === undefined,
      client: client.name,
      ...(name && { name }),
      ...(agent && { known: agent }),
      ...(place.branch !== undefined && { branch: place.branch }),
      ...(found && { taskId: found.taskId }),
    },
    reason: source,
    client: lines ? { ...client, maxChars: client.maxChars - sizeFor(client, lines) - 2 } : client,
    // A session without a name may still be a known agent; then its other sessions are looked up.
    ...(name && { others: isLastRunning ? [last, ...others] : others }),
    ...(found && { leftBy: { agent: found.agent, because: found.because, at: found.endedAt } }),
  };
  const answer = showPacket(request, parts, { sessionId, agentId, at, event: source, session });
  // The prompt is the packet. It is recorded like one of ours, so the prompt's skills are not shown again.
  if (parts.isWoken && source === "startup") return { problems: answer.problems };
  if (!lines) return answer;
  const text = answer.context ? leftLines(rest, { at, hasPacket: true }) : lines;
  const because = { kind: "left" as const, tasks: rest.map(({ taskId }) => taskId) };
  const shown = { at, window: session.window, event: source, format: "left", text, because };
  noteInjection(handle, { sessionId }, shown);
  return { ...answer, context: answer.context ? `${answer.context}\n\n${text}` : text };
}

// Whether another session's client still runs, as far as this can be determined. Loaded by the hook.

/** Undefined for a process of another machine or container, which cannot be checked. */
export function runningBeside({
  process,
  isAlive,
}: Pick<SessionWakeParts, "process" | "isAlive">): (other: ClientProcess) => boolean | undefined {
  return ({ id, space }) => (space !== "" && space === process?.space ? isAlive(id) : undefined);
}

// A session that starts with a name is recorded as that agent. Loaded by the hook.

/** Records the agent in the transaction that records the start. Undefined if the name is not valid. */
export function knownAs(name: string, { client, sessionId, cwd }: StartedSession, at: Date): NamedAgent | undefined {
  if (!isAgentName(name)) return undefined;
  const seen = { name, client: client.name, sessionId, ...gitPlace(cwd) };
  return { seen, note: (db) => becomeKnown(db, seen, at) };
}
