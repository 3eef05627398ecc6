/** A packet that a window was given: its text and skills, and the messages that it has shown. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import { type RestoredSkills, recordRestored } from "./restored-skills.ts";
import { markShown } from "./unread-messages.ts";

export interface ShownPacket extends RestoredSkills {
  /** They count as read by this agent (by its row). */
  messages?: { agent: number; ids: readonly string[] };
}

/** For callers that hold the write lock already. */
export function savePacket(db: DatabaseSync, { messages, ...restored }: ShownPacket): void {
  recordRestored(db, restored);
  if (messages) markShown(db, messages.agent, messages.ids, restored.at);
}
