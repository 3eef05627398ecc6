/** Tools of tasks for `--tools all`: the rest of ohno's names, and claims. */
import { addActivity, listActivity } from "../engine/work/activity.ts";
import { claimTask, heartbeat, releaseTask } from "../engine/work/claims.ts";
import { addDependency, listDependencies, removeDependency } from "../engine/work/dependencies.ts";
import { nextReady } from "../engine/work/next-batch.ts";
import { projectStatus } from "../engine/work/project-status.ts";
import {
  recordFailure,
  resolveBlockers,
  type SetStatusInput,
  setBlocker,
  setStatus,
} from "../engine/work/set-status.ts";
import { getTask, kanbanBoard, listBlocked, TASK_INPUT, taskFieldsOf, updateTask } from "../engine/work/tasks.ts";
import { updateWip } from "../engine/work/update-wip.ts";
import { DEPENDENCY_TYPES, FIELD_SETS } from "../engine/work/words.ts";
import { defineTool, type Tool, type ToolAnswer, type ToolCall } from "./tool.ts";
import {
  answer,
  answerLines,
  answerList,
  type Brief,
  briefLine,
  DONE,
  entry,
  groupLines,
  leftOutLine,
  moment,
  reading,
  refusal,
  writing,
} from "./work-answer.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;
const READS = { readOnlyHint: true } as const;
/** With both, Codex asks nobody before a call (seen in 0.166.0). */
const ADDS = { destructiveHint: false, openWorldHint: false } as const;

const claim = defineTool({
  name: "claim_task",
  description: "Claim a task, or without task_id the next ready one.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      epic_id: TEXT,
      story_id: TEXT,
      steal_reason: { type: "string", description: "takes it from its holder" },
    },
  },
  unlisted: { fields: { type: "string", enum: FIELD_SETS } },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, epic_id: epicId, story_id: storyId, steal_reason: stealReason, fields }, call) =>
    writing(call, async (parts) => {
      const claimed = await claimTask({ taskId, epicId, storyId, stealReason, fields }, parts);
      if (claimed.kind !== "claimed") return refusal(claimed);
      return answer({ ...claimed.view, lease_until: claimed.claim.leaseUntil });
    }),
});

const release = defineTool({
  name: "release_task",
  description: "Give a task back to the queue with its WIP.",
  inputSchema: { type: "object", properties: { task_id: TEXT, reason: TEXT }, required: ["task_id"] },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, reason }, call) =>
    writing(call, async (parts) => {
      const released = await releaseTask({ taskId, reason }, parts);
      return released.kind === "released" ? DONE : refusal(released);
    }),
});

const heartbeatTool = defineTool({
  name: "heartbeat",
  description: "Prolong your claims, or one.",
  inputSchema: { type: "object", properties: { task_id: TEXT } },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId }, call) =>
    writing(call, async (parts) => {
      const beat = await heartbeat({ taskId }, parts);
      if (beat.kind !== "prolonged") return refusal(beat);
      return answerLines(beat.views.map(({ id, lease_until: until }) => `${id} until ${moment(until)}`));
    }),
});

const getNextTask = defineTool({
  name: "get_next_task",
  description: "The next ready task.",
  inputSchema: { type: "object", properties: { epic_id: TEXT, story_id: TEXT } },
  annotations: READS,
  set: "all",
  run: ({ epic_id: epicId, story_id: storyId }, call) =>
    reading(call, async (parts) => {
      const { views } = await nextReady({ limit: 1, epicId, storyId, fields: "standard" }, parts);
      const [next] = views;
      if (!next) return answerLines(["nothing is ready"]);
      const { id, title, status: _, task_type: type, priority, ...details } = next;
      const isDetailed = Object.keys(details).length > 0;
      // What most tasks have says nothing.
      const marks = [type === "feature" ? undefined : type, priority === "P2" ? undefined : priority];
      return answerLines([briefLine({ id, title }, marks), isDetailed && JSON.stringify(details)]);
    }),
});

const getBlockedTasks = defineTool({
  name: "get_blocked_tasks",
  description: "Blocked tasks with their reasons.",
  inputSchema: {
    type: "object",
    properties: { epic_id: TEXT, story_id: TEXT, limit: COUNT, offset: COUNT, max_tokens: COUNT },
  },
  annotations: READS,
  set: "all",
  run: ({ epic_id: epicId, story_id: storyId, max_tokens: maxTokens, limit, offset }, call) =>
    reading(call, async (parts) => {
      const line = (view: Brief) =>
        entry(briefLine(view, []), [view["blockers"] ?? "no reason given"].flat().join("; "));
      const list = await listBlocked({ epicId, storyId, maxTokens, limit, offset, text: line }, parts);
      return answerList("blocked tasks", list, { line });
    }),
});

