/**
 * Imports records without an id, identified by their content: blockers, failures, skill uses, activity. The n-th of several equal
 * records is new if the store has fewer than n. So a second import adds nothing, and real duplicates are kept.
 */
import type { DatabaseSync } from "node:sqlite";
import { type ImportReport, nameOfRecord, type RecordOf } from "../../../record-fields.ts";
import { all, type Columns, insert, type Row, run } from "../rows.ts";
import { seqOf } from "./write-record.ts";

export interface EventPlace {
  taskId: (id: string) => string | undefined;
  /** Returns the current id of an activity's subject. */
  subjectId: (id: string) => string;
  report: ImportReport;
}

type EventKind = "blocker" | "failure" | "skill_use" | "activity";

export function importEvents(
  db: DatabaseSync,
  came: { readonly [Kind in EventKind]: readonly RecordOf<Kind>[] },
  { taskId, subjectId, report }: EventPlace,
): void {
  /** Undefined if the record's task is unknown; this is reported as a problem. */
  const taskOf = (record: RecordOf<"blocker" | "failure" | "skill_use">): { id: string; seq: number } | undefined => {
    const id = taskId(record.task_id ?? "");
    if (id !== undefined) return { id, seq: seqOf(db, "tasks", id) as number };
    report.problems.push({ where: nameOfRecord(record), text: `task_id ${record.task_id} is unknown: left out` });
    return undefined;
  };
  const add = (kind: EventKind, table: string, rows: readonly Columns[]): void => {
    const known = storedRows(db, table, rows);
    for (const row of rows) {
      if (known(row)) report.same++;
      else {
        insert(db, table, row);
        report.added[kind]++;
      }
    }
  };

  importBlockers(db, came.blocker, taskOf, report);
  const failures = came.failure.flatMap((record) => {
    const { actor, created_at, summary, details = null } = record;
    const task = taskOf(record)?.seq;
    return task === undefined ? [] : [{ task, created_at, actor, summary, details }];
  });
  add("failure", "failures", failures);
  const uses = oldestFirst(came.skill_use).flatMap((record) => {
    const { at, agent, task_id, skill, hash, because } = record;
    const task = task_id === undefined ? null : taskOf(record)?.id;
    return task === undefined ? [] : [{ at, agent, task, skill, hash, because }];
  });
  add("skill_use", "skill_history", uses);
  const events = oldestFirst(came.activity).map(({ at, actor, activity: kind, subject, text }) => {
    return { at, actor, kind, subject: subject === undefined ? null : subjectId(subject), text };
  });
  add("activity", "activity", events);
}

function importBlockers(
  db: DatabaseSync,
  records: readonly RecordOf<"blocker">[],
  taskOf: (record: RecordOf<"blocker">) => { id: string; seq: number } | undefined,
  report: ImportReport,
): void {
  const stored =
    records.length > 0 ? "SELECT * FROM blockers ORDER BY resolved_at NULLS FIRST, id" : "SELECT 1 WHERE 0";
  const known = Map.groupBy(all<Row>(db, stored), ({ task, created_at, actor, reason }) =>
    JSON.stringify([task, created_at, actor, reason]),
  );
  for (const record of records) {
    const { reason, actor, created_at, resolved_at = null, resolved_by = null } = record;
    const task = taskOf(record);
    if (!task) continue;
    const found = known.get(JSON.stringify([task.seq, created_at, actor, reason]))?.shift();
    const id = found ? Number(found["id"]) : 0;
    if (!found) {
      insert(db, "blockers", { task: task.seq, reason, actor, created_at, resolved_at, resolved_by });
      report.added.blocker++;
    } else if (found["resolved_at"] === resolved_at) report.same++;
    else if (found["resolved_at"] === null) {
      run(db, "UPDATE blockers SET resolved_at = ?, resolved_by = ? WHERE id = ?", resolved_at, resolved_by, id);
      report.updated.push({ id: task.id, fields: ["blockers"] });
    } else report.kept.push({ id: task.id, fields: ["blockers"] });
  }
}

/**
 * Returns a check whether the table has such a row. Each stored row matches once. Reads the table in a few scans, because there is no
 * index by content and there may be 100,000 rows.
 */
function storedRows(db: DatabaseSync, table: string, rows: readonly Columns[]): (row: Columns) => boolean {
  const [first] = rows;
  const counts = new Map<string, number>();
  for (const row of first ? all<Row>(db, `SELECT ${Object.keys(first).join(", ")} FROM ${table}`) : []) {
    const key = JSON.stringify(Object.values(row));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (row) => {
    const key = JSON.stringify(Object.values(row));
    const left = counts.get(key) ?? 0;
    if (left > 0) counts.set(key, left - 1);
    return left > 0;
  };
}

/** Row numbers define the order, so the oldest are inserted first. */
function oldestFirst<T extends { at: string }>(records: readonly T[]): T[] {
  return [...records].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
