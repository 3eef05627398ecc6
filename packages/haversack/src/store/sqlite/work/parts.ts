/** Parts of a task: which are open, and in which order reviews come. */
import type { DatabaseSync } from "node:sqlite";
import { roleOfPart } from "../../../wake/dispatch-order.ts";
import { DEVELOPMENT } from "../../../wake/workflow.ts";
import { isSettled, type TaskStatus } from "../../../work/task.ts";
import type { Actor } from "../../work-store.ts";
import { addDependency, removeDependency } from "./dependencies.ts";
import { all, one } from "./rows.ts";

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

// The order of review as dependencies: of the sub-tasks of one task, "Code quality review" waits for "Spec review",
// and both wait for "Implement …", as the roles of the workflow follow each other. Real dependencies, so that the
// queue, claims and lists need no rule of their own, and `dep rm` takes one out where a project works in another
// order.

interface ReviewPart {
  seq: number;
  id: string;
  title: string;
  parent: number | null;
  status: TaskStatus;
}

/** After a sub-task was made, renamed or moved: `before` is what it was. */
export function orderReviews(
  db: DatabaseSync,
  seq: number,
  by: Actor,
  before?: { title: string; parent: number | null },
): void {
  const part = one<ReviewPart>(db, `${PARTS} WHERE seq = ?`, seq);
  if (!part) return;
  if (before?.title === part.title && before.parent === part.parent) return;
  const wanted = pairsOf(db, part);
  const isWanted = ({ later, earlier }: Pair) =>
    wanted.some((pair) => pair.later.seq === later.seq && pair.earlier.seq === earlier.seq);
  if (before) {
    for (const pair of pairsOf(db, { ...part, ...before })) {
      if (!isWanted(pair)) removeDependency(db, { taskId: pair.later.id, dependsOnId: pair.earlier.id }, by);
    }
  }
  for (const { later, earlier } of wanted) {
    const isKnown = one(db, "SELECT 1 FROM dependencies WHERE task = ? AND depends_on = ?", later.seq, earlier.seq);
    // A cycle is refused: somebody has put them in another order.
    if (!isKnown && !isSettled(later.status))
      addDependency(db, { taskId: later.id, dependsOnId: earlier.id, type: "blocks" }, by);
  }
}

interface Pair {
  later: ReviewPart;
  earlier: ReviewPart;
}

const PARTS = "SELECT seq, id, title, parent, status FROM tasks";

/** The sub-task with each of its siblings that another role works on. */
function pairsOf(db: DatabaseSync, part: ReviewPart): Pair[] {
  const rank = part.parent === null ? -1 : roleRank(part.title);
  if (rank < 0) return [];
  const siblings = all<ReviewPart>(
    db,
    `${PARTS} WHERE parent = ? AND seq <> ? AND status <> 'archived' ORDER BY seq`,
    part.parent,
    part.seq,
  );
  return siblings.flatMap((sibling) => {
    const other = roleRank(sibling.title);
    if (other < 0 || other === rank) return [];
    return [other < rank ? { later: part, earlier: sibling } : { later: sibling, earlier: part }];
  });
}
