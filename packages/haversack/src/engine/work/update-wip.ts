/** The state of a task's unfinished work: merged with a rule per field, nothing replaced in silence. */
import type { WipHistoryEntry } from "../../store/work-store.ts";
import { checkWhole } from "../../work/clean-input.ts";
import { cleanWip } from "../../work/wip/clean-wip.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { Wip } from "../../work/wip/wip.ts";
import { given, type WorkParts } from "./work-parts.ts";

/** `wip`: an object, or its JSON text. */
export function updateWip(
  { taskId, wip }: { taskId: string; wip: unknown },
  { store, by }: WorkParts,
): Promise<{ wip: Wip; changed: boolean }> {
  const patch = cleanWip(wip);
  return store.updateWip({ taskId, merge: (current) => mergeWip(current, patch, { at: by.at }) }, by);
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
