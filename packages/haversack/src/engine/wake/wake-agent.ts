/**
 * The packet of an agent on request: at the command line, over MCP, and before a client is started with it. Only reads: no
 * message is marked as read.
 */
import { isFault } from "../../base/errors.ts";
import { type ClientProfile, profileOf } from "../../skills/showing/activation.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { type ClientProcess, SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteSkillIndex } from "../../store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../../store/sqlite/skills/skill-ledger.ts";
import type { WakeKey } from "../../store/sqlite/work/events/wake-state.ts";
import { estimateTokens } from "../../tokens/estimate.ts";
import type { WakeMessage, WakeState } from "../../wake/state.ts";
import type { Agent } from "../../wake/text.ts";
import { checkWhole, invalid } from "../../work/clean-input.ts";
import type { Claim, LeftTask } from "../../work/task.ts";
import { present } from "../../work/task-view.ts";
import type { Wip } from "../../work/wip/wip.ts";
import type { WakeRequest as WakeQuestion } from "../library-types.ts";
import type { OpenProject } from "../open-project.ts";
import { given, type WorkParts } from "../work/work-parts.ts";
import { askingAgent } from "./agents.ts";
import { readForPacket, type WakeRequest } from "./gather-wake.ts";
import { type WakeUp, wakeUp } from "./make-packet.ts";

/** Default agent: the asker, else the session, else the holder of the task. `taskId`: the task to wake it for, whatever it holds. */
export interface WakeAgentInput extends Omit<WakeQuestion, "client"> {
  /**
   * With a task: the packet for an agent that takes this role for it, such as a reviewer, regardless of who holds the
   * task.
   */
  role?: string | undefined;
  /** Default: the agent's own client, else a plain terminal. */
  client?: string | undefined;
  newMessage?: WakeMessage | undefined;
  /** Default: asked. */
  reason?: WakeState["reason"] | undefined;
  /** The session continues, so its window still has the skills it loaded. Default: false. */
  isResumed?: boolean | undefined;
}

export interface WakeAgentParts extends WorkParts, Pick<OpenProject, "handle" | "paths" | "config"> {
  /** Default: the store's index, as last updated. */
  index?: SqliteSkillIndex;
  /** The profile of a client in this project. Default: its general profile. */
  profile?(client: string): ClientProfile;
  /** Undefined: cannot be determined, as for a process of another machine. */
  isAlive?(process: ClientProcess): boolean | undefined;
}

export interface Woken {
  kind: "packet";
  packet: WakeUp;
  /** Absent: the agent was not added. */
  agent?: Agent;
  view: object;
}

export async function wakeAgent(
  input: WakeAgentInput,
  parts: WakeAgentParts,
): Promise<Woken | { kind: "nothing"; text: string }> {
  const { handle, paths, config: settings, by, index = new SqliteSkillIndex(handle.db) } = parts;
  const { root, userState } = paths;
  const { agent, ...key } = await whoIsWoken(input, parts);
  const client = (parts.profile ?? profileOf)(input.client ?? agent?.client ?? "plain");
  const budgetTokens =
    input.budgetTokens === undefined ? undefined : checkWhole(input.budgetTokens, { field: "max_tokens", fallback: 0 });
  const left = await leftByIt(key, parts);
  const request: WakeRequest = {
    key: { ...key, client: client.name, ...(left && { taskId: left.id }) },
    ...(left && { leftBy: { agent: left.agent, because: left.endedAs, at: left.endedAt } }),
    reason: input.reason ?? "asked",
    client,
    ...(budgetTokens !== undefined && { budget: { size: budgetTokens, unit: "tokens", count: estimateTokens } }),
    ...given({ newMessage: input.newMessage }),
    ...(input.isResumed && { isWindowKept: true }),
    ...sessionParts(key.sessionId, handle, input.isResumed === true),
  };
  const readText = (path: string) => readForPacket(root, path, userState);
  const reading = { handle, index, root, settings, readText, now: by.at };
  const packet = wakeUp(request, { ...reading, ...given({ isRunning: parts.isAlive }) });
  if (packet.isEmpty) return { kind: "nothing", text: whyNothing(packet, { key, budgetTokens }) };
  return { kind: "packet", packet, ...given({ agent }), view: viewWake(packet) };
}

