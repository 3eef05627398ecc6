/**
 * Who worked on an unfinished task last, and where. The row is written with the claim and outlives it: work that was left is found
 * here, however many operations have run since the claim ended. It goes when the task is finished or set to another status, when it is
 * given back on purpose, and when somebody else claims it. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { EndedAs, LeftTask, TaskStatus } from "../../../work/task.ts";
import type { TaskRecord } from "../../work-records.ts";
import type { Actor, WorkPlace } from "../../work-store.ts";
import { all, one, run } from "./rows.ts";

interface HolderRow {
  task: number;
  agent: string;
  session_id: string | null;
  agent_id: string;
  client: string | null;
  worktree: string | null;
  branch: string | null;
  claimed_at: string;
  last_seen_at: string;
  ended_as: EndedAs | null;
  ended_at: string | null;
}

/** The actor has claimed the task, for the first time or again. */
export function noteHolder(db: DatabaseSync, seq: number, by: Omit<Actor, "at">, claimedAt: string): void {
  const { client, worktree, branch } = by.place ?? {};
  run(
    db,
    `INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT (task) DO UPDATE SET
      -- Where the same session works stays known when it claims again from where that cannot be told.
      client = coalesce(excluded.client, CASE WHEN session_id IS excluded.session_id THEN client END),
      worktree = coalesce(excluded.worktree, CASE WHEN session_id IS excluded.session_id THEN worktree END),
      branch = CASE WHEN excluded.worktree IS NULL AND session_id IS excluded.session_id THEN branch ELSE excluded.branch END,
      agent = excluded.agent, session_id = excluded.session_id, agent_id = excluded.agent_id,
      claimed_at = excluded.claimed_at, last_seen_at = excluded.last_seen_at, ended_as = NULL, ended_at = NULL`,
    seq,
    by.name,
    by.sessionId ?? null,
    by.agentId ?? "",
    client ?? null,
    worktree ?? null,
    branch ?? null,
    claimedAt,
  );
}

/** The task is finished, or whoever had it has put it down on purpose. False: nobody had it. */
export function forgetHolder(db: DatabaseSync, seq: number): boolean {
  return run(db, "DELETE FROM last_holders WHERE task = ?", seq) > 0;
}

/** Its claim has ended by time. What is known of the end already stays: the session may have said it before. */
export function noteLapsed(
  db: DatabaseSync,
  claim: Pick<HolderRow, "task" | "agent" | "session_id" | "claimed_at"> & {
    agent_id: string | null;
    heartbeat_at: string;
    lease_until: number;
  },
): void {
  run(
    db,
    `INSERT INTO last_holders (task, agent, session_id, agent_id, claimed_at, last_seen_at, ended_as, ended_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'expired', ?7) ON CONFLICT (task) DO UPDATE SET
      agent = excluded.agent, session_id = excluded.session_id, agent_id = excluded.agent_id, claimed_at = excluded.claimed_at,
      last_seen_at = excluded.last_seen_at, ended_as = coalesce(ended_as, 'expired'), ended_at = coalesce(ended_at, excluded.ended_at)`,
    claim.task,
    claim.agent,
    claim.session_id,
    claim.agent_id ?? "",
    claim.claimed_at,
    claim.heartbeat_at,
    new Date(claim.lease_until).toISOString(),
  );
}

/** Whether the session holds a task, or held one that nobody has taken since. */
export function isHolding(db: DatabaseSync, sessionId: string): boolean {
  return one(db, "SELECT 1 FROM last_holders WHERE session_id = ? LIMIT 1", sessionId) !== undefined;
}

/** The end of a session, or of one of its agents; `place`: where it was then. */
export function noteEnded(
  db: DatabaseSync,
  { sessionId, agentId }: { sessionId: string; agentId?: string },
  { at, place }: { at: Date; place?: WorkPlace | undefined },
): void {
  run(
    db,
    `UPDATE last_holders SET ended_as = 'ended', ended_at = ?, worktree = coalesce(?, worktree),
      branch = CASE WHEN ? IS NULL THEN branch ELSE ? END WHERE session_id = ? AND (? IS NULL OR agent_id = ?)`,
    at.toISOString(),
    place?.worktree ?? null,
    place?.worktree ?? null,
    place?.branch ?? null,
    sessionId,
    agentId ?? null,
    agentId ?? null,
  );
}

/** Another session has seen that this one is over. */
export function noteOver(db: DatabaseSync, seq: number, as: Exclude<EndedAs, "expired">, at: Date): void {
  run(
    db,
    "UPDATE last_holders SET ended_as = ?, ended_at = coalesce(ended_at, ?) WHERE task = ?",
    as,
    at.toISOString(),
    seq,
  );
}

/** The session is back. */
export function noteBack(db: DatabaseSync, sessionId: string): void {
  run(db, "UPDATE last_holders SET ended_as = NULL, ended_at = NULL WHERE session_id = ?", sessionId);
}

/** The claim goes on in another session: of the same agent, or of one that is called otherwise. */
export function moveHolder(
  db: DatabaseSync,
  seq: number,
  { sessionId, agent, place }: { sessionId: string; agent?: string; place: WorkPlace },
): void {
  run(
    db,
    `UPDATE last_holders SET agent = coalesce(?, agent), session_id = ?, agent_id = '', ended_as = NULL, ended_at = NULL, client = coalesce(?, client),
      worktree = coalesce(?, worktree), branch = ? WHERE task = ?`,
    agent ?? null,
    sessionId,
    place.client ?? null,
    place.worktree ?? null,
    place.branch ?? null,
    seq,
  );
}

