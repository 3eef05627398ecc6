/** Which things of an import the store has already, and their times there. */
import { isFault } from "../../base/errors.ts";
import type { WorkRecord } from "../../store/record-fields.ts";
import type { WorkStore } from "../../store/work-store.ts";

export interface KnownTimes {
  createdAt: Date;
  updatedAt: Date;
}

export type ThingStore = Pick<WorkStore, "getTask" | "getStory" | "getEpic">;

/** By the id in the import, which may be an alias here. */
export async function findKnown(
  store: ThingStore,
  records: readonly WorkRecord[],
  at: Date,
): Promise<Map<string, KnownTimes>> {
  const known = new Map<string, KnownTimes>();
  for (const record of records) {
    if (record.kind !== "task" && record.kind !== "story" && record.kind !== "epic") continue;
    const { kind, id } = record;
    try {
      const found = await {
        task: () => store.getTask(id, at),
        story: () => store.getStory(id),
        epic: () => store.getEpic(id),
      }[kind]();
      // The lookup also accepts a prefix.
      if (found.id === id || ("aliases" in found && found.aliases?.includes(id))) known.set(id, found);
    } catch (error) {
      if (!isFault(error, "not-found")) throw error;
    }
  }
  return known;
}
