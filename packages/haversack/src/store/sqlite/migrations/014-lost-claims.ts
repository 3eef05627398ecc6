/** Agents that lost the claim of a task to somebody else. Their late reports are refused. */
import type { Migration } from "../migrations.ts";

export const lostClaims: Migration = {
  version: 14,
  kind: "additive",
  sql: `
CREATE TABLE lost_claims (
  -- Grows with every loss.
  token INTEGER PRIMARY KEY AUTOINCREMENT,
  task INTEGER NOT NULL REFERENCES tasks (seq),
  agent TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT NOT NULL DEFAULT '',
  -- Who took it, and when.
  taken_by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX lost_claims_by_task ON lost_claims (task);
`,
};
