/**
 * What the store knows of an agent, in a few indexed reads, for the packet that wakes it: who it is, and what it has in hand. The hook
 * bundles this file, so it speaks SQL instead of the whole work store.
 */
import type { DatabaseSync } from "node:sqlite";
import type { WakeActivity, WakeAgent, WakeState } from "../../../../wake/state.ts";
import { roleOf } from "../../../../wake/state.ts";
import { sessionName } from "../../../../work/agent-name.ts";
import type { SeenAgent } from "../../../work-store.ts";
import { readStore } from "../../access.ts";
import type { StoreHandle } from "../../handle.ts";
import { type RestoredSkills, recordRestored } from "../../skills/skill-ledger.ts";
import { type AgentRow, agentOn, noteSeen, ROLE_NOW } from "../agents.ts";
import { type OtherSession, processOf } from "./session-claims.ts";
import { IS_OPEN, notedRole, noteRole } from "./session-tasks.ts";
import { markShown } from "./unread-messages.ts";
import { type Overview, type Ready, readOverview, readReady } from "./wake-overview.ts";
import { all, get, optional, readMessages, readTree, readWork, type StoredWork, textOf } from "./wake-work.ts";

/** Who is woken: an agent by name, or an agent of a session. */
export interface WakeKey {
  name?: string;
  branch?: string;
  sessionId?: string;
  /** Who the session has just said to be. */
  known?: KnownAgent;
  /** The session has just begun. It may hold a task where no hook has seen it; without one nothing else of it is looked for. */
  isNew?: boolean;
  agentId?: string;
  /** The task it is woken for, whatever it holds. */
  taskId?: string;
  /** What the client calls the role of a sub-agent. */
  role?: string;
  client?: string;
  /** What it was told from then on it may have forgotten. Default: from when it claimed the task in hand. */
  heardSince?: Date;
}

/** All but what comes from files and the skill index. */
export type StoredWake = Omit<
  WakeState,
  "now" | "reason" | "plan" | "skills" | "missing" | "suggested" | "readyCount"
> &
  StoredWork &
  Partial<Overview> & {
    /** What could be next, where nothing is in hand. */
    ready?: Ready;
    /** For the unread messages' marks. */
    agentSeq?: number;
    /** Somebody gave it its name: else nobody else goes by it. */
    isNamed: boolean;
  };

