/** The first tables: facts about the store itself, the activity (work), and the sessions (local). */
import type { Migration } from "../migrations.ts";

export const house: Migration = {
  version: 1,
  kind: "breaking",
  sql: `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE activity (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX activity_by_subject ON activity (subject, id) WHERE subject IS NOT NULL;

CREATE TABLE sessions (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL DEFAULT '',
  client TEXT NOT NULL,
  cwd TEXT NOT NULL,
  started_at TEXT NOT NULL,
  last_seen_at TEXT NOT NULL,
  window INTEGER NOT NULL DEFAULT 1,
  prompt_count INTEGER NOT NULL DEFAULT 0,
  last_prompt_at TEXT,
  ended_at TEXT,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;
`,
};
