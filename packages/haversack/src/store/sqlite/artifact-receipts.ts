/** The rows of receipts, apart from the rest: a hook stores what a sub-agent has read. The hook bundles this file. */
import type { DatabaseSync } from "node:sqlite";
import type { NewReceipts } from "../artifact-store.ts";

/** For callers that hold the write lock already. */
export function insertReceipts(db: DatabaseSync, receipts: NewReceipts, at: Date): void {
  const { feature, role, iteration, source, agent, documents } = receipts;
  // A hook may have judged the agent at its end, before its answer is recorded: it counts once.
  if (agent) {
    db.prepare(
      "DELETE FROM receipts WHERE session_id = ? AND agent_id = ? AND (iteration IS ? OR iteration IS NULL)",
    ).run(agent.sessionId, agent.agentId, iteration ?? null);
  }
  const insert = db.prepare(
    `INSERT INTO receipts (feature, role, iteration, file, line_count, share, is_missing, source, claimed_lines,
      session_id, agent_id, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const { file, lineCount, share, isMissing, claimedLines } of documents) {
    insert.run(
      feature,
      role,
      iteration ?? null,
      file,
      lineCount,
      share,
      isMissing ? 1 : 0,
      source,
      claimedLines ?? null,
      agent?.sessionId ?? "",
      agent?.agentId ?? "",
      at.toISOString(),
    );
  }
}

export interface StoredReceipts {
  receipts: NewReceipts;
  at: Date;
}

export function saveReceipts(db: DatabaseSync, { receipts, at }: StoredReceipts): void {
  insertReceipts(db, receipts, at);
}