export function readWake(db: DatabaseSync, key: WakeKey): StoredWake {
  const found = readAgent(db, key);
  const { seq } = found;
  const claims = all(db, CLAIMS, key.sessionId ?? null, found.name ?? null);
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
  // An orchestrator that was added as one looks after all that is under way; another after what it gave to its sub-agents.
  const looksAfterAll = role === "orchestrator" && found.role !== undefined;
  const [inHand, ...others] = looksAfterAll ? own : [...new Set([...own, ...sent])];
  const messages = seq !== undefined && found.hasMessages ? readMessages(db, seq, inHand, key.heardSince) : undefined;
  // Without a task nobody writes to a session that has no name.
  const name = found.isNamed || inHand !== undefined || role !== "" ? found.agent.name : "";
  const known = {
    agent: { ...found.agent, name, role, ...(isSolo && { isSolo }) },
    isNamed: found.isNamed,
    ...(seq !== undefined && { agentSeq: seq, heard: messages?.heard ?? [] }),
    // What it holds and works on itself is not coordinated, whatever else it has given away.
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
  // Whoever has no role was asked for no work.
  return { ...known, ...nothing, ...(role !== "" && { ready: readReady(db) }) };
}

const MOST_OTHERS = 5;

/** The role that an agent has who works on a task. */
export function roleAtWork(db: DatabaseSync, key: WakeKey): string {
  const signs = { given: readAgent(db, key).role, isSubAgent: Boolean(key.agentId), isCoordinating: false };
  return roleOf({ ...signs, hasTask: true }).role;
}

interface ReadAgent {
  agent: Omit<WakeAgent, "role">;
  name: string | undefined;
  /** The role that it was given. */
  role: string | undefined;
  isNamed: boolean;
  seq?: number;
  /** There are messages, its own or others'. */
  hasMessages?: boolean;
}

function readAgent(db: DatabaseSync, key: WakeKey): ReadAgent {
  const { name, branch, sessionId, agentId, role, client, taskId } = key;
  const known = key.known ?? findKnown(db, key);
  const row = known?.row;
  const found = textOf(row?.name) ?? name;
  const session = sessionId ?? textOf(row?.session_id);
  const given = found ?? holderName(db, sessionId, agentId);
  return {
    agent: {
      name:
        given ??
        // A sub-agent that is about to start, or a task that nobody holds yet.
        ((role ?? taskId) !== undefined && session === undefined ? "" : undefined) ??
        (session ? sessionName(client ?? "agent", { sessionId: session, agentId }) : (client ?? "agent")),
      ...optional("client", client ?? textOf(row?.client)),
      ...optional("sessionId", session),
      ...optional("branch", branch ?? textOf(row?.branch)),
      ...optional("worktree", textOf(row?.worktree)),
    },
    name: found,
    // A prompt may have given it another than its type is called by.
    role:
      (sessionId !== undefined && agentId && notedRole(db, { sessionId, agentId })) ||
      role ||
      (row && addedRole(db, row)),
    isNamed: given !== undefined,
    ...(known && { seq: known.row.seq, hasMessages: known.hasMessages }),
  };
}

/**
 * The role that somebody gave the agent. One that only claimed a task or started with a name was registered with a default, and
 * that says nothing of what it does.
 */
function addedRole(db: DatabaseSync, { name, role }: Pick<KnownAgent["row"], "name" | "role">): string | undefined {
  const isAdded = get(db, "SELECT 1 FROM activity WHERE subject = ? AND kind = 'agent-added' LIMIT 1", name);
  return isAdded && textOf(role);
}

function findKnown(
  db: DatabaseSync,
  { name, branch, sessionId, agentId }: WakeKey,
): Pick<KnownAgent, "row" | "hasMessages"> | undefined {
  const rows = name !== undefined ? agentsNamed(db, name) : sessionId && !agentId ? agentsOfSession(db, sessionId) : [];
  const row = agentOn(rows, branch) ?? rows[0];
  return row && { row, hasMessages: row.has_messages === 1 };
}

function holderName(db: DatabaseSync, sessionId: string | undefined, agentId: string | undefined): string | undefined {
  if (sessionId === undefined) return undefined;
  const row = get(
    db,
    "SELECT agent FROM claims WHERE session_id = ? AND agent_id = ? ORDER BY claimed_at DESC LIMIT 1",
    sessionId,
    agentId ?? "",
  );
  return textOf(row?.["agent"]);
}

/**
 * Newest claim first. own: what it is woken for, what this agent of the session or its name holds, what it was started for. sent: what
 * its sub-agents hold, or were started for in a role: a coordinator holds nothing itself.
 */
function tasksInHand(
  db: DatabaseSync,
  { taskId, sessionId, agentId = "" }: Omit<WakeKey, "sessionId"> & { sessionId: string | undefined },
  { name, claims }: { name: string | undefined; claims: readonly Record<string, unknown>[] },
): { own: number[]; sent: number[] } {
  const own = new Set<number>();
  const sent = new Set<number>();
  const add = (into: Set<number>, rows: readonly Record<string, unknown>[]) => {
    for (const row of rows) into.add(Number(row["task"]));
  };
  if (taskId !== undefined) add(own, all(db, "SELECT seq AS task FROM tasks WHERE id = ?", taskId));
  const ofSession = sessionId === undefined ? [] : claims.filter((row) => row["session_id"] === sessionId);
  add(own, ofSession.filter((row) => (row["agent_id"] ?? "") === agentId).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId)
    add(own, all(db, `${STARTED_FOR} AND a.agent_id = ? LIMIT 6`, sessionId, agentId));
  if (name !== undefined) add(own, claims.filter((row) => row["agent"] === name).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId === "") {
    add(sent, ofSession.filter((row) => row["agent_id"]).slice(0, MOST_HELD));
    add(sent, all(db, `${STARTED_FOR} AND ${IN_A_ROLE} ORDER BY a.at DESC LIMIT ${MOST_HELD}`, sessionId));
  }
  return { own: [...own], sent: [...sent] };
}

const MOST_HELD = 6;

/** More than a session has sub-agents, so that none of its own is pushed out by theirs. */
const CLAIMS =
  "SELECT task, agent, session_id, agent_id FROM claims WHERE session_id = ?1 OR agent = ?2 ORDER BY claimed_at DESC, task DESC LIMIT 1000";

const STARTED_FOR = `SELECT t.seq AS task FROM tasks t JOIN agent_tasks a ON a.task = t.id WHERE a.session_id = ? AND ${IS_OPEN}`;

/** One that only looked something up about a task works on nothing. */
const IN_A_ROLE = "EXISTS (SELECT 1 FROM agent_roles r WHERE r.session_id = a.session_id AND r.agent_id = a.agent_id)";

// A packet that a window was given: its text and skills, and the messages that it has shown.

export interface ShownPacket extends RestoredSkills {
  /** They count as read by this agent (by its row). */
  messages?: { agent: number; ids: readonly string[] };
  /** The one that a sub-agent is started in. */
  role?: string;
}

/** For callers that hold the write lock already. */
export function savePacket(db: DatabaseSync, { messages, role, ...restored }: ShownPacket): void {
  recordRestored(db, restored);
  if (messages) markShown(db, messages.agent, messages.ids, restored.at);
  if (role !== undefined) noteRole(db, restored, role);
}

// What others did to the tasks that a session had in hand, since it was last heard of.

export interface SessionNews {
  /** Newest first. */
  activity: WakeActivity[];
  /** Tasks that it had, and that are open and not its own any more. */
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
      activity: activity.map((row) => ({
        at: new Date(String(row["at"])),
        actor: String(row["actor"]),
        kind: String(row["kind"]),
        text: String(row["text"]),
        subject: String(row["subject"]),
      })),
      lost: lost.map(({ id, title, status, agent }) => ({
        id: String(id),
        title: String(title),
        status: String(status),
        ...(typeof agent === "string" && { agent }),
      })),
    };
  });
}

