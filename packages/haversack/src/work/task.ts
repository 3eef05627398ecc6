/**
 * Epics, stories and tasks: their types, their statuses, and which status may follow which. Field names here are internal;
 * `task-view.ts` makes what agents and scripts read.
 */
import type { Wip } from "./wip/wip.ts";

export const PRIORITIES = ["P0", "P1", "P2", "P3"] as const;
export type Priority = (typeof PRIORITIES)[number];
export const DEFAULT_PRIORITY: Priority = "P2";

export const TASK_TYPES = ["feature", "bug", "chore", "spike", "test", "api"] as const;
export type TaskType = (typeof TASK_TYPES)[number];

export const TASK_STATUSES = ["todo", "in_progress", "review", "done", "blocked", "archived"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** For stories and epics: follows their tasks. Only `archived` is set by hand. */
export const GROUP_STATUSES = ["todo", "in_progress", "done", "archived"] as const;
export type GroupStatus = (typeof GROUP_STATUSES)[number];

/** `blocks` and `requires` make a task wait; `relates_to` is only informative. */
export const DEPENDENCY_TYPES = ["blocks", "requires", "relates_to"] as const;
export type DependencyType = (typeof DEPENDENCY_TYPES)[number];

/** What epics and stories have in common. */
interface Group {
  id: string;
  title: string;
  description?: string;
  status: GroupStatus;
  source?: string;
  createdAt: Date;
  updatedAt: Date;
  completedAt?: Date;
}

export interface Epic extends Group {
  priority: Priority;
}

export interface Story extends Group {
  epicId?: string;
  acceptanceCriteria?: string;
}

/** The fields shown in every list. */
export interface TaskBrief {
  id: string;
  title: string;
  status: TaskStatus;
}

export interface TaskStep {
  text: string;
  done: boolean;
}

/**
 * The editable fields of a task, declared once. Types, columns, export records, JSON and tool inputs derive from this table. `key` is
 * the name in JSON and tools, and also of the column and record field unless `column` is set.
 *
 * - `line`, `text`, `name`: one line, text of any length (or `maxChars`), a short text without line breaks
 * - `id`: of a story or task; stored as its row number
 * - a list: one of these words
 */
export const TASK_FIELDS = {
  title: { key: "title", kind: "line" },
  storyId: { key: "story_id", kind: "id" },
  parentId: { key: "parent_id", kind: "id" },
  type: { key: "task_type", column: "type", kind: TASK_TYPES },
  priority: { key: "priority", kind: PRIORITIES },
  description: { key: "description", kind: "text" },
  acceptanceCriteria: { key: "acceptance_criteria", kind: "text" },
  /** Paths that the task will change, relative to the project's root. Tasks of one batch share none. */
  files: { key: "files", kind: "paths" },
  steps: { key: "steps", kind: "steps" },
  estimateHours: { key: "estimate_hours", kind: "hours" },
  /** The skills that the task names, separated by commas. */
  skill: { key: "skill", kind: "text", maxChars: 500 },
  /** The plan that the task comes from, and the section in it. */
  planFile: { key: "plan_file", kind: "text", maxChars: 1000 },
  planSection: { key: "plan_section", kind: "text", maxChars: 1000 },
  contextSummary: { key: "context_summary", kind: "text" },
  handoffNotes: { key: "handoff_notes", kind: "text" },
  assignee: { key: "assignee", kind: "name" },
  source: { key: "source", kind: "name" },
} as const satisfies Record<string, TaskFieldSpec>;

export interface TaskFieldSpec {
  key: string;
  column?: string;
  kind: "line" | "text" | "name" | "id" | "paths" | "steps" | "hours" | readonly string[];
  maxChars?: number;
}

export type TaskField = keyof typeof TASK_FIELDS;
export type KindOf<Field extends TaskField> = (typeof TASK_FIELDS)[Field]["kind"];
export type KeyOf<Field extends TaskField> = (typeof TASK_FIELDS)[Field]["key"];
type ColumnOf<Field extends TaskField> = (typeof TASK_FIELDS)[Field] extends { column: infer Column extends string }
  ? Column
  : KeyOf<Field>;

type ValueOf<Kind> = Kind extends readonly (infer Word)[]
  ? Word
  : Kind extends "hours"
    ? number
    : Kind extends "paths"
      ? readonly string[]
      : Kind extends "steps"
        ? readonly TaskStep[]
        : string;

/** A task's fields in the engine and the store. */
export type TaskFieldValues = { -readonly [Field in TaskField]?: ValueOf<KindOf<Field>> };

/** The same fields in an export. Enum values are any text, because another version may have more of them. */
export type TaskFieldRecord = {
  -readonly [Field in TaskField as ColumnOf<Field>]?: KindOf<Field> extends "hours"
    ? number
    : KindOf<Field> extends "paths"
      ? string[]
      : KindOf<Field> extends "steps"
        ? TaskStep[]
        : string;
};

/** Fields that are stored in a column unchanged. */
export type PlainTaskField = {
  [Field in TaskField]: KindOf<Field> extends "text" | "name" | "hours" ? Field : never;
}[TaskField];

export const PLAIN_TASK_FIELDS = (Object.keys(TASK_FIELDS) as TaskField[]).filter((name): name is PlainTaskField =>
  ["text", "name", "hours"].includes(TASK_FIELDS[name].kind as string),
);

export function columnOf(name: TaskField): string {
  const field: TaskFieldSpec = TASK_FIELDS[name];
  return field.column ?? field.key;
}

export interface Task extends TaskBrief, Omit<TaskFieldValues, "title"> {
  type: TaskType;
  priority: Priority;
  files: string[];
  steps: TaskStep[];
  /** The story's epic. */
  epicId?: string;
  /** In lists: the task is `todo` and waits for another task. */
  isWaiting?: true;
  /** In lists, of a blocked task: the open reasons, oldest first. */
  blockers?: Blocker[];
  /** It was claimed here while the shared store could not be reached. */
  isUnconfirmed?: true;
  /** Why the task came back: an expired or stolen claim, or it was reopened. */
  note?: string;
  createdAt: Date;
  updatedAt: Date;
  startedAt?: Date;
  completedAt?: Date;
}

/** A sub-task and its holder. */
export interface TaskPart extends TaskBrief {
  agent?: string;
}

/** A task with related information. */
export interface TaskDetails extends Task {
  wip?: Wip;
  wipUpdatedAt?: Date;
  claim?: Claim;
  /** Open tasks that this one waits for. */
  waitsFor: TaskBrief[];
  /** Open tasks that wait for this one, the first ten. */
  waitedForBy: TaskBrief[];
  relatesTo: TaskBrief[];
  /** Sub-tasks that are not archived, the first fifty. */
  parts: TaskPart[];
  /** Open reasons, oldest first. */
  blockers: Blocker[];
  failureCount: number;
  /** The ids that other clones use for it. */
  aliases?: string[];
  /** Tasks that have this task's id in another clone: an import renamed them. */
  aliasOf?: TaskBrief[];
}

export interface Claim {
  taskId: string;
  agent: string;
  sessionId?: string;
  agentId?: string;
  claimedAt: Date;
  heartbeatAt: Date;
  leaseUntil: Date;
  /** Made while the shared store could not be reached: somebody else may have claimed the task too. */
  isUnconfirmed?: boolean;
}

/** A task that was started and that nobody holds, with its last holder. */
export interface LeftTask extends TaskBrief {
  agent: string;
  sessionId?: string;
  agentId?: string;
  client?: string;
  worktree?: string;
  branch?: string;
  claimedAt: Date;
  lastSeenAt: Date;
  /** expired: no sign of life. ended: the session reported its end. gone: its process no longer runs. */
  endedAs: EndedAs;
  endedAt: Date;
}

export const ENDED_AS = ["expired", "ended", "gone"] as const;
export type EndedAs = (typeof ENDED_AS)[number];

export interface Blocker {
  id: number;
  taskId: string;
  reason: string;
  actor: string;
  at: Date;
  resolvedAt?: Date;
  resolvedBy?: string;
}

export interface Dependency {
  taskId: string;
  dependsOnId: string;
  type: DependencyType;
}

export interface Failure {
  taskId: string;
  at: Date;
  actor: string;
  /** What failed, in one line. */
  summary: string;
  details?: string;
}

/** Allowed next statuses. `done` and `archived` can only be reopened. */
const FOLLOWS: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  todo: ["in_progress", "review", "done", "blocked", "archived"],
  in_progress: ["review", "done", "todo", "blocked", "archived"],
  review: ["done", "in_progress", "todo", "blocked", "archived"],
  blocked: ["todo", "in_progress", "archived"],
  done: ["todo", "archived"],
  archived: ["todo"],
};

