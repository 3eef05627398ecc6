/**
 * The half of the store that a team can share: epics, stories, tasks, their queue, claims, WIP, handoffs, activity. Whole
 * operations only, each one atomic and, once its promise is fulfilled, saved for good. No caller ever holds a
 * transaction, so a server behind a network can implement it. Times come in as arguments.
 *
 * An id may be given whole, as an alias that another clone uses, or as a prefix of at least three digits that only one id has
 * (`T482`); an exact id comes before an alias, an alias before a prefix. An id that nothing has is a `not-found` fault which names the
 * nearest; a field that cannot be is an `input-invalid` fault which names the field. Nothing has changed then.
 *
 * The queue is always true: every operation leaves it as one computed from scratch would be. Claims that have expired by
 * the time an operation names are returned first, by whichever operation comes.
 */
import type { Agent, Message } from "../wake/message.ts";
import type { Handoff, Verdict } from "../work/handoff.ts";
import type { PlannedTask } from "../work/plan/parse-plan.ts";
import type {
  Blocker,
  Claim,
  Dependency,
  DependencyType,
  Epic,
  Failure,
  GroupStatus,
  LeftTask,
  Priority,
  Story,
  Task,
  TaskBrief,
  TaskDetails,
  TaskFieldValues,
  TaskPart,
  TaskStatus,
  TaskType,
} from "../work/task.ts";
import type { Wip } from "../work/wip/wip.ts";
import type { ImportOptions, ImportReport, WorkRecord } from "./work-records.ts";

export interface WorkStore extends PlanStore {
  createEpic(epic: NewEpic, by: Actor): Promise<Epic>;
  updateEpic(id: string, changes: EpicChanges, by: Actor): Promise<Epic>;
  getEpic(id: string): Promise<Epic & { counts: TaskCounts }>;
  /** By priority, then age. */
  listEpics(query: GroupQuery): Promise<Page<Epic>>;

  createStory(story: NewStory, by: Actor): Promise<Story>;
  updateStory(id: string, changes: StoryChanges, by: Actor): Promise<Story>;
  getStory(id: string): Promise<Story & { counts: TaskCounts }>;
  /** Oldest first. */
  listStories(query: GroupQuery & { epicId?: string }): Promise<Page<Story>>;

  createTask(task: NewTask, by: Actor): Promise<Task>;
  updateTask(id: string, changes: TaskChanges, by: Actor): Promise<Task>;
  getTask(id: string, at: Date): Promise<TaskDetails>;
  /** What is being worked on first: in progress, review, blocked, todo in the queue's order, done newest first, archived. */
  listTasks(query: TaskQuery): Promise<Page<Task>>;
  countTasks(scope: Scope, at: Date): Promise<TaskCounts>;

  /** `in_progress` is a claim for the actor. Same status again: nothing happens, and that is no error. */
  setStatus(change: StatusChange, by: Actor): Promise<StatusOutcome>;

  addDependency(dependency: Dependency, by: Actor): Promise<DependencyOutcome>;
  /** False: there was none. */
  removeDependency(ends: Omit<Dependency, "type">, by: Actor): Promise<boolean>;
  /** Both directions of one task. */
  listDependencies(taskId: string): Promise<DependencyList>;
  /** Sets the status to `blocked` and keeps the reason. */
  setBlocker(blocker: { taskId: string; reason: string }, by: Actor): Promise<StatusOutcome>;
  /** Resolves all open ones; the task is `todo` again, or stays what it is when it was not blocked. */
  resolveBlockers(change: { taskId: string; notes?: string }, by: Actor): Promise<StatusOutcome>;
  listBlockers(taskId: string): Promise<Blocker[]>;
  recordFailure(failure: { taskId: string; summary: string; details?: string }, by: Actor): Promise<{ count: number }>;
  listFailures(taskId: string): Promise<Failure[]>;

  /** Ready tasks in order. Never scans more than it returns. */
  nextTasks(query: NextQuery): Promise<NextTasks>;
  /** Files of tasks that are in progress. */
  filesInProgress(scope: Scope, at: Date): Promise<string[]>;

  /** First wins. Without `taskId` the next ready one of the scope. */
  claim(request: ClaimRequest, by: Actor): Promise<ClaimOutcome>;
  /** Prolongs one claim, or all of the agent's. */
  heartbeat(request: { taskId?: string; leaseMs: number }, by: Actor): Promise<HeartbeatOutcome>;
  /** Gives the task back to the queue with its WIP. One that was left is in the queue already: it is no longer listed as left. */
  release(request: { taskId: string; reason?: string }, by: Actor): Promise<ReleaseOutcome>;
  listClaims(query: { agent?: string; at: Date }): Promise<Claim[]>;
  /**
   * Unfinished tasks whose claim ended without anybody meaning it: it expired, or its session ended. Newest sign of life first. A task
   * is listed until it is finished, given back on purpose, set to another status, or claimed by somebody else.
   */
  listLeft(query: { limit: number; at: Date }): Promise<LeftTask[]>;