/** What it holds, and what it has claimed lately. */
const HAD = `SELECT t.id FROM claims c JOIN tasks t ON t.seq = c.task WHERE c.session_id = :sessionId
UNION SELECT subject FROM (SELECT kind, actor, subject FROM activity ORDER BY id DESC LIMIT 500) WHERE kind = 'task-claimed' AND actor = :holder`;

const NEWS = `SELECT at, actor, kind, subject, substr(text, 1, 500) AS text FROM activity
WHERE subject IN (${HAD}) AND at > :since AND actor <> :holder ORDER BY id DESC LIMIT 10`;

const LOST = `SELECT t.id, t.title, t.status, c.agent FROM tasks t LEFT JOIN claims c ON c.task = t.seq
WHERE t.id IN (${HAD}) AND t.status IN ('todo', 'in_progress') AND c.session_id IS NOT :sessionId ORDER BY t.seq LIMIT 5`;

// Agents with the sessions in which they were last seen, and a session that says which agent it is.

export interface KnownAgent {
  /** As it is now. */
  row: AgentRow;
  /** There are messages, its own or others'. */
  hasMessages: boolean;
  seen: SeenAgent;
  /** Where an agent of that name was seen last, when that was elsewhere, has not ended, and its process is known. */
  lastSession?: OtherSession;
}

export interface AgentWithSession extends AgentRow {
  has_messages: number;
  /** Of its session's client, unless that has ended. */
  id: number | null;
  space: string | null;
}

/** Most projects have no messages at all. */
const AGENTS = `SELECT agents.*, ${ROLE_NOW} AS role, EXISTS (SELECT 1 FROM messages) AS has_messages, s.process_id AS id, s.process_space AS space
FROM agents LEFT JOIN sessions s ON s.session_id = agents.session_id AND s.agent_id = '' AND s.ended_at IS NULL`;

/** Those of all branches before the others. */
export function agentsNamed(db: DatabaseSync, name: string): AgentWithSession[] {
  return db
    .prepare(`${AGENTS} WHERE agents.name = ? AND agents.removed_at IS NULL ORDER BY agents.branch`)
    .all(name) as unknown as AgentWithSession[];
}

export function agentsOfSession(db: DatabaseSync, sessionId: string): AgentWithSession[] {
  const select = db.prepare(
    `${AGENTS} WHERE agents.session_id = ? ORDER BY agents.last_seen_at DESC, agents.seq LIMIT 1`,
  );
  return select.all(sessionId) as unknown as AgentWithSession[];
}

/** Under a write lock: of two that start at once the second finds the first. */
export function becomeKnown(db: DatabaseSync, seen: SeenAgent & { sessionId: string }, at: Date): KnownAgent {
  const rows = agentsNamed(db, seen.name);
  const lastSession = lastSessionOf(rows, seen.sessionId);
  return {
    row: noteSeen(db, rows, seen, at),
    // None that is new has any.
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