export function mayFollow(from: TaskStatus, to: TaskStatus): boolean {
  return from === to || FOLLOWS[from].includes(to);
}

export function followersOf(from: TaskStatus): readonly TaskStatus[] {
  return FOLLOWS[from];
}

/** Finished: no task waits for it any more. */
export function isSettled(status: TaskStatus): boolean {
  return status === "done" || status === "archived";
}

// Finds text that looks like a task id. Only the store knows whether the task exists. Loaded by the hook.

/**
 * Each id once, in text order: `T` and digits, and imported ids (`task-…`). A short id must stand alone: in a path, a file name or a
 * compound (`fixtures/T1000.json`, `T1000-series`) it probably means something else.
 */
export function taskIdsIn(text: string): string[] {
  const found = text.slice(0, MAX_CHARS).match(TASK_IDS) ?? [];
  return [...new Set(found.map((id) => id.replace(/^t(?=\d)/, "T")))].slice(0, MOST_IDS);
}

const TASK_IDS = /(?<![\w./\\-])[Tt]\d{4,11}(?![\w/\\-]|\.\w)|\b(?:[Tt]\d{12}|task-\w(?:[\w.-]{0,57}\w)?)\b/g;
const MAX_CHARS = 50_000;
/** A text may be full of part numbers before it names the task. */
const MOST_IDS = 50;

