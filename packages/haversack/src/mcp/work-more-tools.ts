/** More task tools for `--tools all`: the remaining tool names of ohno, and claims. */
import { addActivity, listActivity } from "../engine/work/activity.ts";
import { claimTask, heartbeat, releaseTask } from "../engine/work/claims.ts";
import { addDependency, listDependencies, removeDependency } from "../engine/work/dependencies.ts";
import { nextReady } from "../engine/work/next-batch.ts";
import { projectStatus } from "../engine/work/session-context.ts";
import {
  recordFailure,
  resolveBlockers,
  type SetStatusInput,
  setBlocker,
  setStatus,
  updateWip,
} from "../engine/work/set-status.ts";
import { getTask, kanbanBoard, listBlocked, TASK_INPUT, taskFieldsOf, updateTask } from "../engine/work/tasks.ts";
import { DEPENDENCY_TYPES, FIELD_SETS } from "../engine/work/words.ts";
import type { WorkParts } from "../engine/work/work-parts.ts";
import { ADDS, defineTool, reads, type Tool, type ToolAnswer, writes } from "./tool.ts";
import {
  answer,
  answerLines,
  answerList,
  type Brief,
  briefLine,
  COUNT,
  DONE,
  done,
  entry,
  FLAG,
  groupLines,
  leftOutLine,
  moment,
  moreRoom,
  orRefusal,
  PAGE,
  TEXT,
} from "./work-answer.ts";

const SCOPE = { epic_id: TEXT, story_id: TEXT } as const;
/** Its fields are declared together with the task's; `taskFieldsOf` reads them by their listed names. */
const updateTaskTool = defineTool({
  name: "update_task",
  description: "Change fields of a task; an empty text clears one.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      title: TASK_INPUT.title,
      description: TASK_INPUT.description,
      acceptance_criteria: TASK_INPUT.acceptance_criteria,
      task_type: TASK_INPUT.task_type,
      priority: TASK_INPUT.priority,
      story_id: TASK_INPUT.story_id,
      files: TASK_INPUT.files,
      skill: TASK_INPUT.skill,
      estimate_hours: TASK_INPUT.estimate_hours,
    },
    required: ["task_id"],
  },
  unlisted: {
    parent_id: TASK_INPUT.parent_id,
    steps: TASK_INPUT.steps,
    assignee: TASK_INPUT.assignee,
    traceability_ref: TEXT,
  },
  annotations: ADDS,
  set: "all",
  run: (input, call) =>
    call.parts.work.write(call, async (parts) => {
      await updateTask({ ...taskFieldsOf(input), taskId: input.task_id }, parts);
      return DONE;
    }),
});

