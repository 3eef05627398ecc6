/** The tools of work that every session has. Their listing is paid for in every session: `npm run bench work-tokens` counts it. */

import { getHandoff, setHandoff } from "../engine/work/handoffs.ts";
import { type NextBatch, nextBatch, readyCount } from "../engine/work/next-batch.ts";
import { projectStatus } from "../engine/work/project-status.ts";
import { sessionContext } from "../engine/work/session-context.ts";
import { setStatus } from "../engine/work/set-status.ts";
import { createTask, getTask, listTasks, TASK_INPUT, taskFieldsOf } from "../engine/work/tasks.ts";
import { updateWip } from "../engine/work/update-wip.ts";
import { FIELD_SETS, GROUP_STATUSES, PRIORITIES, TASK_STATUSES, TASK_TYPES, VERDICTS } from "../engine/work/words.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import { defineTool, type Tool, type ToolCall } from "./tool.ts";
import {
  answer,
  answerLines,
  answerList,
  DONE,
  isMinimal,
  listLine,
  reading,
  refusal,
  writing,
} from "./work-answer.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;
const TEXTS = { type: "array", items: { type: "string" } } as const;
const READS = { readOnlyHint: true } as const;
/** With both, Codex asks nobody before a call (seen in 0.166.0). */
const ADDS = { destructiveHint: false, openWorldHint: false } as const;

const getSessionContext = defineTool({
  name: "get_session_context",
  description: "Where work stands. Call it at session start.",
  inputSchema: { type: "object", properties: { max_tokens: COUNT } },
  unlisted: { epic_id: TEXT, story_id: TEXT },
  annotations: READS,
  set: "default",
  run: ({ max_tokens: maxTokens, epic_id: epicId, story_id: storyId }, call) =>
    reading(call, async (parts) => answer((await sessionContext({ maxTokens, epicId, storyId }, parts)).view)),
});

const getNextBatch = defineTool({
  name: "get_next_batch",
  description: "Ready tasks that can run in parallel.",
  inputSchema: {
    type: "object",
    properties: { limit: COUNT, batch_size: COUNT, epic_id: TEXT, story_id: TEXT, max_tokens: COUNT },
  },
  unlisted: { fields: { type: "string", enum: FIELD_SETS } },
  // It keeps what it gave, to learn how much the session manages.
  annotations: ADDS,
  set: "default",
  run: ({ limit, batch_size: batchSize, epic_id: epicId, story_id: storyId, fields, max_tokens: maxTokens }, call) =>
    reading(call, async (parts) => {
      const scope = { epicId, storyId };
      const text = isMinimal(fields) ? listLine("todo") : undefined;
      const batch = await nextBatch({ limit, batchSize, ...scope, fields, maxTokens, text }, parts);
      const {
        views,
        ready,
        heldBack,
        tasks: [first],
      } = batch;
      if (views.length === 0) return answerLines([await whyNothing(scope, batch, parts)]);
      const around = [
        ready > views.length && `${readyCount(ready, views.length)} more`,
        heldBack.length > 0 && `held back: ${heldBack.length} that touch the same files`,
        first !== undefined &&
          namesItsAgents(call) &&
          `agents: task_name implementer_${first.id.toLowerCase()} brings one its task`,
      ];
      if (text) return answerLines([...views.map(text), ...around]);
      const note = around.filter(Boolean).join("; ");
      return answer({ tasks: views, ...(note && { note }) });
    }),
});

/**
 * The main agent of Codex with a model that calls tools from JavaScript: what such a model tells a sub-agent is encrypted, and the task
 * that the sub-agent is to get is known by its name alone (clients/codex/events.ts).
 */
function namesItsAgents({ marks: { callId, threadId, sessionId } }: ToolCall): boolean {
  return callId?.startsWith("exec-") === true && threadId === sessionId;
}

/** An agent that only reads "nothing" stops; one that reads what is in the way can act on it. */
async function whyNothing(
  scope: { epicId?: string | undefined; storyId?: string | undefined },
  { ready, inTheWay, cut }: NextBatch,
  parts: WorkParts,
): Promise<string> {
  if (inTheWay) return ready > 1 ? `${inTheWay}; ${readyCount(ready)} are ready in all` : inTheWay;
  if (cut)
    return `${readyCount(ready)} ready, but max_tokens leaves no room for one; ${cut.firstTokens} would be enough for the first`;
  const { counts } = await projectStatus(scope, parts);
  const waiting = counts.todo - counts.ready;
  const found = [
    counts.in_progress > 0 && `${counts.in_progress} in progress`,
    counts.review > 0 && `${counts.review} in review`,
    counts.blocked > 0 && `${counts.blocked} blocked`,
    waiting > 0 && `${waiting} waiting for others`,
  ].filter((part) => part !== false);
  return found.length > 0 ? `nothing is ready: ${found.join(", ")}` : "no task is open";
}

