/**
 * The order of the queue. A task's score is
 *
 *     100 × (3 − epic's priority) + 30 × (3 − its own) + 5 × open tasks that wait for it (10 at most) + a point per 10 days of age
 *
 * with P0 to P3 counting 0 to 3, and a task without an epic counting as one of a P2 epic. All tasks age at the same pace, so the
 * order between two of them never changes by time alone: it can be kept as a number without the present time in it (the
 * order key), and the score of any moment follows from it. Age decides between equals and lifts a task by one
 * priority of its own in 300 days: an old chore does not pass an outage.
 */
import type { Priority } from "./task.ts";

export const EPIC_POINTS = 100;
export const TASK_POINTS = 30;
export const DEPENDENT_POINTS = 5;
export const MOST_DEPENDENTS = 10;
/** Ten days. */
export const MS_PER_POINT = 864_000_000;
/** For tasks without an epic. */
export const NO_EPIC_RANK = 2;

export interface QueuePlace {
  epicRank: number;
  taskRank: number;
  /** Open tasks that directly wait for this one. */
  dependents: number;
  createdAtMs: number;
}

/** Higher comes first. A whole number, exact in every store. */
export function orderKey({ epicRank, taskRank, dependents, createdAtMs }: QueuePlace): number {
  const points =
    EPIC_POINTS * (3 - epicRank) +
    TASK_POINTS * (3 - taskRank) +
    DEPENDENT_POINTS * Math.min(dependents, MOST_DEPENDENTS);
  return points * MS_PER_POINT - createdAtMs;
}

/** The score at a time, in points, to one decimal. */
export function scoreAt(key: number, at: Date): number {
  return Math.round(((key + at.getTime()) / MS_PER_POINT) * 10) / 10;
}

export function rankOf(priority: Priority): number {
  return Number(priority[1]);
}

export function priorityOf(rank: number): Priority {
  return `P${rank}` as Priority;
}
