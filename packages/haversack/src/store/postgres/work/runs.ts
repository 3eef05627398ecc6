// Made from store/sqlite/work/runs.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/** Runs of headless sessions. Fields that are never searched for are JSON in one column. */

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
import type { Connection } from "../connection.ts";
import { all, run as exec, one, type Row } from "./rows.ts";

const ID_DIGITS = 4;

export async function createRun(db: Connection, run: NewRun): Promise<Run> {
  let id = newId("R", ID_DIGITS);
  while (await one(db, "SELECT 1 FROM runs WHERE id = ?", id)) id = newId("R", ID_DIGITS);
  const whole: Run = {
    ...run,
    id,
    state: "running",
    seenAt: run.startedAt,
    batchSize: 0,
    workedMs: 0,
    countsFrom: 0,
  };
  await saveRun(db, whole);
  return whole;
}

export async function getRun(db: Connection, id: string): Promise<Run> {
  const wanted = id.toUpperCase();
  const found = await one<Row>(db, ONE_RUN, wanted);
  if (found) return runOf(found);
  const like = await all<Row>(db, "SELECT * FROM runs WHERE id LIKE ? || '%' LIMIT 2", wanted.replace(/[%_]/g, ""));
  const [only, other] = like;
  if (only && !other && wanted.length > 2) return runOf(only);
  throw new HaversackError("not-found", `there is no run "${id}"`, { hint: "`haversack runs list` shows them" });
}

const ONE_RUN = "SELECT * FROM runs WHERE id = ?";

export async function listRuns(db: Connection, { limit }: { limit: number }): Promise<Run[]> {
  return (await all<Row>(db, "SELECT * FROM runs ORDER BY started_at DESC, id LIMIT ?", limit)).map(runOf);
}

export async function lastRun(db: Connection, scope: RunScope, machine?: string): Promise<Run | undefined> {
  const rows = await all<Row>(db, SELECT_LAST, scope.kind, scopeId(scope));
  return rows.map(runOf).find((run) => machine === undefined || run.machine === machine);
}

export async function takeRun(
  db: Connection,
  run: Run,
  by: Pick<Run, "machine" | "process" | "seenAt">,
): Promise<boolean> {
  const row = await one<Row>(db, ONE_RUN, run.id);
  const { endedAt: _, stopped: __, ...found } = row ? runOf(row) : run;
  if (!row || JSON.stringify(found.process) !== JSON.stringify(run.process) || found.state !== run.state) return false;
  await saveRun(db, { ...found, ...by, state: "running", restarts: (found.restarts ?? 0) + 1 });
  await exec(db, "UPDATE runs SET stop_request = NULL WHERE id = ?", run.id);
  return true;
}

export async function updateRun(db: Connection, id: string, change: RunChange): Promise<void> {
  const row = await one<Row>(db, ONE_RUN, id);
  if (row) await saveRun(db, { ...runOf(row), ...change });
}

export async function requestStop(db: Connection, id: string, how: StopWay | undefined): Promise<void> {
  await exec(db, "UPDATE runs SET stop_request = ? WHERE id = ?", how ?? null, id);
}

export async function stopRequest(db: Connection, id: string): Promise<StopWay | undefined> {
  const row = await one<Row>(db, "SELECT stop_request FROM runs WHERE id = ?", id);
  return (row?.["stop_request"] as StopWay | null) ?? undefined;
}

export async function addSession(db: Connection, session: NewRunSession): Promise<RunSession> {
  const row = await one<Row>(db, "SELECT max(number) AS last FROM run_sessions WHERE run_id = ?", session.runId);
  const whole = { ...session, number: Number(row?.["last"] ?? 0) + 1 };
  await saveSession(db, whole);
  return whole;
}

export async function updateSession(
  db: Connection,
  runId: string,
  number: number,
  change: RunSessionChange,
): Promise<void> {
  const row = await one<Row>(db, "SELECT * FROM run_sessions WHERE run_id = ? AND number = ?", runId, number);
  if (row) await saveSession(db, { ...sessionOf(row), ...change });
}

export async function listSessions(db: Connection, runId: string): Promise<RunSession[]> {
  return (await all<Row>(db, "SELECT * FROM run_sessions WHERE run_id = ? ORDER BY number", runId)).map(sessionOf);
}

