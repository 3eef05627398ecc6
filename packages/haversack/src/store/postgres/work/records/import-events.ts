// Made from store/sqlite/work/records/import-events.ts by scripts/make-postgres.mjs: change it there, then run `npm run postgres`.
/**
 * Imports records without an id, identified by their content: blockers, failures, skill uses, activity. The n-th of several equal
 * records is new if the store has fewer than n. So a second import adds nothing, and real duplicates are kept.
 */

import { type ImportReport, nameOfRecord, type RecordOf } from "../../../record-fields.ts";
import type { Connection } from "../../connection.ts";
import { flatMapEach, mapEach } from "../../each.ts";
import { all, type Columns, insert, type Row, run } from "../rows.ts";
import { seqOf } from "./write-record.ts";

interface EventPlace {
  taskId: (id: string) => Promise<string | undefined>;
  /** Returns the current id of an activity's subject. */
  subjectId: (id: string) => Promise<string>;
  report: ImportReport;
}

type EventKind = "blocker" | "failure" | "skill_use" | "activity";

export async function importEvents(
  db: Connection,
  came: { readonly [Kind in EventKind]: readonly RecordOf<Kind>[] },
  { taskId, subjectId, report }: EventPlace,
): Promise<void> {
  /** Undefined if the record's task is unknown; this is reported as a problem. */
  const taskOf = async (
    record: RecordOf<"blocker" | "failure" | "skill_use">,
  ): Promise<{ id: string; seq: number } | undefined> => {
    const id = await taskId(record.task_id ?? "");
    if (id !== undefined) return { id, seq: (await seqOf(db, "tasks", id)) as number };
    report.problems.push({ where: nameOfRecord(record), text: `task_id ${record.task_id} is unknown: left out` });
    return undefined;
  };
  const add = async (kind: EventKind, table: string, rows: readonly Columns[]): Promise<void> => {
    const known = await storedRows(db, table, rows);
    for (const row of rows) {
      if (known(row)) report.same++;
      else {
        await insert(db, table, row);
        report.added[kind]++;
      }
    }
  };

  await importBlockers(db, came.blocker, { taskOf, report });
  const failures = await flatMapEach(came.failure, async (record) => {
    const { actor, created_at, summary, details = null } = record;
    const task = (await taskOf(record))?.seq;
    return task === undefined ? [] : [{ task, created_at, actor, summary, details }];
  });
  await add("failure", "failures", failures);
  const uses = await flatMapEach(oldestFirst(came.skill_use), async (record) => {
    const { at, agent, task_id, skill, hash, because } = record;
    const task = task_id === undefined ? null : (await taskOf(record))?.id;
    return task === undefined ? [] : [{ at, agent, task, skill, hash, because }];
  });
  await add("skill_use", "skill_history", uses);
  const events = await mapEach(oldestFirst(came.activity), async ({ at, actor, activity: kind, subject, text }) => {
    return { at, actor, kind, subject: subject === undefined ? null : await subjectId(subject), text };
  });
  await add("activity", "activity", events);
}

async function importBlockers(
  db: Connection,
  records: readonly RecordOf<"blocker">[],
  {
    taskOf,
    report,
  }: { taskOf(record: RecordOf<"blocker">): Promise<{ id: string; seq: number } | undefined>; report: ImportReport },
): Promise<void> {
  const known = new Map<string, Row[]>();
  const stored =
    records.length > 0 ? "SELECT * FROM blockers ORDER BY resolved_at NULLS FIRST, id" : "SELECT 1 WHERE 0";
  for (const row of await all<Row>(db, stored)) {
    const key = JSON.stringify([row["task"], row["created_at"], row["actor"], row["reason"]]);
    known.set(key, [...(known.get(key) ?? []), row]);
  }
  for (const record of records) {
    const { reason, actor, created_at, resolved_at = null, resolved_by = null } = record;
    const task = await taskOf(record);
    if (!task) continue;
    const found = known.get(JSON.stringify([task.seq, created_at, actor, reason]))?.shift();
    const id = found ? Number(found["id"]) : 0;
    if (!found) {
      await insert(db, "blockers", { task: task.seq, reason, actor, created_at, resolved_at, resolved_by });
      report.added.blocker++;
    } else if (found["resolved_at"] === resolved_at) report.same++;
    else if (found["resolved_at"] === null) {
      await run(db, "UPDATE blockers SET resolved_at = ?, resolved_by = ? WHERE id = ?", resolved_at, resolved_by, id);
      report.updated.push({ id: task.id, fields: ["blockers"] });
    } else report.kept.push({ id: task.id, fields: ["blockers"] });
  }
}

/**
 * Returns a check whether the table has such a row. Each stored row matches once. Reads the table in a few scans, because there is no
 * index by content and there may be 100,000 rows.
 */
async function storedRows(db: Connection, table: string, rows: readonly Columns[]): Promise<(row: Columns) => boolean> {
  const [first] = rows;
  const counts = new Map<string, number>();
  for (const row of first ? await all<Row>(db, `SELECT ${Object.keys(first).join(", ")} FROM ${table}`) : []) {
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
