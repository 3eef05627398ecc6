/**
 * A sub-agent that a call starts for a task: it gets the task's packet with its prompt, and, where the user has switched that
 * on, the coordinator sees the stored summary in place of its answer. Loaded by the hook.
 *
 * The packet goes into the prompt of the call and not through SubagentStart: that event does not say which call it belongs to,
 * and three of one type start in any order. The coordinator's own copy of the call stays as it was (seen in Claude
 * Code 2.1.325), so no earlier byte of its requests changes.
 */

import type { StoredHandoff } from "../../store/sqlite/handoff-by.ts";
import type { SessionTasks } from "../../store/sqlite/session-tasks.ts";
import type { Spawns } from "../../store/sqlite/spawns.ts";
import { taskIdsIn } from "../../work/task-ids.ts";
import type { EventBase, HookAnswer } from "../hook-event.ts";
import type { HookWorkSettings } from "./hook-work-settings.ts";

export interface SubAgentParts {
  tasks: SessionTasks;
  spawns: Spawns;
  /** What a sub-agent of this type needs to begin with the task. */
  packetFor(start: {
    sessionId: string;
    toolUseId: string;
    taskId: string;
    agentType: string;
    isDispatched?: boolean;
  }): string;
  /** The latest that this agent stored. */
  handoffBy(agentId: string): StoredHandoff | undefined;
  workSettings(): HookWorkSettings;
  now: Date;
}

export interface BeforeSpawn extends EventBase {
  toolUseId: string;
  agentType: string;
  prompt: string;
}

export interface AfterSpawn extends EventBase {
  toolUseId: string;
  /** The sub-agent. */
  childId: string;
  /** It has answered; else it goes on in the background. */
  isDone: boolean;
}

export function beforeSpawn(event: BeforeSpawn, { spawns, packetFor, now }: SubAgentParts): HookAnswer {
  const { sessionId, agentId, toolUseId, agentType, prompt } = event;
  if (spawns.isBlind) {
    spawns.noteUnresolved({ sessionId, agentId }, { toolUseId, agentType, taskIds: taskIdsIn(prompt) }, now);
    return {};
  }
  const named = spawns.firstOpen(taskIdsIn(prompt));
  // A helper of an agent that works on one task works on that task.
  const taskId = named ?? spawns.soleTaskOf(event)?.id;
  if (taskId === undefined) return {};
  spawns.noteSpawn(sessionId, { toolUseId, agentType, taskId }, now);
  const isDispatched = DISPATCHED.test(prompt);
  const packet = named === undefined ? "" : packetFor({ sessionId, toolUseId, taskId: named, agentType, isDispatched });
  return packet ? { prompt: `${prompt}\n\n---\n${packet}` } : {};
}

/**
 * The two lines that every prompt of `haversack dispatch` has. A reference block alone is no sign: one that was written by hand says
 * neither what the task is nor how to answer.
 */
const DISPATCHED = /^Feature: .*\r?\nRole: \S+[ \t]*\r?$/m;

/**
 * A client that lets nobody read or change what a sub-agent is told: its name is all that is known, and the packet of a task that stands
 * in it comes as the first thing it reads.
 */
export function startNamed(
  event: EventBase & { agentType: string; taskName?: string },
  { spawns, tasks, packetFor, now }: SubAgentParts,
): HookAnswer {
  const { sessionId, agentId, agentType, taskName = "" } = event;
  const taskId = taskName && spawns.firstOpen(taskIdsIn(taskName));
  if (!taskId) return {};
  const toolUseId = `start:${agentId}`;
  spawns.noteSpawn(sessionId, { toolUseId, agentType, taskId }, now);
  const packet = packetFor({ sessionId, toolUseId, taskId, agentType });
  tasks.placeAgent({ sessionId, agentId }, toolUseId, now);
  return packet ? { context: packet } : {};
}

export function afterSpawn(
  { sessionId, toolUseId, childId, isDone }: AfterSpawn,
  { tasks, handoffBy, workSettings, now }: SubAgentParts,
): HookAnswer {
  const child = { sessionId, agentId: childId };
  // In the background this comes at its start, and says early what its first tool call would find out.
  if (tasks.isUnplaced(child)) tasks.placeAgent(child, toolUseId, now);
  if (!isDone || !workSettings().replaceResults) return {};
  const handoff = handoffBy(childId);
  if (!handoff) return {};
  const { id, taskId, status, summary, hasDetails } = handoff;
  return {
    result: JSON.stringify({
      task_id: taskId,
      status,
      summary,
      handoff: id,
      ...(hasDetails && { details: `get_task_handoff(task_id: "${taskId}", include_details: true)` }),
    }),
  };
}
