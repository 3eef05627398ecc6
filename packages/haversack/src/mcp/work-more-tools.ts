/** More task tools for `--tools all`: the remaining tool names of ohno, and claims. */
import { addActivity, listActivity } from "../engine/work/activity.ts";
import { claimTask, heartbeat, releaseTask } from "../engine/work/claims.ts";
import { addDependency, listDependencies, removeDependency } from "../engine/work/dependencies.ts";
import { nextReady } from "../engine/work/next-batch.ts";
import { projectStatus } from "../engine/work/session-context.ts";
import {
  recordFailure,
  resolveBlockers,
  type StatusChanged,
  setBlocker,
  setStatus,
  updateWip,
} from "../engine/work/set-status.ts";
import { getTask, kanbanBoard, listBlocked, TASK_INPUT, taskFieldsOf, updateTask } from "../engine/work/tasks.ts";
import { DEPENDENCY_TYPES, FIELD_SETS } from "../engine/work/words.ts";
import { reads, type Tool, type ToolAnswer, writes } from "./tool.ts";
import { hidden, needed } from "./tool-input.ts";
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
  ID,
  leftOutLine,
  moment,
  moreRoom,
  PAGE,
  SCOPE,
  TEXT,
  viewed,
} from "./work-answer.ts";

const NOTES = { task_id: ID, notes: TEXT } as const;
const REASON = { task_id: ID, reason: needed(TEXT) } as const;

const { description, acceptance_criteria, task_type, priority, story_id, files, skill, estimate_hours } = TASK_INPUT;
const { title, parent_id, steps, assignee } = TASK_INPUT;

const boundariesOf = ({ view: { boundaries } }: StatusChanged): ToolAnswer =>
  boundaries ? answer({ ok: true, boundaries }) : DONE;

