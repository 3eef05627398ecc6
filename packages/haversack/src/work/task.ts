/**
 * Epics, stories and tasks: their shapes, their words, and which status may follow which. Field names here are ours; what
 * agents and scripts read is made by `task-view.ts`.
 */
import type { Wip } from "./wip/wip.ts";

export const PRIORITIES = ["P0", "P1", "P2", "P3"] as const;
export type Priority = (typeof PRIORITIES)[number];
export const DEFAULT_PRIORITY: Priority = "P2";

export const TASK_TYPES = ["feature", "bug", "chore", "spike", "test", "api"] as const;
export type TaskType = (typeof TASK_TYPES)[number];

export const TASK_STATUSES = ["todo", "in_progress", "review", "done", "blocked", "archived"] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Of stories and epics: it follows their tasks. Only `archived` is set by hand. */
export const GROUP_STATUSES = ["todo", "in_progress", "done", "archived"] as const;
export type GroupStatus = (typeof GROUP_STATUSES)[number];

/** `blocks` and `requires` make a task wait; `relates_to` only tells. */
export const DEPENDENCY_TYPES = ["blocks", "requires", "relates_to"] as const;
export type DependencyType = (typeof DEPENDENCY_TYPES)[number];

export interface Epic {
  id: string;
  title: string;
  description?: string;
  priority: Priority;
  status: GroupStatus;
  source?: string;
  createdAt: Date;
  updatedAt: Date;
  completedAt?: Date;
}

export interface Story {
  id: string;
  epicId?: string;
  title: string;
  description?: string;
  acceptanceCriteria?: string;
  status: GroupStatus;
  source?: string;
  createdAt: Date;
  updatedAt: Date;
  completedAt?: Date;
}

/** What every list shows. */
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
 * The fields of a task that somebody sets, declared once: types, columns, records of an export, JSON, and the input of tools derive
 * from this table. `key` is the name in JSON and in tools, and also the column's and the record's unless `column` says otherwise.
 *
 * - `line`, `text`, `name`: one line, text of any length (or `maxChars`), a short text without line breaks
 * - `id`: of a story or task; stored as the row that it names
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
  /** Paths that the task will touch, relative to the project's root. Tasks of one batch share none. */
  files: { key: "files", kind: "paths" },
  steps: { key: "steps", kind: "steps" },
  estimateHours: { key: "estimate_hours", kind: "hours" },
  /** The skill that the task asks for by name; several, separated by commas. */
  skill: { key: "skill", kind: "text", maxChars: 500 },
  /** Where the task comes from: a plan, and the section in it. */
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

/** A task's fields as the engine and the store speak of them. */
export type TaskFieldValues = { -readonly [Field in TaskField]?: ValueOf<KindOf<Field>> };

/** The same as an export has them: words are any text, because another version may know more of them. */
export type TaskFieldRecord = {
  -readonly [Field in TaskField as ColumnOf<Field>]?: KindOf<Field> extends "hours"
    ? number
    : KindOf<Field> extends "paths"
      ? string[]
      : KindOf<Field> extends "steps"
        ? TaskStep[]
        : string;
};

/** Those that a column holds as they are. */
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
  /** Why the task came back: an expired or stolen claim, a reopening. */
  note?: string;
  createdAt: Date;
  updatedAt: Date;
  startedAt?: Date;
  completedAt?: Date;
}

/** A sub-task, and who holds it. */
export interface TaskPart extends TaskBrief {
  agent?: string;
}

/** A task with what is known around it. */
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
  /** The ids that other clones have for it. */
  aliases?: string[];
  /** Tasks that another clone has under this task's id: an import renamed them. */
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
}

/** A task that somebody began and nobody holds, with who held it last. */
export interface LeftTask extends TaskBrief {
  agent: string;
  sessionId?: string;
  agentId?: string;
  client?: string;
  worktree?: string;
  branch?: string;
  claimedAt: Date;
  lastSeenAt: Date;
  /** expired: no sign of life came. ended: the session said so. gone: its process is. */
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

/** Which status may follow. From `done` and `archived` the only way back is to reopen. */
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

/** Over: nobody waits for it any more. */
export function isSettled(status: TaskStatus): boolean {
  return status === "done" || status === "archived";
}

// What in a text looks like the id of a task. Whether there is such a task, the store knows. Loaded by the hook.

/**
 * Each once, in the order of the text: `T` and digits, and imported ids (`task-…`). A short one must stand alone: in a path, a file
 * name or a compound (`fixtures/T1000.json`, `T1000-series`) the same characters are more likely something else.
 */
export function taskIdsIn(text: string): string[] {
  const found = text.slice(0, MAX_CHARS).match(TASK_IDS) ?? [];
  return [...new Set(found.map((id) => id.replace(/^t(?=\d)/, "T")))].slice(0, MOST_IDS);
}

const TASK_IDS = /(?<![\w./\\-])[Tt]\d{4,11}(?![\w/\\-]|\.\w)|\b(?:[Tt]\d{12}|task-\w(?:[\w.-]{0,57}\w)?)\b/g;
const MAX_CHARS = 50_000;
/** A text may be full of part numbers before it names the task. */
const MOST_IDS = 50;