  /** Deep merge; what was replaced is in the history. `merge` is pure and may be called again. */
  updateWip(change: { taskId: string; merge: WipMerger }, by: Actor): Promise<{ wip: Wip; changed: boolean }>;
  /** Newest first. */
  wipHistory(query: { taskId: string; limit: number }): Promise<WipHistoryEntry[]>;

  /** Without an attempt it is the role's next one. The same from the same actor within a minute changes nothing; another text for a stored attempt is refused. */
  setHandoff(handoff: NewHandoff, by: Actor): Promise<Handoff>;
  /** The latest, or the latest of that role or attempt. Undefined: the task has none. */
  getHandoff(query: HandoffQuery): Promise<Handoff | undefined>;
  /** One page of the details, in characters. Archived ones too. */
  readHandoffDetails(query: { id: string; from: number; maxChars: number }): Promise<{ text: string; total: number }>;
  /** Newest first. */
  listHandoffs(query: {
    scope: Scope & { taskId?: string };
    limit: number;
    includeArchived?: boolean;
  }): Promise<Page<Handoff>>;
  /** What completed stories and epics allow; `isForced` decays the scope whatever its state, `includeFailed` failed ones too. */
  decay(request: DecayRequest, by: Actor): Promise<{ compacted: number; archived: number }>;
  /** A handoff, or all of a task, story or epic. */
  restore(id: string, by: Actor): Promise<{ restored: number }>;

  /** Append-only. The id grows with every record. */
  recordActivity(activity: NewActivity): Promise<{ id: number }>;
  /** Newest first. */
  listActivity(query: ActivityQuery): Promise<ActivityPage>;

  /** Again with the same name and branch: what is given replaces. */
  addAgent(agent: NewAgent, by: Actor): Promise<Agent>;
  /** A session is this agent. One that nobody added is added. */
  seeAgent(seen: SeenAgent, at: Date): Promise<Agent>;
  getAgent(query: AgentQuery): Promise<Agent>;
  /** Its messages and history stay, and it is back when it is added or seen again. Refused while it holds tasks; forced, they go back into the queue. */
  removeAgent(request: AgentQuery & { isForced?: boolean }, by: Actor): Promise<RemoveAgentOutcome>;
  /** By name. */
  listAgents(): Promise<Agent[]>;
  /** To nobody when one of `to` is unknown. */
  sendMessage(message: NewMessage, by: Actor): Promise<SentMessage>;
  /** Unread ones, oldest first; with `includeRead` all of them, newest first. */
  inbox(query: InboxQuery): Promise<Page<Message>>;
  /** How many became read. Without ids: all. */
  markRead(request: AgentQuery & { ids?: readonly string[] }, at: Date): Promise<number>;
  /** Which version of a skill a task is worked on with. The same again is not repeated. */
  recordSkill(use: Omit<SkillUse, "at">, at: Date): Promise<void>;
  /** Newest first. */
  skillHistory(query: { agent?: string; taskId?: string; limit: number }): Promise<SkillUse[]>;

  /** What kind of thing has the id, and its whole id. */
  findId(id: string): Promise<FoundId>;
  /** Up to four ids that this one is only a prefix of, of any length; none when something has just this id or alias. */
  findLonger(id: string): Promise<FoundId[]>;

  /** The last batch that this receiver was given, and what became of its tasks. A receiver is a session id, or `agent:NAME`. */
  lastBatch(receiver: string): Promise<GivenBatch | undefined>;
  recordBatch(batch: { receiver: string; size: number; taskIds: readonly string[] }, by: Actor): Promise<void>;

  /** Everything, in the order of an export: the same content gives the same bytes. */
  exportRecords(): AsyncIterable<WorkRecord>;
  /** In one transaction: all or nothing. */
  importRecords(
    records: Iterable<WorkRecord> | AsyncIterable<WorkRecord>,
    options: ImportOptions,
    by: Actor,
  ): Promise<ImportReport>;
}

export interface FoundId {
  id: string;
  kind: "epic" | "story" | "task" | "handoff";
}

/** Who does it, from where, and when. */
export interface Actor {
  /** An agent's name, a person, `haversack`. */
  name: string;
  /** A person may change what an agent holds; another agent may not. */
  isPerson?: boolean;
  /** The name was given, and is not made from the session: others can write to it. */
  isNamed?: boolean;
  sessionId?: string;
  /** "" or absent: the session's main agent. */
  agentId?: string;
  /** Where it works; kept with what it claims. */
  place?: WorkPlace;
  at: Date;
}