export interface LapsedTask {
  seq: number;
  id: string;
  title: string;
  status: TaskStatus;
  story: number | null;
  agent: string;
  claimedAt: string;
}

/** What an agent of a session held until its claim ended, and nobody has taken since. Claimed last first. */
export function lapsedOf(db: DatabaseSync, sessionId: string, agentId: string): LapsedTask[] {
  return all<LapsedTask>(
    db,
    `SELECT t.seq, t.id, t.title, t.status, t.story, h.agent, h.claimed_at AS claimedAt FROM last_holders h JOIN tasks t ON t.seq = h.task
     WHERE h.session_id = ? AND h.agent_id = ? AND t.status = 'todo' AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.task = h.task)
     ORDER BY h.claimed_at DESC, h.task DESC`,
    sessionId,
    agentId,
  );
}

/** See WorkStore. Claims that have expired are returned before. */
export function listLeft(db: DatabaseSync, limit: number): LeftTask[] {
  const rows = all<HolderRow & { id: string; title: string; status: TaskStatus }>(
    db,
    `SELECT h.*, t.id, t.title, t.status FROM last_holders h JOIN tasks t ON t.seq = h.task
     WHERE NOT EXISTS (SELECT 1 FROM claims c WHERE c.task = h.task) ORDER BY h.last_seen_at DESC, h.task DESC LIMIT ?`,
    limit,
  );
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    status: row.status,
    agent: row.agent,
    ...(row.session_id !== null && { sessionId: row.session_id }),
    ...(row.agent_id !== "" && { agentId: row.agent_id }),
    ...(row.client !== null && { client: row.client }),
    ...(row.worktree !== null && { worktree: row.worktree }),
    ...(row.branch !== null && { branch: row.branch }),
    claimedAt: new Date(row.claimed_at),
    lastSeenAt: new Date(row.last_seen_at),
    endedAs: row.ended_as ?? "expired",
    endedAt: new Date(row.ended_at ?? row.last_seen_at),
  }));
}

/** For an export. */
export function holderRecord(db: DatabaseSync, seq: number): TaskRecord["last_holder"] | undefined {
  const row = one<HolderRow>(db, "SELECT * FROM last_holders WHERE task = ?", seq);
  if (!row) return undefined;
  const { task: _, agent_id, ...rest } = row;
  const fields = Object.entries({ ...rest, agent_id: agent_id || null }).filter(([, value]) => value !== null);
  return Object.fromEntries(fields) as TaskRecord["last_holder"];
}

/** Of an import: over what is there. */
export function writeHolder(db: DatabaseSync, seq: number, holder: TaskRecord["last_holder"]): void {
  forgetHolder(db, seq);
  if (!holder) return;
  run(
    db,
    "INSERT INTO last_holders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    seq,
    holder.agent,
    holder.session_id ?? null,
    holder.agent_id ?? "",
    holder.client ?? null,
    holder.worktree ?? null,
    holder.branch ?? null,
    holder.claimed_at,
    holder.last_seen_at,
    holder.ended_as ?? null,
    holder.ended_at ?? null,
  );
}

/** Whether anybody holds or has left anything. */
export function hasHolders(db: DatabaseSync): boolean {
  return one(db, "SELECT 1 WHERE EXISTS (SELECT 1 FROM last_holders) OR EXISTS (SELECT 1 FROM claims)") !== undefined;
}

// Fencing: a holder whose lease ended, or whose claim was taken, and whose task somebody else has claimed since, may
// come back later and report. It is told that the task is no longer its own.

/** Before the actor becomes the holder: whoever held the task until now, and did not put it down on purpose, has lost it. */
export function noteLoss(db: DatabaseSync, seq: number, by: Actor): void {
  const before = one<Pick<LostRow, "agent" | "session_id"> & { agent_id: string }>(
    db,
    "SELECT agent, session_id, agent_id FROM last_holders WHERE task = ?",
    seq,
  );
  for (const row of lossesOf(db, seq)) {
    if (isSame(row, by)) run(db, "DELETE FROM lost_claims WHERE token = ?", row.token);
  }
  // Within one session a task is passed on, not lost.
  if (!before || isSame(before, by)) return;
  run(
    db,
    "INSERT INTO lost_claims (task, agent, session_id, agent_id, taken_by, at) VALUES (?, ?, ?, ?, ?, ?)",
    seq,
    before.agent,
    before.session_id,
    before.agent_id,
    by.name,
    by.at.toISOString(),
  );
}

/** Who took the task from this actor; undefined: nobody did, or it has claimed it again since. */
export function takenBy(db: DatabaseSync, seq: number, by: Actor): string | undefined {
  return by.isPerson ? undefined : lossesOf(db, seq).find((row) => isSame(row, by))?.taken_by;
}

interface LostRow {
  token: number;
  agent: string;
  session_id: string | null;
  taken_by: string;
}

function lossesOf(db: DatabaseSync, seq: number): LostRow[] {
  return all<LostRow>(
    db,
    "SELECT token, agent, session_id, taken_by FROM lost_claims WHERE task = ? ORDER BY token DESC",
    seq,
  );
}

/** As for claims (isHolder), but for all agents of a session: what one of them lost, the session lost. */
function isSame(lost: Pick<LostRow, "agent" | "session_id">, by: Actor): boolean {
  if (lost.agent === by.name && (by.isNamed || lost.session_id === null || by.sessionId === undefined)) return true;
  if (by.isNamed && lost.agent !== by.name) return false;
  return lost.session_id !== null && lost.session_id === by.sessionId;
}
