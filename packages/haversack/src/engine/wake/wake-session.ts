/**
 * What a new session hears, if there is something to go on with: what its name holds, or what others left. A task that was left in
 * this work tree comes with all that is known of it; further ones and those of other work trees are named in a line each.
 * Loaded by the hook. For sessions that go on there is wake-again.ts.
 */
import { gitPlace, workPlace } from "../../base/git-place.ts";
import { sizeFor } from "../../skills/showing/activation.ts";
import type { ClientProcess } from "../../store/local-store.ts";
import { writeEvent } from "../../store/sqlite/access.ts";
import { recordInjection } from "../../store/sqlite/skills/injections.ts";
import { holdsTask, takeBack, takeOver } from "../../store/sqlite/work/events/session-claims.ts";
import { becomeKnown } from "../../store/sqlite/work/events/wake-state.ts";
import { isAgentName } from "../../wake/message.ts";
import { leftLines } from "../../wake/talk-pieces.ts";
import type { NamedAgent, NotedSession, SessionAnswer, StartedSession } from "../events/start-session.ts";
import type { Gathered, WakeParts, WakeRequest } from "./gather-wake.ts";
import { showPacket, type WakeUp } from "./make-packet.ts";

/** Makes the packet; loaded when there is something to put into it. */
export type MakePacket = (gathered: Gathered, request: WakeRequest, parts: WakeParts) => WakeUp;

export interface SessionWakeParts extends WakeParts {
  /** `haversack prompt` started it with the packet as its prompt: it has it already. */
  isWoken?: boolean;
  makePacket: MakePacket;
  /** What the agent of this process is called; "" when nobody said. */
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
  // Whoever has work of its own is not sent to other work trees.
  const rest = left.filter((task) => task !== found && (task.isHere || !hasOwn));
  // The longer of its two forms: which one it is shows when the packet is there.
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
    // Without a name it may still be known as one: then they are looked for.
    ...(name && { others: isLastRunning ? [last, ...others] : others }),
    ...(found && { leftBy: { agent: found.agent, because: found.because, at: found.endedAt } }),
  };
  const answer = showPacket(request, parts, { sessionId, agentId, at, event: source, session });
  // Its prompt is the packet: that is recorded like one of ours, so that the prompt does not bring its skills again.
  if (parts.isWoken && source === "startup") return { problems: answer.problems };
  if (!lines) return answer;
  const text = answer.context ? leftLines(rest, { at, hasPacket: true }) : lines;
  const because = { kind: "left" as const, tasks: rest.map(({ taskId }) => taskId) };
  const { window } = session;
  const injection = { sessionId, at, window, event: source, format: "left", text, because };
  writeEvent(handle, "injection", recordInjection, injection);
  return { ...answer, context: answer.context ? `${answer.context}\n\n${text}` : text };
}

// Whether another session's client still runs, as far as that can be told from here. Loaded by the hook.

/** A process of another machine or container cannot be asked for: undefined. */
export function runningBeside({
  process,
  isAlive,
}: {
  process: ClientProcess | undefined;
  isAlive(processId: number): boolean;
}): (other: ClientProcess) => boolean | undefined {
  return ({ id, space }) => (space !== "" && space === process?.space ? isAlive(id) : undefined);
}

// A session that starts with a name says which agent it is. Loaded by the hook.

/** What notes it in the transaction that notes the start. Undefined where the name cannot be one. */
export function knownAs(name: string, { client, sessionId, cwd }: StartedSession, at: Date): NamedAgent | undefined {
  if (!isAgentName(name)) return undefined;
  const seen = { name, client: client.name, sessionId, ...gitPlace(cwd) };
  return { seen, note: (db) => becomeKnown(db, seen, at) };
}