// The order of the queue. A task's score is
// 100 × (3 − epic's priority) + 30 × (3 − its own) + 5 × open tasks that wait for it (10 at most) + a point per 10 days of age.
// P0 to P3 count as 0 to 3; a task without an epic counts as in a P2 epic. All tasks age equally, so time alone never changes their
// order. It can be stored as a number without the current time (the order key), from which the score at any time follows. Age
// decides between equal tasks and is worth one task priority in 300 days: an old chore does not pass an outage.

export const EPIC_POINTS = 100;
export const TASK_POINTS = 30;
export const DEPENDENT_POINTS = 5;
export const MOST_DEPENDENTS = 10;
/** Ten days. */
export const MS_PER_POINT = 864_000_000;
/** For tasks without an epic. */
export const NO_EPIC_RANK = 2;

export interface QueuePlace {
  epicRank: number;
  taskRank: number;
  /** Open tasks that directly wait for this one. */
  dependents: number;
  createdAtMs: number;
}

/** Higher comes first. An integer, exact in every store. */
export function orderKey({ epicRank, taskRank, dependents, createdAtMs }: QueuePlace): number {
  const points =
    EPIC_POINTS * (3 - epicRank) +
    TASK_POINTS * (3 - taskRank) +
    DEPENDENT_POINTS * Math.min(dependents, MOST_DEPENDENTS);
  return points * MS_PER_POINT - createdAtMs;
}

/** The score at a time, in points, to one decimal. */
export function scoreAt(key: number, at: Date): number {
  return Math.round(((key + at.getTime()) / MS_PER_POINT) * 10) / 10;
}

export function rankOf(priority: Priority): number {
  return Number(priority[1]);
}

export function priorityOf(rank: number): Priority {
  return `P${rank}` as Priority;
}
