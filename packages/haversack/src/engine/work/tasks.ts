/** Creates, changes, shows and lists tasks. */
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
  type KeyOf,
  type KindOf,
  PRIORITIES,
  TASK_FIELDS,
  TASK_STATUSES,
  TASK_TYPES,
  type Task,
  type TaskDetails,
  type TaskField,
  type TaskFieldSpec,
  type TaskStatus,
  type TaskStep,
} from "../../work/task.ts";
import { FIELD_SETS, present, type View, viewTask } from "../../work/task-view.ts";
import { withDetails } from "./next-batch.ts";
import { everyItem, filterPages, given, type Listed, listed, type WorkParts } from "./work-parts.ts";

type InputOf<Kind> = Kind extends "hours"
  ? number
  : Kind extends "paths"
    ? readonly string[]
    : Kind extends "steps"
      ? readonly (string | TaskStep)[]
      : string;

/** The fields as they come from outside. */
export type TaskFields = { [Field in TaskField]?: InputOf<KindOf<Field>> | undefined } & {
  /** `planFile#planSection` */
  traceabilityRef?: string | undefined;
};

/** Leaves out fields that were not given. */
export function cleanTaskFields({ traceabilityRef, ...fields }: TaskFields): Partial<NewTask> {
  const cleaned = Object.entries({ ...splitReference(traceabilityRef), ...given(fields) }).map(([name, value]) => [
    name,
    Object.hasOwn(TASK_FIELDS, name) ? cleanField(name as TaskField, value) : undefined,
  ]);
  const inOrder = new Map(cleaned as [string, unknown][]);
  return given(Object.fromEntries(Object.keys(TASK_FIELDS).map((name) => [name, inOrder.get(name)])));
}

function cleanField(name: TaskField, value: unknown): unknown {
  const { key: field, kind, maxChars }: TaskFieldSpec = TASK_FIELDS[name];
  switch (kind) {
    case "line":
      return cleanTitle(value as string);
    case "id":
    case "name":
      return cleanName(value as string, { field });
    case "text":
      return cleanText(value as string, { field, ...(maxChars !== undefined && { maxChars }) });
    case "paths":
      return cleanFiles(value as readonly string[]);
    case "steps":
      return cleanSteps(value as readonly (string | TaskStep)[]);
    case "hours":
      return cleanHours(value as number);
    default:
      return checkChoice(value as string, { field, choices: kind });
  }
}

/** The JSON Schema of the fields, by key. */
export const TASK_INPUT = Object.fromEntries(
  Object.values(TASK_FIELDS).map(({ key, kind }) => [key, schemaOf(kind)]),
) as { readonly [Field in TaskField as KeyOf<Field>]: SchemaOf<KindOf<Field>> };

type SchemaOf<Kind> = Kind extends "hours"
  ? { readonly type: "number" }
  : Kind extends "paths"
    ? { readonly type: "array"; readonly items: { readonly type: "string" } }
    : Kind extends "steps"
      ? { readonly type: "array" }
      : Kind extends readonly string[]
        ? { readonly type: "string"; readonly enum: Kind }
        : { readonly type: "string" };

function schemaOf(kind: TaskFieldSpec["kind"]): object {
  if (kind === "hours") return { type: "number" };
  if (kind === "paths") return { type: "array", items: { type: "string" } };
  // Steps are checked where they are cleaned.
  if (kind === "steps") return { type: "array" };
  return typeof kind === "string" ? { type: "string" } : { type: "string", enum: kind };
}

/** Converts a tool's input to fields. */
export function taskFieldsOf(input: Readonly<Record<string, unknown>>): TaskFields {
  const fields = Object.entries(TASK_FIELDS).map(([name, { key }]) => [name, input[key]]);
  return { ...Object.fromEntries(fields), traceabilityRef: input["traceability_ref"] };
}

export type NewTaskInput = TaskFields & {
  title: string;
  /** Tasks that must be done first. */
  dependsOn?: readonly string[] | undefined;
};

/** A task needs no story and no epic. */
export function createTask({ dependsOn, ...fields }: NewTaskInput, { store, by }: WorkParts): Promise<Task> {
  const title = cleanTitle(fields.title);
  return store.createTask({ ...cleanTaskFields(fields), title, ...given({ dependsOn }) }, by);
}

/** The origin of a task never changes. */
export type UpdateTaskInput = { taskId: string } & {
  [Field in Exclude<keyof TaskFields, "source">]?: TaskFields[Field] | null;
};

