/**
 * Whether a task is worked on through its sub-tasks: then the queue hands out those, and not the task itself. When the last of them is
 * over, the task is handed out to be checked and closed.
 */
import type { DatabaseSync } from "node:sqlite";
import { roleOfPart } from "../../../wake/dispatch-order.ts";
import { DEVELOPMENT } from "../../../wake/workflow.ts";
import { isSettled, type TaskStatus } from "../../../work/task.ts";
import { all } from "./prepared.ts";

/** The types of dependency that make a task wait. As a list and not a negation: the index is used. */
export const WAITING = "('blocks', 'requires')";

interface Part {
  seq: number;
  parent: number;
  title: string;
  status: TaskStatus;
}

/**
 * At any depth, and from `tasks` and `dependencies` alone. Two kinds of sub-tasks hold nothing back, because they come after the task's own
 * work: those that wait for the task itself, and reviews where no other sub-task does the work that they review.
 */
export function isWorkedOnInParts(db: DatabaseSync, task: number): boolean {
  const parts = all<Part>(db, BELOW, task);
  const open = parts.filter(({ status }) => !isSettled(status));
  if (open.length === 0) return false;
  const own = parts.filter(({ parent, status }) => parent === task && status !== "archived");
  if (own.length > 0 && own.every((part) => roleRank(part.title) > 0)) return false;
  const later = waitersAmong(db, task, new Set(open.map(({ seq }) => seq)));
  return open.some(({ seq }) => !later.has(seq));
}

const BELOW = `WITH RECURSIVE below (seq) AS (
  SELECT seq FROM tasks WHERE parent = ? UNION SELECT t.seq FROM below b JOIN tasks t ON t.parent = b.seq
) SELECT t.seq, t.parent, t.title, t.status FROM below b JOIN tasks t ON t.seq = b.seq`;

/** Those that wait for the task, directly or through one another. */
function waitersAmong(db: DatabaseSync, task: number, candidates: ReadonlySet<number>): Set<number> {
  const found = new Set<number>();
  const queue = [task];
  for (const seq of queue) {
    const waiters = all<{ task: number }>(
      db,
      `SELECT task FROM dependencies WHERE depends_on = ? AND type IN ${WAITING}`,
      seq,
    );
    for (const waiter of waiters) {
      if (!candidates.has(waiter.task) || found.has(waiter.task)) continue;
      found.add(waiter.task);
      queue.push(waiter.task);
    }
  }
  return found;
}

/** The tasks that it is a part of, from its parent upwards. */
export function tasksAbove(db: DatabaseSync, task: number): number[] {
  const rows = all<{ seq: number }>(
    db,
    `WITH RECURSIVE above (seq) AS (
      SELECT parent FROM tasks WHERE seq = ?1 AND parent IS NOT NULL
      UNION SELECT t.parent FROM above a JOIN tasks t ON t.seq = a.seq WHERE t.parent IS NOT NULL
    ) SELECT seq FROM above`,
    task,
  );
  return rows.map(({ seq }) => seq);
}

/** The place of a sub-task's role in the workflow, by its title: 0 builds, later ones review; -1: no role's. */
export function roleRank(title: string): number {
  const role = roleOfPart({ id: "", title, status: "todo", parentId: "" }, DEVELOPMENT.roles);
  return role ? DEVELOPMENT.roles.indexOf(role) : -1;
}
