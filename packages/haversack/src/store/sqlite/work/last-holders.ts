/**
 * Who last worked on an unfinished task, and where. The row is written with the claim and outlives it, so abandoned work can be found
 * long after the claim ended. It is deleted when the task is finished, changes its status, is given back on purpose, or is claimed by
 * somebody else. The hook bundles this file.
 */

import type { DatabaseSync } from "node:sqlite";
import { checkCount } from "../../../work/clean-input.ts";
import type { EndedAs, LeftTask, TaskStatus } from "../../../work/task.ts";
import type { TaskRecord } from "../../record-fields.ts";
import type { Actor, WorkPlace } from "../../work-store.ts";
import { all, type ClaimRow, fromRow, insert, one, present, type Row, run } from "./rows.ts";

/** The actor has claimed the task, for the first time or again. */
export function noteHolder(db: DatabaseSync, seq: number, by: Omit<Actor, "at">, claimedAt: string): void {
  const { client = null, worktree = null, branch = null } = by.place ?? {};
  const sql = `INSERT INTO last_holders (task, agent, session_id, agent_id, client, worktree, branch, claimed_at, last_seen_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT (task) DO UPDATE SET
      -- Where the same session works stays known when it claims again from where that cannot be told.
      client = coalesce(excluded.client, CASE WHEN last_holders.session_id IS NOT DISTINCT FROM excluded.session_id THEN last_holders.client END),
      worktree = coalesce(excluded.worktree, CASE WHEN last_holders.session_id IS NOT DISTINCT FROM excluded.session_id THEN last_holders.worktree END),
      branch = CASE WHEN excluded.worktree IS NULL AND last_holders.session_id IS NOT DISTINCT FROM excluded.session_id
        THEN last_holders.branch ELSE excluded.branch END,
      agent = excluded.agent, session_id = excluded.session_id, agent_id = excluded.agent_id,
      claimed_at = excluded.claimed_at, last_seen_at = excluded.last_seen_at, ended_as = NULL, ended_at = NULL`;
  run(db, sql, seq, by.name, by.sessionId ?? null, by.agentId ?? "", client, worktree, branch, claimedAt);
}

/** The task is finished, or its holder gave it back on purpose. Returns false if nobody held it. */
export function forgetHolder(db: DatabaseSync, seq: number): boolean {
  return run(db, "DELETE FROM last_holders WHERE task = ?", seq) > 0;
}

/** The claim has expired. An end that is already recorded stays: the session may have ended before. */
export function noteLapsed(db: DatabaseSync, claim: ClaimRow): void {
  const sql = `INSERT INTO last_holders (task, agent, session_id, agent_id, claimed_at, last_seen_at, ended_as, ended_at)
    VALUES (?, ?, ?, ?, ?, ?, 'expired', ?) ON CONFLICT (task) DO UPDATE SET
      agent = excluded.agent, session_id = excluded.session_id, agent_id = excluded.agent_id, claimed_at = excluded.claimed_at,
      last_seen_at = excluded.last_seen_at, ended_as = coalesce(last_holders.ended_as, 'expired'),
      ended_at = coalesce(last_holders.ended_at, excluded.ended_at)`;
  const { task, agent, session_id, agent_id, claimed_at, heartbeat_at, lease_until } = claim;
  const end = new Date(lease_until).toISOString();
  run(db, sql, task, agent, session_id, agent_id ?? "", claimed_at, heartbeat_at, end);
}

/** Whether the session holds a task, or held one that nobody has taken since. */
export function isHolding(db: DatabaseSync, sessionId: string): boolean {
  return one(db, "SELECT 1 FROM last_holders WHERE session_id = ? LIMIT 1", sessionId) !== undefined;
}

/** A session or one of its agents has ended. `place`: where it was then. False: it had no task. */
export function noteEnded(
  db: DatabaseSync,
  { sessionId, agentId }: { sessionId: string; agentId?: string },
  { at, place = {} }: { at: Date; place?: WorkPlace | undefined },
): boolean {
  const { worktree = null, branch = null } = place;
  const sql = `UPDATE last_holders SET ended_as = 'ended', ended_at = ?1, worktree = coalesce(?2, worktree),
    branch = CASE WHEN ?2 IS NULL THEN branch ELSE ?3 END WHERE session_id = ?4 AND (?5 IS NULL OR agent_id = ?5)`;
  return run(db, sql, at.toISOString(), worktree, branch, sessionId, agentId ?? null) > 0;
}

/** Another session has noticed that this one is over. */
export function noteOver(db: DatabaseSync, seq: number, as: Exclude<EndedAs, "expired">, at: Date): void {
  const sql = "UPDATE last_holders SET ended_as = ?, ended_at = coalesce(ended_at, ?) WHERE task = ?";
  run(db, sql, as, at.toISOString(), seq);
}

