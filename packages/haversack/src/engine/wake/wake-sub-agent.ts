/** What a sub-agent needs to start on its task, depending on its type. Loaded by the hook. */
import type { ClientProfile } from "../../skills/showing/activation.ts";
import { agentOfCall } from "../../store/sqlite/skills/prompt-ledger.ts";
import { roleInPrompt } from "../../wake/role-in-prompt.ts";
import { gatherWake, type WakeParts, type WakeRequest } from "./gather-wake.ts";
import { type MakePacket, recordPacket } from "./make-packet.ts";

export interface StartedAgent {
  sessionId: string;
  /** The call that starts it. The agent's ID is known only later; until then its window is found by this call. */
  toolUseId: string;
  agentType: string;
  taskId: string;
  /** Its prompt, if it can be read. */
  prompt?: string;
  /** Its prompt already has the task, the instructions and the answer format. Default: false. */
  isDispatched?: boolean;
  client: ClientProfile;
}

/** Gives a role's packet only if the type or the prompt names a role. Others get facts about the task and no instructions. */
export function subAgentPacket(
  { sessionId, toolUseId, taskId, agentType, prompt = "", isDispatched = false, client }: StartedAgent,
  parts: WakeParts & { makePacket: MakePacket },
): string {
  // Read-only agents explore for their caller and change nothing.
  if (READ_ONLY.test(agentType)) return "";
  // The role, in the form that `haversack review dispatch` writes.
  const dispatched = isDispatched ? (/^Role: (\S+)/m.exec(prompt)?.[1] ?? "implementer") : undefined;
  const role = roleOfAgent(agentType, parts) ?? dispatched ?? roleInPrompt(prompt, taskId);
  const template = isDispatched ? BESIDE_DISPATCH : role === undefined ? FACTS : undefined;
  const request: WakeRequest = {
    // No session: the messages and claims of the parent are not the sub-agent's.
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

/**
 * Replaces the role's template for a dispatched sub-agent with what the dispatch lacks. The task would otherwise be shown twice, and a
 * second answer format would contradict the dispatch.
 */
const BESIDE_DISPATCH = `{{missing}}

## Your Instructions
{{skill}}

## Work in Progress
{{wip}}`;

/** For a sub-agent that was started with a task but without a role: facts about the task, no instructions. */
const FACTS = `# What Haversack Knows of the Task
{{missing}}

{{task}}

## From the Plan
{{plan}}

## Work in Progress
{{wip}}
{{handoffs}}`;

/** Built-in agents of Claude Code. */
const READ_ONLY = /^(?:Explore|Plan)$/;

/**
 * The agent type itself, if the project has a template for it. Else the role in the name of our agents (`haversack-fixer`,
 * `haversack:fixer`) and of similarly named ones: a reviewer must not be told to build.
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