export async function sessionsSince(db: Connection, since: Date): Promise<RunSession[]> {
  const sql = "SELECT * FROM run_sessions WHERE started_at >= ? ORDER BY started_at";
  return (await all<Row>(db, sql, since.toISOString())).map(sessionOf);
}

export async function setTask(db: Connection, { at, ...task }: RunTask): Promise<void> {
  const sql = "INSERT OR REPLACE INTO run_tasks (run_id, task_id, at, data) VALUES (?, ?, ?, ?)";
  await exec(db, sql, task.runId, task.taskId, at.toISOString(), JSON.stringify(task));
}

export async function listRunTasks(db: Connection, runId: string): Promise<RunTask[]> {
  return (await all<Row>(db, "SELECT * FROM run_tasks WHERE run_id = ? ORDER BY at, task_id", runId)).map(
    withTime<RunTask>,
  );
}

export async function tasksSince(db: Connection, since: Date): Promise<RunTask[]> {
  const sql = "SELECT * FROM run_tasks WHERE at >= ? ORDER BY at, task_id";
  return (await all<Row>(db, sql, since.toISOString())).map(withTime<RunTask>);
}

export async function addTest(db: Connection, { at, ...test }: RunTest): Promise<void> {
  const sql = "INSERT INTO run_tests (run_id, at, data) VALUES (?, ?, ?)";
  await exec(db, sql, test.runId, at.toISOString(), JSON.stringify(test));
}

export async function listTests(db: Connection, runId: string): Promise<RunTest[]> {
  return (await all<Row>(db, "SELECT * FROM run_tests WHERE run_id = ? ORDER BY rowid", runId)).map(withTime<RunTest>);
}

export async function addMetrics(db: Connection, metrics: SessionMetrics): Promise<void> {
  const { sessionId, runId, batchesCompleted, lastBatchSize, lastBatchOutcome, createdAt } = metrics;
  await exec(
    db,
    `INSERT INTO session_metrics (session_id, run_id, batches_completed, last_batch_size, last_batch_outcome, created_at)
VALUES (?, ?, ?, ?, ?, ?)`,
    ...[sessionId, runId, batchesCompleted, lastBatchSize, lastBatchOutcome, createdAt.toISOString()],
  );
}

export async function metricsSince(db: Connection, since: Date): Promise<SessionMetrics[]> {
  const sql = "SELECT * FROM session_metrics WHERE created_at >= ? ORDER BY created_at";
  return (await all<Row>(db, sql, since.toISOString())).map(metricsOf);
}

/** Kept in `meta`: `drained:MACHINE`. */
export async function setDrained(db: Connection, machine: string, isDrained: boolean): Promise<void> {
  if (isDrained) await exec(db, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, '1')", `${DRAINED}${machine}`);
  else await exec(db, "DELETE FROM meta WHERE key = ?", `${DRAINED}${machine}`);
}

export async function drainedMachines(db: Connection): Promise<string[]> {
  const rows = await all<Row>(db, "SELECT key FROM meta WHERE key LIKE 'drained:%' ORDER BY key");
  return rows.map(({ key }) => String(key).slice(DRAINED.length));
}

const DRAINED = "drained:";

const SELECT_LAST = "SELECT * FROM runs WHERE scope_kind = ? AND scope_id = ? ORDER BY started_at DESC, id LIMIT 50";

function scopeId(scope: RunScope): string {
  return scope.kind === "all" ? "" : scope.id;
}

async function saveRun(db: Connection, { id, scope, state, startedAt, seenAt, endedAt, ...data }: Run): Promise<void> {
  const kept = (await one<Row>(db, "SELECT stop_request FROM runs WHERE id = ?", id))?.["stop_request"] ?? null;
  await exec(
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

async function saveSession(db: Connection, session: RunSession): Promise<void> {
  const { runId, number, startedAt, ...data } = session;
  const sql = "INSERT OR REPLACE INTO run_sessions (run_id, number, started_at, data) VALUES (?, ?, ?, ?)";
  await exec(db, sql, runId, number, startedAt.toISOString(), JSON.stringify(data));
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
