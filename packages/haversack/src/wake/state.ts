/**
 * All that a packet can be made of, read from the store, the plan file and the skill index before anything is decided.
 * Plain data: what is not known is absent. `packet.ts` decides what of it is shown.
 */
import type { Verdict } from "../work/handoff.ts";
import type { TaskStatus, TaskStep, TaskType } from "../work/task.ts";
import type { Wip } from "../work/wip/wip.ts";

export const ROLES = ["orchestrator", "implementer", "spec-reviewer", "quality-reviewer", "fixer"] as const;
/** One of ours, or a name that a project gives with a template of its own. */
export type Role = (typeof ROLES)[number] | (string & {});

export interface WakeState {
  now: Date;
  /** Why it is woken: the session starts, comes back from a compaction, a sub-agent starts, a message came, somebody asks. */
  reason: "startup" | "resume" | "clear" | "compact" | "agent-start" | "message" | "asked";
  agent: WakeAgent;
  /** The task in hand: the newest claim, else what the agent was started for. */
  task?: WakeTask;
  /** The task that the one in hand is a part of, such as the one that a review is about. */
  whole?: WholeTask;
  /** The task is free and not the agent's yet: whose it was, whether that session ended, its client is gone, or only its claim has expired, and when. */
  leftBy?: { agent: string; because: "ended" | "gone" | "expired"; at?: Date };
  /** It has tasks done by sub-agents. Merely asking for a batch is no sign of it. */
  isCoordinating?: boolean;
  /** Other sessions of the same agent that are at work, and what they hold. */
  elsewhere?: { sessions: readonly string[]; taskIds: readonly string[] };
  /** Other tasks it holds. */
  alsoHolds: readonly TreeTask[];
  /** Other tasks that it has given to sub-agents. */
  alsoSent?: readonly TreeTask[];
  /** What an orchestrator without a task of its own looks after: stories that are under way, the liveliest first. */
  stories?: readonly WakeStory[];
  /** Stories under way that are not among them. */
  moreStories?: number;
  /** The tasks around the one in hand (its story, or its parent's), in order, and where it stands among them. */
  tree: readonly TreeTask[];
  story?: { id: string; title: string; status: string; done: number; total: number };
  epic?: { id: string; title: string; priority: string };
  plan?: WakePlan;
  /** In the order in which they matter: the task's own first, cross-cutting ones last. */
  skills: readonly WakeSkill[];
  wip?: Wip;
  wipUpdatedAt?: Date;
  /** Finished siblings' handoffs, newest first, and the task's own. */
  handoffs: readonly WakeHandoff[];
  /** The newest unread ones, oldest first. */
  messages: readonly WakeMessage[];
  /** How many are unread in all. Default: those in `messages`. */
  unreadCount?: number;
  /** What it was told since it began with this work, oldest first. Absent: its window has it. */
  heard?: readonly WakeMessage[];
  /** The message that woke it. */
  newMessage?: WakeMessage;
  /** Newest first. */
  activity: readonly WakeActivity[];
  /** What could be next when nothing is in hand. */
  suggested?: TreeTask;
  readyCount?: number;
  /** The project wants a commit after each step. */
  commitsSteps?: boolean;
  /** Things that should be there and are not: one line each. */
  missing: readonly string[];
}

export interface WakeAgent {
  /** Without the @; "" when it has none. */
  name: string;
  /** "": it has none. */
  role: Role;
  /** Nobody gave it the role: it is a session that works alone on the task it holds. */
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
  /** Of a review step: what came of it. */
  lastVerdict?: Verdict;
}

export interface WakeTask extends TreeTask {
  type: TaskType;
  description?: string;
  acceptanceCriteria?: string;
  files: readonly string[];
  steps: readonly TaskStep[];
  /** As the task names it: one or several, separated by commas. */
  skill?: string;
  contextSummary?: string;
  handoffNotes?: string;
  note?: string;
  blockers: readonly string[];
  waitsFor: readonly TreeTask[];
}

export type WholeTask = TreeTask & Pick<WakeTask, "description" | "acceptanceCriteria" | "files">;

export interface WakeStory {
  /** Absent: tasks of no story. */
  id?: string;
  title: string;
  done: number;
  total: number;
  planFile?: string;
  /** A stretch of its tasks, with all that are under way and their parts. */
  tree: readonly TreeTask[];
  /** Tasks that could be started now, in the order of the queue. */
  ready: readonly TreeTask[];
}

export interface WakePlan {
  file: string;
  section?: string;
  /** The section's text, or the beginning of the plan when no section is known. */
  text?: string;
  lineCount?: number;
}

export interface WakeSkill {
  id: string;
  /** Why this one: `named by the task`, `"spec review" in its text`, `its parent's`, `for bugs`. */
  because: string;
  /** main: whole if it fits; core: cross-cutting, only its core. */
  as: "main" | "core";
  /** The pinned version. Absent: the skill is gone. */
  body?: string;
  brief?: string;
  hash?: string;
  /** The file has another content now. */
  hasChanged?: boolean;
  /** How the agent loads it in its client. */
  activation: string;
  /** The client brings it back by itself. */
  isCarried?: boolean;
}

export interface WakeHandoff {
  taskId: string;
  taskTitle: string;
  role: string;
  attempt: number;
  status: Verdict;
  summary: string;
  at: Date;
}

export interface WakeMessage {
  id: string;
  from: string;
  /** Sent by the person at the terminal; else by an agent. */
  isPerson?: boolean;
  text: string;
  at: Date;
  /** It names the agent with an @, or was sent to it alone. */
  isMention: boolean;
  taskId?: string;
}

export interface WakeActivity {
  at: Date;
  actor: string;
  kind: string;
  text: string;
  subject?: string;
}

// Whether there is anything to go on from. Loaded by the hook.

/** Then nobody is woken: a task that could be next, or past events, are no reason. */
export function isNothing({ task, stories = [], alsoHolds, wip, skills, messages, newMessage }: WakeState): boolean {
  const isIdle = !task && !newMessage && stories.length === 0;
  return isIdle && alsoHolds.length + skills.length + messages.length === 0 && !hasWork(wip);
}

export function hasWork(wip: Wip = {}): boolean {
  return Object.entries(wip).some(([field, value]) => field !== "updated_at" && value !== false && !isBlank(value));
}

function isBlank(value: unknown): boolean {
  return value == null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);
}
