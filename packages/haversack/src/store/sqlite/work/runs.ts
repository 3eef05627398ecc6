/** Runs of headless sessions. Fields that are never searched for are JSON in one column. */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import type {
  NewRun,
  NewRunSession,
  Run,
  RunChange,
  RunScope,
  RunSession,
  RunSessionChange,
  RunTask,
  RunTest,
  SessionMetrics,
  StopWay,
} from "../../run-store.ts";
import { all, run as exec, one, type Row } from "./rows.ts";

const ID_DIGITS = 4;

export function createRun(db: DatabaseSync, run: NewRun): Run {
  let id = newId("R", ID_DIGITS);
  while (one(db, "SELECT 1 FROM runs WHERE id = ?", id)) id = newId("R", ID_DIGITS);
  const whole: Run = {
    ...run,
    id,
    state: "running",
    seenAt: run.startedAt,
    batchSize: 0,
    workedMs: 0,
    countsFrom: 0,
  };
  saveRun(db, whole);
  return whole;
}

export function getRun(db: DatabaseSync, id: string): Run {
  const wanted = id.toUpperCase();
  const found = one<Row>(db, ONE_RUN, wanted);
  if (found) return runOf(found);
  const like = all<Row>(db, "SELECT * FROM runs WHERE id LIKE ? || '%' LIMIT 2", wanted.replace(/[%_]/g, ""));
  const [only, other] = like;
  if (only && !other && wanted.length > 2) return runOf(only);
  throw new HaversackError("not-found", `there is no run "${id}"`, { hint: "`haversack runs list` shows them" });
}

const ONE_RUN = "SELECT * FROM runs WHERE id = ?";

export function listRuns(db: DatabaseSync, { limit }: { limit: number }): Run[] {
  return all<Row>(db, "SELECT * FROM runs ORDER BY started_at DESC, id LIMIT ?", limit).map(runOf);
}

export function lastRun(db: DatabaseSync, scope: RunScope, machine?: string): Run | undefined {
  const rows = all<Row>(db, SELECT_LAST, scope.kind, scopeId(scope));
  return rows.map(runOf).find((run) => machine === undefined || run.machine === machine);
}

export function takeRun(db: DatabaseSync, run: Run, by: Pick<Run, "machine" | "process" | "seenAt">): boolean {
  const row = one<Row>(db, ONE_RUN, run.id);
  const { endedAt: _, stopped: __, ...found } = row ? runOf(row) : run;
  if (!row || JSON.stringify(found.process) !== JSON.stringify(run.process) || found.state !== run.state) return false;
  saveRun(db, { ...found, ...by, state: "running", restarts: (found.restarts ?? 0) + 1 });
  exec(db, "UPDATE runs SET stop_request = NULL WHERE id = ?", run.id);
  return true;
}

export function updateRun(db: DatabaseSync, id: string, change: RunChange): void {
  const row = one<Row>(db, ONE_RUN, id);
  if (row) saveRun(db, { ...runOf(row), ...change });
}

export function requestStop(db: DatabaseSync, id: string, how: StopWay | undefined): void {
  exec(db, "UPDATE runs SET stop_request = ? WHERE id = ?", how ?? null, id);
}

export function stopRequest(db: DatabaseSync, id: string): StopWay | undefined {
  const row = one<Row>(db, "SELECT stop_request FROM runs WHERE id = ?", id);
  return (row?.["stop_request"] as StopWay | null) ?? undefined;
}

export function addSession(db: DatabaseSync, session: NewRunSession): RunSession {
  const row = one<Row>(db, "SELECT max(number) AS last FROM run_sessions WHERE run_id = ?", session.runId);
  const whole = { ...session, number: Number(row?.["last"] ?? 0) + 1 };
  saveSession(db, whole);
  return whole;
}

export function updateSession(db: DatabaseSync, runId: string, number: number, change: RunSessionChange): void {
  const row = one<Row>(db, "SELECT * FROM run_sessions WHERE run_id = ? AND number = ?", runId, number);
  if (row) saveSession(db, { ...sessionOf(row), ...change });
}

export function listSessions(db: DatabaseSync, runId: string): RunSession[] {
  return all<Row>(db, "SELECT * FROM run_sessions WHERE run_id = ? ORDER BY number", runId).map(sessionOf);
}

export function sessionsSince(db: DatabaseSync, since: Date): RunSession[] {
  const sql = "SELECT * FROM run_sessions WHERE started_at >= ? ORDER BY started_at";
  return all<Row>(db, sql, since.toISOString()).map(sessionOf);
}

export function setTask(db: DatabaseSync, { at, ...task }: RunTask): void {
  const sql = "INSERT OR REPLACE INTO run_tasks (run_id, task_id, at, data) VALUES (?, ?, ?, ?)";
  exec(db, sql, task.runId, task.taskId, at.toISOString(), JSON.stringify(task));
}

export function listRunTasks(db: DatabaseSync, runId: string): RunTask[] {
  return all<Row>(db, "SELECT * FROM run_tasks WHERE run_id = ? ORDER BY at, task_id", runId).map(withTime<RunTask>);
}

