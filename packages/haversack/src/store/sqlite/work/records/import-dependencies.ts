/** Dependencies of an import. One that would close a cycle, also over several that came with it, is left out and shown. */
import type { DatabaseSync } from "node:sqlite";
import type { DependencyRecord, ImportReport } from "../../../work-records.ts";
import { WAITING } from "../parts.ts";
import { all, one, run } from "../rows.ts";
import { seqOf } from "./write-record.ts";

export function importDependencies(
  db: DatabaseSync,
  records: readonly DependencyRecord[],
  { taskId, report }: { taskId: (id: string) => string | undefined; report: ImportReport },
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
  const graph = new WaitGraph(db, wanted);
  for (const edge of wanted) importOne(db, edge, graph, report);
}

interface Wanted {
  name: string;
  task: number;
  dependsOn: number;
  type: string;
  createdAt: string;
}

function importOne(db: DatabaseSync, edge: Wanted, graph: WaitGraph, report: ImportReport): void {
  const { name, task, dependsOn, type, createdAt } = edge;
  const stored = one<{ type: string; created_at: string }>(
    db,
    "SELECT type, created_at FROM dependencies WHERE task = ? AND depends_on = ?",
    task,
    dependsOn,
  );
  const fields = [
    ...(stored && stored.type !== type ? ["type"] : []),
    ...(stored && stored.created_at !== createdAt ? ["created_at"] : []),
  ];
  if (stored && fields.length === 0) {
    report.same++;
    return;
  }
  const id = name.replace(/^dependency /, "");
  if (stored && createdAt <= stored.created_at) {
    report.kept.push({ id, fields });
    return;
  }
  if (isWaiting(type)) {
    const path = graph.pathBetween(dependsOn, task);
    if (path) {
      const shown = [task, ...path].map((seq) => idOf(db, seq)).join(" -> ");
      report.problems.push({ where: name, text: `would close a cycle: ${shown}; left out` });
      return;
    }
    graph.add(task, dependsOn);
  } else if (stored) graph.remove(task, dependsOn);
  run(
    db,
    "INSERT INTO dependencies VALUES (?, ?, ?, ?) ON CONFLICT (task, depends_on) DO UPDATE SET type = excluded.type, created_at = excluded.created_at",
    task,
    dependsOn,
    type,
    createdAt,
  );
  if (stored) report.updated.push({ id, fields });
  else report.added.dependency++;
}

/**
 * Who waits for whom. Only edges that lie on a cycle, were all of the import taken, need to be followed: without this a chain of
 * 10,000 tasks would be walked 10,000 times.
 */
class WaitGraph {
  readonly #targets = new Map<number, Set<number>>();
  readonly #suspects: Set<number>;

  constructor(db: DatabaseSync, wanted: readonly Wanted[]) {
    const stored = all<{ task: number; depends_on: number }>(
      db,
      `SELECT task, depends_on FROM dependencies WHERE type IN ${WAITING}`,
    );
    for (const { task, depends_on } of stored) this.add(task, depends_on);
    this.#suspects = tasksInCycles([
      ...stored.map(({ task, depends_on }): Edge => [task, depends_on]),
      ...wanted.filter(({ type }) => isWaiting(type)).map(({ task, dependsOn }): Edge => [task, dependsOn]),
    ]);
  }

  add(task: number, dependsOn: number): void {
    const targets = this.#targets.get(task);
    if (targets) targets.add(dependsOn);
    else this.#targets.set(task, new Set([dependsOn]));
  }

  remove(task: number, dependsOn: number): void {
    this.#targets.get(task)?.delete(dependsOn);
  }

  /** Over what each waits for, both ends included. */
  pathBetween(from: number, to: number): number[] | undefined {
    if (!this.#suspects.has(from) || !this.#suspects.has(to)) return undefined;
    const cameFrom = new Map<number, number | undefined>([[from, undefined]]);
    for (const seq of cameFrom.keys()) {
      if (seq === to) {
        const path: number[] = [];
        for (let at: number | undefined = seq; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
        return path;
      }
      for (const next of this.#targets.get(seq) ?? []) {
        if (this.#suspects.has(next) && !cameFrom.has(next)) cameFrom.set(next, seq);
      }
    }
    return undefined;
  }
}

type Edge = [from: number, to: number];

/** Peels off, again and again, what nothing leads to and what leads nowhere; cycles are in what is left. */
function tasksInCycles(edges: readonly Edge[]): Set<number> {
  const left = new Set(edges.flat());
  const peel = (side: 0 | 1): void => {
    const count = new Map<number, number>();
    const next = new Map<number, number[]>();
    for (const edge of edges) {
      const [inner, outer] = [edge[side], edge[1 - side] as number];
      if (!left.has(inner) || !left.has(outer)) continue;
      count.set(outer, (count.get(outer) ?? 0) + 1);
      const outers = next.get(inner);
      if (outers) outers.push(outer);
      else next.set(inner, [outer]);
    }
    const free = [...left].filter((seq) => !count.has(seq));
    for (let seq = free.pop(); seq !== undefined; seq = free.pop()) {
      left.delete(seq);
      for (const outer of next.get(seq) ?? []) {
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

function isWaiting(type: string): boolean {
  return type !== "relates_to";
}

function idOf(db: DatabaseSync, seq: number): string {
  return one<{ id: string }>(db, "SELECT id FROM tasks WHERE seq = ?", seq)?.id ?? String(seq);
}
