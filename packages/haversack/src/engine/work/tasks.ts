/** Tasks: made, changed, shown and listed. */
import type { NewTask, Page, TaskChanges, TaskQuery, WorkStore } from "../../store/work-store.ts";
import {
  checkChoice,
  checkWhole,
  cleanFiles,
  cleanHours,
  cleanName,
  cleanSteps,
  cleanText,
  cleanTitle,
  invalid,
  splitReference,
} from "../../work/clean-input.ts";
import { fitList, tokensOf } from "../../work/fit-list.ts";
import {
  GROUP_STATUSES,
  type GroupStatus,
  isSettled,
  PRIORITIES,
  TASK_STATUSES,
  TASK_TYPES,
  type Task,
  type TaskDetails,
  type TaskStatus,
  type TaskStep,
} from "../../work/task.ts";
import { FIELD_SETS, type FieldSet, present, type View, viewTask } from "../../work/task-view.ts";
import { withDetails } from "./next-batch.ts";
import { everyItem, filterPages, given, type Listed, listed, type WorkParts } from "./work-parts.ts";

export interface TaskFields {
  title?: string | undefined;
  storyId?: string | undefined;
  parentId?: string | undefined;
  type?: string | undefined;
  priority?: string | undefined;
  description?: string | undefined;
  acceptanceCriteria?: string | undefined;
  files?: readonly string[] | undefined;
  steps?: readonly (string | TaskStep)[] | undefined;
  estimateHours?: number | undefined;
  skill?: string | undefined;
  planFile?: string | undefined;
  planSection?: string | undefined;
  /** `planFile#planSection` */
  traceabilityRef?: string | undefined;
  contextSummary?: string | undefined;
  handoffNotes?: string | undefined;
  assignee?: string | undefined;
}

/** What was not given is not there. */
export function cleanTaskFields(fields: TaskFields): Partial<NewTask> {
  return given({
    title: fields.title === undefined ? undefined : cleanTitle(fields.title),
    storyId: cleanName(fields.storyId, { field: "story_id" }),
    parentId: cleanName(fields.parentId, { field: "parent_id" }),
    type: checkChoice(fields.type, { field: "task_type", choices: TASK_TYPES }),
    priority: checkChoice(fields.priority, { field: "priority", choices: PRIORITIES }),
    description: cleanText(fields.description, { field: "description" }),
    acceptanceCriteria: cleanText(fields.acceptanceCriteria, { field: "acceptance_criteria" }),
    files: cleanFiles(fields.files),
    steps: cleanSteps(fields.steps),
    estimateHours: cleanHours(fields.estimateHours),
    skill: cleanText(fields.skill, { field: "skill", maxChars: 500 }),
    ...splitReference(fields.traceabilityRef),
    ...given({
      planFile: cleanText(fields.planFile, { field: "plan_file", maxChars: 1000 }),
      planSection: cleanText(fields.planSection, { field: "plan_section", maxChars: 1000 }),
    }),
    contextSummary: cleanText(fields.contextSummary, { field: "context_summary" }),
    handoffNotes: cleanText(fields.handoffNotes, { field: "handoff_notes" }),
    assignee: cleanName(fields.assignee, { field: "assignee" }),
  });
}

export interface NewTaskInput extends TaskFields {
  title: string;
  source?: string | undefined;
  /** Tasks that must be done first. */
  dependsOn?: readonly string[] | undefined;
}

/** Needs no story and no epic. */
export function createTask({ source, dependsOn, ...fields }: NewTaskInput, { store, by }: WorkParts): Promise<Task> {
  return store.createTask(
    {
      ...cleanTaskFields(fields),
      title: cleanTitle(fields.title),
      ...given({ source: cleanName(source, { field: "source" }), dependsOn }),
    },
    by,
  );
}

export type UpdateTaskInput = { taskId: string } & { [Field in keyof TaskFields]?: TaskFields[Field] | null };

/** Null, or a text with nothing in it, clears a field; what is absent stays. */
export async function updateTask({ taskId, ...fields }: UpdateTaskInput, { store, by }: WorkParts): Promise<Task> {
  const names = (Object.keys(fields) as (keyof TaskFields)[]).filter((name) => fields[name] !== undefined);
  if (names.length === 0) throw invalid("nothing to change was given");
  const isCleared = (name: keyof TaskFields) => fields[name] === null || fields[name] === "";
  if (names.includes("title")) cleanTitle(fields.title);
  const changed = names.filter((name) => !isCleared(name)).map((name) => [name, fields[name]]);
  const cleared = names.filter(isCleared).flatMap((name) => (name === "traceabilityRef" ? PLAN : [name]));
  const changes: TaskChanges = {
    ...cleanTaskFields(Object.fromEntries(changed)),
    ...Object.fromEntries(cleared.map((name) => [name, null])),
  };
  return store.updateTask(taskId, changes, by);
}