async function whoIsWoken(
  { agent: name, branch, taskId, role, sessionId }: WakeAgentInput,
  parts: WakeAgentParts,
): Promise<WakeKey & { agent?: Agent }> {
  const { store, by } = parts;
  const task = taskId === undefined ? undefined : await store.getTask(taskId, by.at);
  const forTask = { ...(task && { taskId: task.id }) };
  if (task && role !== undefined) return { ...forTask, role };
  const isAsking = name === undefined && sessionId === undefined && task === undefined;
  // If only a task is given, wake its holder.
  const wanted = name?.replace(/^@/, "") ?? (sessionId === undefined ? task?.claim?.agent : undefined);
  const agent = wanted !== undefined || isAsking ? await findAgent(wanted, branch, parts) : undefined;
  if (agent) {
    const session = sessionId ?? agent.sessionId;
    return { agent, name: agent.name, ...given({ branch: agent.branch, sessionId: session }), ...forTask };
  }
  if (wanted !== undefined) return { name: wanted, ...given({ sessionId }), ...forTask };
  const session = sessionId ?? by.sessionId;
  if (session !== undefined) {
    const isOwn = sessionId === undefined && by.agentId !== undefined;
    return { sessionId: session, ...(isOwn && { agentId: by.agentId as string }), ...forTask };
  }
  if (task) return forTask;
  // The agent was never added, but it works under that name.
  if ((await store.listClaims({ agent: by.name, at: by.at })).length > 0) return { name: by.name };
  if (await leftByIt({ name: by.name }, parts)) return { name: by.name };
  throw invalid("agent is missing: name one, a session or a task, or set HAVERSACK_AGENT");
}

/** The task it held until its claim ended, if it holds nothing now and nobody has taken that task. */
async function leftByIt(
  { name, sessionId, agentId = "", taskId }: WakeKey,
  { store, by }: WakeAgentParts,
): Promise<LeftTask | undefined> {
  if (taskId !== undefined) return undefined;
  const isIts = (task: Pick<Claim, "agent" | "sessionId" | "agentId">) =>
    (name !== undefined && task.agent === name) ||
    (sessionId !== undefined && task.sessionId === sessionId && (task.agentId ?? "") === agentId);
  if ((await store.listClaims({ at: by.at })).some(isIts)) return undefined;
  return (await store.listLeft({ limit: MOST_LEFT, at: by.at })).find(isIts);
}

/** How many left tasks (of all agents, newest first) to search. Older ones are not resumed without a request. */
const MOST_LEFT = 200;

/** Undefined: the agent was not added, but holds or left tasks under that name. */
async function findAgent(
  name: string | undefined,
  branch: string | undefined,
  parts: WakeAgentParts,
): Promise<Agent | undefined> {
  const { store, by } = parts;
  try {
    return await askingAgent({ agent: name, branch }, parts);
  } catch (error) {
    if (name === undefined || !isFault(error, "not-found")) throw error;
    const isAmbiguous = (await store.listAgents()).some((agent) => agent.name === name);
    if (isAmbiguous) throw error;
    const isAtWork = (await store.listClaims({ agent: name, at: by.at })).length > 0;
    if (!isAtWork && !(await leftByIt({ name }, parts))) throw error;
    return undefined;
  }
}

const MOST_ACTIVE_SKILLS = 5;

/** What the session was working on, and the skills in its window. */
function sessionParts(
  sessionId: string | undefined,
  handle: StoreHandle,
  isResumed: boolean,
): Pick<WakeRequest, "sessionWip" | "active" | "isCarried"> {
  if (sessionId === undefined) return {};
  const wip = new SessionState(handle).wip({ sessionId });
  const session = new SqliteLocalStore(handle).getSession({ sessionId });
  const loaded = session ? new SkillLedger(handle).window({ sessionId, window: session.window }) : [];
  const active = loaded.flatMap(({ skill, loadedHash }) => (loadedHash ? [{ skill, hash: loadedHash }] : []));
  return {
    ...(wip && { sessionWip: { wip: wip.data as Wip, updatedAt: new Date(wip.updatedAt) } }),
    ...(isResumed
      ? { isCarried: (id: string) => active.some(({ skill }) => skill === id) }
      : active.length > 0 && { active: active.slice(0, MOST_ACTIVE_SKILLS) }),
  };
}

function whyNothing(
  { leftOut, state }: WakeUp,
  { key, budgetTokens }: { key: WakeKey; budgetTokens: number | undefined },
): string {
  if (leftOut.length > 0) return `${budgetTokens} tokens are too few for a packet: the smallest needs 100`;
  const who = key.name !== undefined ? `@${key.name}` : key.sessionId !== undefined ? `session ${key.sessionId}` : "it";
  const { suggested, readyCount = 0 } = state;
  const ready = suggested ? `; ${readyCount === 1 ? "1 task is" : `${readyCount} tasks are`} ready` : "";
  return `nothing to resume: ${who} holds no task and has no unread message${ready}`;
}

function viewWake(packet: WakeUp): object {
  const { text, state, included, leftOut, problems } = packet;
  const { agent, task, skills, missing, elsewhere } = state;
  return present({
    agent: agent.name,
    role: agent.role,
    task_id: task?.id,
    skills: skills.map(({ id, because, hasChanged }) => present({ id, because, changed: hasChanged || undefined })),
    tokens: estimateTokens(text),
    chars: text.length,
    included: included.map(({ key, form }) => `${key} ${form}`),
    left_out: leftOut.map(({ key, count, how }) => present({ what: key, count, how })),
    missing,
    problems,
    other_sessions: elsewhere?.sessions,
    text,
  });
}
