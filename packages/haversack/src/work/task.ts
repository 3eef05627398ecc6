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

export interface Task extends TaskBrief {
  type: TaskType;
  priority: Priority;
  storyId?: string;
  /** The story's epic. */
  epicId?: string;
  parentId?: string;
  description?: string;
  acceptanceCriteria?: string;
  /** Paths that the task will touch, relative to the project's root. Tasks of one batch share none. */
  files: string[];
  steps: TaskStep[];
  estimateHours?: number;
  /** The skill that the task asks for by name; several, separated by commas. */
  skill?: string;
  /** Where the task comes from: a plan, and the section in it. */
  planFile?: string;
  planSection?: string;
  contextSummary?: string;
  handoffNotes?: string;
  assignee?: string;
  source?: string;
  /** Why the task came back: an expired or stolen claim, a reopening. */
  note?: string;
  createdAt: Date;
  updatedAt: Date;
  startedAt?: Date;
  completedAt?: Date;
}

/** A task with what is known around it. */
/** A sub-task, and who holds it. */
export interface TaskPart extends TaskBrief {
  agent?: string;
}

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
