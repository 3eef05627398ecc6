/**
 * How many tasks the next batch of a session has: small at first, more after success. A batch that was too large fails in the
 * middle, when the window is full, and costs more than two small ones.
 */
import type { Verdict } from "./handoff.ts";
import type { TaskBrief } from "./task.ts";

export const FIRST_SIZE = 2;
export const MOST_SIZE = 4;

/** What a session was given last, and what has become of it. */
export interface LastBatch {
  size: number;
  tasks: readonly (TaskBrief & { lastVerdict?: Verdict })[];
}

export function nextBatchSize(last: LastBatch | undefined): number {
  if (!last) return FIRST_SIZE;
  return Math.min(MOST_SIZE, Math.max(FIRST_SIZE, last.size + CHANGES[outcomeOf(last)]));
}

export type BatchOutcome = "completed" | "unfinished" | "blocked" | "not-started";

const CHANGES: Readonly<Record<BatchOutcome, number>> = {
  completed: 1,
  unfinished: -1,
  blocked: 0,
  // Asked again before anything began, as after a lost answer: that says nothing of the size.
  "not-started": 0,
};

export function outcomeOf({ tasks }: LastBatch): BatchOutcome {
  if (tasks.every(({ status, lastVerdict }) => status === "todo" && !lastVerdict)) return "not-started";
  const open = tasks.filter((task) => !isOver(task));
  if (open.some((task) => !isBlocked(task))) return "unfinished";
  return open.length > 0 ? "blocked" : "completed";
}

type GivenTask = LastBatch["tasks"][number];

/** In review the work itself is finished, unless the verdict says otherwise. */
function isOver({ status, lastVerdict = "PASS" }: GivenTask): boolean {
  return status === "done" || status === "archived" || (status === "review" && lastVerdict === "PASS");
}

function isBlocked({ status, lastVerdict }: GivenTask): boolean {
  return status === "blocked" || lastVerdict === "BLOCKED";
}