/** Null or an empty text clears a field; absent fields stay as they are. */
export async function updateTask({ taskId, ...fields }: UpdateTaskInput, { store, by }: WorkParts): Promise<Task> {
  const names = (Object.keys(fields) as (keyof typeof fields)[]).filter((name) => fields[name] !== undefined);
  if (names.length === 0) throw invalid("give at least one field to change");
  const isCleared = (name: keyof typeof fields) => fields[name] === null || fields[name] === "";
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

/** How many neighbouring tasks are not shown. */
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
  const { waits_for, sub_tasks } = leftOut;
  const shown = set === "full" ? leftOut : set === "standard" ? present({ waits_for, sub_tasks }) : {};
  const isParts = Object.keys(shown).join() === "sub_tasks";
  const command = isParts ? `haversack task list --parent ${task.id}` : `haversack task dep ${task.id}`;
  const more = audience === "person" ? command : isParts ? "get_tasks" : "get_task_dependencies";
  const view = viewTask(task, set);
  return { task, view: Object.keys(shown).length > 0 ? { ...view, left_out: shown, more } : view, leftOut };
}

/** The store returns only the first ten or twenty of each. */
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

export interface ListInput {
  /** Default: 50. */
  limit?: number | undefined;
  offset?: number | undefined;
  /** Default: minimal. */
  fields?: string | undefined;
  /** A limit for the whole answer. Default: none. */
  maxTokens?: number | undefined;
  /** Formats one entry of the answer. Default: JSON. */
  text?: ((view: View) => string) | undefined;
}

export interface ListTasksInput extends ListInput {
  status?: string | undefined;
  /** The task's own priority. */
  priority?: string | undefined;
  type?: string | undefined;
  assignee?: string | undefined;
  parentId?: string | undefined;
  hasWip?: boolean | undefined;
  planFile?: string | undefined;
  /** Part of the ID or title. */
  find?: string | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Only tasks of stories, or epics, of this status. */
  storyStatus?: string | undefined;
  epicStatus?: string | undefined;
}

const DEFAULT_LIMIT = 50;

export async function listTasks(input: ListTasksInput, { store, by }: WorkParts): Promise<Listed<Task>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const { assignee, parentId, hasWip, planFile, find, epicId, storyId } = input;
  const query: TaskQuery = {
    ...given({
      status: checkChoice(input.status, { field: "status", choices: TASK_STATUSES }),
      priority: checkChoice(input.priority, { field: "priority", choices: PRIORITIES }),
      type: checkChoice(input.type, { field: "task_type", choices: TASK_TYPES }),
      assignee,
      parentId,
      hasWip,
      planFile,
      find,
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
  return listed({ ...page, items }, { view: viewTask, fields, maxTokens, offset, text: input.text });
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

export async function listBlocked(
  input: ListInput & { epicId?: string | undefined; storyId?: string | undefined },
  { store, by }: WorkParts,
): Promise<Listed<BlockedTask>> {
  const { limit, offset, fields, maxTokens } = checkListInput(input);
  const scope = given({ epicId: input.epicId, storyId: input.storyId });
  const { items, total } = await store.listTasks({ ...scope, status: "blocked", limit, offset, at: by.at });
  const tasks = items.map((task) => ({ ...task, reasons: (task.blockers ?? []).map(({ reason }) => reason) }));
  const view = ({ reasons, ...task }: BlockedTask, set: typeof fields) =>
    present({ ...viewTask(task, set), blockers: reasons });
  return listed({ items: tasks, total }, { view, fields, maxTokens, offset, text: input.text });
}

// The first tasks of each status.

export interface KanbanInput {
  includeDone?: boolean | undefined;
  /** Default: 20. */
  limitPerColumn?: number | undefined;
  /** A limit for the whole answer. Default: none. */
  maxTokens?: number | undefined;
}

export interface KanbanBoard {
  columns: Partial<Record<TaskStatus, { id: string; title: string }[]>>;
  leftOut: Partial<Record<TaskStatus, number>>;
}

const DEFAULT_PER_COLUMN = 20;
/** Five column names, twice, and how to get the rest. */
const AROUND_TOKENS = 70;

/** Tasks in progress get tokens first. */
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
    // No status here: it is the column's heading.
    const view = ({ id, title }: { id: string; title: string }) => ({ id, title });
    const { views } = fitList(items, { view, fields: "minimal", maxTokens: left, aroundTokens: 0 });
    if (left !== undefined) for (const shown of views) left -= tokensOf(shown);
    read.set(status, items.slice(0, views.length).map(view));
    if (total > views.length) leftOut[status] = total - views.length;
  }
  // In the order of a task's life.
  const columns = TASK_STATUSES.flatMap((status) => (read.has(status) ? [[status, read.get(status)]] : []));
  return { columns: Object.fromEntries(columns), leftOut };
}
