/**
 * The role of an agent. One that was given stays. An agent that was only seen has none of its own: while it holds a task it is that
 * task's implementer; once it has given tasks to sub-agents it is an orchestrator. The hook bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";

/** Of a row of `agents`. */
export const ROLE_NOW = `CASE WHEN agents.role <> '' THEN agents.role
  WHEN EXISTS (SELECT 1 FROM claims WHERE claims.agent = agents.name AND claims.agent_id = '') THEN 'implementer' ELSE '' END`;

/** The session has a sub-agent work on a task. */
export function becomeOrchestrator(db: DatabaseSync, sessionId: string): void {
  db.prepare("UPDATE agents SET role = 'orchestrator' WHERE session_id = ? AND role = ''").run(sessionId);
}
