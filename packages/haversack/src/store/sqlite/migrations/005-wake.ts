/** Wake: agents by name, messages between them, and which version of which skill an agent works with. */
import type { Migration } from "../migrations.ts";

export const wake: Migration = {
  version: 5,
  kind: "additive",
  sql: `
CREATE TABLE agents (
  seq INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  -- '' when it works on every branch.
  branch TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL,
  client TEXT,
  session_id TEXT,
  worktree TEXT,
  created_at TEXT NOT NULL,
  last_seen_at TEXT,
  UNIQUE (name, branch)
) STRICT;
CREATE INDEX agents_by_session ON agents (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE messages (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  sender TEXT NOT NULL,
  text TEXT NOT NULL,
  -- The task, handoff or message it came with.
  subject TEXT,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE message_recipients (
  message INTEGER NOT NULL REFERENCES messages (seq),
  agent INTEGER NOT NULL REFERENCES agents (seq),
  is_mention INTEGER NOT NULL,
  read_at TEXT,
  PRIMARY KEY (message, agent)
) STRICT, WITHOUT ROWID;
CREATE INDEX messages_unread ON message_recipients (agent, message) WHERE read_at IS NULL;

-- The stretch of a story around a task, without reading the story.
CREATE INDEX tasks_in_story ON tasks (story, seq) WHERE story IS NOT NULL;

-- The client's process, so that a killed session's claims need not wait for their end; the second says where that number is one.
ALTER TABLE sessions ADD COLUMN process_id INTEGER;
ALTER TABLE sessions ADD COLUMN process_space TEXT;

-- The version of a skill that a task was begun with: shown again when the file has changed since.
CREATE TABLE skill_history (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  agent TEXT NOT NULL,
  task TEXT,
  skill TEXT NOT NULL,
  hash TEXT NOT NULL,
  because TEXT NOT NULL
) STRICT;
CREATE INDEX skill_history_by_task ON skill_history (task, skill, id) WHERE task IS NOT NULL;
CREATE INDEX skill_history_by_agent ON skill_history (agent, id);
`,
};
