/**
 * What has no id of its own and is known by its content: blockers, failures, uses of skills, activity. The n-th of several that are alike is
 * new when the store had fewer than n, so that a second import adds nothing and a copy loses nothing.
 */
import type { DatabaseSync } from "node:sqlite";
import type {
  ActivityRecord,
  BlockerRecord,
  FailureRecord,
  ImportReport,
  SkillUseRecord,
} from "../../../work-records.ts";
import { all, run } from "../rows.ts";
import { seqOf } from "./write-record.ts";

export interface EventPlace {
  taskId: (id: string) => string | undefined;
  /** What an activity is about, with the id that it has now. */
  subjectId: (id: string) => string;
  report: ImportReport;
}

export function importEvents(
  db: DatabaseSync,
  came: {
    blocker: readonly BlockerRecord[];
    failure: readonly FailureRecord[];
    skill_use: readonly SkillUseRecord[];
    activity: readonly ActivityRecord[];
  },
  place: EventPlace,
): void {
  importBlockers(db, came.blocker, place);
  importFailures(db, came.failure, place);
  importSkillUses(db, came.skill_use, place);
  importActivity(db, came.activity, place);
}

function importBlockers(db: DatabaseSync, records: readonly BlockerRecord[], place: EventPlace): void {
  const { report } = place;
  const known = new Stored<{ id: number; resolved_at: string | null }>(
    (task) =>
      all(
        db,
        "SELECT id, actor, reason, created_at, resolved_at FROM blockers WHERE task = ? ORDER BY resolved_at, id",
        task,
      ),
    ({ created_at, actor, reason }) => [created_at, actor, reason],
  );
  for (const record of records) {
    const { reason, actor, created_at, resolved_at = null, resolved_by = null } = record;
    const task = findTask(db, record, place);
    if (task === undefined) continue;
    const stored = known.take(task.seq, [created_at, actor, reason]);
    if (!stored) {
      run(
        db,
        "INSERT INTO blockers (task, reason, actor, created_at, resolved_at, resolved_by) VALUES (?, ?, ?, ?, ?, ?)",
        task.seq,
        reason,
        actor,
        created_at,
        resolved_at,
        resolved_by,
      );
      report.added.blocker++;
    } else if (stored.resolved_at === resolved_at) report.same++;
    else if (stored.resolved_at === null) {
      run(db, "UPDATE blockers SET resolved_at = ?, resolved_by = ? WHERE id = ?", resolved_at, resolved_by, stored.id);
      report.updated.push({ id: task.id, fields: ["blockers"] });
    } else report.kept.push({ id: task.id, fields: ["blockers"] });
  }
}

function importFailures(db: DatabaseSync, records: readonly FailureRecord[], place: EventPlace): void {
  const known = new Stored<object>(
    (task) =>
      all<object>(db, "SELECT created_at, actor, summary, details FROM failures WHERE task = ? ORDER BY id", task),
    ({ created_at, actor, summary, details }) => [created_at, actor, summary, details],
  );
  for (const record of records) {
    const { created_at, actor, summary, details = null } = record;
    const task = findTask(db, record, place);
    if (task === undefined) continue;
    if (known.take(task.seq, [created_at, actor, summary, details])) {
      place.report.same++;
      continue;
    }
    run(
      db,
      "INSERT INTO failures (task, actor, created_at, summary, details) VALUES (?, ?, ?, ?, ?)",
      task.seq,
      actor,
      created_at,
      summary,
      details,
    );
    place.report.added.failure++;
  }
}

function importActivity(db: DatabaseSync, records: readonly ActivityRecord[], { subjectId, report }: EventPlace): void {
  const known = new Counted(() =>
    records.length > 0 ? all(db, "SELECT at, actor, kind, subject, text FROM activity") : [],
  );
  for (const { at, actor, activity, subject, text } of oldestFirst(records)) {
    const about = subject === undefined ? null : subjectId(subject);
    if (known.take([at, actor, activity, about, text])) {
      report.same++;
      continue;
    }
    run(
      db,
      "INSERT INTO activity (at, actor, kind, subject, text) VALUES (?, ?, ?, ?, ?)",
      at,
      actor,
      activity,
      about,
      text,
    );
    report.added.activity++;
  }
}

function importSkillUses(db: DatabaseSync, records: readonly SkillUseRecord[], place: EventPlace): void {
  const { taskId, report } = place;
  const known = new Counted(() =>
    records.length > 0 ? all(db, "SELECT at, agent, task, skill, hash, because FROM skill_history") : [],
  );
  for (const { at, agent, task_id, skill, hash, because } of oldestFirst(records)) {
    const task = task_id === undefined ? null : taskId(task_id);
    if (task === undefined) {
      report.problems.push({ where: `use of skill ${skill} ${at}`, text: `task_id ${task_id} is unknown: left out` });
      continue;
    }
    if (known.take([at, agent, task, skill, hash, because])) {
      report.same++;
      continue;
    }
    run(
      db,
      "INSERT INTO skill_history (at, agent, task, skill, hash, because) VALUES (?, ?, ?, ?, ?, ?)",
      at,
      agent,
      task,
      skill,
      hash,
      because,
    );
    report.added.skill_use++;
  }
}

/** Their row number is their order. */
function oldestFirst<T extends { at: string }>(records: readonly T[]): T[] {
  return [...records].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** How many rows there are of each content. Read all at once: there is no index by content, and 100,000 rows take a few scans. */
class Counted {
  readonly #counts = new Map<string, number>();

  constructor(read: () => Record<string, unknown>[]) {
    for (const row of read()) {
      const key = JSON.stringify(Object.values(row));
      this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    }
  }

  /** Each row is handed out once. */
  take(content: unknown[]): boolean {
    const key = JSON.stringify(content);
    const left = this.#counts.get(key) ?? 0;
    if (left > 0) this.#counts.set(key, left - 1);
    return left > 0;
  }
}

/** The rows of a task, looked up once, each of them handed out once. */
class Stored<Row extends object> {
  readonly #read: (task: number) => Row[];
  readonly #contentOf: (row: Record<string, unknown>) => unknown[];
  readonly #rows = new Map<number, Map<string, Row[]>>();

  constructor(read: (task: number) => Row[], contentOf: (row: Record<string, unknown>) => unknown[]) {
    this.#read = read;
    this.#contentOf = contentOf;
  }

  take(task: number, content: unknown[]): Row | undefined {
    let rows = this.#rows.get(task);
    if (!rows) {
      rows = new Map();
      for (const row of this.#read(task)) {
        const key = JSON.stringify(this.#contentOf(row as Record<string, unknown>));
        rows.set(key, [...(rows.get(key) ?? []), row]);
      }
      this.#rows.set(task, rows);
    }
    return rows.get(JSON.stringify(content))?.shift();
  }
}

function findTask(
  db: DatabaseSync,
  { kind, task_id }: BlockerRecord | FailureRecord,
  { taskId, report }: EventPlace,
): { id: string; seq: number } | undefined {
  const id = taskId(task_id);
  if (id !== undefined) return { id, seq: seqOf(db, "tasks", id) as number };
  report.problems.push({ where: `${kind} of task ${task_id}`, text: `task_id ${task_id} is unknown: left out` });
  return undefined;
}
