/** Changes a task's status and everything that depends on it in the same transaction: claim, queue, story, epic, decay, activity. */

import type { DatabaseSync } from "node:sqlite";
import { checkWord, invalid } from "../../../work/clean-input.ts";
import { followersOf, isSettled, mayFollow, TASK_STATUSES, type TaskStatus } from "../../../work/task.ts";
import type { Actor, Boundaries, StatusChange, StatusOutcome } from "../../work-store.ts";
import { claimOf, mayChange, refuseIfLost, takeTask } from "./claims.ts";
import { followTasks } from "./groups.ts";
import { decayCompleted, lastVerdict } from "./handoffs.ts";
import { findTask } from "./ids.ts";
import { forgetHolder } from "./last-holders.ts";
import { moveInQueue } from "./queue.ts";
import { brief, insert, note, one, run, type TaskRow } from "./rows.ts";
import { partsOf } from "./tasks.ts";

export function setStatus(db: DatabaseSync, { taskId, status, notes, ...how }: StatusChange, by: Actor): StatusOutcome {
  checkWord("status", status, TASK_STATUSES);
  const task = findTask(db, taskId);
  if (status === "in_progress") {
    const taken = takeTask(db, task, how, by);
    if (taken.kind === "held" && mayChange(taken.by, by) && !by.isPerson && !by.agentId) {
      // The coordinator repeats what its sub-agent has already reported.
      return { kind: "changed", task: brief(task), from: task.status, boundaries: {}, claim: taken.by };
    }
    if (taken.kind !== "taken") return taken;
    if (notes) note(db, by, "task-note", task.id, notes);
    const parts = partsOf(db, task.seq);
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
  const held = claimOf(db, task.seq);
  if (held && !mayChange(held, by)) return { kind: "held", task: brief(task), by: held };
  refuseIfLost(db, task, by);
  if (status === "blocked") addBlocker(db, task, notes, by);
  const boundaries = applyStatus(db, task, status, by, notes);
  const parts = isSettled(status) ? partsOf(db, task.seq) : [];
  const verdict = status === "done" ? lastVerdict(db, task.seq) : undefined;
  return {
    kind: "changed",
    task: { ...brief(task), status },
    from: task.status,
    boundaries,
    ...(parts.length > 0 && { parts }),
    ...(verdict && verdict !== "PASS" && { failedWith: verdict }),
  };
}

export function setBlocker(
  db: DatabaseSync,
  { taskId, reason }: { taskId: string; reason: string },
  by: Actor,
): StatusOutcome {
  if (reason.trim() === "") throw invalid("reason must not be empty");
  return setStatus(db, { taskId, status: "blocked", notes: reason, leaseMs: 0 }, by);
}

export function resolveBlockers(
  db: DatabaseSync,
  { taskId, notes }: { taskId: string; notes?: string },
  by: Actor,
): StatusOutcome {
  const task = findTask(db, taskId);
  if (task.status === "blocked") {
    return setStatus(db, { taskId: task.id, status: "todo", leaseMs: 0, ...(notes !== undefined && { notes }) }, by);
  }
  resolveAll(db, task, by);
  return { kind: "changed", task: brief(task), from: task.status, boundaries: {} };
}

/** Makes the change. The caller has checked that it is allowed. */
export function applyStatus(
  db: DatabaseSync,
  task: TaskRow,
  status: TaskStatus,
  by: Actor,
  notes?: string,
): Boundaries {
  const now = by.at.toISOString();
  if (task.status === "blocked" && status !== "blocked") resolveAll(db, task, by);
  run(db, "DELETE FROM claims WHERE task = ?", task.seq);
  forgetHolder(db, task.seq);
  const isReopened = isSettled(task.status) && !isSettled(status);
  const reopened = isReopened ? `Reopened by ${by.name}${notes ? `: ${notes}` : ""}` : task.note;
  const completed = status === "done" ? now : status === "archived" ? task.completed_at : null;
  const sql = "UPDATE tasks SET status = ?, updated_at = ?, completed_at = ?, note = ? WHERE seq = ?";
  run(db, sql, status, now, completed, status === "done" ? null : reopened, task.seq);
  moveInQueue(db, task.seq, task.status, status);
  const boundaries = followTasks(db, task.story, now);
  if (boundaries.storyCompleted || boundaries.epicCompleted) decayCompleted(db, boundaries, by);
  note(db, by, "task-status", task.id, `${task.status} → ${status}${notes ? `: ${notes}` : ""}`);
  return boundaries;
}

function addBlocker(db: DatabaseSync, task: TaskRow, reason: string | undefined, by: Actor): void {
  const sql = "SELECT 1 FROM blockers WHERE task = ? AND reason = ? AND resolved_at IS NULL";
  if (!reason || one(db, sql, task.seq, reason)) return;
  insert(db, "blockers", { task: task.seq, reason, actor: by.name, created_at: by.at.toISOString() });
}

function resolveAll(db: DatabaseSync, task: TaskRow, by: Actor): void {
  const sql = "UPDATE blockers SET resolved_at = ?, resolved_by = ? WHERE task = ? AND resolved_at IS NULL";
  run(db, sql, by.at.toISOString(), by.name, task.seq);
}
