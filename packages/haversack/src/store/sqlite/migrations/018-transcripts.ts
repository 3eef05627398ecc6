/**
 * How far a session's transcript was read, and which tool calls events have reported since. A running server can miss an
 * event; the transcript has the call.
 */
import type { Migration } from "../migrations.ts";

export const transcripts: Migration = {
  version: 18,
  kind: "additive",
  sql: `
CREATE TABLE transcripts (
  session_id TEXT NOT NULL,
  -- '' for the main agent; sub-agents have files of their own.
  agent_id TEXT NOT NULL,
  path TEXT NOT NULL,
  -- In bytes: everything before it was read.
  offset INTEGER NOT NULL,
  -- Calls before this time are not ours: a fork's transcript begins with its parent's calls.
  since TEXT NOT NULL,
  -- Who tells of tool calls: '' not known yet, 'server' the running MCP server, 'process' a process for each call, which misses none.
  told_by TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;

-- Calls whose place in the transcript was not read yet.
CREATE TABLE seen_calls (
  session_id TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session_id, tool_use_id)
) STRICT, WITHOUT ROWID;
`,
};
