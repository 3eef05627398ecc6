/** What a sub-agent needs to begin with its task, by what it is started as. Loaded by the hook. */
import type { ClientProfile } from "../../skills/showing/activation.ts";
import { agentOfCall } from "../../store/sqlite/skills/prompt-ledger.ts";
import { roleInPrompt } from "../../wake/role-in-prompt.ts";
import { gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import { recordPacket } from "./make-packet.ts";
import type { MakePacket } from "./wake-session.ts";

export interface StartedAgent {
  sessionId: string;
  /** The call that starts it: which agent that will be is known later, and then its window is found by the call. */
  toolUseId: string;
  agentType: string;
  taskId: string;
  /** What it is told, where that can be read. */
  prompt?: string;
  /** Its prompt has the task, what to do and how to answer. Default: false. */
  isDispatched?: boolean;
  client: ClientProfile;
}

/** A role's packet only for whom the type or the prompt gives one: others get the facts of the task, and no orders. */
export function subAgentPacket(
  { sessionId, toolUseId, taskId, agentType, prompt = "", isDispatched = false, client }: StartedAgent,
  parts: WakeParts & { makePacket: MakePacket },
): string {
  // They look around for whoever asks, and change nothing.
  if (READ_ONLY.test(agentType)) return "";
  const role = roleOfAgent(agentType, parts) ?? (isDispatched ? dispatchedRole(prompt) : roleInPrompt(prompt, taskId));
  const template = isDispatched ? BESIDE_DISPATCH : role === undefined ? FACTS : undefined;
  const request: WakeRequest = {
    // No session: the messages and claims of whoever starts it are not its own.
    key: { taskId, role: role ?? "", client: client.name },
    reason: "agent-start",
    client,
    ...(template !== undefined && { template }),
  };
  const packet = parts.makePacket(gatherWake(request, parts), request, parts);
  const window = { sessionId, agentId: agentOfCall(toolUseId), at: parts.now, event: "agent-start" };
  if (packet.text || role !== undefined) {
    recordPacket(parts.handle, packet, window, role === undefined ? {} : { role });
  }
  return packet.text;
}

/** As `haversack dispatch` writes it. */
function dispatchedRole(prompt: string): string {
  return /^Role: (\S+)/m.exec(prompt)?.[1] ?? "implementer";
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

/** A sub-agent that was started with a task and not in a role: what is known of the task, and nothing to do. */
const FACTS = `# What Haversack Knows of the Task
{{missing}}

{{task}}

## From the Plan
{{plan}}

## Work in Progress
{{wip}}
{{handoffs}}`;

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
