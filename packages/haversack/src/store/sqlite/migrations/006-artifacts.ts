/**
 * Artifacts: what was dispatched to which role, the answers, and whether the documents were read.
 *
 * A review loop is a feature, a phase and a role. `spawn_documents`, `dispatched_agents`, `expected_documents` and
 * `seen_lines` are local: hooks write them while a sub-agent works.
 */
import type { Migration } from "../migrations.ts";

export const artifacts: Migration = {
  version: 6,
  kind: "additive",
  sql: `
CREATE TABLE dispatches (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  task TEXT,
  -- fresh, fallback (a resume was due and could not be had) or resume.
  kind TEXT NOT NULL,
  reason TEXT,
  -- What had to be read, as JSON.
  documents TEXT NOT NULL,
  -- Tokens: what was sent, what is then read, and what the pasted versions would have been.
  sent INTEGER NOT NULL,
  reads INTEGER NOT NULL,
  pasted INTEGER NOT NULL,
  pasted_unpruned INTEGER NOT NULL,
  -- Of the prompt that a resume would have sent; NULL when none came into question.
  resumed INTEGER,
  prompt_chars INTEGER NOT NULL,
  -- Where the repository stood: the next iteration's difference starts here.
  git_commit TEXT,
  by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX dispatches_of_loop ON dispatches (feature, phase, role, iteration);
CREATE INDEX dispatches_by_time ON dispatches (at);

CREATE TABLE reviews (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  summary TEXT,
  -- Found in this iteration, as JSON, as the history shows them.
  issues TEXT NOT NULL,
  notes TEXT NOT NULL,
  answer_hash TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT,
  by TEXT NOT NULL,
  at TEXT NOT NULL,
  is_in_history INTEGER NOT NULL DEFAULT 0,
  UNIQUE (feature, phase, role, iteration)
) STRICT;

CREATE TABLE review_issues (
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  id TEXT NOT NULL,
  severity TEXT NOT NULL,
  category TEXT,
  description TEXT NOT NULL,
  location TEXT,
  suggestion TEXT,
  status TEXT NOT NULL,
  first_iteration INTEGER NOT NULL,
  last_iteration INTEGER NOT NULL,
  is_reopened INTEGER NOT NULL,
  PRIMARY KEY (feature, phase, role, id)
) STRICT, WITHOUT ROWID;

-- What was decided about an issue that will not be resolved. Append-only; the last one holds.
CREATE TABLE review_decisions (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  issue TEXT NOT NULL,
  text TEXT NOT NULL,
  by TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX review_decisions_of_loop ON review_decisions (feature, phase, role, issue);

-- The agent that a loop can go on with.
CREATE TABLE review_agents (
  feature TEXT NOT NULL,
  phase TEXT NOT NULL,
  role TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_id TEXT,
  -- Of the loop's first prompt.
  prompt_chars INTEGER NOT NULL,
  last_iteration INTEGER NOT NULL,
  -- Why going on with it failed.
  failure TEXT,
  PRIMARY KEY (feature, phase, role)
) STRICT, WITHOUT ROWID;

-- Whether a client was seen to resume an agent that had used tools.
CREATE TABLE resume_checks (
  client TEXT PRIMARY KEY,
  is_ok INTEGER NOT NULL,
  text TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  seq INTEGER PRIMARY KEY,
  feature TEXT NOT NULL,
  role TEXT NOT NULL,
  iteration INTEGER,
  file TEXT NOT NULL,
  line_count INTEGER NOT NULL,
  -- 0 to 1.
  share REAL NOT NULL,
  is_missing INTEGER NOT NULL,
  -- events or claim.
  source TEXT NOT NULL,
  claimed_lines INTEGER,
  -- '' when nobody knows.
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX receipts_by_time ON receipts (at, role, file);
CREATE INDEX receipts_of_agent ON receipts (session_id, agent_id);

-- Calls whose prompt names documents to read, until the agent that they start is known.
CREATE TABLE spawn_documents (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  role TEXT NOT NULL,
  folder TEXT NOT NULL,
  iteration INTEGER,
  -- As JSON.
  documents TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID;

-- An agent that is known to have nothing to read is here too, with empty names, so that it is asked once.
CREATE TABLE dispatched_agents (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  -- The sub-agent's type as the client names it, or the role.
  role TEXT NOT NULL,
  -- The feature's folder, absolute.
  folder TEXT NOT NULL,
  iteration INTEGER,
  at TEXT NOT NULL,
  sent_back_at TEXT,
  -- Its receipts are stored.
  settled_at TEXT,
  -- Its warning stands in the review history.
  warned_at TEXT,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dispatched_agents_by_folder ON dispatched_agents (folder, at);

CREATE TABLE expected_documents (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  file TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  line_count INTEGER NOT NULL,
  PRIMARY KEY (session_id, agent_id, file)
) STRICT, WITHOUT ROWID;

CREATE TABLE seen_lines (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  file TEXT NOT NULL,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  PRIMARY KEY (session_id, agent_id, file, first_line, last_line)
) STRICT, WITHOUT ROWID;
`,
};
