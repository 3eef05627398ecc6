/**
 * Whether a sub-agent has documents to read, or may have: nobody has said yet which call started it, and there are calls with
 * documents that it could be. Asked at every tool call of a sub-agent, so it is a look into two or three keys. The hook
 * bundles this file.
 */
import type { DatabaseSync } from "node:sqlite";

export function mayHaveToRead(
  db: DatabaseSync,
  { sessionId, agentId }: { sessionId: string; agentId: string },
): boolean {
  return db.prepare(ASK).get({ sessionId, agentId }) !== undefined;
}

const ASK = `SELECT 1 FROM expected_documents WHERE session_id = :sessionId AND agent_id = :agentId
UNION ALL SELECT 1 FROM spawn_documents WHERE session_id = :sessionId
AND NOT EXISTS (SELECT 1 FROM dispatched_agents WHERE session_id = :sessionId AND agent_id = :agentId) LIMIT 1`;
