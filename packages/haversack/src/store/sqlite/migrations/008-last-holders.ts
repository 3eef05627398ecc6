/**
 * Who worked on an unfinished task last, and where. A claim ends with its lease; this row stays until the task is finished, given
 * back on purpose or claimed by somebody else, so later sessions can be told about abandoned work.
 */
import type { Migration } from "../migrations.ts";

export const lastHolders: Migration = {
  version: 8,
  kind: "additive",
  sql: `
CREATE TABLE last_holders (
  task INTEGER PRIMARY KEY REFERENCES tasks (seq),
  agent TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT NOT NULL DEFAULT '',
  client TEXT,
  -- The top folder of the git work tree; outside of git the project's folder.
  worktree TEXT,
  branch TEXT,
  claimed_at TEXT NOT NULL,
  -- While the claim runs, its heartbeat is newer.
  last_seen_at TEXT NOT NULL,
  -- How the claim ended: expired, ended (the session said so) or gone (its process is). NULL: it has not.
  ended_as TEXT,
  ended_at TEXT
) STRICT;
CREATE INDEX last_holders_by_session ON last_holders (session_id, agent_id) WHERE session_id IS NOT NULL;
CREATE INDEX last_holders_by_time ON last_holders (last_seen_at);
INSERT INTO last_holders (task, agent, session_id, agent_id, claimed_at, last_seen_at)
  SELECT task, agent, session_id, coalesce(agent_id, ''), claimed_at, heartbeat_at FROM claims;

-- Local: since when a later session has been told of the edits that this one left without a task.
ALTER TABLE sessions ADD COLUMN edits_told_at TEXT;
CREATE INDEX session_wip_by_time ON session_wip (updated_at);
-- Edits from before the upgrade are no news.
UPDATE sessions SET edits_told_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE last_seen_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day');
`,
};
