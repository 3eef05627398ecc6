/** Agents: added by somebody, seen in a session, with their roles, and removed. */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { nearest } from "../../../base/nearest.ts";
import { type Agent, isAgentName, isPersonName } from "../../../wake/message.ts";
import { invalid } from "../../../work/clean-input.ts";
import type { Actor, AgentQuery, NewAgent, RemoveAgentOutcome, SeenAgent } from "../../work-store.ts";
import { note } from "./activity.ts";
import { listClaims, mayChange, returnToQueue } from "./claims.ts";
import { all, one, present, run, value } from "./rows.ts";

/** Of a row of `agents`. */
export const ROLE_NOW = `CASE WHEN agents.role <> '' THEN agents.role
  WHEN EXISTS (SELECT 1 FROM claims WHERE claims.agent = agents.name AND claims.agent_id = '') THEN 'implementer' ELSE '' END`;

/** The session has a sub-agent work on a task. */
export function becomeOrchestrator(db: DatabaseSync, sessionId: string): void {
  db.prepare("UPDATE agents SET role = 'orchestrator' WHERE session_id = ? AND role = ''").run(sessionId);
}

// Agents by name. One name may stand for an agent per branch; without a branch it stands for all.

/** Again with the same name and branch: what is given replaces. */
export function addAgent(db: DatabaseSync, agent: NewAgent, by: Actor): Agent {
  const name = checkName(agent.name);
  const role = checkRole(agent.role);
  run(
    db,
    `INSERT INTO agents (name, branch, role, client, worktree, created_at) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (name, branch) DO UPDATE SET role = excluded.role, client = coalesce(excluded.client, client), worktree = coalesce(excluded.worktree, worktree), removed_at = NULL`,
    name,
    agent.branch ?? "",
    role,
    agent.client ?? null,
    agent.worktree ?? null,
    by.at.toISOString(),
  );
  note(db, by, "agent-added", name, `@${name} is ${role}`);
  return toAgent(one<AgentRow>(db, `${SELECT} WHERE name = ? AND branch = ?`, name, agent.branch ?? "") as AgentRow);
}

/** A session says that it is this agent. One that nobody added is added. */
export function seeAgent(db: DatabaseSync, seen: SeenAgent, at: Date): Agent {
  return toAgent(noteSeen(db, rowsOf(db, checkName(seen.name)), seen, at));
}

/** `rows`: all of that name, as they were read under the same lock. */
export function noteSeen(db: DatabaseSync, rows: readonly AgentRow[], seen: SeenAgent, at: Date): AgentRow {
  const name = checkName(seen.name);
  const known = agentOn(rows, seen.branch);
  const now = at.toISOString();
  if (!known) {
    run(
      db,
      "INSERT INTO agents (name, branch, role, created_at) VALUES (?, '', ?, ?) ON CONFLICT DO UPDATE SET removed_at = NULL",
      name,
      seen.role === undefined ? "" : checkRole(seen.role),
      now,
    );
  }
  const row = (known ?? agentOn(rowsOf(db, name), undefined)) as AgentRow;
  // Of two sessions the one seen last is the agent's; events of two processes may commit in the other order.
  if (now < (row.last_seen_at ?? "")) return row;
  const session_id = seen.sessionId ?? row.session_id;
  const client = seen.client ?? row.client;
  const worktree = seen.worktree ?? row.worktree;
  run(
    db,
    "UPDATE agents SET session_id = ?, client = ?, worktree = ?, last_seen_at = ? WHERE seq = ?",
    session_id,
    client,
    worktree,
    now,
    row.seq,
  );
  return { ...row, session_id, client, worktree, last_seen_at: now };
}

export function getAgent(db: DatabaseSync, { name, branch }: AgentQuery): Agent {
  return toAgent(findAgent(db, { name, ...(branch !== undefined && { branch }) }));
}

export function listAgents(db: DatabaseSync): Agent[] {
  return all<AgentRow>(db, `${SELECT} WHERE removed_at IS NULL ORDER BY name, branch`).map(toAgent);
}

/**
 * Its name goes; messages, read marks and history stay. What it holds is not taken from it unless that is asked for: then it goes
 * back into the queue with a note.
 */