export const moreWorkTools: readonly Tool[] = [
  writes(
    "claim_task",
    "Claim a task, or without task_id the next ready one.",
    {
      ...{ task_id: TEXT, ...SCOPE, steal_reason: { type: "string", description: "takes it from its holder" } },
      fields: hidden({ type: "string", enum: FIELD_SETS }),
    },
    claimTask,
    ({ view, claim: { leaseUntil, isUnconfirmed } }) =>
      answer({ ...view, lease_until: leaseUntil, ...(isUnconfirmed && { unconfirmed: true }) }),
  ),
  writes("release_task", "Give a task back to the queue with its WIP.", { task_id: ID, reason: TEXT }, releaseTask),
  writes("heartbeat", "Prolong your claims, or one.", { task_id: TEXT }, heartbeat, ({ views }) =>
    answerLines(views.map(({ id, lease_until: until }) => `${id} until ${moment(until)}`)),
  ),
  reads("get_next_task", "The next ready task.", SCOPE, async (scope, parts) => {
    const { views } = await nextReady({ limit: 1, ...scope, fields: "standard" }, parts);
    const [next] = views;
    if (!next) return answerLines(["nothing is ready"]);
    const { id, title, status: _, task_type: type, priority, ...details } = next;
    const isDetailed = Object.keys(details).length > 0;
    // Leave out the most common type and priority.
    const marks = [type === "feature" ? undefined : type, priority === "P2" ? undefined : priority];
    return answerLines([briefLine({ id, title }, marks), isDetailed && JSON.stringify(details)]);
  }),
  reads("get_blocked_tasks", "Blocked tasks with their reasons.", { ...SCOPE, ...PAGE }, async (query, parts) => {
    const line = (view: Brief) => entry(briefLine(view, []), [view["blockers"] ?? "no reason given"].flat().join("; "));
    return answerList("blocked tasks", await listBlocked({ ...query, text: line }, parts), { line });
  }),
  reads("get_project_status", "How many tasks are in which status.", SCOPE, projectStatus, viewed),
  reads(
    "get_kanban_board",
    "Tasks by status.",
    { include_done: FLAG, limit_per_column: COUNT, max_tokens: COUNT },
    kanbanBoard,
    ({ columns, leftOut }) =>
      answerLines([...groupLines(columns), leftOutLine(leftOut, "get_tasks with status and offset")]),
  ),
  writes(
    "update_task",
    "Change fields of a task; an empty text clears one.",
    {
      ...{ task_id: ID, title, description, acceptance_criteria, task_type, priority, story_id, files, skill },
      ...{ estimate_hours, parent_id: hidden(parent_id), steps: hidden(steps), assignee: hidden(assignee) },
      traceability_ref: hidden(TEXT),
    },
    ({ taskId }, parts, _, given) => updateTask({ ...taskFieldsOf(given), taskId }, parts),
    () => DONE,
  ),
  writes(
    "archive_task",
    "Archive a task; reopen_task brings it back.",
    { task_id: ID, reason: TEXT },
    ({ taskId, reason }, parts) => setStatus({ taskId, status: "archived", notes: reason }, parts),
    boundariesOf,
  ),
  writes(
    "reopen_task",
    "Back to todo.",
    NOTES,
    (input, parts) => setStatus({ ...input, status: "todo" }, parts),
    boundariesOf,
  ),
  writes(
    "set_needs_rework",
    "Back to the queue for another attempt.",
    { task_id: ID, value: needed(FLAG) },
    async ({ taskId, value }, parts) => {
      if (value) return setStatus({ taskId, status: "todo", notes: "needs rework" }, parts);
      // There is no flag to clear: a task that needs rework simply has the status todo.
      await getTask({ taskId }, parts);
      return undefined;
    },
    (outcome) => (outcome ? boundariesOf(outcome) : done(false)),
  ),
  writes(
    "set_handoff_notes",
    "Notes for whoever takes the task next.",
    { task_id: ID, notes: needed(TEXT) },
    ({ taskId, notes: handoffNotes }, parts) => updateTask({ taskId, handoffNotes }, parts),
    () => DONE,
  ),
  writes(
    "update_task_progress",
    "How far a task is, in percent.",
    {
      ...{ task_id: ID, progress_percent: needed({ type: "number", minimum: 0, maximum: 100 }) },
      context_summary: TEXT,
    },
    async ({ taskId, progressPercent, contextSummary }, parts) => {
      if (contextSummary !== undefined) await updateTask({ taskId, contextSummary }, parts);
      await updateWip({ taskId, wip: { progress_percent: progressPercent } }, parts);
      return DONE;
    },
  ),
  writes("set_blocker", "Block a task with a reason.", REASON, setBlocker, () => DONE),
  writes("resolve_blocker", "Resolve a task's blockers: it is todo again.", NOTES, resolveBlockers, ({ view }) =>
    answer({ ok: true, status: view.status }),
  ),
  writes(
    "add_dependency",
    "task_id waits for depends_on_task_id; relates_to never blocks.",
    { task_id: ID, depends_on_task_id: ID, dependency_type: { type: "string", enum: DEPENDENCY_TYPES } },
    ({ taskId, dependsOnTaskId: dependsOnId, dependencyType: type }, parts) =>
      addDependency({ taskId, dependsOnId, type }, parts),
    ({ kind, note }) => (note ? answer({ ok: true, note }) : done(kind === "added")),
  ),
  writes(
    "remove_dependency",
    "Remove a dependency.",
    { task_id: ID, depends_on_task_id: ID },
    ({ taskId, dependsOnTaskId: dependsOnId }, parts) => removeDependency({ taskId, dependsOnId }, parts),
    ({ removed }) => done(removed),
  ),
  reads(
    "get_task_dependencies",
    "What a task waits for, and what waits for it.",
    { task_id: ID, limit: COUNT, max_tokens: COUNT },
    listDependencies,
    ({ view, leftOut }) =>
      answerLines([...groupLines({ ...view }), leftOutLine({ ...leftOut }, "a larger limit or max_tokens")]),
  ),
  writes(
    "add_task_activity",
    "Add to a task's history.",
    {
      task_id: ID,
      activity_type: needed({ type: "string", enum: ["note", "file_change", "decision", "progress"] }),
      description: needed(TEXT),
    },
    async ({ taskId, activityType: kind, description: text }, parts) => {
      // Its entry has a kind and a text too, and would pass for a refusal.
      await addActivity({ taskId, kind, text }, parts);
      return DONE;
    },
  ),
  reads(
    "summarize_task_activity",
    "A task's latest history; nothing is deleted.",
    { task_id: ID, limit: COUNT, before: COUNT, max_tokens: COUNT, delete_raw: hidden(FLAG) },
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
      task_id: ID,
      failure_type: { type: "string", enum: ["spec", "quality", "implementation"] },
      ...{ reason: needed(TEXT), attempt: COUNT, details: hidden(TEXT) },
    },
    ({ taskId, failureType: type, reason, attempt, details }, parts) => {
      const marks = [type, attempt !== undefined && `attempt ${attempt}`].filter(Boolean).join(", ");
      const summary = marks && reason.trim() !== "" ? `${marks}: ${reason}` : reason;
      return recordFailure({ taskId, summary, details }, parts);
    },
    answer,
  ),
];