const getTasks = defineTool({
  name: "get_tasks",
  description: "List tasks; unmarked ones are todo.",
  inputSchema: {
    type: "object",
    properties: {
      status: { type: "string", enum: TASK_STATUSES },
      priority: { type: "string", enum: PRIORITIES },
      epic_id: TEXT,
      story_id: TEXT,
      fields: { type: "string", enum: FIELD_SETS },
      limit: COUNT,
      offset: COUNT,
      max_tokens: COUNT,
    },
  },
  unlisted: {
    task_type: { type: "string", enum: TASK_TYPES },
    assignee: TEXT,
    parent_id: TEXT,
    story_status: { type: "string", enum: GROUP_STATUSES },
    epic_status: { type: "string", enum: GROUP_STATUSES },
  },
  annotations: READS,
  set: "default",
  run: (
    {
      epic_id: epicId,
      story_id: storyId,
      parent_id: parentId,
      max_tokens: maxTokens,
      task_type: type,
      story_status: storyStatus,
      epic_status: epicStatus,
      ...rest
    },
    call,
  ) =>
    reading(call, async (parts) => {
      const query = { ...rest, epicId, storyId, parentId, maxTokens, type, storyStatus, epicStatus };
      const line = isMinimal(rest.fields) ? listLine(rest.status) : undefined;
      return answerList("tasks", await listTasks({ ...query, text: line }, parts), { line });
    }),
});

const getTaskTool = defineTool({
  name: "get_task",
  description: "One task; full has its WIP.",
  inputSchema: {
    type: "object",
    properties: { task_id: TEXT, fields: { type: "string", enum: FIELD_SETS } },
    required: ["task_id"],
  },
  annotations: READS,
  set: "default",
  run: ({ task_id: taskId, fields }, call) =>
    reading(call, async (parts) => answer((await getTask({ taskId, fields }, parts)).view)),
});

const createTaskTool = defineTool({
  name: "create_task",
  description: "Create a task.",
  inputSchema: {
    type: "object",
    properties: {
      title: TASK_INPUT.title,
      story_id: TASK_INPUT.story_id,
      task_type: TASK_INPUT.task_type,
      description: TASK_INPUT.description,
      acceptance_criteria: TASK_INPUT.acceptance_criteria,
      priority: TASK_INPUT.priority,
      files: TASK_INPUT.files,
      skill: TASK_INPUT.skill,
      depends_on: TEXTS,
    },
    required: ["title"],
  },
  unlisted: {
    estimate_hours: TASK_INPUT.estimate_hours,
    source: TASK_INPUT.source,
    parent_id: TASK_INPUT.parent_id,
    steps: TASK_INPUT.steps,
    traceability_ref: TEXT,
    context_summary: TASK_INPUT.context_summary,
    handoff_notes: TASK_INPUT.handoff_notes,
    assignee: TASK_INPUT.assignee,
  },
  annotations: ADDS,
  set: "default",
  run: (input, call) =>
    writing(call, async (parts) => {
      const { title, depends_on: dependsOn } = input;
      const { id } = await createTask({ ...taskFieldsOf(input), title, dependsOn }, parts);
      return answer({ id });
    }),
});

const updateTaskStatus = defineTool({
  name: "update_task_status",
  description: "in_progress claims the task.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      status: { type: "string", enum: TASK_STATUSES },
      notes: { type: "string", description: "for blocked the reason" },
    },
    required: ["task_id", "status"],
  },
  annotations: ADDS,
  set: "default",
  run: ({ task_id: taskId, status, notes }, call) =>
    writing(call, async (parts) => {
      const changed = await setStatus({ taskId, status, notes }, parts);
      if (changed.kind === "refused") return refusal(changed);
      const { note, boundaries } = changed.view;
      return answer({ ok: true, ...(note && { note }), ...(boundaries && { boundaries }) });
    }),
});

const updateTaskWip = defineTool({
  name: "update_task_wip",
  description: "Merge into the task's WIP: phase, decisions, next_step…",
  inputSchema: {
    type: "object",
    properties: { task_id: TEXT, wip_data: { type: "object" } },
    required: ["task_id", "wip_data"],
  },
  annotations: ADDS,
  set: "default",
  run: ({ task_id: taskId, wip_data: wip }, call) =>
    writing(call, async (parts) => {
      const { changed } = await updateWip({ taskId, wip }, parts);
      return changed ? DONE : answer({ ok: true, changed });
    }),
});

const setTaskHandoff = defineTool({
  name: "set_task_handoff",
  description: "Store a task's result: summary of 2-3 sentences, the rest as full_details.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      status: { type: "string", enum: VERDICTS },
      summary: TEXT,
      files_changed: TEXTS,
      full_details: TEXT,
      role: TEXT,
      attempt: COUNT,
    },
    required: ["task_id", "status", "summary"],
  },
  annotations: ADDS,
  set: "default",
  run: ({ task_id: taskId, files_changed: filesChanged, full_details: details, ...rest }, call) =>
    writing(call, async (parts) => answer((await setHandoff({ ...rest, taskId, filesChanged, details }, parts)).view)),
});

const getTaskHandoff = defineTool({
  name: "get_task_handoff",
  description: "A task's result; details in pages.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      include_details: { type: "boolean" },
      role: TEXT,
      status: { type: "string", enum: VERDICTS, description: "the latest such" },
      from: COUNT,
    },
    required: ["task_id"],
  },
  unlisted: { attempt: COUNT },
  annotations: READS,
  set: "default",
  run: ({ task_id: taskId, include_details: includeDetails, ...query }, call) =>
    reading(call, async (parts) => {
      const found = await getHandoff({ taskId, includeDetails, ...query }, parts);
      return found.kind === "none" ? refusal(found) : answer(found.view);
    }),
});

export const workTools: readonly Tool[] = [
  getSessionContext,
  getNextBatch,
  getTasks,
  getTaskTool,
  createTaskTool,
  updateTaskStatus,
  updateTaskWip,
  setTaskHandoff,
  getTaskHandoff,
];
