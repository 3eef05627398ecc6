/** A packet that a window was given: its text and skills, and the messages that it has shown. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import { type RestoredSkills, recordRestored } from "./restored-skills.ts";
import { noteRole } from "./session-tasks.ts";
import { markShown } from "./unread-messages.ts";

export interface ShownPacket extends RestoredSkills {
  /** They count as read by this agent (by its row). */
  messages?: { agent: number; ids: readonly string[] };
  /** The one that a sub-agent is started in. */
  role?: string;
}

/** For callers that hold the write lock already. */
export function savePacket(db: DatabaseSync, { messages, role, ...restored }: ShownPacket): void {
  recordRestored(db, restored);
  if (messages) markShown(db, messages.agent, messages.ids, restored.at);
  if (role !== undefined) noteRole(db, restored, role);
}
