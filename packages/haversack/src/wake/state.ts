/**
 * Everything a packet can be made of, read from the store, the plan file and the skill index before anything is decided.
 * Plain data; unknown values are absent. `packet.ts` decides what is shown.
 */
import type { Handoff, Verdict } from "../work/handoff.ts";
import type { TaskStatus, TaskStep, TaskType } from "../work/task.ts";
import type { Wip } from "../work/wip/wip.ts";
import type { Message } from "./text.ts";

export const ROLES = ["orchestrator", "implementer", "spec-reviewer", "quality-reviewer", "fixer"] as const;
/** One of ours, or a project's own role with its own template. */
export type Role = (typeof ROLES)[number] | (string & {});

export interface WakeState {
  now: Date;
  /** Why the agent is woken: session start, return from a compaction, sub-agent start, a message, or a request. */
  reason: "startup" | "resume" | "clear" | "compact" | "agent-start" | "message" | "asked";
  agent: WakeAgent;
  /** The task in hand: the newest claim, else the task the agent was started for. */
  task?: WakeTask;
  /** The task that the one in hand is part of, such as the subject of a review. */
  whole?: WholeTask;
  /** Set if the task is free and not the agent's yet: who had it, why it was left (session ended, client gone, claim expired), and when. */
  leftBy?: { agent: string; because: "ended" | "gone" | "expired"; at?: Date };
  /** It has sub-agents do tasks. Asking for a batch alone does not count. */
  isCoordinating?: boolean;
  /** Other active sessions of the same agent, and the tasks they hold. */
  elsewhere?: { sessions: readonly string[]; taskIds: readonly string[] };
  /** Other tasks it holds. */
  alsoHolds: readonly TreeTask[];
  /** Other tasks that it gave to sub-agents. */
  alsoSent?: readonly TreeTask[];
  /** For an orchestrator without its own task: the stories in progress, most active first. */
  stories?: readonly WakeStory[];
  /** Number of further stories in progress. */
  moreStories?: number;
  /** The tasks around the one in hand (its story's, or its parent's), in order, and its position among them. */
  tree: readonly TreeTask[];
  story?: { id: string; title: string; status: string; done: number; total: number };
  epic?: { id: string; title: string; priority: string };
  plan?: WakePlan;
  /** Most important first: the task's own, cross-cutting ones last. */
  skills: readonly WakeSkill[];
  wip?: Wip;
  wipUpdatedAt?: Date;
  /** Handoffs of finished siblings, newest first, and the task's own. */
  handoffs: readonly WakeHandoff[];
  /** The newest unread messages, oldest first. */
  messages: readonly WakeMessage[];
  /** Total number of unread messages. Default: those in `messages`. */
  unreadCount?: number;
  /** Messages it received since it began this work, oldest first. Absent: they are still in its window. */
  heard?: readonly WakeMessage[];
  /** The message that woke it. */
  newMessage?: WakeMessage;
  /** Newest first. */
  activity: readonly WakeActivity[];
  /** A task to start when nothing is in hand. */
  suggested?: TreeTask;
  readyCount?: number;
  /** The project wants a commit after each step. */
  commitsSteps?: boolean;
  /** Expected things that were not found, one line each. */
  missing: readonly string[];
}

export interface WakeAgent {
  /** Without the @; "" if it has none. */
  name: string;
  /** "" if it has none. */
  role: Role;
  /** Nobody gave it the role: the session works alone on the task it holds. */
  isSolo?: boolean;
  client?: string;
  sessionId?: string;
  branch?: string;
  worktree?: string;
}

export interface TreeTask {
  id: string;
  title: string;
  status: TaskStatus;
  /** Who holds it. */
  agent?: string;
  parentId?: string;
  /** The result of a review step. */
  lastVerdict?: Verdict;
}

export interface WakeTask extends TreeTask {
  type: TaskType;
  description?: string;
  acceptanceCriteria?: string;
  files: readonly string[];
  steps: readonly TaskStep[];
  /** As written in the task: one or several, separated by commas. */
  skill?: string;
  contextSummary?: string;
  handoffNotes?: string;
  note?: string;
  blockers: readonly string[];
  waitsFor: readonly TreeTask[];
}

export type WholeTask = TreeTask & Pick<WakeTask, "description" | "acceptanceCriteria" | "files">;

export interface WakeStory {
  /** Absent: the tasks without a story. */
  id?: string;
  title: string;
  done: number;
  total: number;
  planFile?: string;
  /** A section of its tasks, including all that are in progress and their parts. */
  tree: readonly TreeTask[];
  /** Tasks that could be started now, in the order of the queue. */
  ready: readonly TreeTask[];
}

export interface WakePlan {
  file: string;
  section?: string;
  /** The section's text, or the beginning of the plan if no section is known. */
  text?: string;
  lineCount?: number;
}

export interface WakeSkill {
  id: string;
  /** Why it was chosen: `named by the task`, `"spec review" in its text`, `its parent's`, `for bugs`. */
  because: string;
  /** main: whole if it fits; core: cross-cutting, only its core. */
  as: "main" | "core";
  /** The pinned version. Absent: the skill is gone. */
  body?: string;
  brief?: string;
  hash?: string;
  /** The file's content has changed since. */
  hasChanged?: boolean;
  /** How the agent loads it in its client. */
  activation: string;
  /** The client restores it by itself. */
  isCarried?: boolean;
}

export interface WakeHandoff extends Pick<Handoff, "taskId" | "role" | "attempt" | "status" | "summary"> {
  taskTitle: string;
  at: Date;
}

export interface WakeMessage extends Omit<Message, "subject" | "readAt"> {
  taskId?: string;
}

export interface WakeActivity {
  at: Date;
  actor: string;
  kind: string;
  text: string;
  subject?: string;
}

// Whether there is anything to resume.

/** If true, the agent gets no packet: a task that could be next, or past events, are not enough. */
export function isNothing({ task, stories = [], alsoHolds, wip, skills, messages, newMessage }: WakeState): boolean {
  const isIdle = !task && !newMessage && stories.length === 0;
  return isIdle && alsoHolds.length + skills.length + messages.length === 0 && !hasWork(wip);
}

export function hasWork(wip: Wip = {}): boolean {
  const isBlank = (value: unknown) =>
    value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
  return Object.entries(wip).some(([field, value]) => field !== "updated_at" && value !== false && !isBlank(value));
}