/** The session is back. */
export function noteBack(db: DatabaseSync, sessionId: string): void {
  run(db, "UPDATE last_holders SET ended_as = NULL, ended_at = NULL WHERE session_id = ?", sessionId);
}

/** The claim moves to another session, of the same agent or of one with another name. */
export function moveHolder(
  db: DatabaseSync,
  seq: number,
  { sessionId, agent, place }: { sessionId: string; agent?: string; place: WorkPlace },
): void {
  const { client = null, worktree = null, branch = null } = place;
  const sql = `UPDATE last_holders SET agent = coalesce(?, agent), session_id = ?, agent_id = '', ended_as = NULL, ended_at = NULL,
    client = coalesce(?, client), worktree = coalesce(?, worktree), branch = ? WHERE task = ?`;
  run(db, sql, agent ?? null, sessionId, client, worktree, branch, seq);
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

/** Tasks that an agent of a session held until its claim expired, and that nobody has taken since. Last claimed first. */
export function lapsedOf(db: DatabaseSync, sessionId: string, agentId: string): LapsedTask[] {
  const sql = `SELECT t.seq, t.id, t.title, t.status, t.story, h.agent, h.claimed_at AS "claimedAt"
    FROM last_holders h JOIN tasks t ON t.seq = h.task WHERE h.session_id = ? AND h.agent_id = ? AND t.status = 'todo'
      AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.task = h.task) ORDER BY h.claimed_at DESC, h.task DESC`;
  return all<LapsedTask>(db, sql, sessionId, agentId);
}

/** See WorkStore. The caller returns expired claims first. */
export function listLeft(db: DatabaseSync, limit: number): LeftTask[] {
  checkCount("limit", limit);
  const sql = `SELECT h.agent, h.session_id, nullif(h.agent_id, '') AS agent_id, h.client, h.worktree, h.branch, h.claimed_at,
      h.last_seen_at, coalesce(h.ended_as, 'expired') AS ended_as, coalesce(h.ended_at, h.last_seen_at) AS ended_at,
      t.id, t.title, t.status
    FROM last_holders h JOIN tasks t ON t.seq = h.task WHERE NOT EXISTS (SELECT 1 FROM claims c WHERE c.task = h.task)
    ORDER BY h.last_seen_at DESC, h.task DESC LIMIT ?`;
  return all<Row>(db, sql, limit).map((row) => fromRow<LeftTask>(row));
}

/** For an export. */
export function holderRecord(db: DatabaseSync, seq: number): TaskRecord["last_holder"] | undefined {
  const row = one<Row>(db, "SELECT * FROM last_holders WHERE task = ?", seq);
  if (!row) return undefined;
  const { task: _, agent_id, ...rest } = row;
  return present({ ...rest, agent_id: agent_id || null }) as TaskRecord["last_holder"];
}

/** For an import: replaces the existing row. */
export function writeHolder(db: DatabaseSync, seq: number, holder: TaskRecord["last_holder"]): void {
  forgetHolder(db, seq);
  if (holder) insert(db, "last_holders", { agent_id: "", ...holder, task: seq });
}

/** Whether anybody holds or has abandoned a task. */
export function hasHolders(db: DatabaseSync): boolean {
  return one(db, "SELECT 1 WHERE EXISTS (SELECT 1 FROM last_holders) OR EXISTS (SELECT 1 FROM claims)") !== undefined;
}

// Fencing: a holder whose claim expired or was taken may return and report after somebody else has claimed the task. It is then told
// that it no longer holds the task.

/** Before the actor becomes the holder: records that the previous holder lost the task, unless it gave the task back on purpose. */
export function noteLoss(db: DatabaseSync, seq: number, by: Actor): void {
  const sql = "SELECT agent, session_id, agent_id FROM last_holders WHERE task = ?";
  const before = one<Pick<LostRow, "agent" | "session_id"> & { agent_id: string }>(db, sql, seq);
  for (const row of lossesOf(db, seq)) {
    if (isSame(row, by)) run(db, "DELETE FROM lost_claims WHERE token = ?", row.token);
  }
  // Within one session, a task is passed on, not lost.
  if (!before || isSame(before, by)) return;
  insert(db, "lost_claims", { ...before, task: seq, taken_by: by.name, at: by.at.toISOString() });
}

/** Who took the task from this actor. Undefined: nobody did, or the actor has claimed it again since. */
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
  return all(db, "SELECT token, agent, session_id, taken_by FROM lost_claims WHERE task = ? ORDER BY token DESC", seq);
}

/** Like `isHolder`, but for all agents of a session: a task lost by one agent is lost by the session. */
function isSame(lost: Pick<LostRow, "agent" | "session_id">, by: Actor): boolean {
  if (lost.agent === by.name && (by.isNamed || lost.session_id === null || by.sessionId === undefined)) return true;
  if (by.isNamed && lost.agent !== by.name) return false;
  return lost.session_id !== null && lost.session_id === by.sessionId;
}