export interface WorkPlace {
  client?: string;
  /** The top folder of the git work tree; outside of git the project's folder. Absolute. */
  worktree?: string;
  branch?: string;
}

export interface Scope {
  epicId?: string;
  storyId?: string;
}

export interface Page<T> {
  items: T[];
  /** All that the query would give without its limit. */
  total: number;
}

export interface NewEpic {
  title: string;
  description?: string;
  priority?: Priority;
  source?: string;
}
export type EpicChanges = Nullable<Omit<NewEpic, "source">> & { status?: "archived" | "todo" };

export interface NewStory {
  title: string;
  epicId?: string;
  description?: string;
  acceptanceCriteria?: string;
  source?: string;
}
export type StoryChanges = Nullable<Omit<NewStory, "source">> & { status?: "archived" | "todo" };

export interface NewTask extends TaskFieldValues {
  title: string;
  /** Tasks that must be done first: in the same transaction. */
  dependsOn?: readonly string[];
}
/** `null` clears a field. */
export type TaskChanges = Nullable<Omit<NewTask, "dependsOn" | "source">>;

type Nullable<T> = { [Field in keyof T]?: T[Field] | null };

export interface GroupQuery {
  status?: GroupStatus;
  limit: number;
  offset?: number;
}

export interface TaskQuery extends Scope {
  status?: TaskStatus;
  priority?: Priority;
  type?: TaskType;
  assignee?: string;
  parentId?: string;
  /** Only sub-tasks. */
  isPart?: boolean;
  /** Only those with WIP. */
  hasWip?: boolean;
  planFile?: string;
  limit: number;
  offset?: number;
  at: Date;
}

export interface TaskCounts extends Record<TaskStatus, number> {
  ready: number;
}

export interface StatusChange {
  taskId: string;
  status: TaskStatus;
  /** Kept in the activity, and for `blocked` as the reason. */
  notes?: string;
  /** For `in_progress`. */
  leaseMs: number;
  /** Start although it waits for others. */
  isForced?: boolean;
  /** At most so many claims of one agent at once. Default: no limit. */
  maxClaims?: number;
}

export interface Boundaries {
  /** The story's last task was done by this. */
  storyCompleted?: string;
  epicCompleted?: string;
}

export type StatusOutcome =
  | {
      kind: "changed";
      task: TaskBrief;
      from: TaskStatus;
      boundaries: Boundaries;
      claim?: Claim;
      note?: string;
      /** Its sub-tasks, where the task was claimed or is over. */
      parts?: TaskPart[];
      /** Of a task that was marked as done although its last handoff did not pass. */
      failedWith?: Exclude<Verdict, "PASS">;
    }
  | { kind: "cannot-follow"; task: TaskBrief; allowed: readonly TaskStatus[] }
  | ClaimRefusal;

export type ClaimRefusal =
  | { kind: "held"; task: TaskBrief; by: Claim }
  | { kind: "waits"; task: TaskBrief; for: TaskBrief[] }
  | { kind: "blocked"; task: TaskBrief; reasons: string[] }
  | { kind: "too-many"; limit: number; holding: string[] };

export interface ClaimRequest extends Scope {
  taskId?: string;
  leaseMs: number;
  /** Take it from whoever holds it. */
  stealReason?: string;
  isForced?: boolean;
  maxClaims?: number;
}

export type ClaimOutcome =
  | { kind: "claimed"; claim: Claim; task: TaskDetails; note?: string }
  | { kind: "nothing-ready" }
  | { kind: "cannot-follow"; task: TaskBrief; allowed: readonly TaskStatus[] }
  | ClaimRefusal;

export type HeartbeatOutcome =
  | { kind: "prolonged"; claims: Claim[] }
  /** It expired or was taken: stop working on it. */
  | { kind: "lost"; task: TaskBrief; by?: Claim }
  | { kind: "none" };

export type ReleaseOutcome =
  | { kind: "released"; task: TaskBrief }
  | { kind: "not-held"; task: TaskBrief }
  | { kind: "held"; task: TaskBrief; by: Claim };

export type DependencyOutcome =
  | { kind: "added" | "unchanged"; dependency: Dependency }
  /** From the task over what it would wait for back to itself. */
  | { kind: "cycle"; path: TaskBrief[] };

export interface DependencyList {
  dependsOn: (TaskBrief & { type: DependencyType })[];
  neededBy: (TaskBrief & { type: DependencyType })[];
}

export interface NextQuery extends Scope {
  limit: number;
  at: Date;
}

export interface NextTasks {
  tasks: QueuedTask[];
  /** All that are ready, counted up to `COUNTED_READY`. */
  ready: number;
}

/** Counting further would read the whole queue. */
export const COUNTED_READY = 1000;

export interface QueuedTask extends Task {
  score: number;
}

