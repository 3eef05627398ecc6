/** Imports dependencies. One that would close a cycle, also together with other imported ones, is skipped and reported. */
import type { DatabaseSync } from "node:sqlite";
import type { DependencyRecord, ImportReport } from "../../../record-fields.ts";
import type { Actor } from "../../../work-store.ts";
import { isWaiting, pathBetween } from "../dependencies.ts";
import { all, note, one, run, WAITING } from "../rows.ts";
import { seqOf } from "./write-record.ts";

interface DependencyPlace {
  taskId: (id: string) => string | undefined;
  /** Ids of the tasks that came with this import. Only a change of another task is logged. */
  newTasks: ReadonlySet<string>;
  report: ImportReport;
  by: Actor;
}

export function importDependencies(
  db: DatabaseSync,
  records: readonly DependencyRecord[],
  { taskId, newTasks, report, by }: DependencyPlace,
): void {
  const wanted: Wanted[] = [];
  for (const record of records) {
    const name = `dependency ${record.task_id} -> ${record.depends_on_id}`;
    const unknown = (["task_id", "depends_on_id"] as const).find((field) => taskId(record[field]) === undefined);
    if (unknown) {
      report.problems.push({ where: name, text: `${unknown} ${record[unknown]} is unknown: left out` });
      continue;
    }
    const task = seqOf(db, "tasks", taskId(record.task_id)) as number;
    const dependsOn = seqOf(db, "tasks", taskId(record.depends_on_id)) as number;
    if (task === dependsOn) report.problems.push({ where: name, text: "a task cannot depend on itself: left out" });
    else wanted.push({ name, task, dependsOn, type: record.type, createdAt: record.created_at });
  }
  const sql = `SELECT task, depends_on FROM dependencies WHERE type IN ${WAITING}`;
  const stored = all<{ task: number; depends_on: number }>(db, sql);
  // Only edges that would be on a cycle, if the whole import were accepted, are followed. Otherwise a chain of 10,000 tasks would be
  // walked 10,000 times.
  const suspects = tasksInCycles([
    ...stored.map(({ task, depends_on }): Edge => [task, depends_on]),
    ...wanted.filter(({ type }) => isWaiting(type)).map(({ task, dependsOn }): Edge => [task, dependsOn]),
  ]);
  for (const edge of wanted) {
    if (!importOne(db, edge, suspects, report)) continue;
    const id = idOf(db, edge.task);
    if (newTasks.has(id)) continue;
    const target = idOf(db, edge.dependsOn);
    const text = isWaiting(edge.type) ? `waits for ${target} (${edge.type})` : `relates to ${target}`;
    note(db, by, "dependency-added", id, `by an import: ${text}`);
  }
}

interface Wanted {
  name: string;
  task: number;
  dependsOn: number;
  type: string;
  createdAt: string;
}

/** Returns whether something changed. */
function importOne(db: DatabaseSync, edge: Wanted, suspects: ReadonlySet<number>, report: ImportReport): boolean {
  const { name, task, dependsOn, type, createdAt } = edge;
  const sql = "SELECT type, created_at FROM dependencies WHERE task = ? AND depends_on = ?";
  const stored = one<{ type: string; created_at: string }>(db, sql, task, dependsOn);
  const fields = [
    ...(stored && stored.type !== type ? ["type"] : []),
    ...(stored && stored.created_at !== createdAt ? ["created_at"] : []),
  ];
  if (stored && fields.length === 0) {
    report.same++;
    return false;
  }
  const id = name.replace(/^dependency /, "");
  if (stored && createdAt <= stored.created_at) {
    report.kept.push({ id, fields });
    return false;
  }
  if (isWaiting(type) && suspects.has(task) && suspects.has(dependsOn)) {
    const path = pathBetween(db, dependsOn, task, suspects);
    if (path) {
      const shown = [task, ...path].map((seq) => idOf(db, seq)).join(" -> ");
      report.problems.push({ where: name, text: `would close a cycle: ${shown}; left out` });
      return false;
    }
  }
  const put =
    "INSERT INTO dependencies VALUES (?, ?, ?, ?) ON CONFLICT (task, depends_on) DO UPDATE SET type = excluded.type, created_at = excluded.created_at";
  run(db, put, task, dependsOn, type, createdAt);
  if (stored) report.updated.push({ id, fields });
  else report.added.dependency++;
  return true;
}

type Edge = [from: number, to: number];

/** Repeatedly removes tasks without incoming or outgoing edges. Cycles are in the rest. */
function tasksInCycles(edges: readonly Edge[]): Set<number> {
  const left = new Set(edges.flat());
  const peel = (side: 0 | 1): void => {
    const inside = edges.filter((edge) => edge.every((seq) => left.has(seq)));
    const next = Map.groupBy(inside, (edge) => edge[side]);
    const outerOf = (edge: Edge) => edge[1 - side] as number;
    const count = new Map<number, number>();
    for (const edge of inside) count.set(outerOf(edge), (count.get(outerOf(edge)) ?? 0) + 1);
    const free = [...left].filter((seq) => !count.has(seq));
    for (let seq = free.pop(); seq !== undefined; seq = free.pop()) {
      left.delete(seq);
      for (const outer of next.get(seq)?.map(outerOf) ?? []) {
        const rest = (count.get(outer) ?? 0) - 1;
        count.set(outer, rest);
        if (rest === 0) free.push(outer);
      }
    }
  };
  peel(0);
  peel(1);
  return left;
}

function idOf(db: DatabaseSync, seq: number): string {
  return one<{ id: string }>(db, "SELECT id FROM tasks WHERE seq = ?", seq)?.id ?? String(seq);
}
