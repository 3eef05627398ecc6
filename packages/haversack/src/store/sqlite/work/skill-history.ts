/**
 * Which version of which skill an agent works with, and why. The newest is the one of the latest time: rows of an import come
 * later than they happened.
 */
import type { DatabaseSync } from "node:sqlite";
import { checkCount } from "../../../work/clean-input.ts";
import type { SkillUse } from "../../work-store.ts";
import { findTask } from "./ids.ts";
import { all, one, run } from "./rows.ts";

/** Hashes of skills that tasks were worked on with. */
export const VERSIONS_IN_USE = "SELECT hash FROM skill_history";

export function recordSkill(
  db: DatabaseSync,
  { agent, taskId, skill, hash, because }: Omit<SkillUse, "at">,
  at: Date,
): void {
  const task = taskId === undefined ? null : findTask(db, taskId).id;
  const last = one<{ hash: string; agent: string }>(
    db,
    "SELECT hash, agent FROM skill_history WHERE task IS ? AND skill = ? ORDER BY at DESC, id DESC LIMIT 1",
    task,
    skill,
  );
  if (last?.hash === hash && last.agent === agent) return;
  run(
    db,
    "INSERT INTO skill_history (at, agent, task, skill, hash, because) VALUES (?, ?, ?, ?, ?, ?)",
    at.toISOString(),
    agent,
    task,
    skill,
    hash,
    because,
  );
}

export function skillHistory(
  db: DatabaseSync,
  { agent, taskId, limit }: { agent?: string; taskId?: string; limit: number },
): SkillUse[] {
  checkCount("limit", limit);
  const rows = all<{ at: string; agent: string; task: string | null; skill: string; hash: string; because: string }>(
    db,
    "SELECT at, agent, task, skill, hash, because FROM skill_history WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR task = ?2) ORDER BY at DESC, id DESC LIMIT ?3",
    agent ?? null,
    taskId === undefined ? null : findTask(db, taskId).id,
    limit,
  );
  return rows.map(({ at, task, ...use }) => ({ ...use, at: new Date(at), ...(task !== null && { taskId: task }) }));
}
