/**
 * Fencing: a holder whose lease ended, or whose claim was taken, and whose task somebody else has claimed since, may come back
 * later and report. It is told that the task is no longer its own. The only file with SQL for this table. The hook
 * bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Actor } from "../../work-store.ts";
import { all, one, run } from "./prepared.ts";

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
