/**
 * The order of review as dependencies: of the sub-tasks of one task, "Code quality review" waits for "Spec review", and both wait for
 * "Implement …", as the roles of the workflow follow each other. Real dependencies, so that the queue, claims and lists need no rule of
 * their own, and `dep rm` takes one out where a project works in another order.
 */
import type { DatabaseSync } from "node:sqlite";
import { isSettled, type TaskStatus } from "../../../work/task.ts";
import type { Actor } from "../../work-store.ts";
import { addDependency, removeDependency } from "./dependencies.ts";
import { roleRank } from "./open-parts.ts";
import { all, one } from "./prepared.ts";

interface Part {
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
  const part = one<Part>(db, `${PARTS} WHERE seq = ?`, seq);
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
  later: Part;
  earlier: Part;
}

const PARTS = "SELECT seq, id, title, parent, status FROM tasks";

/** The sub-task with each of its siblings that another role works on. */
function pairsOf(db: DatabaseSync, part: Part): Pair[] {
  const rank = part.parent === null ? -1 : roleRank(part.title);
  if (rank < 0) return [];
  const siblings = all<Part>(
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
