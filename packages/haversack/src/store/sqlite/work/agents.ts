/** Agents: added by somebody or seen in a session, their roles, and their removal. */

import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { nearest } from "../../../base/nearest.ts";
import { type Agent, isAgentName, isPersonName, type Message } from "../../../wake/text.ts";
import { checkCount, invalid } from "../../../work/clean-input.ts";
import type {
  Actor,
  AgentQuery,
  InboxQuery,
  NewAgent,
  NewMessage,
  Page,
  RemoveAgentOutcome,
  SeenAgent,
  SentMessage,
  SkillUse,
} from "../../work-store.ts";
import { SkillRows } from "../skills/skill-index.ts";
import { listClaims, mayChange, returnToQueue } from "./claims.ts";
import { findTask, freshId } from "./ids.ts";
import { all, fromRow, insert, note, one, type Row, run, value } from "./rows.ts";

/** The current role, for a row of `agents`. */
export const ROLE_NOW = `CASE WHEN agents.role <> '' THEN agents.role
  WHEN EXISTS (SELECT 1 FROM claims WHERE claims.agent = agents.name AND claims.agent_id = '') THEN 'implementer' ELSE '' END`;

/** The session has started a sub-agent for a task, so it is an orchestrator. */
export function becomeOrchestrator(db: DatabaseSync, sessionId: string): void {
  db.prepare("UPDATE agents SET role = 'orchestrator' WHERE session_id = ? AND role = ''").run(sessionId);
}

// Agents by name. A name may have one agent per branch. An agent without a branch is for all branches.

/** Adding the same name and branch again replaces the given fields. */
export function addAgent(db: DatabaseSync, agent: NewAgent, by: Actor): Agent {
  const name = checkName(agent.name);
  const role = checkRole(agent.role);
  const { branch = "", client = null, worktree = null } = agent;
  const sql = `INSERT INTO agents (name, branch, role, client, worktree, created_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (name, branch) DO UPDATE SET role = excluded.role, client = coalesce(excluded.client, agents.client),
      worktree = coalesce(excluded.worktree, agents.worktree), removed_at = NULL`;
  run(db, sql, name, branch, role, client, worktree, by.at.toISOString());
  note(db, by, "agent-added", name, `@${name} is ${role}`);
  return toAgent(one<AgentRow>(db, `${SELECT} WHERE name = ? AND branch = ?`, name, branch) as AgentRow);
}

/** A session identifies itself as this agent. Unknown agents are added. */
export function seeAgent(db: DatabaseSync, seen: SeenAgent, at: Date): Agent {
  return toAgent(noteSeen(db, rowsOf(db, checkName(seen.name)), seen, at));
}

/** `rows`: all agents of that name, read under the same lock. */
export function noteSeen(db: DatabaseSync, rows: readonly AgentRow[], seen: SeenAgent, at: Date): AgentRow {
  const name = checkName(seen.name);
  const known = agentOn(rows, seen.branch);
  const now = at.toISOString();
  if (!known) {
    const sql =
      "INSERT INTO agents (name, branch, role, created_at) VALUES (?, '', ?, ?) ON CONFLICT (name, branch) DO UPDATE SET removed_at = NULL";
    run(db, sql, name, seen.role === undefined ? "" : checkRole(seen.role), now);
  }
  const row = (known ?? agentOn(rowsOf(db, name), undefined)) as AgentRow;
  // The agent belongs to the session seen last. Events of two processes may commit in reverse order.
  if (now < (row.last_seen_at ?? "")) return row;
  const session_id = seen.sessionId ?? row.session_id;
  const client = seen.client ?? row.client;
  const worktree = seen.worktree ?? row.worktree;
  const sql = "UPDATE agents SET session_id = ?, client = ?, worktree = ?, last_seen_at = ? WHERE seq = ?";
  run(db, sql, session_id, client, worktree, now, row.seq);
  return { ...row, session_id, client, worktree, last_seen_at: now };
}