export const moreWorkTools: readonly Tool[] = [
  writes(
    "claim_task",
    "Claim a task, or without task_id the next ready one.",
    {
      takes: { task_id: TEXT, ...SCOPE, steal_reason: { type: "string", description: "takes it from its holder" } },
      unlisted: { fields: { type: "string", enum: FIELD_SETS } },
    },
    async (input, parts) =>
      orRefusal(await claimTask(input, parts), ({ view, claim }) =>
        answer({ ...view, lease_until: claim.leaseUntil, ...(claim.isUnconfirmed && { unconfirmed: true }) }),
      ),
  ),
  writes(
    "release_task",
    "Give a task back to the queue with its WIP.",
    { takes: { task_id: TEXT, reason: TEXT }, required: ["task_id"] },
    async (input, parts) => orRefusal(await releaseTask(input, parts)),
  ),
  writes("heartbeat", "Prolong your claims, or one.", { takes: { task_id: TEXT } }, async (input, parts) =>
    orRefusal(await heartbeat(input, parts), ({ views }) =>
      answerLines(views.map(({ id, lease_until: until }) => `${id} until ${moment(until)}`)),
    ),
  ),
  reads("get_next_task", "The next ready task.", { takes: SCOPE }, async (scope, parts) => {
    const { views } = await nextReady({ limit: 1, ...scope, fields: "standard" }, parts);
    const [next] = views;
    if (!next) return answerLines(["nothing is ready"]);
    const { id, title, status: _, task_type: type, priority, ...details } = next;
    const isDetailed = Object.keys(details).length > 0;
    // Leave out the most common type and priority.
    const marks = [type === "feature" ? undefined : type, priority === "P2" ? undefined : priority];
    return answerLines([briefLine({ id, title }, marks), isDetailed && JSON.stringify(details)]);
  }),
  reads(
    "get_blocked_tasks",
    "Blocked tasks with their reasons.",
    { takes: { ...SCOPE, ...PAGE } },
    async (query, parts) => {
      const line = (view: Brief) =>
        entry(briefLine(view, []), [view["blockers"] ?? "no reason given"].flat().join("; "));
      return answerList("blocked tasks", await listBlocked({ ...query, text: line }, parts), { line });
    },
  ),
  reads("get_project_status", "How many tasks are in which status.", { takes: SCOPE }, async (scope, parts) =>
    answer((await projectStatus(scope, parts)).view),
  ),
  reads(
    "get_kanban_board",
    "Tasks by status.",
    { takes: { include_done: FLAG, limit_per_column: COUNT, max_tokens: COUNT } },
    async (query, parts) => {
      const { columns, leftOut } = await kanbanBoard(query, parts);
      return answerLines([...groupLines(columns), leftOutLine(leftOut, "get_tasks with status and offset")]);
    },
  ),
  updateTaskTool,
  writes(
    "archive_task",
    "Archive a task; reopen_task brings it back.",
    { takes: { task_id: TEXT, reason: TEXT }, required: ["task_id"] },
    ({ taskId, reason }, parts) => changeStatus({ taskId, status: "archived", notes: reason }, parts),
  ),
  writes(
    "reopen_task",
    "Back to todo.",
    { takes: { task_id: TEXT, notes: TEXT }, required: ["task_id"] },
    (input, parts) => changeStatus({ ...input, status: "todo" }, parts),
  ),
  writes(
    "set_needs_rework",
    "Back to the queue for another attempt.",
    { takes: { task_id: TEXT, value: FLAG }, required: ["task_id", "value"] },
    async ({ taskId, value }, parts) => {
      if (value) return changeStatus({ taskId, status: "todo", notes: "needs rework" }, parts);
      // There is no flag to clear: a task that needs rework simply has the status todo.
      await getTask({ taskId }, parts);
      return done(false);
    },
  ),
  writes(
    "set_handoff_notes",
    "Notes for whoever takes the task next.",
    { takes: { task_id: TEXT, notes: TEXT }, required: ["task_id", "notes"] },
    async ({ taskId, notes }, parts) => {
      await updateTask({ taskId, handoffNotes: notes }, parts);
      return DONE;
    },
  ),
  writes(
    "update_task_progress",
    "How far a task is, in percent.",
    {
      takes: { task_id: TEXT, progress_percent: { type: "number", minimum: 0, maximum: 100 }, context_summary: TEXT },
      required: ["task_id", "progress_percent"],
    },
    async ({ taskId, progressPercent, contextSummary }, parts) => {
      if (contextSummary !== undefined) await updateTask({ taskId, contextSummary }, parts);
      await updateWip({ taskId, wip: { progress_percent: progressPercent } }, parts);
      return DONE;
    },
  ),
  writes(
    "set_blocker",
    "Block a task with a reason.",
    { takes: { task_id: TEXT, reason: TEXT }, required: ["task_id", "reason"] },
    async (input, parts) => orRefusal(await setBlocker(input, parts)),
  ),
  writes(
    "resolve_blocker",
    "Resolve a task's blockers: it is todo again.",
    { takes: { task_id: TEXT, notes: TEXT }, required: ["task_id"] },
    async (input, parts) =>
      orRefusal(await resolveBlockers(input, parts), ({ view }) => answer({ ok: true, status: view.status })),
  ),
  writes(
    "add_dependency",
    "task_id waits for depends_on_task_id; relates_to never blocks.",
    {
      takes: {
        task_id: TEXT,
        depends_on_task_id: TEXT,
        dependency_type: { type: "string", enum: DEPENDENCY_TYPES },
      },
      required: ["task_id", "depends_on_task_id"],
    },
    async ({ taskId, dependsOnTaskId: dependsOnId, dependencyType: type }, parts) =>
      orRefusal(await addDependency({ taskId, dependsOnId, type }, parts), ({ kind, note }) =>
        note ? answer({ ok: true, note }) : done(kind === "added"),
      ),
  ),
  writes(
    "remove_dependency",
    "Remove a dependency.",
    { takes: { task_id: TEXT, depends_on_task_id: TEXT }, required: ["task_id", "depends_on_task_id"] },
    async ({ taskId, dependsOnTaskId: dependsOnId }, parts) =>
      done((await removeDependency({ taskId, dependsOnId }, parts)).removed),
  ),
  reads(
    "get_task_dependencies",
    "What a task waits for, and what waits for it.",
    { takes: { task_id: TEXT, limit: COUNT, max_tokens: COUNT }, required: ["task_id"] },
    async (query, parts) => {
      const { view, leftOut } = await listDependencies(query, parts);
      return answerLines([...groupLines({ ...view }), leftOutLine({ ...leftOut }, "a larger limit or max_tokens")]);
    },
  ),
  writes(
    "add_task_activity",
    "Add to a task's history.",
    {
      takes: {
        task_id: TEXT,
        activity_type: { type: "string", enum: ["note", "file_change", "decision", "progress"] },
        description: TEXT,
      },
      required: ["task_id", "activity_type", "description"],
    },
    async ({ taskId, activityType: kind, description: text }, parts) => {
      await addActivity({ taskId, kind, text }, parts);
      return DONE;
    },
  ),
  reads(
    "summarize_task_activity",
    "A task's latest history; nothing is deleted.",
    {
      takes: { task_id: TEXT, limit: COUNT, before: COUNT, max_tokens: COUNT },
      required: ["task_id"],
      unlisted: { delete_raw: FLAG },
    },
    async ({ taskId, before: beforeId, deleteRaw, ...query }, parts) => {
      const page = await listActivity({ subject: taskId, beforeId, ...query }, parts);
      const { views, nextBeforeId, leftOut, cut } = page;
      const way = views.length === 0 && cut ? moreRoom(cut) : `before: ${nextBeforeId}`;
      return answerLines([
        ...page.activity.map(({ at, kind, actor, text }) => entry(`${moment(at)} ${kind} ${actor}`, text)),
        leftOut > 0 && `${leftOut} left out; ${way}`,
        deleteRaw && "history is append-only; nothing was deleted",
      ]);
    },
  ),
  writes(
    "record_task_failure",
    "Keep why an attempt failed.",
    {
      takes: {
        task_id: TEXT,
        failure_type: { type: "string", enum: ["spec", "quality", "implementation"] },
        reason: TEXT,
        attempt: COUNT,
      },
      required: ["task_id", "reason"],
      unlisted: { details: TEXT },
    },
    async ({ taskId, failureType: type, reason, attempt, details }, parts) => {
      const marks = [type, attempt !== undefined && `attempt ${attempt}`].filter(Boolean).join(", ");
      const summary = marks && reason.trim() !== "" ? `${marks}: ${reason}` : reason;
      return answer(await recordFailure({ taskId, summary, details }, parts));
    },
  ),
];

async function changeStatus(input: SetStatusInput, parts: WorkParts): Promise<ToolAnswer> {
  return orRefusal(await setStatus(input, parts), ({ view: { boundaries } }) =>
    boundaries ? answer({ ok: true, boundaries }) : DONE,
  );
}
