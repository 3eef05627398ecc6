/** What failed on a task, so that the next attempt knows. */
import { invalid } from "../../work/check-value.ts";
import { cleanDetails, cleanText } from "../../work/clean-input.ts";
import type { Failure } from "../../work/task.ts";
import { present } from "../../work/task-view.ts";
import { given, type WorkParts } from "./work-parts.ts";

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
