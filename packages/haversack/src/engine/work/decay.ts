/** Handoffs shrink by themselves when a story or epic completes; these are for doing it by hand, and for undoing it. */
import { given, type WorkParts } from "./work-parts.ts";

export interface DecayInput {
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Whatever the state of the scope. */
  isForced?: boolean | undefined;
  includeFailed?: boolean | undefined;
}

export function decayHandoffs(
  { epicId, storyId, isForced, includeFailed }: DecayInput,
  { store, by }: WorkParts,
): Promise<{ compacted: number; archived: number }> {
  return store.decay(given({ epicId, storyId, isForced, includeFailed }), by);
}

/** A handoff, or all of a task, story or epic. */
export function restoreHandoffs({ id }: { id: string }, { store, by }: WorkParts): Promise<{ restored: number }> {
  return store.restore(id, by);
}