const getProjectStatus = defineTool({
  name: "get_project_status",
  description: "How many tasks are in which status.",
  inputSchema: { type: "object", properties: { epic_id: TEXT, story_id: TEXT } },
  annotations: READS,
  set: "all",
  run: ({ epic_id: epicId, story_id: storyId }, call) =>
    reading(call, async (parts) => answer((await projectStatus({ epicId, storyId }, parts)).view)),
});

const getKanbanBoard = defineTool({
  name: "get_kanban_board",
  description: "Tasks by status.",
  inputSchema: {
    type: "object",
    properties: { include_done: { type: "boolean" }, limit_per_column: COUNT, max_tokens: COUNT },
  },
  annotations: READS,
  set: "all",
  run: ({ include_done: includeDone, limit_per_column: limitPerColumn, max_tokens: maxTokens }, call) =>
    reading(call, async (parts) => {
      const { columns, leftOut } = await kanbanBoard({ includeDone, limitPerColumn, maxTokens }, parts);
      return answerLines([...groupLines(columns), leftOutLine(leftOut, "get_tasks with status and offset")]);
    }),
});

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
    writing(call, async (parts) => {
      await updateTask({ ...taskFieldsOf(input), taskId: input.task_id }, parts);
      return DONE;
    }),
});

const archiveTask = defineTool({
  name: "archive_task",
  description: "Archive a task; reopen_task brings it back.",
  inputSchema: { type: "object", properties: { task_id: TEXT, reason: TEXT }, required: ["task_id"] },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, reason }, call) => changeStatus({ taskId, status: "archived", notes: reason }, call),
});

const reopenTask = defineTool({
  name: "reopen_task",
  description: "Back to todo.",
  inputSchema: { type: "object", properties: { task_id: TEXT, notes: TEXT }, required: ["task_id"] },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, notes }, call) => changeStatus({ taskId, status: "todo", notes }, call),
});

const setNeedsRework = defineTool({
  name: "set_needs_rework",
  description: "Back to the queue for another attempt.",
  inputSchema: {
    type: "object",
    properties: { task_id: TEXT, value: { type: "boolean" } },
    required: ["task_id", "value"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, value }, call) => {
    if (value) return changeStatus({ taskId, status: "todo", notes: "needs rework" }, call);
    // There is no flag to clear: a task that needs rework is one that is todo again.
    return reading(call, async (parts) => {
      await getTask({ taskId }, parts);
      return answer({ ok: true, changed: false });
    });
  },
});

function changeStatus(input: SetStatusInput, call: ToolCall): Promise<ToolAnswer> {
  return writing(call, async (parts) => {
    const changed = await setStatus(input, parts);
    if (changed.kind === "refused") return refusal(changed);
    const { boundaries } = changed.view;
    return boundaries ? answer({ ok: true, boundaries }) : DONE;
  });
}

const setHandoffNotes = defineTool({
  name: "set_handoff_notes",
  description: "Notes for whoever takes the task next.",
  inputSchema: { type: "object", properties: { task_id: TEXT, notes: TEXT }, required: ["task_id", "notes"] },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, notes }, call) =>
    writing(call, async (parts) => {
      await updateTask({ taskId, handoffNotes: notes }, parts);
      return DONE;
    }),
});

const updateTaskProgress = defineTool({
  name: "update_task_progress",
  description: "How far a task is, in percent.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      progress_percent: { type: "number", minimum: 0, maximum: 100 },
      context_summary: TEXT,
    },
    required: ["task_id", "progress_percent"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, progress_percent: progress, context_summary: contextSummary }, call) =>
    writing(call, async (parts) => {
      if (contextSummary !== undefined) await updateTask({ taskId, contextSummary }, parts);
      await updateWip({ taskId, wip: { progress_percent: progress } }, parts);
      return DONE;
    }),
});

const setBlockerTool = defineTool({
  name: "set_blocker",
  description: "Block a task with a reason.",
  inputSchema: { type: "object", properties: { task_id: TEXT, reason: TEXT }, required: ["task_id", "reason"] },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, reason }, call) =>
    writing(call, async (parts) => {
      const changed = await setBlocker({ taskId, reason }, parts);
      return changed.kind === "refused" ? refusal(changed) : DONE;
    }),
});

const resolveBlocker = defineTool({
  name: "resolve_blocker",
  description: "Resolve a task's blockers: it is todo again.",
  inputSchema: { type: "object", properties: { task_id: TEXT, notes: TEXT }, required: ["task_id"] },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, notes }, call) =>
    writing(call, async (parts) => {
      const changed = await resolveBlockers({ taskId, notes }, parts);
      return changed.kind === "refused" ? refusal(changed) : answer({ ok: true, status: changed.view.status });
    }),
});