export function getAgent(db: DatabaseSync, query: AgentQuery): Agent {
  return toAgent(findAgent(db, query));
}

export function listAgents(db: DatabaseSync): Agent[] {
  return all<AgentRow>(db, `${SELECT} WHERE removed_at IS NULL ORDER BY name, branch`).map(toAgent);
}

/**
 * Removes the agent's name. Messages, read marks and history stay. An agent that holds tasks is not removed, unless `isForced`: then
 * its tasks return to the queue with a note.
 */
export function removeAgent(
  db: DatabaseSync,
  { name, branch, isForced = false }: AgentQuery & { isForced?: boolean },
  by: Actor,
): RemoveAgentOutcome {
  const row = findAgent(db, { name, ...(branch !== undefined && { branch }) });
  // Claims know names and sessions but no branches. If several agents share a name, each owns its session's claims.
  const isOnly = rowsOf(db, row.name).length === 1;
  const held = listClaims(db, row.name).filter(({ sessionId }) => isOnly || sessionId === (row.session_id ?? ""));
  const unread = value(db, "SELECT count(*) FROM message_recipients WHERE agent = ? AND read_at IS NULL", row.seq);
  const tasks = held.map(({ taskId }) => taskId);
  // As everywhere, a person may take work from an agent, but another agent may not.
  const mayRelease = isForced && held.every((claim) => mayChange(claim, by));
  if (tasks.length > 0 && !mayRelease) return { kind: "holds-tasks", agent: toAgent(row), tasks };
  for (const taskId of tasks) returnToQueue(db, taskId, by, `@${row.name} was removed`);
  run(db, "UPDATE agents SET removed_at = ?, session_id = NULL WHERE seq = ?", by.at.toISOString(), row.seq);
  note(db, by, "agent-removed", row.name, `@${row.name} was removed`);
  return { kind: "removed", agent: toAgent(row), released: tasks, unread };
}

