// Made from store/sqlite/work/status.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/** Changes a task's status and everything that depends on it in the same transaction: claim, queue, story, epic, decay, activity. */

import { checkWord, invalid } from "../../../work/clean-input.ts";
import { followersOf, isSettled, mayFollow, TASK_STATUSES, type TaskStatus } from "../../../work/task.ts";
import type { Actor, Boundaries, StatusChange, StatusOutcome } from "../../work-store.ts";
import type { Connection } from "../connection.ts";
import { claimOf, mayChange, refuseIfLost, takeTask } from "./claims.ts";
import { followTasks } from "./groups.ts";
import { decayCompleted, lastVerdict } from "./handoffs.ts";
import { findTask } from "./ids.ts";
import { forgetHolder } from "./last-holders.ts";
import { moveInQueue } from "./queue.ts";
import { brief, insert, note, one, run, type TaskRow } from "./rows.ts";
import { partsOf } from "./tasks.ts";

export async function setStatus(
  db: Connection,
  { taskId, status, notes, ...how }: StatusChange,
  by: Actor,
): Promise<StatusOutcome> {
  checkWord("status", status, TASK_STATUSES);
  const task = await findTask(db, taskId);
  if (status === "in_progress") {
    const taken = await takeTask(db, task, how, by);
    if (taken.kind === "held" && mayChange(taken.by, by) && !by.isPerson && !by.agentId) {
      // The coordinator repeats what its sub-agent has already reported.
      return { kind: "changed", task: brief(task), from: task.status, boundaries: {}, claim: taken.by };
    }
    if (taken.kind !== "taken") return taken;
    if (notes) await note(db, by, "task-note", task.id, notes);
    const parts = await partsOf(db, task.seq);
    return {
      kind: "changed",
      task: { ...brief(task), status },
      from: task.status,
      boundaries: {},
      claim: taken.claim,
      ...(taken.note !== undefined && { note: taken.note }),
      ...(parts.length > 0 && { parts }),
    };
  }
  if (task.status === status && !(status === "blocked" && notes)) {
    return { kind: "changed", task: brief(task), from: status, boundaries: {} };
  }
  if (!mayFollow(task.status, status)) {
    return { kind: "cannot-follow", task: brief(task), allowed: followersOf(task.status) };
  }
  const held = await claimOf(db, task.seq);
  if (held && !mayChange(held, by)) return { kind: "held", task: brief(task), by: held };
  await refuseIfLost(db, task, by);
  if (status === "blocked") await addBlocker(db, task, notes, by);
  const boundaries = await applyStatus(db, task, status, by, notes);
  const parts = isSettled(status) ? await partsOf(db, task.seq) : [];
  const verdict = status === "done" ? await lastVerdict(db, task.seq) : undefined;
  return {
    kind: "changed",
    task: { ...brief(task), status },
    from: task.status,
    boundaries,
    ...(parts.length > 0 && { parts }),
    ...(verdict && verdict !== "PASS" && { failedWith: verdict }),
  };
}

export async function setBlocker(
  db: Connection,
  { taskId, reason }: { taskId: string; reason: string },
  by: Actor,
): Promise<StatusOutcome> {
  if (reason.trim() === "") throw invalid("reason must not be empty");
  return await setStatus(db, { taskId, status: "blocked", notes: reason, leaseMs: 0 }, by);
}

export async function resolveBlockers(
  db: Connection,
  { taskId, notes }: { taskId: string; notes?: string },
  by: Actor,
): Promise<StatusOutcome> {
  const task = await findTask(db, taskId);
  if (task.status === "blocked") {
    return await setStatus(
      db,
      { taskId: task.id, status: "todo", leaseMs: 0, ...(notes !== undefined && { notes }) },
      by,
    );
  }
  await resolveAll(db, task, by);
  return { kind: "changed", task: brief(task), from: task.status, boundaries: {} };
}

/** Makes the change. The caller has checked that it is allowed. */
export async function applyStatus(
  db: Connection,
  task: TaskRow,
  status: TaskStatus,
  by: Actor,
  notes?: string,
): Promise<Boundaries> {
  const now = by.at.toISOString();
  if (task.status === "blocked" && status !== "blocked") await resolveAll(db, task, by);
  await run(db, "DELETE FROM claims WHERE task = ?", task.seq);
  await forgetHolder(db, task.seq);
  const isReopened = isSettled(task.status) && !isSettled(status);
  const reopened = isReopened ? `Reopened by ${by.name}${notes ? `: ${notes}` : ""}` : task.note;
  const completed = status === "done" ? now : status === "archived" ? task.completed_at : null;
  const sql = "UPDATE tasks SET status = ?, updated_at = ?, completed_at = ?, note = ? WHERE seq = ?";
  await run(db, sql, status, now, completed, status === "done" ? null : reopened, task.seq);
  await moveInQueue(db, task.seq, task.status, status);
  const boundaries = await followTasks(db, task.story, now);
  if (boundaries.storyCompleted || boundaries.epicCompleted) await decayCompleted(db, boundaries, by);
  await note(db, by, "task-status", task.id, `${task.status} → ${status}${notes ? `: ${notes}` : ""}`);
  return boundaries;
}

async function addBlocker(db: Connection, task: TaskRow, reason: string | undefined, by: Actor): Promise<void> {
  const sql = "SELECT 1 FROM blockers WHERE task = ? AND reason = ? AND resolved_at IS NULL";
  if (!reason || (await one(db, sql, task.seq, reason))) return;
  await insert(db, "blockers", { task: task.seq, reason, actor: by.name, created_at: by.at.toISOString() });
}

async function resolveAll(db: Connection, task: TaskRow, by: Actor): Promise<void> {
  const sql = "UPDATE blockers SET resolved_at = ?, resolved_by = ? WHERE task = ? AND resolved_at IS NULL";
  await run(db, sql, by.at.toISOString(), by.name, task.seq);
}
