/**
 * The role that a sub-agent was started in. Its type does not always say it (a general-purpose agent whose prompt asks for a
 * review), and a compaction must not turn a reviewer into an implementer. A row is also the sign that its session coordinates.
 */
import type { Migration } from "../migrations.ts";

export const agentRoles: Migration = {
  version: 11,
  kind: "additive",
  sql: `
-- Local. Until the agent's id is known, it is that of the call that starts it.
CREATE TABLE agent_roles (
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  role TEXT NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;

-- Stories under way, the last changed first.
CREATE INDEX stories_by_status ON stories (status, updated_at);
`,
};
