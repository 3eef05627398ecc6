/**
 * The half of the store that a team can share: epics, stories, tasks, their queue, claims, WIP, handoffs, activity. Every
 * operation is atomic, and saved for good once its promise is fulfilled. No caller ever holds a transaction, so a server behind
 * a network can implement it. Times come in as arguments.
 *
 * An id may be given in full, as an alias that another clone uses, or as a unique prefix of at least three digits (`T482`). An exact
 * id wins over an alias, an alias over a prefix. An unknown id is a `not-found` fault that names the nearest one. An invalid field
 * is an `input-invalid` fault that names the field. After a fault nothing has changed.
 *
 * The queue is always up to date: every operation leaves it as if it were computed from scratch. Each operation first returns
 * the claims that have expired by its time.
 */
import type { Agent, Message } from "../wake/text.ts";
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
import type { Wip, WipPatch } from "../work/wip/wip.ts";
import type { ImportOptions, ImportReport, WorkRecord } from "./record-fields.ts";

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
  /** Work in hand first: in progress, review, blocked, todo in queue order, done newest first, archived. */
  listTasks(query: TaskQuery): Promise<Page<Task>>;
  countTasks(scope: Scope, at: Date): Promise<TaskCounts>;

  /** `in_progress` claims the task for the actor. Setting the same status again does nothing and is no error. */
  setStatus(change: StatusChange, by: Actor): Promise<StatusOutcome>;

  addDependency(dependency: Dependency, by: Actor): Promise<DependencyOutcome>;
  /** False: there was no such dependency. */
  removeDependency(ends: Omit<Dependency, "type">, by: Actor): Promise<boolean>;
  /** Both directions for one task. */
  listDependencies(taskId: string): Promise<DependencyList>;
  /** Sets the status to `blocked` and keeps the reason. */
  setBlocker(blocker: { taskId: string; reason: string }, by: Actor): Promise<StatusOutcome>;
  /** Resolves all open blockers. A blocked task becomes `todo`; any other status stays. */
  resolveBlockers(change: { taskId: string; notes?: string }, by: Actor): Promise<StatusOutcome>;
  listBlockers(taskId: string): Promise<Blocker[]>;
  recordFailure(failure: { taskId: string; summary: string; details?: string }, by: Actor): Promise<{ count: number }>;
  listFailures(taskId: string): Promise<Failure[]>;

  /** Ready tasks in order. Never scans more than it returns. */
  nextTasks(query: NextQuery): Promise<NextTasks>;
  filesInProgress(scope: Scope, at: Date): Promise<string[]>;

  /** The first claim wins. Without `taskId`: the next ready task of the scope. */
  claim(request: ClaimRequest, by: Actor): Promise<ClaimOutcome>;
  /** Prolongs one claim, or all claims of the agent. */
  heartbeat(request: { taskId?: string; leaseMs: number }, by: Actor): Promise<HeartbeatOutcome>;
  /** Returns the task to the queue with its WIP. A left task is in the queue already; it is only no longer listed as left. */
  release(request: { taskId: string; reason?: string }, by: Actor): Promise<ReleaseOutcome>;
  listClaims(query: { agent?: string; at: Date }): Promise<Claim[]>;
  /**
   * Unfinished tasks whose claim ended unintentionally: it expired, or its session ended. Newest sign of life first. A task is
   * listed until it is finished, released, set to another status, or claimed by another agent.
   */
  listLeft(query: { limit: number; at: Date }): Promise<LeftTask[]>;

  /** Deep merge. The history keeps replaced values. `merge` is pure and may be called again. `patch`: what it merges, for a change that is sent later. */
  updateWip(
    change: { taskId: string; merge: WipMerger; patch?: WipPatch },
    by: Actor,
  ): Promise<{ wip: Wip; changed: boolean }>;
  /** Newest first. */
  wipHistory(query: { taskId: string; limit: number }): Promise<WipHistoryEntry[]>;

  /** Default attempt: the role's next one. The same handoff from the same actor within a minute changes nothing; a different text for a stored attempt is refused. */
  setHandoff(handoff: NewHandoff, by: Actor): Promise<Handoff>;
  /** The latest handoff, or the latest of that role or attempt. Undefined: the task has none. */
  getHandoff(query: HandoffQuery): Promise<Handoff | undefined>;
  /** One page of the details, in characters. Also for archived handoffs. */
  readHandoffDetails(query: { id: string; from: number; maxChars: number }): Promise<{ text: string; total: number }>;
  /** Newest first. */
  listHandoffs(query: {
    scope: Scope & { taskId?: string };
    limit: number;
    includeArchived?: boolean;
  }): Promise<Page<Handoff>>;
  /** Decays handoffs of completed stories and epics. `isForced`: in any state of the scope. `includeFailed`: failed ones too. */
  decay(request: DecayRequest, by: Actor): Promise<{ compacted: number; archived: number }>;
  /** Restores a handoff, or all handoffs of a task, story or epic. */
  restore(id: string, by: Actor): Promise<{ restored: number }>;

  /** Append-only. Ids increase with every record. */
  recordActivity(activity: NewActivity): Promise<{ id: number }>;
  /** Newest first. */
  listActivity(query: ActivityQuery): Promise<ActivityPage>;

  /** For an existing name and branch, the given fields replace the stored ones. */
  addAgent(agent: NewAgent, by: Actor): Promise<Agent>;
  /** Records which agent a session is. Adds the agent if it is unknown. */
  seeAgent(seen: SeenAgent, at: Date): Promise<Agent>;
  getAgent(query: AgentQuery): Promise<Agent>;
  /** Messages and history stay, and return when it is added or seen again. Refused while it holds tasks, unless forced: then they go back to the queue. */
  removeAgent(request: AgentQuery & { isForced?: boolean }, by: Actor): Promise<RemoveAgentOutcome>;
  /** By name. */
  listAgents(): Promise<Agent[]>;
  /** Sends to nobody if one of `to` is unknown. */
  sendMessage(message: NewMessage, by: Actor): Promise<SentMessage>;
  /** Unread messages, oldest first; with `includeRead` all messages, newest first. */
  inbox(query: InboxQuery): Promise<Page<Message>>;
  /** Returns how many became read. Without ids: marks all. */
  markRead(request: AgentQuery & { ids?: readonly string[] }, at: Date): Promise<number>;
  /** Records which version of a skill is used for a task. The same version again is not recorded. */
  recordSkill(use: Omit<SkillUse, "at">, at: Date): Promise<void>;
  /** Newest first. */
  skillHistory(query: { agent?: string; taskId?: string; limit: number }): Promise<SkillUse[]>;

  /** The kind of thing that has this id, and its full id. */
  findId(id: string): Promise<FoundId>;
  /** Up to four ids of any length that start with this one. Empty if this is an exact id or alias. */
  findLonger(id: string): Promise<FoundId[]>;

  /** The last batch given to this receiver, and the state of its tasks. A receiver is a session id or `agent:NAME`. */
  lastBatch(receiver: string): Promise<GivenBatch | undefined>;
  recordBatch(batch: { receiver: string; size: number; taskIds: readonly string[] }, by: Actor): Promise<void>;

  /** All records in export order: the same content gives the same bytes. */
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

