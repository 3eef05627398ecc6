/**
 * A call that starts a sub-agent. If it names a task, the task's packet is added to its prompt; otherwise the skills that fit its prompt,
 * as for a user's prompt. If the user has switched that on, the coordinator sees the stored summary instead of the sub-agent's answer.
 * Loaded by the hook.
 *
 * The text goes into the prompt of the call. SubagentStart does not say which call it belongs to, and three sub-agents of one type start in
 * any order. The coordinator's own copy of the call stays unchanged (seen in Claude Code 2.1.325), so no earlier byte of its requests
 * changes.
 */

import type { ClientProfile } from "../../skills/showing/activation.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { noteInjection } from "../../store/sqlite/skills/injections.ts";
import type { SessionTasks, Spawns, StoredHandoff } from "../../store/sqlite/work/events/session-tasks.ts";
import { taskIdsIn } from "../../work/task.ts";
import type { EventAnswer, EventOf } from "../events/client-event.ts";
import type { StartedAgent } from "../wake/wake-sub-agent.ts";

export interface SubAgentParts {
  handle: StoreHandle;
  tasks: SessionTasks;
  spawns: Spawns;
  /** What a sub-agent of this type needs to start the task. */
  packetFor(start: Omit<StartedAgent, "client">, client: ClientProfile): string;
  /** The text of the skills that fit the sub-agent's prompt; recorded for its window. "": none fits. */
  skillsFor(start: BeforeSpawn): string;
  /** The latest handoff that this agent stored. */
  handoffBy(agentId: string): StoredHandoff | undefined;
  /** Whether the coordinator sees the stored summary instead of the answer. */
  replacesResults(): boolean;
  now: Date;
}

export type BeforeSpawn = Omit<EventOf<"before-spawn">, "kind">;

export function beforeSpawn(event: BeforeSpawn, { spawns, packetFor, skillsFor, now }: SubAgentParts): EventAnswer {
  const { sessionId, agentId, toolUseId, agentType, prompt } = event;
  if (spawns.isBlind) {
    spawns.noteUnresolved({ sessionId, agentId }, { toolUseId, agentType, taskIds: taskIdsIn(prompt) }, now);
    return {};
  }
  const named = spawns.firstOpen(taskIdsIn(prompt));
  // If an agent works on one task, its helper works on that task too.
  const taskId = named ?? spawns.soleTaskOf(event)?.id;
  const isDispatched = DISPATCHED.test(prompt);
  const packet =
    named === undefined
      ? ""
      : packetFor({ sessionId, toolUseId, taskId: named, agentType, prompt, isDispatched }, event.client);
  // A packet already contains the skills of its task.
  const added = packet || (event.isPromptReported ? "" : skillsFor(event));
  // Also without a task: the added text is assigned to the sub-agent's window once its id is known.
  if (taskId !== undefined || added) {
    const spawn = { toolUseId, agentType, taskId: taskId ?? NO_TASK, isDispatch: named !== undefined };
    spawns.noteSpawn(sessionId, spawn, now);
  }
  return added ? { prompt: `${prompt}\n\n---\n${added}` } : {};
}

const NO_TASK = "";

/**
 * The two lines in every prompt of `haversack review dispatch`. A reference block alone is not enough: a handwritten one says neither what
 * the task is nor how to answer.
 */
const DISPATCHED = /^Feature: .*\r?\nRole: \S+[ \t]*\r?$/m;

/**
 * For a client that does not let us read or change a sub-agent's prompt. Only the sub-agent's name is known. If it contains a task, the
 * packet of that task is the first thing the sub-agent reads.
 */
export function startNamed(
  event: Omit<EventOf<"agent-start">, "kind">,
  { spawns, tasks, packetFor, now }: SubAgentParts,
): EventAnswer {
  const { sessionId, agentId, agentType, taskName = "" } = event;
  const taskId = taskName && spawns.firstOpen(taskIdsIn(taskName));
  if (!taskId) return {};
  const toolUseId = `start:${agentId}`;
  spawns.noteSpawn(sessionId, { toolUseId, agentType, taskId, isDispatch: true }, now);
  // In names such as `review_t12_again`, only the words tell the purpose.
  const prompt = taskName.replaceAll("_", " ");
  const packet = packetFor({ sessionId, toolUseId, taskId, agentType, prompt }, event.client);
  tasks.placeAgent({ sessionId, agentId }, toolUseId, now);
  return packet ? { context: packet } : {};
}

export function afterSpawn(
  { sessionId, agentId, toolUseId, childId, isDone }: Omit<EventOf<"after-spawn">, "kind">,
  { handle, tasks, handoffBy, replacesResults, now }: SubAgentParts,
): EventAnswer {
  const child = { sessionId, agentId: childId };
  // For a background sub-agent this comes at its start, before its first tool call would place it.
  if (tasks.isUnplaced(child)) tasks.placeAgent(child, toolUseId, now);
  if (!isDone || !replacesResults()) return {};
  const handoff = handoffBy(childId);
  if (!handoff) return {};
  const { id, taskId, status, summary, hasDetails } = handoff;
  const result = JSON.stringify({
    task_id: taskId,
    status,
    summary,
    handoff: id,
    ...(hasDetails && { details: `get_task_handoff(task_id: "${taskId}", include_details: true)` }),
  });
  const because = { kind: "handoff" as const, handoff: id, taskId, agentId: childId };
  const shown = { at: now, event: "after-spawn", format: "result", text: result, because };
  noteInjection(handle, { sessionId, agentId }, shown);
  return { result };
}
