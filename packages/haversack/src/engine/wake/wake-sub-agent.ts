/** What a sub-agent needs to begin with its task, by what it is started as. Loaded by the hook. */
import type { ClientProfile } from "../../skills/activation.ts";
import { agentOfCall } from "../../store/sqlite/session-tasks.ts";
import type { SkillLedger } from "../../store/sqlite/skill-ledger.ts";
import { gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import { recordPacket } from "./record-packet.ts";
import type { MakePacket } from "./wake-session.ts";

export interface StartedAgent {
  sessionId: string;
  /** The call that starts it: which agent that will be is known later, and then its window is found by the call. */
  toolUseId: string;
  agentType: string;
  taskId: string;
  client: ClientProfile;
}

export function subAgentPacket(
  { sessionId, toolUseId, taskId, agentType, client }: StartedAgent,
  parts: WakeParts & { makePacket: MakePacket; ledger: SkillLedger },
): string {
  const role = roleOfAgent(agentType) ?? "implementer";
  // No session: the messages and claims of whoever starts it are not its own.
  const request: WakeRequest = { key: { taskId, role, client: client.name }, reason: "agent-start", client };
  const packet = parts.makePacket(gatherWake(request, parts), request, parts);
  const window = { sessionId, agentId: agentOfCall(toolUseId), at: parts.now, event: "agent-start" };
  if (packet.text) recordPacket(packet, window, parts.ledger);
  return packet.text;
}

/** Of the agents that `init` and the plugin bring: `haversack-fixer`, `haversack:fixer`. */
export function roleOfAgent(agentType: string): string | undefined {
  return /^haversack[-:](implementer|spec-reviewer|quality-reviewer|fixer)$/.exec(agentType)?.[1];
}
