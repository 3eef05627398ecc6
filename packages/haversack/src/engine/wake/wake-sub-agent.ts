/** What a sub-agent needs to begin with its task, by what it is started as. Loaded by the hook. */
import type { ClientProfile } from "../../skills/activation.ts";
import { gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import type { MakePacket } from "./wake-session.ts";

export function subAgentPacket(
  { taskId, agentType, client }: { taskId: string; agentType: string; client: ClientProfile },
  parts: WakeParts & { makePacket: MakePacket },
): string {
  const role = roleOfAgent(agentType) ?? "implementer";
  // No session: the messages and claims of whoever starts it are not its own.
  const request: WakeRequest = { key: { taskId, role, client: client.name }, reason: "agent-start", client };
  return parts.makePacket(gatherWake(request, parts), request, parts).text;
}

/** Of the agents that `init` and the plugin bring: `haversack-fixer`, `haversack:fixer`. */
export function roleOfAgent(agentType: string): string | undefined {
  return /^haversack[-:](implementer|spec-reviewer|quality-reviewer|fixer)$/.exec(agentType)?.[1];
}
