/** The work tools of every session. Their listing costs tokens in every session: `npm run bench work-tokens` counts them. */

import { getHandoff, setHandoff } from "../engine/work/handoffs.ts";
import { type NextBatch, nextBatch, readyCount } from "../engine/work/next-batch.ts";
import { projectStatus, sessionContext } from "../engine/work/session-context.ts";
import { setStatus, updateWip } from "../engine/work/set-status.ts";
import { createTask, getTask, listTasks, TASK_INPUT, taskFieldsOf } from "../engine/work/tasks.ts";
import { FIELD_SETS, GROUP_STATUSES, PRIORITIES, TASK_STATUSES, TASK_TYPES, VERDICTS } from "../engine/work/words.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import { ADDS, defineTool, reads, type Tool, type ToolCall, writes } from "./tool.ts";
import {
  answer,
  answerLines,
  answerList,
  COUNT,
  done,
  FLAG,
  isMinimal,
  listLine,
  orRefusal,
  PAGE,
  TEXT,
  TEXTS,
} from "./work-answer.ts";

const FIELDS = { type: "string", enum: FIELD_SETS } as const;
const STATUS = { type: "string", enum: TASK_STATUSES } as const;
const GROUP_STATUS = { type: "string", enum: GROUP_STATUSES } as const;
const VERDICT = { type: "string", enum: VERDICTS } as const;

/** Its fields are declared together with the task's; `taskFieldsOf` reads them by their listed names. */
const createTaskTool = defineTool({
  name: "create_task",
  description: "Create a task.",
  inputSchema: {
    type: "object",
    properties: {
      title: TASK_INPUT.title,
      story_id: TASK_INPUT.story_id,
      parent_id: TASK_INPUT.parent_id,
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
    steps: TASK_INPUT.steps,
    traceability_ref: TEXT,
    context_summary: TASK_INPUT.context_summary,
    handoff_notes: TASK_INPUT.handoff_notes,
    assignee: TASK_INPUT.assignee,
  },
  annotations: ADDS,
  set: "default",
  run: (input, call) =>
    call.parts.work.write(call, async (parts) => {
      const { title, depends_on: dependsOn } = input;
      const { id } = await createTask({ ...taskFieldsOf(input), title, dependsOn }, parts);
      return answer({ id });
    }),
});

export const workTools: readonly Tool[] = [
  reads(
    "get_session_context",
    "Where work stands. Call at session start.",
    { takes: { max_tokens: COUNT }, unlisted: { epic_id: TEXT, story_id: TEXT }, set: "default" },
    async (query, parts) => answer((await sessionContext(query, parts)).view),
  ),
  reads(
    "get_next_batch",
    "Ready tasks to run in parallel.",
    {
      takes: { limit: COUNT, batch_size: COUNT, epic_id: TEXT, story_id: TEXT, max_tokens: COUNT },
      unlisted: { fields: FIELDS },
      // Not read-only: it records the batch to learn how much the session can handle.
      annotations: ADDS,
      set: "default",
    },
    async (query, parts, call) => {
      const text = isMinimal(query.fields) ? listLine("todo") : undefined;
      const batch = await nextBatch({ ...query, text }, parts);
      const {
        views,
        ready,
        heldBack,
        tasks: [first],
      } = batch;
      if (views.length === 0) return answerLines([await whyNothing(query, batch, parts)]);
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
    },
  ),
  reads(
    "get_tasks",
    "List tasks; unmarked are todo.",
    {
      takes: {
        status: STATUS,
        priority: { type: "string", enum: PRIORITIES },
        epic_id: TEXT,
        story_id: TEXT,
        fields: FIELDS,
        ...PAGE,
      },
      unlisted: {
        task_type: { type: "string", enum: TASK_TYPES },
        assignee: TEXT,
        parent_id: TEXT,
        story_status: GROUP_STATUS,
        epic_status: GROUP_STATUS,
      },
      set: "default",
    },
    async ({ taskType: type, ...query }, parts) => {
      const line = isMinimal(query.fields) ? listLine(query.status) : undefined;
      return answerList("tasks", await listTasks({ ...query, type, text: line }, parts), { line });
    },
  ),
  reads(
    "get_task",
    "One task; full has its WIP.",
    { takes: { task_id: TEXT, fields: FIELDS }, required: ["task_id"], set: "default" },
    async (input, parts) => answer((await getTask(input, parts)).view),
  ),
  createTaskTool,
  writes(
    "update_task_status",
    "in_progress claims the task.",
    {
      takes: { task_id: TEXT, status: STATUS, notes: { type: "string", description: "reason if blocked" } },
      required: ["task_id", "status"],
      set: "default",
    },
    async (input, parts) =>
      orRefusal(await setStatus(input, parts), ({ view: { note, boundaries } }) =>
        answer({ ok: true, ...(note && { note }), ...(boundaries && { boundaries }) }),
      ),
  ),
  writes(
    "update_task_wip",
    "Merge into the task's WIP: phase, decisions, next_step…",
    { takes: { task_id: TEXT, wip_data: { type: "object" } }, required: ["task_id", "wip_data"], set: "default" },
    async ({ taskId, wipData: wip }, parts) => done((await updateWip({ taskId, wip }, parts)).changed),
  ),
  writes(
    "set_task_handoff",
    "Store a task's result: summary in 2-3 sentences, rest in full_details.",
    {
      takes: {
        task_id: TEXT,
        status: VERDICT,
        summary: TEXT,
        files_changed: TEXTS,
        full_details: TEXT,
        role: TEXT,
        attempt: COUNT,
      },
      required: ["task_id", "status", "summary"],
      set: "default",
    },
    async ({ fullDetails: details, ...input }, parts) => answer((await setHandoff({ ...input, details }, parts)).view),
  ),
  reads(
    "get_task_handoff",
    "A task's result; details in pages.",
    {
      takes: {
        task_id: TEXT,
        include_details: FLAG,
        role: TEXT,
        status: { ...VERDICT, description: "the latest" },
        from: COUNT,
      },
      required: ["task_id"],
      unlisted: { attempt: COUNT },
      set: "default",
    },
    async (query, parts) => orRefusal(await getHandoff(query, parts), ({ view }) => answer(view)),
  ),
];

/**
 * The main agent of Codex with a model that calls tools from JavaScript. What it tells a sub-agent is encrypted, so the sub-agent's name
 * is the only way to know its task (clients/codex/events.ts).
 */
function namesItsAgents({ marks: { callId, threadId, sessionId } }: ToolCall): boolean {
  return callId?.startsWith("exec-") === true && threadId === sessionId;
}

/** An agent that only reads "nothing" stops. If it reads what is in the way, it can act on that. */
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
