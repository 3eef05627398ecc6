/** Whether there is anything to go on from. Loaded by the hook. */
import type { Wip } from "../work/wip/wip.ts";
import type { WakeState } from "./state.ts";

/** Then nobody is woken: a task that could be next, or past events, are no reason. */
export function isNothing({ task, stories = [], alsoHolds, wip, skills, messages, newMessage }: WakeState): boolean {
  const isIdle = !task && !newMessage && stories.length === 0;
  return isIdle && alsoHolds.length + skills.length + messages.length === 0 && !hasWork(wip);
}

export function hasWork(wip: Wip = {}): boolean {
  return Object.entries(wip).some(([field, value]) => field !== "updated_at" && value !== false && !isBlank(value));
}

function isBlank(value: unknown): boolean {
  return value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}