/** Who acts, from where, and when. */
export interface Actor {
  /** An agent's name, a person, `haversack`. */
  name: string;
  /** A person may change what an agent holds; another agent may not. */
  isPerson?: boolean;
  /** The name was given, not derived from the session, so others can send messages to it. */
  isNamed?: boolean;
  sessionId?: string;
  /** "" or absent: the session's main agent. */
  agentId?: string;
  /** Where the actor works; stored with its claims. */
  place?: WorkPlace;
  at: Date;
}

export interface WorkPlace {
  client?: string;
  /** The top folder of the git work tree; outside git, the project folder. Absolute. */
  worktree?: string;
  branch?: string;
}

export interface Scope {
  epicId?: string;
  storyId?: string;
}

export interface Page<T> {
  items: T[];
  /** The number of results without the limit. */
  total: number;
}

export type NewEpic = Pick<Epic, "title" | "description" | "source"> & { priority?: Priority };
export type EpicChanges = Nullable<Omit<NewEpic, "source">> & { status?: "archived" | "todo" };

export type NewStory = Pick<Story, "title" | "epicId" | "description" | "acceptanceCriteria" | "source">;
export type StoryChanges = Nullable<Omit<NewStory, "source">> & { status?: "archived" | "todo" };

export interface NewTask extends TaskFieldValues {
  title: string;
  /** Tasks that must be done first. Added in the same transaction. */
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
  /** Only those that somebody holds, or held last and left unfinished. */
  hasHolder?: boolean;
  planFile?: string;
  /** Only those whose ID or title contains this, in any case. */
  find?: string;
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
  /** Stored in the activity, and for `blocked` as the reason. */
  notes?: string;
  /** Used for `in_progress`. */
  leaseMs: number;
  /** Start even if dependencies are still open. */
  isForced?: boolean;
  /** The most claims that one agent may have at once. Default: no limit. */
  maxClaims?: number;
}

