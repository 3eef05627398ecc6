/**
 * What a session hears when it starts, if there is something to go on with: after a compaction what this window had in hand; in a
 * new session what its name holds, or what a session left that is over; in a resumed one only what changed meanwhile, because
 * its window still has the rest. Loaded by the hook.
 */
import { gitPlace } from "../../base/git-place.ts";
import type { ClientProcess, Session } from "../../store/local-store.ts";
import { writeStore } from "../../store/sqlite/access.ts";
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
  parts: SessionWakeParts,
): HookAnswer & { problems: string[] } {
  const { source, agentId, sessionId } = event;
  if (source === "compact") return before ? afterCompaction(event, before, parts) : { problems: [] };
  if (agentId === "") becomeKnown(event, parts);
  if (source === "fork" || (source === "resume" && before)) {
    if (source === "resume") takeBack(parts.handle, { sessionId }, { leaseMs: parts.leaseMs(), at: parts.now });
    return newsOf(event, before, parts);
  }
  return startAnew({ ...event, source: source === "clear" ? "clear" : "startup" }, parts);
}

function startAnew(
  event: StartedSession & { source: "startup" | "clear" },
  parts: SessionWakeParts,
): HookAnswer & { problems: string[] } {
  const { sessionId, source, client, cwd } = event;
  const { handle, name, process, isAlive, leaseMs, now: at } = parts;
  const left = takeOver(handle, { sessionId, name, processSpace: process?.space ?? "", isAlive, leaseMs, at });
  if (parts.isWoken && source === "startup") return { problems: [] };
  const { branch, worktree } = gitPlace(cwd);
  const hasOwn = name !== "" && holdsTask(handle, name);
  const found = hasOwn ? undefined : left.find((task) => isSamePlace(task, cwd, worktree));
  const request: WakeRequest = {
    key: {
      sessionId,
      client: client.name,
      ...(name && { name }),
      ...(branch !== undefined && { branch }),
      ...(found && { taskId: found.taskId }),
    },
    reason: source,
    client,
    ...(found && { leftBy: { agent: found.agent, because: found.because } }),
  };
  return show(event, request, { event: source, carried: [] }, parts);
}

/** Another work tree has other files: its task goes to the queue, and to nobody here unasked. */
function isSamePlace(left: LeftTask, cwd: string, worktree: string | undefined): boolean {
  return worktree === undefined ? left.cwd === cwd : gitPlace(left.cwd).worktree === worktree;
}

function becomeKnown({ sessionId, client, cwd }: StartedSession, { handle, name, now }: SessionWakeParts): void {
  if (!isAgentName(name)) return;
  writeStore(handle, (db) => seeAgent(db, { name, client: client.name, sessionId, ...gitPlace(cwd) }, now));
}

/** For the record. The estimator proper costs a hook 3 ms for a packet. */
const CHARS_PER_TOKEN = 4;

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
  const key = { sessionId, agentId, at, event, carried };
  if (isNothing(state)) {
    if (carried.length > 0) ledger.recordRestored({ ...key, text: "", tokens: 0, skills: [] });
    return { problems: gathered.problems };
  }
  const { text, included, messages, problems } = parts.makePacket(gathered, request, parts);
  const skills = included.flatMap(({ key: part, form }) => {
    const { id, hash } = state.skills.find((skill) => part === `skill:${skill.id}`) ?? {};
    return id !== undefined && hash !== undefined ? [{ skill: id, hash, isWhole: form === "full" }] : [];
  });
  ledger.recordRestored({ ...key, text, tokens: Math.ceil(text.length / CHARS_PER_TOKEN), skills });
  if (agentSeq !== undefined && messages.length > 0) {
    writeStore(handle, (db) => markShown(db, agentSeq, messages, at));
  }
  return { problems, ...(text && { context: text }) };
}