const PLAN = ["planFile", "planSection"];

/** How many tasks around it are not shown. */
export interface AroundLeftOut {
  waits_for?: number;
  waited_for_by?: number;
  relates_to?: number;
  sub_tasks?: number;
}

export async function getTask(
  { taskId, fields }: { taskId: string; fields?: string | undefined },
  { store, by, for: audience = "agent" }: WorkParts,
): Promise<{ task: TaskDetails; view: View; leftOut: AroundLeftOut }> {
  const set = checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "standard";
  const task = await store.getTask(taskId, by.at);
  const leftOut = await aroundLeftOut(task, { store, by });
  const shown = shownOf(leftOut, set);
  const more = moreOf(shown, { id: task.id, audience });
  const view = viewTask(task, set);
  return { task, view: Object.keys(shown).length > 0 ? { ...view, left_out: shown, more } : view, leftOut };
}

function moreOf(shown: AroundLeftOut, { id, audience }: { id: string; audience: string }): string {
  const isParts = Object.keys(shown).join() === "sub_tasks";
  if (audience === "agent") return isParts ? "get_tasks" : "get_task_dependencies";
  return isParts ? `haversack task list --parent ${id}` : `haversack dep list ${id}`;
}

function shownOf(leftOut: AroundLeftOut, set: FieldSet): AroundLeftOut {
  if (set === "full") return leftOut;
  const { waits_for, sub_tasks } = leftOut;
  return set === "standard" ? present({ waits_for, sub_tasks }) : {};
}

/** The store gives the first ten or twenty of each. */
const FEWEST_CUT = 10;

async function aroundLeftOut(
  { id, waitsFor, waitedForBy, relatesTo, parts }: TaskDetails,
  { store, by }: Pick<WorkParts, "store" | "by">,
): Promise<AroundLeftOut> {
  if ([waitsFor, waitedForBy, relatesTo, parts].every(({ length }) => length < FEWEST_CUT)) return {};
  const { total } = await store.listTasks({ parentId: id, limit: 1, at: by.at });
  const { dependsOn, neededBy } = await store.listDependencies(id);
  const open = (tasks: typeof dependsOn) =>
    tasks.filter(({ type, status }) => type !== "relates_to" && !isSettled(status)).length;
  const related = new Set(
    [...dependsOn, ...neededBy].filter(({ type }) => type === "relates_to").map((task) => task.id),
  );
  return present({
    waits_for: open(dependsOn) - waitsFor.length || undefined,
    waited_for_by: open(neededBy) - waitedForBy.length || undefined,
    relates_to: related.size - relatesTo.length || undefined,
    sub_tasks: total - parts.length || undefined,
  });
}

/** What every list takes. */
export interface ListInput {
  /** Default: 50. */
  limit?: number | undefined;
  offset?: number | undefined;
  /** Default: minimal. */
  fields?: string | undefined;
  /** A ceiling for the whole answer. Default: none. */
  maxTokens?: number | undefined;
}

export interface ListTasksInput extends ListInput {
  status?: string | undefined;
  /** The task's own. */
  priority?: string | undefined;
  type?: string | undefined;
  assignee?: string | undefined;
  parentId?: string | undefined;
  hasWip?: boolean | undefined;
  planFile?: string | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Only tasks of stories, or epics, of this status. */
  storyStatus?: string | undefined;
  epicStatus?: string | undefined;
}

const DEFAULT_LIMIT = 50;

export async function listTasks(input: ListTasksInput, { store, by }: WorkParts): Promise<Listed<Task>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const { assignee, parentId, hasWip, planFile, epicId, storyId } = input;
  const query: TaskQuery = {
    ...given({
      status: checkChoice(input.status, { field: "status", choices: TASK_STATUSES }),
      priority: checkChoice(input.priority, { field: "priority", choices: PRIORITIES }),
      type: checkChoice(input.type, { field: "task_type", choices: TASK_TYPES }),
      assignee,
      parentId,
      hasWip,
      planFile,
      epicId,
      storyId,
    }),
    limit,
    offset,
    at: by.at,
  };
  const storyStatus = checkChoice(input.storyStatus, { field: "story_status", choices: GROUP_STATUSES });
  const epicStatus = checkChoice(input.epicStatus, { field: "epic_status", choices: GROUP_STATUSES });
  const page =
    storyStatus || epicStatus ? await byGroup(query, { storyStatus, epicStatus }, store) : await store.listTasks(query);
  const items = await withDetails(page.items, fields, { store, by });
  return listed({ ...page, items }, { view: viewTask, fields, maxTokens, offset });
}

