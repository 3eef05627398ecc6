/** Runs of headless sessions: their options, sessions, results of tasks, and test runs. */
import type { Migration } from "../migrations.ts";

export const runs: Migration = {
  version: 20,
  kind: "additive",
  sql: `
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  -- 'epic', 'story' or 'all'.
  scope_kind TEXT NOT NULL,
  scope_id TEXT NOT NULL,
  state TEXT NOT NULL,
  started_at TEXT NOT NULL,
  seen_at TEXT NOT NULL,
  ended_at TEXT,
  -- 'gracefully' or 'now': somebody wants it to stop.
  stop_request TEXT,
  -- Everything else, as JSON.
  data TEXT NOT NULL
) STRICT;

CREATE TABLE run_sessions (
  run_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_tasks (
  run_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  at TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (run_id, task_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_tests (
  run_id TEXT NOT NULL,
  at TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE INDEX run_tests_of_run ON run_tests (run_id);

-- One row for each batch of a session.
CREATE TABLE session_metrics (
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  batches_completed INTEGER NOT NULL,
  last_batch_size INTEGER NOT NULL,
  last_batch_outcome TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX session_metrics_by_time ON session_metrics (created_at);
`,
};