/** The agents that a name in a text may mean: the one on the sender's branch or for all branches, else all of that name. */
export function mentionedAgents(db: DatabaseSync, name: string, branch: string | undefined): AgentRow[] {
  // An @ may mean anything, so only existing names are mentions. A sentence may begin with one.
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
      hint: "run this on one of these branches, or name the branch",
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

/** The role comes last: if two columns share a name, the last one counts. */
const SELECT = `SELECT agents.*, ${ROLE_NOW} AS role FROM agents`;

export interface AgentRow {
  seq: number;
  name: string;
  branch: string;
  /** "": no role was given, and none follows from its work. */
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

/** The agent on the branch, else the one for all branches, else the only one. */
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

function toAgent({ branch, role, ...row }: AgentRow): Agent {
  const { removed_at: _, ...known } = row as Row & typeof row;
  return fromRow({ ...known, branch: branch || null, role: role || null });
}

// Messages: one text, several readers, one read mark per reader.

/** Sends to nobody if one of `to` is unknown. Agents mentioned in the text get it too, except the sender, who may sign with its name. */
export function sendMessage(db: DatabaseSync, message: NewMessage, by: Actor): SentMessage {
  const { to, mentions = [], text, subject, branch } = message;
  if (text.trim() === "") throw invalid("text must not be empty");
  const addressed = to.map((name) => findAgent(db, { name, ...(branch !== undefined && { branch }) }));
  const named = mentions.flatMap((name) => mentionedAgents(db, name, branch)).filter(({ name }) => name !== by.name);
  const readers = new Map([...addressed, ...named].map((agent) => [agent.seq, agent]));
  if (readers.size === 0) throw invalid("to must name at least one agent");
  const id = freshId(db, "messages");
  const created_at = by.at.toISOString();
  const seq = insert(db, "messages", {
    id,
    sender: by.name,
    is_person: by.isPerson ? 1 : 0,
    text,
    subject,
    created_at,
  });
  for (const agent of readers.keys()) run(db, "INSERT INTO message_recipients VALUES (?, ?, 1, NULL)", seq, agent);
  return { id, to: [...new Set([...readers.values()].map(({ name }) => name))] };
}

/** Unread ones, oldest first; with `includeRead` all of them, newest first. */
export function inbox(db: DatabaseSync, query: InboxQuery): Page<Message> {
  const { agent, branch, includeRead = false, limit } = query;
  checkCount("limit", limit);
  const { seq } = findAgent(db, { name: agent, ...(branch !== undefined && { branch }) });
  const where = includeRead ? "r.agent = ?" : "r.agent = ? AND r.read_at IS NULL";
  const sql = `SELECT m.id, m.sender, m.is_person, m.text, m.subject, m.created_at AS at, r.is_mention, r.read_at
    FROM message_recipients r JOIN messages m ON m.seq = r.message WHERE ${where} ORDER BY r.message ${includeRead ? "DESC" : ""} LIMIT ?`;
  return {
    items: all<Row>(db, sql, seq, limit).map(toMessage),
    total: value(db, `SELECT count(*) FROM message_recipients r WHERE ${where}`, seq),
  };
}

/** Returns how many became read. Without ids: all. */
export function markRead(db: DatabaseSync, agent: number, ids: readonly string[] | undefined, at: Date): number {
  const which =
    ids === undefined
      ? "?3 IS NULL"
      : "message IN (SELECT seq FROM messages WHERE id IN (SELECT value FROM json_each(?3)))";
  const sql = `UPDATE message_recipients SET read_at = ?1 WHERE agent = ?2 AND read_at IS NULL AND ${which}`;
  return run(db, sql, at.toISOString(), agent, ids ? JSON.stringify(ids) : null);
}

function toMessage({ sender, is_person, ...row }: Row): Message {
  return fromRow(row, { from: sender, ...(is_person === 1 && { isPerson: true }) });
}

/** The latest messages, for any recipient. */
export function newestMessages(
  db: DatabaseSync,
  { limit, maxChars }: { limit: number; maxChars: number },
): { sender: string; text: string }[] {
  const sql =
    "SELECT substr(sender, 1, 60) AS sender, substr(text, 1, ?) AS text FROM messages ORDER BY seq DESC LIMIT ?";
  const rows = all<{ sender: string; text: string }>(db, sql, maxChars, limit);
  return rows.map(({ sender, text }) => ({ sender, text }));
}

// Which skill version an agent works with, and why. "Newest" goes by time, not by row: imported rows are inserted later than they
// happened.

/** Hashes of the skill versions used for tasks. */
export const VERSIONS_IN_USE = "SELECT hash FROM skill_history";

export function recordSkill(db: DatabaseSync, use: Omit<SkillUse, "at">, at: Date): void {
  const { agent, taskId, skill, hash, because } = use;
  const task = taskId === undefined ? null : findTask(db, taskId).id;
  const sql =
    "SELECT hash, agent FROM skill_history WHERE task IS NOT DISTINCT FROM ? AND skill = ? ORDER BY at DESC, id DESC LIMIT 1";
  const last = one<{ hash: string; agent: string }>(db, sql, task, skill);
  if (last?.hash === hash && last.agent === agent) return;
  new SkillRows(db).keepBody(hash);
  insert(db, "skill_history", { at: at.toISOString(), agent, task, skill, hash, because });
}

export function skillHistory(
  db: DatabaseSync,
  { agent, taskId, limit }: { agent?: string; taskId?: string; limit: number },
): SkillUse[] {
  checkCount("limit", limit);
  const sql = `SELECT at, agent, task AS task_id, skill, hash, because FROM skill_history
    WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR task = ?2) ORDER BY at DESC, id DESC LIMIT ?3`;
  const task = taskId === undefined ? null : findTask(db, taskId).id;
  return all<Row>(db, sql, agent ?? null, task, limit).map((row) => fromRow<SkillUse>(row));
}
