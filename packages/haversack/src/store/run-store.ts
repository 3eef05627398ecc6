/** The records of runs: each run, its sessions, the results of its tasks, and every test run. Written before and after each step. */
export interface RunStore {
  createRun(run: NewRun): Promise<Run>;
  /** Throws `not-found`, with the nearest ID. */
  getRun(id: string): Promise<Run>;
  /** Newest first. */
  listRuns(query: { limit: number }): Promise<Run[]>;
  /** The newest run of this scope; with `machine`, only of that machine. */
  lastRun(scope: RunScope, machine?: string): Promise<Run | undefined>;
  /** Makes this process the run's runner. False: since `run` was read, another process has become its runner. */
  takeRun(run: Run, by: Pick<Run, "machine" | "process" | "seenAt">): Promise<boolean>;
  updateRun(id: string, change: RunChange): Promise<void>;
  /** Asks the run to stop. Undefined withdraws the request. */
  requestStop(id: string, how: StopWay | undefined): Promise<void>;
  stopRequest(id: string): Promise<StopWay | undefined>;
  /** A drained machine starts no runs and claims no tasks. */
  setDrained(machine: string, isDrained: boolean): Promise<void>;
  /** Sorted by name. */
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

/** gracefully: save, then end. now: end at once. drain: finish the current tasks and take no others. */
export type StopWay = "gracefully" | "now" | "drain";

export type RunScope = { kind: "epic" | "story"; id: string } | { kind: "all" };

export type RunState =
  | "running"
  /** It ended by itself: everything is done, or a limit was reached. */
  | "ended"
  /** Its process is gone. The next process that reads the run notices this. */
  | "interrupted";

export interface NewRun {
  scope: RunScope;
  client: string;
  /** The options it was started with: limits, tests, isolation. */
  options: Readonly<Record<string, unknown>>;
  machine: string;
  process: RunProcess;
  startedAt: Date;
}

export interface RunProcess {
  id: number;
  space: string;
  /** Distinguishes it from a later process with the same id. */
  start?: number | undefined;
}

export interface Run extends NewRun {
  id: string;
  state: RunState;
  /** Its last sign of life. */
  seenAt: Date;
  endedAt?: Date;
  /** Why it stopped. */
  stopped?: string;
  report?: string;
  /** The commit it started from. */
  base?: string;
  /** Where the changes were kept that were uncommitted before the first session. */
  kept?: string;
  /** The fingerprint of a test failure before the first task. */
  redBefore?: string;
  batchSize: number;
  /** Working time in milliseconds, without pauses of the machine. */
  workedMs: number;
  /** Somebody continued the run after a limit. Sessions up to this one no longer count towards the limits. */
  countsFrom: number;
  /** How often somebody continued it. */
  restarts?: number;
}

export type RunChange = Partial<Omit<Run, "id" | "scope" | "client" | "options" | "startedAt" | "restarts">>;

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
  /** Why it was asked to save and end. If its runner is killed then, its end is no crash. */
  asked?: string;
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
  /** Why it is blocked, or went back into the next session. */
  evidence?: string | undefined;
  /** From its last handoff and its WIP, copied before it was done, because decay may shorten them. */
  summary?: string;
  decisions?: readonly string[];
  nextStep?: string;
  /** Its share of the tokens of its sessions. */
  tokens: number;
  costUsd?: number;
  sessions: number;
  branch?: string;
  /** With --isolate: its folder, and the commit it started from. */
  worktree?: string;
  base?: string;
  /** Its session reports it as finished, but tests or a review are still missing. */
  isUnverified?: boolean;
  /** How many sessions gave up on it. */
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

/** The metrics of one batch of a session. */
export interface SessionMetrics {
  sessionId: string;
  runId: string;
  batchesCompleted: number;
  lastBatchSize: number;
  lastBatchOutcome: "completed" | "interrupted" | "failed" | "blocked";
  createdAt: Date;
}
