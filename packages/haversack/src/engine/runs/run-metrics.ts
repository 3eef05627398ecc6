/** The table of success metrics, computed from recorded runs. */
import { localDay } from "../../base/local-time.ts";
import type { Run, RunSession, RunStore, RunTask, SessionMetrics } from "../../store/run-store.ts";

export interface RunMetrics {
  runs: number;
  sessions: number;
  /** Tasks that runs finished. What people and other agents finish is not counted. */
  tasksDone: number;
  /** Done tasks per session that took tasks. */
  tasksPerSession: number | undefined;
  /** Share of the batches that were completed. */
  batchCompletion: number | undefined;
  /** Sessions that took tasks and were cut off, by their window in the middle of one too. A session that ends by itself does not count, even if it leaves a task open. */
  interruptions: number;
  /** How often somebody continued a run. */
  restarts: number;
  /** Sessions that took tasks, per run. */
  chainMedian: number | undefined;
  chainLongest: number | undefined;
  /** Share of the window that was used at the end of a session. */
  fillMedian: number | undefined;
  fillHighest: number | undefined;
  reviewFailures: number;
  /** Tasks that needed a fixer. */
  fixed: number;
  /** Share of those that were done in the end. */
  fixerSuccess: number | undefined;
}

export interface Period {
  from?: Date | undefined;
  /** Not included. */
  to?: Date | undefined;
}

export async function readMetrics({ from = new Date(0), to }: Period, store: RunStore): Promise<RunMetrics> {
  const isBefore = (at: Date) => to === undefined || at < to;
  const runs = (await store.listRuns({ limit: MOST_RUNS })).filter(
    ({ startedAt }) => startedAt >= from && isBefore(startedAt),
  );
  const sessions = (await store.sessionsSince(from)).filter(({ startedAt }) => isBefore(startedAt));
  const tasks = (await store.tasksSince(from)).filter(({ at }) => isBefore(at));
  const batches = (await store.metricsSince(from)).filter(({ createdAt }) => isBefore(createdAt));
  return measure({ runs, sessions, tasks, batches });
}

const MOST_RUNS = 100_000;

export interface Recorded {
  runs: readonly Pick<Run, "id" | "restarts" | "state">[];
  sessions: readonly Pick<
    RunSession,
    "runId" | "number" | "sessionId" | "purpose" | "usedTokens" | "windowTokens" | "end" | "toolCalls"
  >[];
  tasks: readonly Pick<RunTask, "state" | "fixes" | "reviewFailures">[];
  batches: readonly Pick<SessionMetrics, "sessionId" | "lastBatchOutcome">[];
}

export function measure({ runs, sessions, tasks, batches }: Recorded): RunMetrics {
  const worked = sessions.filter(({ purpose }) => purpose === "batch");
  const done = tasks.filter(({ state }) => state === "done");
  const fixed = tasks.filter(({ fixes, state }) => fixes > 0 && state !== "claimed");
  const ofRuns = new Map<string, number>();
  for (const { runId } of worked) ofRuns.set(runId, (ofRuns.get(runId) ?? 0) + 1);
  const chains = [...ofRuns.values()];
  const fills = fillsOf(worked);
  const outcomes = batches.map(({ lastBatchOutcome }) => lastBatchOutcome);
  return {
    runs: runs.length,
    sessions: sessions.length,
    tasksDone: done.length,
    tasksPerSession: share(done.length, worked.length),
    batchCompletion: share(outcomes.filter((one) => one === "completed").length, outcomes.length),
    interruptions: worked.filter((session) => isCutOff(session, { runs, batches })).length,
    restarts: runs.reduce((sum, { restarts = 0 }) => sum + restarts, 0),
    chainMedian: median(chains),
    chainLongest: highest(chains),
    fillMedian: median(fills),
    fillHighest: highest(fills),
    reviewFailures: tasks.reduce((sum, { reviewFailures }) => sum + reviewFailures, 0),
    fixed: fixed.length,
    fixerSuccess: share(fixed.filter(({ state }) => state === "done").length, fixed.length),
  };
}

/** The results of runs on one day. */
export interface RunDay {
  /** In the local time zone: 2026-11-18. */
  day: string;
  tasksDone: number;
  sessions: number;
  /** The median window use at the end of that day's sessions. */
  fillMedian: number | undefined;
}

/** All days from the first to the last with runs, including days without any. */
export async function readDays({ from = new Date(0), to }: Period, store: RunStore): Promise<RunDay[]> {
  const isBefore = (at: Date) => to === undefined || at < to;
  const sessions = (await store.sessionsSince(from)).filter(({ startedAt }) => isBefore(startedAt));
  const done = (await store.tasksSince(from)).filter(({ at, state }) => isBefore(at) && state === "done");
  const times = [...sessions.map(({ startedAt }) => startedAt), ...done.map(({ at }) => at)];
  if (times.length === 0) return [];
  const days: string[] = [];
  const [first, last] = [Math.min(...times.map(Number)), Math.max(...times.map(Number))];
  // Use noon, so that a day of 23 or 25 hours is not skipped.
  const cursor = new Date(Math.max(first, last - MOST_DAYS * DAY_MS));
  for (cursor.setHours(12, 0, 0, 0); days.at(-1) !== localDay(new Date(last)); cursor.setDate(cursor.getDate() + 1))
    days.push(localDay(cursor));
  return days.map((day) => {
    const ofDay = sessions.filter(({ startedAt }) => localDay(startedAt) === day);
    return {
      day,
      tasksDone: done.filter(({ at }) => localDay(at) === day).length,
      sessions: ofDay.length,
      fillMedian: median(fillsOf(ofDay)),
    };
  });
}

const MOST_DAYS = 366;
const DAY_MS = 86_400_000;

function fillsOf(sessions: Recorded["sessions"]): number[] {
  return sessions
    .filter(({ purpose }) => purpose === "batch")
    .flatMap(({ usedTokens, windowTokens }) => (usedTokens && windowTokens ? [usedTokens / windowTokens] : []));
}

const CUT_OFF = new Set(["crashed", "hung", "stopped", "circling"]);

function isCutOff(
  { runId, number, sessionId = `${runId}/${number}`, end, toolCalls }: Recorded["sessions"][number],
  { runs, batches }: Pick<Recorded, "runs" | "batches">,
): boolean {
  // Its runner was killed, and nobody has continued the run.
  if (end === undefined) return runs.some(({ id, state }) => id === runId && state === "interrupted");
  if (end === "window-full") {
    return batches.some((batch) => batch.sessionId === sessionId && batch.lastBatchOutcome === "interrupted");
  }
  // If the model's server refused the session at once, no work was interrupted.
  return CUT_OFF.has(end) || (end === "failed" && (toolCalls ?? 0) > 0);
}

function share(part: number, whole: number): number | undefined {
  return whole === 0 ? undefined : part / whole;
}

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}

function highest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values);
}
