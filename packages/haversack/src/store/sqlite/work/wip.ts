/** WIP of tasks: merged under the write lock, with a history of all that was replaced. */
import type { DatabaseSync } from "node:sqlite";
import { checkCount } from "../../../work/clean-input.ts";
import type { Wip } from "../../../work/wip/wip.ts";
import type { Actor, WipHistoryEntry, WipMerger } from "../../work-store.ts";
import { refuseIfHeld, refuseIfLost } from "./claims.ts";
import { findTask } from "./ids.ts";
import { all, one, run } from "./rows.ts";

export function readTaskWip(db: DatabaseSync, seq: number): { wip: Wip; updatedAt: Date } | undefined {
  const row = one<{ data: string; updated_at: string }>(
    db,
    "SELECT data, updated_at FROM task_wip WHERE task = ?",
    seq,
  );
  return row && { wip: JSON.parse(row.data) as Wip, updatedAt: new Date(row.updated_at) };
}

export function updateWip(
  db: DatabaseSync,
  { taskId, merge }: { taskId: string; merge: WipMerger },
  by: Actor,
): { wip: Wip; changed: boolean } {
  const task = findTask(db, taskId);
  refuseIfHeld(db, task, by);
  refuseIfLost(db, task, by);
  const { seq } = task;
  const current = readTaskWip(db, seq)?.wip ?? {};
  const { wip, changes } = merge(current);
  if (wip === current) return { wip, changed: false };
  const now = by.at.toISOString();
  run(db, "INSERT OR REPLACE INTO task_wip VALUES (?, ?, ?)", seq, JSON.stringify(wip), now);
  for (const { path, before, after } of changes) {
    run(
      db,
      "INSERT INTO task_wip_changes (task, at, actor, path, before, after) VALUES (?, ?, ?, ?, ?, ?)",
      seq,
      now,
      by.name,
      path,
      toJson(before),
      toJson(after),
    );
  }
  return { wip, changed: true };
}

export function wipHistory(db: DatabaseSync, { taskId, limit }: { taskId: string; limit: number }): WipHistoryEntry[] {
  checkCount("limit", limit);
  const { seq } = findTask(db, taskId);
  const rows = all<{ at: string; actor: string; path: string; before: string | null; after: string | null }>(
    db,
    "SELECT at, actor, path, before, after FROM task_wip_changes WHERE task = ? ORDER BY id DESC LIMIT ?",
    seq,
    limit,
  );
  return rows.map(({ at, actor, path, before, after }) => ({
    at: new Date(at),
    actor,
    path,
    ...(before !== null && { before: JSON.parse(before) as unknown }),
    ...(after !== null && { after: JSON.parse(after) as unknown }),
  }));
}

function toJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
