/**
 * What a new session hears, if there is something to go on with: what its name holds, or what a session left that is over. Loaded by
 * the hook. For sessions that go on there is wake-again.ts.
 */
import { gitPlace } from "../../base/git-place.ts";
import type { ClientProcess } from "../../store/local-store.ts";
import { holdsTask, type LeftTask, takeOver } from "../../store/sqlite/session-claims.ts";
import type { NotedSession, SessionAnswer, StartedSession } from "../start-session.ts";
import type { Gathered, WakeParts, WakeRequest } from "./gather-wake.ts";
import type { WakeUp } from "./make-packet.ts";
import { runningBeside } from "./running-beside.ts";
import { showPacket } from "./show-packet.ts";

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
  const { branch, worktree } = agent?.seen ?? gitPlace(cwd);
  const { left, others } = takeOver(handle, {
    sessionId,
    name,
    processSpace: process?.space ?? "",
    isAlive,
    leaseMs,
    at,
  });
  const hasOwn = left.length > 0 && name !== "" && holdsTask(handle, name);
  const found = hasOwn ? undefined : left.find((task) => isSamePlace(task, cwd, worktree));
  const last = agent?.lastSession;
  const isLastRunning = last?.process !== undefined && parts.isRunning(last.process);
  const request: WakeRequest = {
    key: {
      sessionId,
      isNew: event.source === "startup" && before === undefined,
      client: client.name,
      ...(name && { name }),
      ...(agent && { known: agent }),
      ...(branch !== undefined && { branch }),
      ...(found && { taskId: found.taskId }),
    },
    reason: source,
    client,
    // Without a name it may still be known as one: then they are looked for.
    ...(name && { others: isLastRunning ? [last, ...others] : others }),
    ...(found && { leftBy: { agent: found.agent, because: found.because } }),
  };
  const answer = showPacket(request, parts, { sessionId, agentId, at, event: source, session });
  // Its prompt is the packet: that is recorded like one of ours, so that the prompt does not bring its skills again.
  return parts.isWoken && source === "startup" ? { problems: answer.problems } : answer;
}

/** Another work tree has other files: its task goes to the queue, and to nobody here unasked. */
function isSamePlace(left: LeftTask, cwd: string, worktree: string | undefined): boolean {
  return worktree === undefined ? left.cwd === cwd : gitPlace(left.cwd).worktree === worktree;
}