export type WipMerger = (current: Wip) => {
  wip: Wip;
  changes: readonly { path: string; before: unknown; after: unknown }[];
};

export interface WipHistoryEntry {
  at: Date;
  actor: string;
  path: string;
  before?: unknown;
  after?: unknown;
}

export interface NewHandoff {
  taskId: string;
  role: string;
  attempt?: number;
  status: Verdict;
  summary: string;
  filesChanged?: readonly string[];
  details?: string;
}

export interface HandoffQuery {
  taskId: string;
  role?: string;
  attempt?: number;
  /** The latest of that verdict. */
  status?: Verdict;
}

export interface DecayRequest extends Scope {
  isForced?: boolean;
  includeFailed?: boolean;
}

export interface GivenBatch {
  size: number;
  at: Date;
  tasks: (TaskBrief & { lastVerdict?: Verdict })[];
}

export interface NewActivity {
  at: Date;
  /** Who did it: an agent, a person, `haversack`. */
  actor: string;
  /** A short kebab-case word, such as `task-claimed`. */
  kind: string;
  /** The id of what it is about, when it is about one thing. */
  subject?: string;
  /** One line for people. Already masked by the caller. */
  text: string;
}

export interface Activity extends NewActivity {
  id: number;
}

export type RemoveAgentOutcome =
  | { kind: "removed"; agent: Agent /** Tasks that went back into the queue. */; released: string[]; unread: number }
  | { kind: "holds-tasks"; agent: Agent; tasks: string[] };

export interface ActivityQuery {
  limit: number;
  /** Only records older than this one: the next page. */
  beforeId?: number;
  kind?: string;
  subject?: string;
}

export interface ActivityPage {
  activity: Activity[];
  /** All that the query has, from `beforeId` on. */
  total: number;
  /** Set when there is more: pass it as `beforeId`. */
  nextBeforeId?: number;
}

export interface NewAgent {
  name: string;
  role: string;
  branch?: string;
  client?: string;
  worktree?: string;
}

export interface SeenAgent {
  name: string;
  branch?: string;
  /** For one that nobody added. Default: none; see ROLE_NOW in store/sqlite/work/agents.ts. */
  role?: string;
  client?: string;
  sessionId?: string;
  worktree?: string;
}

/** Without a branch: the agent of all branches, or the only one of that name. */
export interface AgentQuery {
  name: string;
  branch?: string;
}

export interface NewMessage {
  /** Names, with or without @. Every one must exist. */
  to: readonly string[];
  /** Names found in the text. Those that nobody has are no mentions. */
  mentions?: readonly string[];
  text: string;
  /** The id of the task or handoff it came with. */
  subject?: string;
  /** The sender's: of two agents of one name the one on it is meant. */
  branch?: string;
}

export interface SentMessage {
  id: string;
  to: string[];
}

export interface InboxQuery {
  agent: string;
  branch?: string;
  includeRead?: boolean;
  limit: number;
}

export interface SkillUse {
  at: Date;
  agent: string;
  taskId?: string;
  skill: string;
  /** Of its content: the version is kept under it. */
  hash: string;
  because: string;
}

// A plan into the work state: what the store is given, and what it says.

export interface PlanStore {
  /**
   * In one transaction. Tasks are found again by file and section, else by title, else (when they are open) by number; what the
   * plan says of title, description, criteria, files, steps and skill replaces what is stored, its dependencies are added.
   * Status, claim and WIP are never touched, a step that was done stays done. A new task whose heading or steps are
   * all checked starts as done.
   */
  importPlan(plan: PlanImport, by: Actor): Promise<PlanReport>;
}

export interface PlanImport {
  /** Relative to the project's root, with forward slashes. */
  file: string;
  title: string;
  tasks: readonly PlannedTask[];
  /** Where new tasks go. Default: the story that the plan's tasks are in, or a new one. */
  storyId?: string;
  /** Of the story that is made. */
  epicId?: string;
  /** Every task waits for the one before it. */
  isSequential?: boolean;
  /** Only report. The ids of what would be made are made up. */
  isDryRun?: boolean;
}

export interface PlanReport {
  /** Undefined: the plan has no task. */
  story?: { id: string; title: string; isNew: boolean };
  created: PlanTaskBrief[];
  updated: (PlanTaskBrief & { fields: string[] })[];
  unchanged: PlanTaskBrief[];
  /** Stored from this plan, and no longer in it. Nothing was done to them. */
  gone: (PlanTaskBrief & { status: TaskStatus })[];
  problems: { where: string; text: string }[];
  /** Checked off in the plan and still open in the store: importing changes no status. */
  behind: (PlanTaskBrief & { status: TaskStatus })[];
}

export interface PlanTaskBrief {
  id: string;
  /** In the plan. */
  number: string;
  title: string;
}
