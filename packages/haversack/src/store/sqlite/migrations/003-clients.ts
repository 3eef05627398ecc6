/** Clients: what a session is working on, and which sub-agent made which tool call. All of it local state. */
import type { Migration } from "../migrations.ts";

export const clients: Migration = {
  version: 3,
  kind: "additive",
  sql: `
-- client: the client's own skill tool loaded it, and brings it back after a compaction by itself.
ALTER TABLE ledger ADD COLUMN loaded_by TEXT;
ALTER TABLE sessions ADD COLUMN last_prompt_id TEXT;

CREATE TABLE session_wip (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  data TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;

-- What a later event replaced, so that nothing goes silently.
CREATE TABLE wip_changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  path TEXT NOT NULL,
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX wip_changes_by_session ON wip_changes (session_id, agent_id, id);

-- An MCP server sees the id of a tool call, and not the agent; the hook before the call sees both.
CREATE TABLE tool_calls (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID;
`,
};
