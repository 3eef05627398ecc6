/** Sets a task's status and reports the consequences: a claim, a completed story or epic. */

import type { Boundaries, StatusOutcome, WipHistoryEntry } from "../../store/work-store.ts";
import { checkChoice, checkWhole, cleanDetails, cleanText, invalid } from "../../work/clean-input.ts";
import { type Failure, isSettled, TASK_STATUSES, type TaskStatus } from "../../work/task.ts";
import { present } from "../../work/task-view.ts";
import { cleanWip } from "../../work/wip/clean-wip.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { Wip } from "../../work/wip/wip.ts";
import { afterClaim, claimNote, openPartsWarning } from "./claims.ts";
import { given, type Refused, refused, type WorkParts } from "./work-parts.ts";

export interface SetStatusInput {
  taskId: string;
  status: string;
  /** Required for `blocked`: the reason. */
  notes?: string | undefined;
  /** Start even if dependencies are open. */
  isForced?: boolean | undefined;
}

export type StatusChanged = Extract<StatusOutcome, { kind: "changed" }> & { view: StatusView };

export interface StatusView {
  id: string;
  status: TaskStatus;
  note?: string;
  /** Sub-tasks that are still open although the task is over or was claimed as a whole. */
  warning?: string;
  /** Only if a story or epic could have been completed. */
  boundaries?: BoundariesView;
}

export interface BoundariesView {
  story_completed: boolean;
  epic_completed: boolean;
  story_id?: string;
  epic_id?: string;
}

export async function setStatus(
  { taskId, status, notes, isForced }: SetStatusInput,
  parts: WorkParts,
): Promise<StatusChanged | Refused> {
  const { store, by, settings } = parts;
  const wanted = checkChoice(status, { field: "status", choices: TASK_STATUSES });
  if (wanted === undefined) throw invalid(`status is missing: one of ${TASK_STATUSES.join(", ")}`);
  const clean = cleanText(notes, { field: "notes" });
  if (wanted === "blocked" && clean === undefined) throw invalid("notes are missing: say what blocks the task");
  const change = {
    taskId,
    status: wanted,
    leaseMs: settings.leaseMs,
    ...given({ notes: clean, isForced, maxClaims: settings.maxClaims }),
  };
  const outcome = await store.setStatus(change, by);
  if (outcome.kind === "changed" && outcome.claim) await afterClaim(outcome.task.id, parts);
  return statusAnswer(outcome, { ...parts, wanted });
}

export function statusAnswer(
  outcome: StatusOutcome,
  parts: WorkParts & { wanted?: TaskStatus },
): StatusChanged | Refused {
  if (outcome.kind !== "changed") {
    const { wanted } = parts;
    if (outcome.kind === "cannot-follow") return refused({ ...outcome, ...given({ wanted }) }, parts);
    // A caller that sets `in_progress` wants work and can take another task. A caller that reports on this task cannot.
    const isReport = outcome.kind === "held" && wanted !== undefined && wanted !== "in_progress";
    return refused(isReport ? { ...outcome, wanted: "change" } : outcome, parts);
  }
  const { task, boundaries, claim, parts: subTasks = [], failedWith } = outcome;
  // Failed reviews end here: the next review must not start on work that did not pass.
  const failed =
    failedWith &&
    `its last verdict is ${failedWith}, and tasks that waited for it are ready now; reopen it to hold them back`;
  const note = claim ? claimNote(outcome.note, subTasks) : outcome.note;
  const view = present({
    id: task.id,
    status: task.status,
    note,
    warning: [failed, openPartsWarning(subTasks)].filter(Boolean).join(". ") || undefined,
    boundaries: isSettled(task.status) ? viewBoundaries(boundaries) : undefined,
  }) as StatusView;
  return { ...outcome, ...given({ note }), view };
}

function viewBoundaries({ storyCompleted, epicCompleted }: Boundaries): BoundariesView {
  return {
    story_completed: storyCompleted !== undefined,
    epic_completed: epicCompleted !== undefined,
    ...(storyCompleted !== undefined && { story_id: storyCompleted }),
    ...(epicCompleted !== undefined && { epic_id: epicCompleted }),
  };
}

// The reason why a task is blocked.

const REASON_MAX_CHARS = 10_000;

export async function setBlocker(
  { taskId, reason }: { taskId: string; reason: string },
  parts: WorkParts,
): Promise<StatusChanged | Refused> {
  const clean = cleanText(reason, { field: "reason", maxChars: REASON_MAX_CHARS });
  if (clean === undefined) throw invalid("reason must not be empty: say what the task waits for");
  return statusAnswer(await parts.store.setBlocker({ taskId, reason: clean }, parts.by), {
    ...parts,
    wanted: "blocked",
  });
}

export async function resolveBlockers(
  { taskId, notes }: { taskId: string; notes?: string | undefined },
  parts: WorkParts,
): Promise<StatusChanged | Refused> {
  const change = { taskId, ...given({ notes: cleanText(notes, { field: "notes" }) }) };
  return statusAnswer(await parts.store.resolveBlockers(change, parts.by), { ...parts, wanted: "todo" });
}

// Failures of a task, for the next attempt.

export async function recordFailure(
  { taskId, summary, details }: { taskId: string; summary: string; details?: string | undefined },
  { store, by }: WorkParts,
): Promise<{ count: number }> {
  const clean = cleanText(summary, { field: "reason", maxChars: 2000, instead: "put the rest into details" });
  if (clean === undefined) throw invalid("reason must not be empty");
  return store.recordFailure({ taskId, summary: clean, ...given({ details: cleanDetails(details) }) }, by);
}

export async function listFailures(
  { taskId }: { taskId: string },
  { store }: WorkParts,
): Promise<{ failures: Failure[]; views: object[] }> {
  const failures = await store.listFailures(taskId);
  return {
    failures,
    views: failures.map(({ at, actor, summary, details }) => present({ at, actor, summary, details })),
  };
}

// The state of a task's unfinished work. Each field has a merge rule, and nothing is replaced silently.

/** `wip`: an object, or its JSON text. */
export function updateWip(
  { taskId, wip }: { taskId: string; wip: unknown },
  { store, by }: WorkParts,
): Promise<{ wip: Wip; changed: boolean }> {
  const patch = cleanWip(wip);
  return store.updateWip({ taskId, patch, merge: (current) => mergeWip(current, patch, { at: by.at }) }, by);
}

export async function getWip(
  { taskId, history }: { taskId: string; history?: number | undefined },
  { store, by }: WorkParts,
): Promise<{ id: string; wip: Wip; updatedAt?: Date; history?: WipHistoryEntry[] }> {
  const { id, wip = {}, wipUpdatedAt } = await store.getTask(taskId, by.at);
  const limit = history === undefined ? undefined : checkWhole(history, { field: "history", fallback: 0 });
  return {
    id,
    wip,
    ...given({
      updatedAt: wipUpdatedAt,
      history: limit === undefined ? undefined : await store.wipHistory({ taskId: id, limit }),
    }),
  };
}