const addDependencyTool = defineTool({
  name: "add_dependency",
  description: "task_id waits for depends_on_task_id; relates_to only tells.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      depends_on_task_id: TEXT,
      dependency_type: { type: "string", enum: DEPENDENCY_TYPES },
    },
    required: ["task_id", "depends_on_task_id"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, depends_on_task_id: dependsOnId, dependency_type: type }, call) =>
    writing(call, async (parts) => {
      const added = await addDependency({ taskId, dependsOnId, type }, parts);
      if (added.kind === "refused") return refusal(added);
      if (added.weakened) return answer({ ok: true, note: added.weakened });
      return added.kind === "added" ? DONE : answer({ ok: true, changed: false });
    }),
});

const removeDependencyTool = defineTool({
  name: "remove_dependency",
  description: "Remove a dependency.",
  inputSchema: {
    type: "object",
    properties: { task_id: TEXT, depends_on_task_id: TEXT },
    required: ["task_id", "depends_on_task_id"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, depends_on_task_id: dependsOnId }, call) =>
    writing(call, async (parts) => {
      const { removed } = await removeDependency({ taskId, dependsOnId }, parts);
      return removed ? DONE : answer({ ok: true, changed: false });
    }),
});

const getTaskDependencies = defineTool({
  name: "get_task_dependencies",
  description: "What a task waits for, and what waits for it.",
  inputSchema: {
    type: "object",
    properties: { task_id: TEXT, limit: COUNT, max_tokens: COUNT },
    required: ["task_id"],
  },
  annotations: READS,
  set: "all",
  run: ({ task_id: taskId, limit, max_tokens: maxTokens }, call) =>
    reading(call, async (parts) => {
      const { view, leftOut } = await listDependencies({ taskId, limit, maxTokens }, parts);
      return answerLines([...groupLines({ ...view }), leftOutLine({ ...leftOut }, "a larger limit or max_tokens")]);
    }),
});

const addTaskActivity = defineTool({
  name: "add_task_activity",
  description: "Add to a task's history.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      activity_type: { type: "string", enum: ["note", "file_change", "decision", "progress"] },
      description: TEXT,
    },
    required: ["task_id", "activity_type", "description"],
  },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, activity_type: kind, description: text }, call) =>
    writing(call, async (parts) => {
      await addActivity({ taskId, kind, text }, parts);
      return DONE;
    }),
});

const summarizeTaskActivity = defineTool({
  name: "summarize_task_activity",
  description: "A task's latest history; nothing is deleted.",
  inputSchema: {
    type: "object",
    properties: { task_id: TEXT, limit: COUNT, before: COUNT, max_tokens: COUNT },
    required: ["task_id"],
  },
  unlisted: { delete_raw: { type: "boolean" } },
  annotations: READS,
  set: "all",
  run: ({ task_id: taskId, limit, before: beforeId, max_tokens: maxTokens, delete_raw: isDelete }, call) =>
    reading(call, async (parts) => {
      const page = await listActivity({ subject: taskId, limit, beforeId, maxTokens }, parts);
      const { views, nextBeforeId, leftOut, cut } = page;
      const ways = views.length === 0 && cut ? `max_tokens: ${cut.firstTokens}` : `before: ${nextBeforeId}`;
      return answerLines([
        ...page.activity.map(({ at, kind, actor, text }) => entry(`${moment(at)} ${kind} ${actor}`, text)),
        leftOut > 0 && `${leftOut} left out; ${ways}`,
        isDelete && "history is append-only; nothing was deleted",
      ]);
    }),
});

const recordTaskFailure = defineTool({
  name: "record_task_failure",
  description: "Keep why an attempt failed.",
  inputSchema: {
    type: "object",
    properties: {
      task_id: TEXT,
      failure_type: { type: "string", enum: ["spec", "quality", "implementation"] },
      reason: TEXT,
      attempt: COUNT,
    },
    required: ["task_id", "reason"],
  },
  unlisted: { details: TEXT },
  annotations: ADDS,
  set: "all",
  run: ({ task_id: taskId, failure_type: type, reason, attempt, details }, call) =>
    writing(call, async (parts) => {
      const marks = [type, attempt !== undefined && `attempt ${attempt}`].filter(Boolean).join(", ");
      const summary = marks && reason.trim() !== "" ? `${marks}: ${reason}` : reason;
      return answer(await recordFailure({ taskId, summary, details }, parts));
    }),
});

export const moreWorkTools: readonly Tool[] = [
  claim,
  release,
  heartbeatTool,
  getNextTask,
  getBlockedTasks,
  getProjectStatus,
  getKanbanBoard,
  updateTaskTool,
  archiveTask,
  reopenTask,
  setNeedsRework,
  setHandoffNotes,
  updateTaskProgress,
  setBlockerTool,
  resolveBlocker,
  addDependencyTool,
  removeDependencyTool,
  getTaskDependencies,
  addTaskActivity,
  summarizeTaskActivity,
  recordTaskFailure,
];
