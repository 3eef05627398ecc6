/**
 * Invariants of the work tables that must hold after every operation, restated with plain loops. For tests that run random operations
 * and tests that kill processes.
 */
import type { DatabaseSync } from "node:sqlite";
import { computeQueue } from "./queue.ts";

/** Returns one line per violated invariant. */
export function brokenTruths(db: DatabaseSync, at: Date): string[] {
  return [
    ...queueTruths(db),
    ...groupTruths(db),
    ...claimTruths(db, at),
    ...holderTruths(db),
    ...dependencyTruths(db),
    ...idTruths(db),
  ];
}

function queueTruths(db: DatabaseSync): string[] {
  const columns = "task, epic, story, order_key, waits_for, dependents, is_todo, is_ready";
  const kept = new Set(rows(db, `SELECT ${columns} FROM queue`).map((row) => JSON.stringify(Object.values(row))));
  const wanted = new Set(computeQueue(db).map((row) => JSON.stringify(row)));
  const missing = [...wanted].filter((row) => !kept.has(row));
  const surplus = [...kept].filter((row) => !wanted.has(row));
  return [...missing.map((row) => `the queue lacks ${row}`), ...surplus.map((row) => `the queue has ${row}`)];
}

function groupTruths(db: DatabaseSync): string[] {
  const problems: string[] = [];
  const tasks = rows(db, "SELECT seq, id, parent, story, epic, status FROM tasks");
  const stories = rows(db, "SELECT seq, epic, status, completed_at FROM stories");
  const hold = (what: string, status: unknown, parts: readonly unknown[], completedAt: unknown) => {
    const wanted = statusOf(parts);
    // Archived by hand after everything in it was done.
    const isPutAway = status === "archived" && wanted === "done";
    if (wanted !== undefined && wanted !== status && !isPutAway) problems.push(`${what} is ${status}, not ${wanted}`);
    if ((status === "done") !== (completedAt !== null))
      problems.push(`${what} is ${status}, completed at ${completedAt}`);
  };
  for (const { seq, status, completed_at } of stories) {
    const parts = tasks.filter(({ story }) => story === seq).map((task) => task["status"]);
    hold(`story ${seq}`, status, parts, completed_at);
  }
  for (const { seq, status, completed_at } of rows(db, "SELECT seq, status, completed_at FROM epics")) {
    const parts = stories.filter(({ epic }) => epic === seq).map((story) => story["status"]);
    hold(`epic ${seq}`, status, parts, completed_at);
  }
  for (const { id, story, parent } of tasks) {
    const above = tasks.find(({ seq }) => seq === parent)?.["story"] ?? null;
    // From before sub-tasks were in stories: those of an archived story were left out.
    const isArchived = stories.find(({ seq }) => seq === above)?.["status"] === "archived";
    if (story === null && above !== null && !isArchived) problems.push(`${id} is in no story, its parent in ${above}`);
  }
  for (const { id, story, epic } of tasks) {
    const wanted = story === null ? null : stories.find(({ seq }) => seq === story)?.["epic"];
    if (epic !== wanted) problems.push(`${id} is in epic ${epic}, its story in ${wanted}`);
  }
  return problems;
}

/** The status of a story by its tasks, or of an epic by its stories. Undefined: it is empty and keeps its status. */
function statusOf(parts: readonly unknown[]): string | undefined {
  const counted = parts.filter((part) => part !== "archived");
  if (parts.length === 0) return undefined;
  if (counted.length === 0) return "archived";
  if (counted.every((part) => part === "todo")) return "todo";
  return counted.every((part) => part === "done") ? "done" : "in_progress";
}

function claimTruths(db: DatabaseSync, at: Date): string[] {
  const problems: string[] = [];
  const held = new Map(rows(db, "SELECT task, agent, lease_until FROM claims").map((row) => [row["task"], row]));
  for (const { seq, id, status, blockers } of rows(
    db,
    "SELECT seq, id, status, (SELECT count(*) FROM blockers WHERE task = seq AND resolved_at IS NULL) AS blockers FROM tasks",
  )) {
    const claim = held.get(seq);
    if (claim && status !== "in_progress") problems.push(`${id} is ${status} and held by ${claim["agent"]}`);
    if (!claim && status === "in_progress") problems.push(`${id} is in progress and nobody holds it`);
    if (claim && Number(claim["lease_until"]) <= at.getTime()) problems.push(`${id} is held though its lease is over`);
    if (Number(blockers) > 0 && status !== "blocked") problems.push(`${id} is ${status} and has an open blocker`);
  }
  return problems;
}

function holderTruths(db: DatabaseSync): string[] {
  const holders = rows(
    db,
    "SELECT t.id, t.status, h.session_id, c.session_id AS claim_session, c.task AS claimed FROM last_holders h JOIN tasks t ON t.seq = h.task LEFT JOIN claims c ON c.task = h.task",
  );
  return holders.flatMap(({ id, status, session_id, claim_session, claimed }) => [
    ...(status === "todo" || status === "in_progress" ? [] : [`${id} is ${status} and has a last holder`]),
    ...(claimed === null || session_id === claim_session
      ? []
      : [`${id} is held in ${claim_session}, its last holder is ${session_id}`]),
  ]);
}

function dependencyTruths(db: DatabaseSync): string[] {
  const edges = rows(db, "SELECT task, depends_on FROM dependencies WHERE type <> 'relates_to'");
  const left = new Set(edges);
  // Repeatedly remove tasks that wait for nothing. The rest waits for itself: a cycle.
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const waiting = new Set([...left].map(({ task }) => task));
    for (const edge of left) if (!waiting.has(edge["depends_on"])) left.delete(edge);
  }
  return left.size === 0 ? [] : [`${left.size} dependencies are in or behind a cycle`];
}

function idTruths(db: DatabaseSync): string[] {
  const problems: string[] = [];
  const known = new Set<unknown>();
  for (const table of ["epics", "stories", "tasks", "handoffs", "messages"]) {
    for (const { id } of rows(db, `SELECT id FROM ${table}`)) {
      if (known.has(id)) problems.push(`${id} is the id of two things`);
      known.add(id);
    }
  }
  for (const { alias, id } of rows(db, "SELECT alias, id FROM aliases")) {
    if (!known.has(id)) problems.push(`${alias} is an alias of ${id}, which does not exist`);
    if (alias === id) problems.push(`${id} is an alias of itself`);
  }
  return problems;
}

function rows(db: DatabaseSync, sql: string): Record<string, unknown>[] {
  return db.prepare(sql).all();
}
