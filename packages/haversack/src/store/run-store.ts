/** What runs leave behind: each run, its sessions, what became of its tasks, and every test run. Written before and after each step. */
export interface RunStore {
  createRun(run: NewRun): Promise<Run>;
  /** A fault `not-found` names the nearest. */
  getRun(id: string): Promise<Run>;
  /** Newest first. */
  listRuns(query: { limit: number }): Promise<Run[]>;
  /** The newest of this scope, on this machine if one is named. */
  lastRun(scope: RunScope, machine?: string): Promise<Run | undefined>;
  /** Makes this process its runner. False: another process has become it since `run` was read. */
  takeRun(run: Run, by: Pick<Run, "machine" | "process" | "seenAt">): Promise<boolean>;
  updateRun(id: string, change: RunChange): Promise<void>;
  /** Somebody wants it to stop. Undefined takes it back. */
  requestStop(id: string, how: StopWay | undefined): Promise<void>;
  stopRequest(id: string): Promise<StopWay | undefined>;
  /** A drained machine starts no runs and claims no tasks. */
  setDrained(machine: string, isDrained: boolean): Promise<void>;
  /** By name. */
  drainedMachines(): Promise<string[]>;

  addSession(session: NewRunSession): Promise<RunSession>;
  updateSession(runId: string, number: number, change: RunSessionChange): Promise<void>;
  /** Oldest first. */
  listSessions(runId: string): Promise<RunSession[]>;
  /** Of all runs since then, oldest first. */
  sessionsSince(since: Date): Promise<RunSession[]>;

  setTask(task: RunTask): Promise<void>;
  listTasks(runId: string): Promise<RunTask[]>;
  tasksSince(since: Date): Promise<RunTask[]>;

  addTest(test: RunTest): Promise<void>;
  listTests(runId: string): Promise<RunTest[]>;

  addMetrics(metrics: SessionMetrics): Promise<void>;
  metricsSince(since: Date): Promise<SessionMetrics[]>;
}

/** now: at once. drain: finish the tasks that it has, and take no others. */
export type StopWay = "gracefully" | "now" | "drain";

export type RunScope = { kind: "epic" | "story"; id: string } | { kind: "all" };

export type RunState =
  | "running"
  /** It ended by itself: everything is done, or a brake held. */
  | "ended"
  /** Its process is gone. Found out by whoever looks. */
  | "interrupted";

export interface NewRun {
  scope: RunScope;
  client: string;
  /** What it was started with: limits, tests, whether tasks run apart. */
  options: Readonly<Record<string, unknown>>;
  machine: string;
  process: RunProcess;
  startedAt: Date;
}

export interface RunProcess {
  id: number;
  space: string;
  /** Tells it from a later process with the same id. */
  start?: number | undefined;
}

export interface Run extends NewRun {
  id: string;
  state: RunState;
  /** Sign of life. */
  seenAt: Date;
  endedAt?: Date;
  /** Why it stopped. */
  stopped?: string;
  report?: string;
  /** The commit that it began with. */
  base?: string;
  /** Red before the first task: the fingerprint of that failure. */
  redBefore?: string;
  batchSize: number;
  /** Time in which it could work, in milliseconds. */
  workedMs: number;
  /** Sessions up to this one were before somebody let it go on after a limit: they do not count against the limits any more. */
  countsFrom: number;
  /** Times that somebody let it go on. */
  restarts?: number;
}

export interface RunChange {
  workedMs?: number;
  countsFrom?: number;
  state?: RunState;
  seenAt?: Date;
  endedAt?: Date;
  stopped?: string;
  report?: string;
  base?: string;
  redBefore?: string;
  batchSize?: number;
  process?: RunProcess;
  machine?: string;
}

export type SessionPurpose = "batch" | "fix" | "review";

export interface NewRunSession {
  runId: string;
  purpose: SessionPurpose;
  taskIds: readonly string[];
  role?: string;
  startedAt: Date;
}

export interface RunSession extends NewRunSession {
  number: number;
  sessionId?: string;
  process?: RunProcess;
  endedAt?: Date;
  end?: string;
  text?: string;
  usedTokens?: number;
  windowTokens?: number;
  inputTokens?: number;
  cachedTokens?: number;
  outputTokens?: number;
  costUsd?: number;
  toolCalls?: number;
  compactions?: number;
  /** Where uncommitted changes were kept. */
  kept?: string;
  /** It was asked to end, and its tasks go on in the next one: no crash. */
  isHandedOn?: boolean;
}

export type RunSessionChange = Partial<Omit<RunSession, "runId" | "number" | "purpose" | "startedAt">>;

export type RunTaskState = "claimed" | "done" | "blocked" | "returned" | "conflict";

export interface RunTask {
  runId: string;
  taskId: string;
  state: RunTaskState;
  /** Fixer sessions so far. */
  fixes: number;
  reviewFailures: number;
  title: string;
  /** Why it is blocked. */
  evidence?: string;
  /** Of its last handoff and its WIP, taken before it was done: decay may shorten them. */
  summary?: string;
  decisions?: readonly string[];
  nextStep?: string;
  /** Its share of the sessions that it was in. */
  tokens: number;
  costUsd?: number;
  sessions: number;
  branch?: string;
  /** Where it runs apart from the others: the folder, and the commit that it began with. */
  worktree?: string;
  base?: string;
  /** Its session says that it is finished; the tests or a review are still due. */
  isUnverified?: boolean;
  /** Times that a session gave up on it. */
  failures?: number;
  at: Date;
}

export interface RunTest {
  runId: string;
  /** The session after which it ran; 0: before the first one. */
  session: number;
  taskIds: readonly string[];
  command: string;
  isGreen: boolean;
  exitCode: number | null;
  tookMs: number;
  fingerprint: string;
  output: string;
  at: Date;
}

/** Of one batch of a session. */
export interface SessionMetrics {
  sessionId: string;
  runId: string;
  batchesCompleted: number;
  lastBatchSize: number;
  lastBatchOutcome: "completed" | "interrupted" | "failed" | "blocked";
  createdAt: Date;
}
