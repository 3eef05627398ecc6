/** Runs in SQLite. What is never searched for is JSON in one column. */
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
  RunStore,
  RunTask,
  RunTest,
  SessionMetrics,
} from "../../run-store.ts";
import { readStore, type StoreHandle, writeStore } from "../access.ts";

type Row = Record<string, unknown>;

const ID_DIGITS = 4;

export class SqliteRunStore implements RunStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  async createRun(run: NewRun): Promise<Run> {
    return this.#write((db) => {
      const isTaken = db.prepare("SELECT 1 FROM runs WHERE id = ?");
      let id = newId("R", ID_DIGITS);
      while (isTaken.get(id)) id = newId("R", ID_DIGITS);
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
    });
  }

  async getRun(id: string): Promise<Run> {
    const wanted = id.toUpperCase();
    const found = this.#read((db) => db.prepare("SELECT * FROM runs WHERE id = ?").get(wanted));
    if (found) return runOf(found);
    const like = this.#read((db) =>
      db.prepare("SELECT * FROM runs WHERE id LIKE ? || '%' LIMIT 2").all(wanted.replace(/[%_]/g, "")),
    );
    const [only, other] = like;
    if (only && !other && wanted.length > 2) return runOf(only);
    throw new HaversackError("not-found", `there is no run ${id}`, { hint: "`haversack runs list` shows them" });
  }

  async listRuns({ limit }: { limit: number }): Promise<Run[]> {
    return this.#read((db) =>
      db.prepare("SELECT * FROM runs ORDER BY started_at DESC, id LIMIT ?").all(limit).map(runOf),
    );
  }

  async lastRun(scope: RunScope): Promise<Run | undefined> {
    const row = this.#read((db) => db.prepare(SELECT_LAST).get(scope.kind, scopeId(scope)));
    return row && runOf(row);
  }

  async takeRun(run: Run, by: Pick<Run, "machine" | "process" | "seenAt">): Promise<boolean> {
    return this.#write((db) => {
      const row = db.prepare("SELECT * FROM runs WHERE id = ?").get(run.id);
      const { endedAt: _, stopped: __, ...found } = row ? runOf(row) : run;
      if (!row || JSON.stringify(found.process) !== JSON.stringify(run.process) || found.state !== run.state)
        return false;
      saveRun(db, { ...found, ...by, state: "running", restarts: (found.restarts ?? 0) + 1 });
      db.prepare("UPDATE runs SET stop_request = NULL WHERE id = ?").run(run.id);
      return true;
    });
  }

  async updateRun(id: string, change: RunChange): Promise<void> {
    this.#write((db) => {
      const row = db.prepare("SELECT * FROM runs WHERE id = ?").get(id);
      if (row) saveRun(db, { ...runOf(row), ...change });
    });
  }

  async requestStop(id: string, how: "gracefully" | "now" | undefined): Promise<void> {
    this.#write((db) => db.prepare("UPDATE runs SET stop_request = ? WHERE id = ?").run(how ?? null, id));
  }

  async stopRequest(id: string): Promise<"gracefully" | "now" | undefined> {
    const row = this.#read((db) => db.prepare("SELECT stop_request FROM runs WHERE id = ?").get(id));
    return (row?.["stop_request"] as "gracefully" | "now" | null) ?? undefined;
  }

  async addSession(session: NewRunSession): Promise<RunSession> {
    return this.#write((db) => {
      const row = db.prepare("SELECT max(number) AS last FROM run_sessions WHERE run_id = ?").get(session.runId);
      const whole = { ...session, number: Number(row?.["last"] ?? 0) + 1 };
      saveSession(db, whole);
      return whole;
    });
  }

  async updateSession(runId: string, number: number, change: RunSessionChange): Promise<void> {
    this.#write((db) => {
      const row = db.prepare("SELECT * FROM run_sessions WHERE run_id = ? AND number = ?").get(runId, number);
      if (row) saveSession(db, { ...sessionOf(row), ...change });
    });
  }

  async listSessions(runId: string): Promise<RunSession[]> {
    const sql = "SELECT * FROM run_sessions WHERE run_id = ? ORDER BY number";
    return this.#read((db) => db.prepare(sql).all(runId).map(sessionOf));
  }

  async sessionsSince(since: Date): Promise<RunSession[]> {
    const sql = "SELECT * FROM run_sessions WHERE started_at >= ? ORDER BY started_at";
    return this.#read((db) => db.prepare(sql).all(since.toISOString()).map(sessionOf));
  }

  async setTask({ at, ...task }: RunTask): Promise<void> {
    const data = JSON.stringify(task);
    this.#write((db) =>
      db
        .prepare("INSERT OR REPLACE INTO run_tasks VALUES (?, ?, ?, ?)")
        .run(task.runId, task.taskId, at.toISOString(), data),
    );
  }

  async listTasks(runId: string): Promise<RunTask[]> {
    const sql = "SELECT * FROM run_tasks WHERE run_id = ? ORDER BY at, task_id";
    return this.#read((db) =>
      db
        .prepare(sql)
        .all(runId)
        .map(withTime<RunTask>),
    );
  }

  async tasksSince(since: Date): Promise<RunTask[]> {
    const sql = "SELECT * FROM run_tasks WHERE at >= ? ORDER BY at, task_id";
    return this.#read((db) =>
      db
        .prepare(sql)
        .all(since.toISOString())
        .map(withTime<RunTask>),
    );
  }

  async addTest({ at, ...test }: RunTest): Promise<void> {
    const data = JSON.stringify(test);
    this.#write((db) => db.prepare("INSERT INTO run_tests VALUES (?, ?, ?)").run(test.runId, at.toISOString(), data));
  }

  async listTests(runId: string): Promise<RunTest[]> {
    const sql = "SELECT * FROM run_tests WHERE run_id = ? ORDER BY rowid";
    return this.#read((db) =>
      db
        .prepare(sql)
        .all(runId)
        .map(withTime<RunTest>),
    );
  }

  async addMetrics(metrics: SessionMetrics): Promise<void> {
    const { sessionId, runId, batchesCompleted, lastBatchSize, lastBatchOutcome, createdAt } = metrics;
    this.#write((db) =>
      db
        .prepare("INSERT INTO session_metrics VALUES (?, ?, ?, ?, ?, ?)")
        .run(sessionId, runId, batchesCompleted, lastBatchSize, lastBatchOutcome, createdAt.toISOString()),
    );
  }

  async metricsSince(since: Date): Promise<SessionMetrics[]> {
    const sql = "SELECT * FROM session_metrics WHERE created_at >= ? ORDER BY created_at";
    return this.#read((db) => db.prepare(sql).all(since.toISOString()).map(metricsOf));
  }

  #read<T>(read: (db: DatabaseSync) => T): T {
    return readStore(this.#handle, read);
  }

  #write<T>(write: (db: DatabaseSync) => T): T {
    return writeStore(this.#handle, write);
  }
}

const SELECT_LAST = "SELECT * FROM runs WHERE scope_kind = ? AND scope_id = ? ORDER BY started_at DESC, id LIMIT 1";

function scopeId(scope: RunScope): string {
  return scope.kind === "all" ? "" : scope.id;
}

function saveRun(db: DatabaseSync, { id, scope, state, startedAt, seenAt, endedAt, ...data }: Run): void {
  const kept = db.prepare("SELECT stop_request FROM runs WHERE id = ?").get(id)?.["stop_request"] ?? null;
  db.prepare("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
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
  db.prepare("INSERT OR REPLACE INTO run_sessions VALUES (?, ?, ?, ?)").run(
    ...[runId, number, startedAt.toISOString(), JSON.stringify(data)],
  );
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
