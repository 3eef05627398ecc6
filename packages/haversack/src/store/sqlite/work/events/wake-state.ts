/**
 * Reads what the store knows about an agent for its wake packet: who it is, and its current tasks. Uses a few indexed reads. The hook
 * bundles this file, so it uses SQL instead of the whole work store.
 */

import type { DatabaseSync } from "node:sqlite";
import type { WakeActivity, WakeAgent, WakeState } from "../../../../wake/state.ts";
import { sessionName } from "../../../../work/agent-name.ts";
import type { SeenAgent } from "../../../work-store.ts";
import { readStore, type StoreHandle } from "../../access.ts";
import { addToOutbox } from "../../outbox/outbox.ts";
import { type RestoredSkills, recordRestored } from "../../skills/skill-ledger.ts";
import { type AgentRow, agentOn, noteSeen, ROLE_NOW } from "../agents.ts";
import { all, fromRow, one, type Row } from "../rows.ts";
import { markShown } from "./running-session.ts";
import { type OtherSession, processOf } from "./session-claims.ts";
import { IS_OPEN, notedRole, noteRole } from "./session-tasks.ts";
import { type Overview, type Ready, readOverview, readReady } from "./wake-overview.ts";
import { readMessages, readTree, readWork, type StoredWork, toActivity } from "./wake-work.ts";

/** The agent to wake: by name, or as an agent of a session. */
export interface WakeKey {
  name?: string;
  branch?: string;
  sessionId?: string;
  /** The agent that the session has just identified itself as. */
  known?: KnownAgent;
  /** The session has just begun. It may hold a task that no hook has seen. If it holds none, nothing else of the session is read. */
  isNew?: boolean;
  agentId?: string;
  /** The task it is woken for, regardless of its claims. */
  taskId?: string;
  /** The client's name for a sub-agent's role. */
  role?: string;
  client?: string;
  /** The agent may have forgotten messages from this time on. Default: since it claimed the current task. */
  heardSince?: Date;
}

/** Everything except what comes from files and the skill index. */
export type StoredWake = Omit<
  WakeState,
  "now" | "reason" | "plan" | "skills" | "missing" | "suggested" | "readyCount"
> &
  StoredWork &
  Partial<Overview> & {
    /** Possible next tasks, if the agent has no current task. */
    ready?: Ready;
    /** Needed to mark messages as read. */
    agentSeq?: number;
    /** Somebody gave the agent its name. Otherwise no other agent has this name. */
    isNamed: boolean;
  };

export function readWake(db: DatabaseSync, key: WakeKey): StoredWake {
  const found = readAgent(db, key);
  const { seq } = found;
  const claims = all<Row>(db, CLAIMS, key.sessionId ?? null, found.name ?? null);
  const isNew = key.isNew && !claims.some((claim) => claim["session_id"] === key.sessionId);
  const sessionId = isNew ? undefined : key.sessionId;
  const { own, sent } = tasksInHand(db, { ...key, sessionId }, { name: found.name, claims });
  const isSubAgent = Boolean(key.agentId);
  const { role, isSolo } = roleOf({
    given: found.role,
    isSubAgent,
    isCoordinating: sent.length > 0,
    hasTask: own.length > 0,
  });
  // An agent added as orchestrator looks after all running tasks; any other, only after the tasks of its sub-agents.
  const looksAfterAll = role === "orchestrator" && found.role !== undefined;
  const [inHand, ...others] = looksAfterAll ? own : [...new Set([...own, ...sent])];
  const messages = seq !== undefined && found.hasMessages ? readMessages(db, seq, inHand, key.heardSince) : undefined;
  // Nobody writes to an unnamed session without a task.
  const name = found.isNamed || inHand !== undefined || role !== "" ? found.agent.name : "";
  const known = {
    agent: { ...found.agent, name, role, ...(isSolo && { isSolo }) },
    isNamed: found.isNamed,
    ...(seq !== undefined && { agentSeq: seq, heard: messages?.heard ?? [] }),
    // A task that the agent works on itself is not coordinated, even if it has delegated others.
    ...(inHand !== undefined && sent.includes(inHand) && { isCoordinating: true }),
    messages: messages?.unread ?? [],
    ...(messages && { unreadCount: messages.unreadCount }),
  };
  if (inHand !== undefined) {
    const isSent = (task: number): boolean => !own.includes(task);
    const alsoSent = others.filter(isSent).slice(0, MOST_OTHERS);
    return {
      ...known,
      ...readWork(db, inHand),
      alsoHolds: readTree(db, others.filter((task) => !isSent(task)).slice(0, MOST_OTHERS)),
      ...(alsoSent.length > 0 && { alsoSent: readTree(db, alsoSent) }),
    };
  }
  const nothing = { alsoHolds: [], tree: [], handoffs: [], activity: [], parents: [], pinned: [] };
  if (looksAfterAll) return { ...known, ...nothing, ...readOverview(db) };
  // An agent without a role was not asked to work.
  return { ...known, ...nothing, ...(role !== "" && { ready: readReady(db) }) };
}

