/**
 * What the store knows of an agent, in a few indexed reads, for the packet that wakes it: who it is, and what it has in hand. The hook
 * bundles this file, so it speaks SQL instead of the whole work store.
 */
import type { DatabaseSync } from "node:sqlite";
import type { WakeAgent, WakeState } from "../../wake/state.ts";
import { sessionName } from "../../work/agent-name.ts";
import { agentsNamed, agentsOfSession, type KnownAgent } from "./known-agent.ts";
import { IS_OPEN } from "./session-tasks.ts";
import { readMessages } from "./wake-messages.ts";
import { all, get, optional, textOf } from "./wake-rows.ts";
import { readSuggested, readWork, type StoredWork } from "./wake-work.ts";
import { agentOn } from "./work/agents.ts";

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
export type StoredWake = Omit<WakeState, "now" | "reason" | "plan" | "skills" | "missing"> &
  StoredWork & {
    /** For the unread messages' marks. */
    agentSeq?: number;
    /** Somebody gave it its name: else nobody else goes by it. */
    isNamed: boolean;
  };

export function readWake(db: DatabaseSync, key: WakeKey): StoredWake {
  const agent = readAgent(db, key);
  const claims = all(db, CLAIMS, key.sessionId ?? null, agent.name ?? null);
  const isNew = key.isNew && !claims.some((claim) => claim["session_id"] === key.sessionId);
  const sessionId = isNew ? undefined : key.sessionId;
  const batch = sessionId !== undefined && !key.agentId ? lastBatch(db, sessionId) : undefined;
  const [inHand, ...others] = tasksInHand(db, { ...key, sessionId }, { name: agent.name, claims, batch });
  const { seq } = agent;
  const messages = seq !== undefined && agent.hasMessages ? readMessages(db, seq, inHand, key.heardSince) : undefined;
  const known = {
    agent: agent.agent,
    isNamed: agent.isNamed,
    ...(seq !== undefined && { agentSeq: seq, heard: messages?.heard ?? [] }),
    ...(batch && { isCoordinating: true }),
    messages: messages?.unread ?? [],
  };
  if (inHand !== undefined) return { ...known, ...readWork(db, inHand, others.slice(0, 5)) };
  return {
    ...known,
    ...readSuggested(db),
    alsoHolds: [],
    tree: [],
    handoffs: [],
    activity: [],
    parents: [],
    pinned: [],
  };
}

interface ReadAgent {
  agent: WakeAgent;
  name: string | undefined;
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
      role: role ?? textOf(row?.role) ?? (agentId ? "implementer" : "orchestrator"),
      ...optional("client", client ?? textOf(row?.client)),
      ...optional("sessionId", session),
      ...optional("branch", branch ?? textOf(row?.branch)),
      ...optional("worktree", textOf(row?.worktree)),
    },
    name: found,
    isNamed: given !== undefined,
    ...(known && { seq: known.row.seq, hasMessages: known.hasMessages }),
  };
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
 * Newest claim first: of this agent of the session, of its name; then what it was started for; then what its sub-agents hold
 * or have worked on, and what is open of the last batch it was given: a coordinator holds nothing itself.
 */
function tasksInHand(
  db: DatabaseSync,
  { taskId, sessionId, agentId = "" }: Omit<WakeKey, "sessionId"> & { sessionId: string | undefined },
  {
    name,
    claims,
    batch = [],
  }: { name: string | undefined; claims: readonly Record<string, unknown>[]; batch: readonly string[] | undefined },
): number[] {
  const seqs = new Set<number>();
  const add = (rows: readonly Record<string, unknown>[]) => {
    for (const row of rows) seqs.add(Number(row["task"]));
  };
  if (taskId !== undefined) add(all(db, "SELECT seq AS task FROM tasks WHERE id = ?", taskId));
  const ofSession = sessionId === undefined ? [] : claims.filter((row) => row["session_id"] === sessionId);
  add(ofSession.filter((row) => row["agent_id"] === agentId).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId) add(all(db, `${STARTED_FOR} AND a.agent_id = ? LIMIT 6`, sessionId, agentId));
  if (name !== undefined) add(claims.filter((row) => row["agent"] === name).slice(0, MOST_HELD));
  if (sessionId !== undefined && agentId === "") {
    add(ofSession.slice(0, MOST_HELD));
    add(all(db, `${STARTED_FOR} ORDER BY a.at DESC LIMIT ${MOST_HELD}`, sessionId));
    for (const id of batch) add(all(db, `SELECT t.seq AS task FROM tasks t WHERE t.id = ? AND ${IS_OPEN}`, id));
  }
  return [...seqs];
}

const MOST_HELD = 6;

/** More than a session has sub-agents, so that none of its own is pushed out by theirs. */
const CLAIMS =
  "SELECT task, agent, session_id, agent_id FROM claims WHERE session_id = ?1 OR agent = ?2 ORDER BY claimed_at DESC, task DESC LIMIT 1000";

const STARTED_FOR = `SELECT t.seq AS task FROM tasks t JOIN agent_tasks a ON a.task = t.id WHERE a.session_id = ? AND ${IS_OPEN}`;

/** The ids of the tasks that this session was given last; undefined when it was given none. */
function lastBatch(db: DatabaseSync, sessionId: string): string[] | undefined {
  const row = get(db, "SELECT tasks FROM batches WHERE session_id = ? ORDER BY id DESC LIMIT 1", sessionId);
  return row && (JSON.parse(String(row["tasks"])) as string[]).slice(0, 6);
}
