/** What a sub-agent needs to begin with its task, by what it is started as. Loaded by the hook. */
import type { ClientProfile } from "../../skills/activation.ts";
import { agentOfCall } from "../../store/sqlite/session-tasks.ts";
import { gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import { recordPacket } from "./record-packet.ts";
import type { MakePacket } from "./wake-session.ts";

export interface StartedAgent {
  sessionId: string;
  /** The call that starts it: which agent that will be is known later, and then its window is found by the call. */
  toolUseId: string;
  agentType: string;
  taskId: string;
  /** Its prompt has the task, what to do and how to answer. Default: false. */
  isDispatched?: boolean;
  client: ClientProfile;
}

export function subAgentPacket(
  { sessionId, toolUseId, taskId, agentType, isDispatched = false, client }: StartedAgent,
  parts: WakeParts & { makePacket: MakePacket },
): string {
  // They look around for whoever asks, and change nothing.
  if (READ_ONLY.test(agentType)) return "";
  const role = roleOfAgent(agentType, parts) ?? "implementer";
  // No session: the messages and claims of whoever starts it are not its own.
  const request: WakeRequest = { key: { taskId, role, client: client.name }, reason: "agent-start", client };
  const gathered = gatherWake(request, parts);
  const packet = parts.makePacket(
    gathered,
    request,
    isDispatched ? { ...parts, readText: () => BESIDE_DISPATCH } : parts,
  );
  const window = { sessionId, agentId: agentOfCall(toolUseId), at: parts.now, event: "agent-start" };
  if (packet.text) recordPacket(parts.handle, packet, window);
  return packet.text;
}

/**
 * What a dispatch does not bring, in place of the role's template: the task again would be read twice, and another way to answer would
 * contradict the one that the dispatch asks for.
 */
const BESIDE_DISPATCH = `{{missing}}

## Your Instructions
{{skill}}

## Work in Progress
{{wip}}`;

/** Claude Code's own. */
const READ_ONLY = /^(?:Explore|Plan)$/;

/**
 * Its own name, where the project has a template for it; else the role of our agents (`haversack-fixer`, `haversack:fixer`) and of
 * others that are called so: a reviewer must not be told to build.
 */
export function roleOfAgent(
  agentType: string,
  { root, readText }: Pick<WakeParts, "root" | "readText">,
): string | undefined {
  const own = agentType.slice(agentType.lastIndexOf(":") + 1);
  if (/^[A-Za-z0-9_-]+$/.test(own) && readText(`${root}/.haversack/templates/${own}.md`)) return own;
  const [, role] = /(?:^|[-:])(implementer|spec-reviewer|reviewer|fixer)$/.exec(agentType) ?? [];
  return role === "reviewer" ? "quality-reviewer" : role;
}