const MOST_OTHERS = 5;

export function roleAtWork(db: DatabaseSync, key: WakeKey): string {
  const signs = { given: readAgent(db, key).role, isSubAgent: Boolean(key.agentId), isCoordinating: false };
  return roleOf({ ...signs, hasTask: true }).role;
}

interface ReadAgent {
  agent: Omit<WakeAgent, "role">;
  name: string | undefined;
  /** The role that the agent was given. */
  role: string | undefined;
  isNamed: boolean;
  seq?: number;
  /** The store has messages, for this agent or others. */
  hasMessages?: boolean;
}

function readAgent(db: DatabaseSync, key: WakeKey): ReadAgent {
  const { name, branch, sessionId, agentId, role, client, taskId } = key;
  const known = key.known ?? findKnown(db, key);
  const row = known?.row;
  const found = row?.name ?? name;
  const session = sessionId ?? row?.session_id ?? undefined;
  const given = found ?? holderName(db, sessionId, agentId);
  // A sub-agent that is about to start, or a task without a holder.
  const isNobody = (role ?? taskId) !== undefined && session === undefined;
  const made = () => (session ? sessionName(client ?? "agent", { sessionId: session, agentId }) : (client ?? "agent"));
  return {
    agent: fromRow({
      name: given ?? (isNobody ? "" : made()),
      client: client ?? row?.client,
      session_id: session,
      branch: branch ?? (row?.branch || null),
      worktree: row?.worktree,
    }),
    name: found,
    // The prompt may have set a role that differs from the agent's type.
    role:
      (sessionId !== undefined && agentId && notedRole(db, { sessionId, agentId })) ||
      role ||
      (row && addedRole(db, row)),
    isNamed: given !== undefined,
    ...(known && { seq: known.row.seq, hasMessages: known.hasMessages }),
  };
}

/**
 * The role that somebody gave the agent. Agents that only claimed a task or started with a name get a default role, which says nothing
 * about their work.
 */
function addedRole(db: DatabaseSync, { name, role }: Pick<KnownAgent["row"], "name" | "role">): string | undefined {
  const isAdded = one(db, "SELECT 1 FROM activity WHERE subject = ? AND kind = 'agent-added' LIMIT 1", name);
  return isAdded && role ? role : undefined;
}

function findKnown(
  db: DatabaseSync,
  { name, branch, sessionId, agentId }: WakeKey,
): Pick<KnownAgent, "row" | "hasMessages"> | undefined {
  const rows = name !== undefined ? agentsNamed(db, name) : sessionId && !agentId ? agentsOfSession(db, sessionId) : [];
  const row = agentOn(rows, branch) ?? rows[0];
  return row && { row, hasMessages: row.has_messages === 1 };
}

function holderName(db: DatabaseSync, sessionId: string | undefined, agentId = ""): string | undefined {
  const sql = "SELECT agent FROM claims WHERE session_id = ? AND agent_id = ? ORDER BY claimed_at DESC LIMIT 1";
  return sessionId === undefined ? undefined : one<{ agent: string }>(db, sql, sessionId, agentId)?.agent;
}