async function byGroup(
  query: TaskQuery,
  { storyStatus, epicStatus }: { storyStatus?: GroupStatus | undefined; epicStatus?: GroupStatus | undefined },
  store: WorkStore,
): Promise<Page<Task>> {
  const stories = storyStatus && (await idsOf((page) => store.listStories({ ...page, status: storyStatus })));
  const epics = epicStatus && (await idsOf((page) => store.listEpics({ ...page, status: epicStatus })));
  const isWanted = ({ storyId = "", epicId = "" }: Task) =>
    (!stories || stories.has(storyId)) && (!epics || epics.has(epicId));
  const { limit, offset = 0 } = query;
  return filterPages((page) => store.listTasks({ ...query, ...page }), isWanted, { limit, offset });
}

async function idsOf(read: Parameters<typeof everyItem<{ id: string }>>[0]): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { id } of everyItem(read)) ids.add(id);
  return ids;
}

export function checkListInput({ limit, offset, fields, maxTokens }: ListInput, defaultLimit = DEFAULT_LIMIT) {
  return {
    limit: checkWhole(limit, { field: "limit", fallback: defaultLimit }),
    offset: checkWhole(offset, { field: "offset", minimum: 0, fallback: 0 }),
    fields: checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "minimal",
    maxTokens: maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 0 }),
  };
}

export type BlockedTask = Task & { reasons: string[] };

/** Blocked tasks with what stands in their way. */
export async function listBlocked(
  input: ListInput & { epicId?: string | undefined; storyId?: string | undefined },
  { store, by }: WorkParts,
): Promise<Listed<BlockedTask>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const scope = given({ epicId: input.epicId, storyId: input.storyId });
  const { items, total } = await store.listTasks({ ...scope, status: "blocked", limit, offset, at: by.at });
  const tasks: BlockedTask[] = [];
  for (const task of items) {
    const open = (await store.listBlockers(task.id)).filter(({ resolvedAt }) => !resolvedAt);
    tasks.push({ ...task, reasons: open.map(({ reason }) => reason) });
  }
  const view = ({ reasons, ...task }: BlockedTask, set: typeof fields) =>
    present({ ...viewTask(task, set), blockers: reasons });
  return listed({ items: tasks, total }, { view, fields, maxTokens, offset });
}

// Tasks by status, the first of each.

export interface KanbanInput {
  includeDone?: boolean | undefined;
  /** Default: 20. */
  limitPerColumn?: number | undefined;
  /** A ceiling for the whole answer. Default: none. */
  maxTokens?: number | undefined;
}

export interface KanbanBoard {
  columns: Partial<Record<TaskStatus, { id: string; title: string }[]>>;
  leftOut: Partial<Record<TaskStatus, number>>;
}

const DEFAULT_PER_COLUMN = 20;
/** Five names of columns, twice, and how to get the rest. */
const AROUND_TOKENS = 70;

/** What is being worked on gets the tokens first. */
const ORDER: readonly TaskStatus[] = ["in_progress", "review", "blocked", "todo", "done"];

export async function kanbanBoard(
  { includeDone = false, limitPerColumn, maxTokens }: KanbanInput,
  { store, by }: WorkParts,
): Promise<KanbanBoard> {
  const limit = checkWhole(limitPerColumn, { field: "limit_per_column", fallback: DEFAULT_PER_COLUMN });
  const ceiling = maxTokens === undefined ? undefined : checkWhole(maxTokens, { field: "max_tokens", fallback: 1 });
  let left = ceiling === undefined ? undefined : Math.max(0, ceiling - AROUND_TOKENS);
  const read = new Map<TaskStatus, { id: string; title: string }[]>();
  const leftOut: KanbanBoard["leftOut"] = {};
  for (const status of ORDER.filter((one) => includeDone || one !== "done")) {
    const { items, total } = await store.listTasks({ status, limit, at: by.at });
    // The column says the status.
    const view = ({ id, title }: { id: string; title: string }) => ({ id, title });
    const { views } = fitList(items, { view, fields: "minimal", maxTokens: left, aroundTokens: 0 });
    if (left !== undefined) for (const shown of views) left -= tokensOf(shown);
    read.set(status, items.slice(0, views.length).map(view));
    if (total > views.length) leftOut[status] = total - views.length;
  }
  // In the order that tasks go through.
  const columns = TASK_STATUSES.flatMap((status) => (read.has(status) ? [[status, read.get(status)]] : []));
  return { columns: Object.fromEntries(columns), leftOut };
}
