/**
 * What a session hears when it starts, if there is something to go on with: after a compaction what this window had in hand; in a
 * new session what its name holds, or what a session left that is over; in a resumed one only what changed meanwhile, because
 * its window still has the rest. Loaded by the hook.
 */
import { type GitPlace, gitPlace } from "../../base/git-place.ts";
import type { ClientProcess, Session } from "../../store/local-store.ts";
import { writeStore } from "../../store/sqlite/access.ts";
import { lastSessionOf, type OtherSession } from "../../store/sqlite/other-sessions.ts";
import { holdsTask, type LeftTask, takeBack, takeOver } from "../../store/sqlite/session-claims.ts";
import type { SessionState } from "../../store/sqlite/session-state.ts";
import type { SessionTasks } from "../../store/sqlite/session-tasks.ts";
import type { SkillLedger, WindowEntry } from "../../store/sqlite/skill-ledger.ts";
import { markShown } from "../../store/sqlite/unread-messages.ts";
import { seeAgent } from "../../store/sqlite/work/agents.ts";
import { isNothing } from "../../wake/has-work.ts";
import { isAgentName } from "../../wake/message.ts";
import type { EventBase, HookAnswer, SessionStart } from "../hook-event.ts";
import { afterCompaction } from "./after-compaction.ts";
import { type Gathered, gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import type { WakeUp } from "./make-packet.ts";
import { recordPacket } from "./record-packet.ts";
import { newsOf } from "./session-news.ts";

/** Makes the packet; loaded when there is something to put into it. */
export type MakePacket = (gathered: Gathered, request: WakeRequest, parts: WakeParts) => WakeUp;

export interface SessionWakeParts extends WakeParts {
  /** `haversack prompt` started it with the packet as its prompt: it has it already. */
  isWoken?: boolean;
  makePacket: MakePacket;
  ledger: SkillLedger;
  state: SessionState;
  tasks: SessionTasks;
  /** What the agent of this process is called; "" when nobody said. */
  name: string;
  process: ClientProcess | undefined;
  isAlive(processId: number): boolean;
  leaseMs(): number;
}

export type StartedSession = EventBase & SessionStart;

export function wakeSession(
  event: StartedSession,
  before: Session | undefined,
  given: SessionWakeParts,
): HookAnswer & { problems: string[] } {
  const parts = { isRunning: runningBeside(given), ...given };
  const { source, agentId, sessionId } = event;
  if (source === "compact") return before ? afterCompaction(event, before, parts) : { problems: [] };
  const place = gitPlace(event.cwd);
  const alsoIn = agentId === "" ? becomeKnown(event, place, parts) : undefined;
  if (source === "fork" || (source === "resume" && before)) {
    if (source === "resume") takeBack(parts.handle, { sessionId }, { leaseMs: parts.leaseMs(), at: parts.now });
    return newsOf(event, before, parts);
  }
  const isNew = source === "startup" && before === undefined;
  return startAnew({ ...event, source: source === "clear" ? "clear" : "startup" }, { alsoIn, isNew, ...place }, parts);
}

function startAnew(
  event: StartedSession & { source: "startup" | "clear" },
  { alsoIn, isNew, branch, worktree }: GitPlace & { alsoIn: OtherSession | undefined; isNew: boolean },
  parts: SessionWakeParts,
): HookAnswer & { problems: string[] } {
  const { sessionId, source, client, cwd } = event;
  const { handle, name, process, isAlive, leaseMs, now: at } = parts;
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
  const request: WakeRequest = {
    key: {
      sessionId,
      isNew,
      client: client.name,
      ...(name && { name }),
      ...(branch !== undefined && { branch }),
      ...(found && { taskId: found.taskId }),
    },
    reason: source,
    client,
    // Without a name it may still be known as one: then they are looked for.
    ...(name && { others: alsoIn ? [alsoIn, ...others] : others }),
    ...(found && { leftBy: { agent: found.agent, because: found.because } }),
  };
  const answer = show(event, request, { event: source, carried: [] }, parts);
  // Its prompt is the packet: that is recorded like one of ours, so that the prompt does not bring its skills again.
  return parts.isWoken && source === "startup" ? { problems: answer.problems } : answer;
}

/** A process of another machine or container cannot be asked for. */
function runningBeside({ process, isAlive }: SessionWakeParts): (other: ClientProcess) => boolean | undefined {
  return ({ id, space }) => (space !== "" && space === process?.space ? isAlive(id) : undefined);
}

/** Another work tree has other files: its task goes to the queue, and to nobody here unasked. */
function isSamePlace(left: LeftTask, cwd: string, worktree: string | undefined): boolean {
  return worktree === undefined ? left.cwd === cwd : gitPlace(left.cwd).worktree === worktree;
}

/** Says which other session of that name still runs. */
function becomeKnown(
  { sessionId, client }: StartedSession,
  place: GitPlace,
  { handle, name, now, process, isAlive }: SessionWakeParts,
): OtherSession | undefined {
  if (!isAgentName(name)) return undefined;
  const last = writeStore(handle, (db) => {
    const before = lastSessionOf(db, name, sessionId);
    seeAgent(db, { name, client: client.name, sessionId, ...place }, now);
    return before;
  });
  const isHere = last?.process && last.process.space !== "" && last.process.space === process?.space;
  return isHere && isAlive(last.process?.id ?? 0) ? last : undefined;
}

/** The packet, and what follows from showing it: its skills are in this window, its messages are read. */
export function show(
  { sessionId, agentId }: EventBase,
  request: WakeRequest,
  { event, carried }: { event: string; carried: readonly WindowEntry[] },
  parts: SessionWakeParts,
): HookAnswer & { problems: string[] } {
  const { ledger, handle, now: at } = parts;
  const gathered = gatherWake(request, parts);
  const { state, agentSeq } = gathered;
  const window = { sessionId, agentId, at, event, carried };
  if (isNothing(state)) {
    if (carried.length > 0) recordPacket({ text: "", included: [], state }, window, ledger);
    return { problems: gathered.problems };
  }
  const packet = parts.makePacket(gathered, request, parts);
  const { text, messages, problems } = packet;
  recordPacket(packet, window, ledger);
  if (agentSeq !== undefined && messages.length > 0) {
    writeStore(handle, (db) => markShown(db, agentSeq, messages, at));
  }
  return { problems, ...(text && { context: text }) };
}