export interface Boundaries {
  /** Set when this completed the story's last task. */
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
      /** Its sub-tasks, when the task was claimed or has ended. */
      parts?: TaskPart[];
      /** Set when a task was marked as done although its last handoff did not pass. */
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
  /** Take the task from its holder, for this reason. */
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
  /** The claim expired or was taken: stop working on the task. */
  | { kind: "lost"; task: TaskBrief; by?: Claim }
  | { kind: "none" };

export type ReleaseOutcome =
  | { kind: "released"; task: TaskBrief }
  | { kind: "not-held"; task: TaskBrief }
  | { kind: "held"; task: TaskBrief; by: Claim };

export type DependencyOutcome =
  | { kind: "added" | "unchanged"; dependency: Dependency }
  /** The cycle: from the task through its dependencies back to itself. */
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
  /** The number of ready tasks, counted up to `COUNTED_READY`. */
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

export interface NewHandoff extends Pick<Handoff, "taskId" | "role" | "status" | "summary"> {
  attempt?: number;
  filesChanged?: readonly string[];
  details?: string;
}

/** `status`: the latest handoff with that verdict. */
export type HandoffQuery = Pick<Handoff, "taskId"> & Partial<Pick<Handoff, "role" | "attempt" | "status">>;

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
  /** Who acted: an agent, a person, `haversack`. */
  actor: string;
  /** A short kebab-case word, such as `task-claimed`. */
  kind: string;
  /** The id of the one thing that the record is about, if any. */
  subject?: string;
  /** One line for people, already masked by the caller. */
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
  /** Only records older than this one, for the next page. */
  beforeId?: number;
  kind?: string;
  subject?: string;
}

export interface ActivityPage {
  activity: Activity[];
  /** The number of matching records from `beforeId` on. */
  total: number;
  /** Set when there is more: pass it as `beforeId`. */
  nextBeforeId?: number;
}

/** `role`: used if the agent is unknown. Default: none; see ROLE_NOW in store/sqlite/work/agents.ts. */
export type SeenAgent = Omit<Agent, "createdAt" | "lastSeenAt">;

export type NewAgent = Omit<SeenAgent, "sessionId"> & { role: string };

/** Without a branch: the agent for all branches, or the only one of that name. */
export interface AgentQuery {
  name: string;
  branch?: string;
}

export interface NewMessage {
  /** Names, with or without @. All must exist. */
  to: readonly string[];
  /** Names found in the text. Unknown names are ignored. */
  mentions?: readonly string[];
  text: string;
  /** The id of the task or handoff that the message came with. */
  subject?: string;
  /** The sender's branch. If two agents share a name, the one on this branch is meant. */
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
  /** The hash of its content, under which the version is stored. */
  hash: string;
  because: string;
}

// Importing a plan: what the store receives and what it reports.

export interface PlanStore {
  /**
   * In one transaction. Matches tasks by file and section, else by title, else (open tasks only) by number. The plan's title,
   * description, criteria, files, steps and skill replace the stored ones; its dependencies are added. Status, claim and WIP never
   * change, and a step that was done stays done. A new task whose heading or steps are all checked starts as done.
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
  /** The epic of a new story. */
  epicId?: string;
  /** Every task waits for the one before it. */
  isSequential?: boolean;
  /** Report only. New ids in the report are made up. */
  isDryRun?: boolean;
}

export interface PlanReport {
  /** Undefined: the plan has no task. */
  story?: { id: string; title: string; isNew: boolean };
  created: PlanTaskBrief[];
  updated: (PlanTaskBrief & { fields: string[] })[];
  unchanged: PlanTaskBrief[];
  /** Stored from this plan but no longer in it. They were not changed. */
  gone: (PlanTaskBrief & { status: TaskStatus })[];
  problems: { where: string; text: string }[];
  /** Checked off in the plan but still open in the store: an import changes no status. */
  behind: (PlanTaskBrief & { status: TaskStatus })[];
}

export interface PlanTaskBrief {
  id: string;
  /** The task's number in the plan. */
  number: string;
  title: string;
}
