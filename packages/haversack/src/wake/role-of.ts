/**
 * Which role an agent has. A session coordinates when somebody added it as an orchestrator or when it gave tasks to
 * sub-agents; a session that works alone on a task is its implementer; one without a task has no role. Loaded by the hook.
 */
import type { WakeAgent } from "./state.ts";

export interface RoleSigns {
  /** The role that it was started or added with. */
  given?: string | undefined;
  isSubAgent: boolean;
  isCoordinating: boolean;
  hasTask: boolean;
}

export function roleOf({
  given,
  isSubAgent,
  isCoordinating,
  hasTask,
}: RoleSigns): Required<Pick<WakeAgent, "role" | "isSolo">> {
  if (given !== undefined) return { role: given, isSolo: false };
  if (isSubAgent) return { role: "", isSolo: false };
  if (isCoordinating) return { role: "orchestrator", isSolo: false };
  return hasTask ? { role: "implementer", isSolo: true } : { role: "", isSolo: false };
}