export function removeAgent(
  db: DatabaseSync,
  { name, branch, isForced = false }: AgentQuery & { isForced?: boolean },
  by: Actor,
): RemoveAgentOutcome {
  const row = findAgent(db, { name, ...(branch !== undefined && { branch }) });
  // Claims know names and sessions, and no branches: of several agents of one name, each has what its session holds.
  const isOnly = rowsOf(db, row.name).length === 1;
  const held = listClaims(db, row.name).filter(({ sessionId }) => isOnly || sessionId === (row.session_id ?? ""));
  const unread = value(db, "SELECT count(*) FROM message_recipients WHERE agent = ? AND read_at IS NULL", row.seq);
  const tasks = held.map(({ taskId }) => taskId);
  // As everywhere, a person may take work from an agent; another agent may not.
  const mayRelease = isForced && held.every((claim) => mayChange(claim, by));
  if (tasks.length > 0 && !mayRelease) return { kind: "holds-tasks", agent: toAgent(row), tasks };
  for (const taskId of tasks) returnToQueue(db, taskId, by, `@${row.name} was removed; go on from its WIP.`);
  run(db, "UPDATE agents SET removed_at = ?, session_id = NULL WHERE seq = ?", by.at.toISOString(), row.seq);
  note(db, by, "agent-removed", row.name, `@${row.name} was removed`);
  return { kind: "removed", agent: toAgent(row), released: tasks, unread };
}

/** Those that a name in a text can mean: the one of the sender's branch or of all branches, else every one of that name. */
export function mentionedAgents(db: DatabaseSync, name: string, branch: string | undefined): AgentRow[] {
  // An @ in a text may be anything: only names that exist are mentions. A sentence may begin with one.
  const exact = rowsOf(db, name);
  const rows =
    exact.length > 0
      ? exact
      : all<AgentRow>(db, `${SELECT} WHERE name = ? COLLATE NOCASE AND removed_at IS NULL ORDER BY name, branch`, name);
  const meant = agentOn(rows, branch);
  return meant ? [meant] : rows;
}

export function findAgent(db: DatabaseSync, { name, branch }: AgentQuery): AgentRow {
  const wanted = name.replace(/^@/, "");
  const rows = rowsOf(db, wanted);
  const row = agentOn(rows, branch);
  if (row) return row;
  if (rows.length > 1) {
    const branches = rows.map((other) => other.branch).join(", ");
    throw new HaversackError("not-found", `@${wanted} works on several branches: ${branches}`, {
      hint: "ask from one of them, or name it",
    });
  }
  const names = [...new Set(listAgents(db).map((other) => other.name))];
  const [guess] = nearest(wanted, names);
  throw new HaversackError("not-found", `there is no agent "${wanted}"${guess ? `; did you mean @${guess}?` : ""}`, {
    ...(!guess && {
      hint: names.length > 0 ? `there is @${names.slice(0, 5).join(", @")}` : "`haversack agent add NAME` adds one",
    }),
  });
}

/** The role last: of two columns of one name the last one counts. */
const SELECT = `SELECT agents.*, ${ROLE_NOW} AS role FROM agents`;

export interface AgentRow {
  seq: number;
  name: string;
  branch: string;
  /** "": none that was given, and none that follows from what it does. */
  role: string;
  client: string | null;
  session_id: string | null;
  worktree: string | null;
  created_at: string;
  last_seen_at: string | null;
}

function rowsOf(db: DatabaseSync, name: string): AgentRow[] {
  return all<AgentRow>(db, `${SELECT} WHERE name = ? AND removed_at IS NULL ORDER BY branch`, name);
}

/** The one of the branch, else the one of all branches, else the only one. */
export function agentOn<Row extends Pick<AgentRow, "branch">>(
  rows: readonly Row[],
  branch: string | undefined,
): Row | undefined {
  return (
    rows.find((row) => branch !== undefined && row.branch === branch) ??
    rows.find((row) => row.branch === "") ??
    (rows.length === 1 ? rows[0] : undefined)
  );
}

function checkName(name: string): string {
  const bare = name.startsWith("@") ? name.slice(1) : name;
  if (!isAgentName(bare)) {
    throw invalid(`name must be letters, digits, ".", "_" and "-", 64 at most, but is ${JSON.stringify(name)}`);
  }
  if (isPersonName(bare)) throw invalid(`name must not be ${JSON.stringify(bare)}: it means the person`);
  return bare;
}

function checkRole(role: string): string {
  if (role.trim() === "") throw invalid("role must not be empty");
  if (/[\n\r]/.test(role)) throw invalid("role must be one line");
  return role.trim();
}

function toAgent(row: AgentRow): Agent {
  return {
    ...present({
      name: row.name,
      branch: row.branch || null,
      role: row.role || null,
      client: row.client,
      sessionId: row.session_id,
      worktree: row.worktree,
    }),
    createdAt: new Date(row.created_at),
    ...(row.last_seen_at !== null && { lastSeenAt: new Date(row.last_seen_at) }),
  } as Agent;
}