/**
 * Newest claim first. own: the task it is woken for, tasks held by this agent of the session or under its name, and the task it was
 * started for. sent: tasks that its sub-agents hold or were started for in a role. A coordinator holds nothing itself.
 */
function tasksInHand(
  db: DatabaseSync,
  { taskId, sessionId, agentId = "" }: Omit<WakeKey, "sessionId"> & { sessionId: string | undefined },
  { name, claims }: { name: string | undefined; claims: readonly Row[] },
): { own: number[]; sent: number[] } {
  const own = new Set<number>();
  const sent = new Set<number>();
  const add = (into: Set<number>, rows: readonly Row[]) => {
    for (const row of rows) into.add(Number(row["task"]));
  };
  if (taskId !== undefined) add(own, all<Row>(db, "SELECT seq AS task FROM tasks WHERE id = ?", taskId));
  const ofSession = sessionId === undefined ? [] : claims.filter((row) => row["session_id"] === sessionId);
  add(own, ofSession.filter((row) => (row["agent_id"] ?? "") === agentId).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId)
    add(own, all<Row>(db, `${STARTED_FOR} AND a.agent_id = ? LIMIT 6`, sessionId, agentId));
  if (name !== undefined) add(own, claims.filter((row) => row["agent"] === name).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId === "") {
    add(sent, ofSession.filter((row) => row["agent_id"]).slice(0, MOST_HELD));
    add(sent, all<Row>(db, `${STARTED_FOR} AND ${IN_A_ROLE} ORDER BY a.at DESC LIMIT ${MOST_HELD}`, sessionId));
  }
  return { own: [...own], sent: [...sent] };
}

const MOST_HELD = 6;

/** The limit is higher than the number of sub-agents in a session, so theirs cannot push out the agent's own claims. */
const CLAIMS =
  "SELECT task, agent, session_id, agent_id FROM claims WHERE session_id = ?1 OR agent = ?2 ORDER BY claimed_at DESC, task DESC LIMIT 1000";

const STARTED_FOR = `SELECT t.seq AS task FROM tasks t JOIN agent_tasks a ON a.task = t.id WHERE a.session_id = ? AND ${IS_OPEN}`;

/** A sub-agent without a role only looked something up and works on no task. */
const IN_A_ROLE = "EXISTS (SELECT 1 FROM agent_roles r WHERE r.session_id = a.session_id AND r.agent_id = a.agent_id)";

// A packet that was shown in a window: its text, skills and messages.

export interface ShownPacket extends RestoredSkills {
  /** Messages to mark as read by this agent (its row). */
  messages?: { agent: number; ids: readonly string[] };
  /** The role that a sub-agent is started in. */
  role?: string;
}

/** Callers must hold the write lock. */
export function savePacket(db: DatabaseSync, { messages, role, ...restored }: ShownPacket): void {
  recordRestored(db, restored);
  if (messages) markShown(db, messages.agent, messages.ids, restored.at);
  if (role !== undefined) noteRole(db, restored, role);
}

// Changes by others to a session's tasks since the session was last seen.

export interface SessionNews {
  /** Newest first. */
  activity: WakeActivity[];
  /** Open tasks that the session had but no longer holds. */
  lost: { id: string; title: string; status: string; agent?: string }[];
}

export function readNews(
  handle: StoreHandle,
  { sessionId, holder, since }: { sessionId: string; holder: string; since: Date },
): SessionNews {
  return readStore(handle, (db) => {
    const key = { sessionId, holder };
    const activity = db.prepare(NEWS).all({ ...key, since: since.toISOString() });
    const lost = activity.length === 0 ? [] : db.prepare(LOST).all(key);
    return {
      activity: activity.map(toActivity),
      lost: lost.map((row) => fromRow<SessionNews["lost"][number]>(row)),
    };
  });
}

/** Tasks that the session holds or has claimed recently. */
const HAD = `SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = :sessionId
UNION SELECT subject FROM (SELECT kind, actor, subject FROM activity ORDER BY id DESC LIMIT 500) WHERE kind = 'task-claimed' AND actor = :holder`;