export function tasksSince(db: DatabaseSync, since: Date): RunTask[] {
  const sql = "SELECT * FROM run_tasks WHERE at >= ? ORDER BY at, task_id";
  return all<Row>(db, sql, since.toISOString()).map(withTime<RunTask>);
}

export function addTest(db: DatabaseSync, { at, ...test }: RunTest): void {
  const sql = "INSERT INTO run_tests (run_id, at, data) VALUES (?, ?, ?)";
  exec(db, sql, test.runId, at.toISOString(), JSON.stringify(test));
}

export function listTests(db: DatabaseSync, runId: string): RunTest[] {
  return all<Row>(db, "SELECT * FROM run_tests WHERE run_id = ? ORDER BY rowid", runId).map(withTime<RunTest>);
}

export function addMetrics(db: DatabaseSync, metrics: SessionMetrics): void {
  const { sessionId, runId, batchesCompleted, lastBatchSize, lastBatchOutcome, createdAt } = metrics;
  exec(
    db,
    `INSERT INTO session_metrics (session_id, run_id, batches_completed, last_batch_size, last_batch_outcome, created_at)
VALUES (?, ?, ?, ?, ?, ?)`,
    ...[sessionId, runId, batchesCompleted, lastBatchSize, lastBatchOutcome, createdAt.toISOString()],
  );
}

export function metricsSince(db: DatabaseSync, since: Date): SessionMetrics[] {
  const sql = "SELECT * FROM session_metrics WHERE created_at >= ? ORDER BY created_at";
  return all<Row>(db, sql, since.toISOString()).map(metricsOf);
}

/** Kept in `meta`: `drained:MACHINE`. */
export function setDrained(db: DatabaseSync, machine: string, isDrained: boolean): void {
  if (isDrained) exec(db, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, '1')", `${DRAINED}${machine}`);
  else exec(db, "DELETE FROM meta WHERE key = ?", `${DRAINED}${machine}`);
}

export function drainedMachines(db: DatabaseSync): string[] {
  const rows = all<Row>(db, "SELECT key FROM meta WHERE key LIKE 'drained:%' ORDER BY key");
  return rows.map(({ key }) => String(key).slice(DRAINED.length));
}

const DRAINED = "drained:";

const SELECT_LAST = "SELECT * FROM runs WHERE scope_kind = ? AND scope_id = ? ORDER BY started_at DESC, id LIMIT 50";

function scopeId(scope: RunScope): string {
  return scope.kind === "all" ? "" : scope.id;
}

function saveRun(db: DatabaseSync, { id, scope, state, startedAt, seenAt, endedAt, ...data }: Run): void {
  const kept = one<Row>(db, "SELECT stop_request FROM runs WHERE id = ?", id)?.["stop_request"] ?? null;
  exec(
    db,
    `INSERT OR REPLACE INTO runs (id, scope_kind, scope_id, state, started_at, seen_at, ended_at, stop_request, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, scope.kind, scopeId(scope), state, startedAt.toISOString(), seenAt.toISOString()],
    ...[endedAt?.toISOString() ?? null, kept as string | null, JSON.stringify(data)],
  );
}

function runOf(row: Row): Run {
  const kind = row["scope_kind"] as RunScope["kind"];
  return {
    ...(JSON.parse(String(row["data"])) as Omit<Run, "id" | "scope" | "state" | "startedAt" | "seenAt">),
    id: String(row["id"]),
    scope: kind === "all" ? { kind } : { kind, id: String(row["scope_id"]) },
    state: row["state"] as Run["state"],
    startedAt: new Date(String(row["started_at"])),
    seenAt: new Date(String(row["seen_at"])),
    ...(row["ended_at"] !== null && { endedAt: new Date(String(row["ended_at"])) }),
  };
}

function saveSession(db: DatabaseSync, session: RunSession): void {
  const { runId, number, startedAt, ...data } = session;
  const sql = "INSERT OR REPLACE INTO run_sessions (run_id, number, started_at, data) VALUES (?, ?, ?, ?)";
  exec(db, sql, runId, number, startedAt.toISOString(), JSON.stringify(data));
}

function sessionOf(row: Row): RunSession {
  const { endedAt, ...data } = JSON.parse(String(row["data"])) as Omit<RunSession, "endedAt"> & { endedAt?: string };
  return {
    ...data,
    runId: String(row["run_id"]),
    number: Number(row["number"]),
    startedAt: new Date(String(row["started_at"])),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt) }),
  };
}

function withTime<T extends { at: Date }>(row: Row): T {
  return { ...(JSON.parse(String(row["data"])) as T), at: new Date(String(row["at"])) };
}

function metricsOf(row: Row): SessionMetrics {
  return {
    sessionId: String(row["session_id"]),
    runId: String(row["run_id"]),
    batchesCompleted: Number(row["batches_completed"]),
    lastBatchSize: Number(row["last_batch_size"]),
    lastBatchOutcome: row["last_batch_outcome"] as SessionMetrics["lastBatchOutcome"],
    createdAt: new Date(String(row["created_at"])),
  };
}
