/** The work tools of every session. Their listing costs tokens in every session: `npm run bench work-tokens` counts them. */
import { getHandoff, setHandoff } from "../engine/work/handoffs.ts";
import { type NextBatch, nextBatch, readyCount } from "../engine/work/next-batch.ts";
import { projectStatus, sessionContext } from "../engine/work/session-context.ts";
import { setStatus, updateWip } from "../engine/work/set-status.ts";
import { createTask, getTask, listTasks, TASK_INPUT, taskFieldsOf } from "../engine/work/tasks.ts";
import { FIELD_SETS, GROUP_STATUSES, PRIORITIES, TASK_STATUSES, TASK_TYPES, VERDICTS } from "../engine/work/words.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import { ADDS, type Tool, type ToolCall, toolMaker } from "./tool.ts";
import { hidden, needed } from "./tool-input.ts";
import {
  answer,
  answerLines,
  answerList,
  COUNT,
  done,
  FLAG,
  ID,
  isMinimal,
  listLine,
  PAGE,
  SCOPE,
  TEXT,
  TEXTS,
  viewed,
} from "./work-answer.ts";

const FIELDS = { type: "string", enum: FIELD_SETS } as const;
const STATUS = { type: "string", enum: TASK_STATUSES } as const;
const GROUP_STATUS = { type: "string", enum: GROUP_STATUSES } as const;
const VERDICT = { type: "string", enum: VERDICTS } as const;

const reads = toolMaker("read", { readOnlyHint: true }, "default");
const writes = toolMaker("write", ADDS, "default");
/** Not read-only: it records the batch to learn how much the session can handle. */
const proposes = toolMaker("read", ADDS, "default");

const { story_id, parent_id, task_type, description, acceptance_criteria, priority, files, skill } = TASK_INPUT;
const { estimate_hours, source, steps, context_summary, handoff_notes, assignee } = TASK_INPUT;

export const workTools: readonly Tool[] = [
  reads(
    "get_session_context",
    "Where work stands. Call at session start.",
    { max_tokens: COUNT, epic_id: hidden(TEXT), story_id: hidden(TEXT) },
    sessionContext,
    viewed,
  ),
  proposes(
    "get_next_batch",
    "Ready tasks to run in parallel.",
    { limit: COUNT, batch_size: COUNT, ...SCOPE, max_tokens: COUNT, fields: hidden(FIELDS) },
    async (query, parts, call) => {
      const text = isMinimal(query.fields) ? listLine("todo") : undefined;
      const batch = await nextBatch({ ...query, text }, parts);
      const { views, ready, heldBack, tasks } = batch;
      if (views.length === 0) return answerLines([await whyNothing(query, batch, parts)]);
      const [first] = tasks;
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
      ...{ status: STATUS, priority: { type: "string", enum: PRIORITIES }, ...SCOPE, fields: FIELDS, ...PAGE },
      task_type: hidden({ type: "string", enum: TASK_TYPES }),
      ...{ assignee: hidden(TEXT), parent_id: hidden(TEXT) },
      ...{ story_status: hidden(GROUP_STATUS), epic_status: hidden(GROUP_STATUS) },
    },
    async ({ taskType: type, ...query }, parts) => {
      const line = isMinimal(query.fields) ? listLine(query.status) : undefined;
      return answerList("tasks", await listTasks({ ...query, type, text: line }, parts), { line });
    },
  ),
  reads("get_task", "One task; full has its WIP.", { task_id: ID, fields: FIELDS }, getTask, viewed),
  writes(
    "create_task",
    "Create a task.",
    {
      ...{ title: needed(TASK_INPUT.title), story_id, parent_id, task_type, description, acceptance_criteria },
      ...{ priority, files, skill, depends_on: TEXTS },
      ...{ estimate_hours: hidden(estimate_hours), source: hidden(source), steps: hidden(steps) },
      ...{ traceability_ref: hidden(TEXT), context_summary: hidden(context_summary) },
      ...{ handoff_notes: hidden(handoff_notes), assignee: hidden(assignee) },
    },
    ({ title, dependsOn }, parts, _, given) => createTask({ ...taskFieldsOf(given), title, dependsOn }, parts),
    ({ id }) => answer({ id }),
  ),
  writes(
    "update_task_status",
    "in_progress claims the task.",
    { task_id: ID, status: needed(STATUS), notes: { type: "string", description: "reason if blocked" } },
    setStatus,
    ({ view: { note, boundaries } }) => answer({ ok: true, ...(note && { note }), ...(boundaries && { boundaries }) }),
  ),
  writes(
    "update_task_wip",
    "Merge into the task's WIP: phase, decisions, next_step…",
    { task_id: ID, wip_data: needed({ type: "object" }) },
    ({ taskId, wipData: wip }, parts) => updateWip({ taskId, wip }, parts),
    ({ changed }) => done(changed),
  ),
  writes(
    "set_task_handoff",
    "Store a task's result: summary in 2-3 sentences, rest in full_details.",
    {
      ...{ task_id: ID, status: needed(VERDICT), summary: needed(TEXT), files_changed: TEXTS },
      ...{ full_details: TEXT, role: TEXT, attempt: COUNT },
    },
    ({ fullDetails: details, ...input }, parts) => setHandoff({ ...input, details }, parts),
    viewed,
  ),
  reads(
    "get_task_handoff",
    "A task's result; details in pages.",
    {
      ...{ task_id: ID, include_details: FLAG, role: TEXT, status: { ...VERDICT, description: "the latest" } },
      ...{ from: COUNT, attempt: hidden(COUNT) },
    },
    getHandoff,
    viewed,
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