const NEWS = `SELECT at, actor, kind, subject, substr(text, 1, 500) AS text FROM activity
WHERE subject IN (${HAD}) AND at > :since AND actor <> :holder ORDER BY id DESC LIMIT 10`;

const LOST = `SELECT t.id, t.title, t.status, c.agent FROM tasks t LEFT JOIN claims c ON c.task = t.seq
WHERE t.id IN (${HAD}) AND t.status IN ('todo', 'in_progress') AND c.session_id IS NOT :sessionId ORDER BY t.seq LIMIT 5`;

// Agents with the session in which each was last seen, and sessions that identify themselves as an agent.

export interface KnownAgent {
  /** The agent's row after the update. */
  row: AgentRow;
  /** The store has messages, for this agent or others. */
  hasMessages: boolean;
  seen: SeenAgent;
  /** The session in which an agent of that name was last seen: another one, not ended, with a known process. */
  lastSession?: OtherSession;
}

export interface AgentWithSession extends AgentRow {
  has_messages: number;
  /** The process of its session's client, unless the session has ended. */
  id: number | null;
  space: string | null;
}

/** Most projects have no messages at all. */
const AGENTS = `SELECT agents.*, ${ROLE_NOW} AS role, EXISTS (SELECT 1 FROM messages) AS has_messages, s.process_id AS id, s.process_space AS space
FROM agents LEFT JOIN sessions s ON s.session_id = agents.session_id AND s.agent_id = '' AND s.ended_at IS NULL`;

/** Agents of all branches first. */
export function agentsNamed(db: DatabaseSync, name: string): AgentWithSession[] {
  return all(db, `${AGENTS} WHERE agents.name = ? AND agents.removed_at IS NULL ORDER BY agents.branch`, name);
}

export function agentsOfSession(db: DatabaseSync, sessionId: string): AgentWithSession[] {
  const sql = `${AGENTS} WHERE agents.session_id = ? ORDER BY agents.last_seen_at DESC, agents.seq LIMIT 1`;
  return all(db, sql, sessionId);
}

/** Needs a write lock: if two sessions start at once, the second finds the first. */
export function becomeKnown(db: DatabaseSync, seen: SeenAgent & { sessionId: string }, at: Date): KnownAgent {
  const rows = agentsNamed(db, seen.name);
  const lastSession = lastSessionOf(rows, seen.sessionId);
  const row = noteSeen(db, rows, seen, at);
  addToOutbox(db, "seen", () => ({ ...seen, at }));
  return {
    row,
    // A new agent has no messages.
    hasMessages: rows[0]?.has_messages === 1,
    seen,
    ...(lastSession && { lastSession }),
  };
}

function lastSessionOf(rows: readonly AgentWithSession[], sessionId: string): OtherSession | undefined {
  let last: AgentWithSession | undefined;
  for (const row of rows) {
    if (row.session_id === sessionId || row.id === null) continue;
    if (!last || (row.last_seen_at ?? "") > (last.last_seen_at ?? "")) last = row;
  }
  return last && { sessionId: last.session_id ?? "", process: processOf(last), taskIds: [] };
}

// Decides an agent's role. A session is an orchestrator if it was added as one or gave tasks to sub-agents. A session that works alone on a
// task is its implementer. A session without a task has no role.

export interface RoleSigns {
  /** The role it was started or added with. */
  given?: string | undefined;
  isSubAgent: boolean;
  isCoordinating: boolean;
  hasTask: boolean;
}

export function roleOf(signs: RoleSigns): Required<Pick<WakeAgent, "role" | "isSolo">> {
  const { given, isSubAgent, isCoordinating, hasTask } = signs;
  if (given !== undefined) return { role: given, isSolo: false };
  if (isSubAgent) return { role: "", isSolo: false };
  if (isCoordinating) return { role: "orchestrator", isSolo: false };
  return hasTask ? { role: "implementer", isSolo: true } : { role: "", isSolo: false };
}
