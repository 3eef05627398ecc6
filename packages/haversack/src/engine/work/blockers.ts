/** What stands in a task's way, with its reason. */

import { invalid } from "../../work/check-value.ts";
import { cleanText } from "../../work/clean-input.ts";
import { type StatusChanged, statusAnswer } from "./set-status.ts";
import { given, type Refused, type WorkParts } from "./work-parts.ts";

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
