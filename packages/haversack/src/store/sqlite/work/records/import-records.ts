/**
 * Imports records into the store. New records are added. Existing ones are left alone if equal, else merged, and every changed field is
 * reported. If one id means two different things, the imported one gets a new id: references in the import follow, and the old id
 * becomes an alias. Records that cannot be imported are reported; the rest is imported. Finally the queue and the statuses of stories
 * and epics are updated.
 */
import type { DatabaseSync } from "node:sqlite";
import {
  type ImportOptions,
  type ImportReport,
  nameOfAgent,
  nameOfRecord,
  RECORD_KINDS,
  type RecordKind,
  readRecord,
  type TaskRecord,
  type WorkRecord,
} from "../../../record-fields.ts";
import type { Actor } from "../../../work-store.ts";
import { orderReviews } from "../dependencies.ts";
import { followStories, followTasks } from "../groups.ts";
import { addAlias, freshId, withAlias } from "../ids.ts";
import { rebuildQueue } from "../queue.ts";
import { note, one, run } from "../rows.ts";
import { storedAgent, storedRecord } from "./export-records.ts";
import { importDependencies } from "./import-dependencies.ts";
import { importEvents } from "./import-events.ts";
import { agentSeq, isEqual, mergeRecord, seqOf, WRITERS } from "./write-record.ts";

/** Runs in the caller's transaction. A dry run does everything and rolls it back. */
export function importRecords(
  db: DatabaseSync,
  records: Iterable<WorkRecord>,
  { isDryRun = false }: ImportOptions,
  by: Actor,
): ImportReport {
  if (!isDryRun) return new Import(db, records, by).run();
  db.exec("SAVEPOINT import_records");
  try {
    return new Import(db, records, by).run();
  } finally {
    db.exec("ROLLBACK TO import_records");
    db.exec("RELEASE import_records");
  }
}

type Of<Kind extends RecordKind> = Extract<WorkRecord, { kind: Kind }>;
type Came = { [Kind in RecordKind]: Of<Kind>[] };
type Writer<T> = (db: DatabaseSync, record: T) => void;
/** Records that have an id. */
type Thing = Of<"epic" | "story" | "task" | "handoff" | "message">;
type ThingKind = Thing["kind"];

const TABLES = { epic: "epics", story: "stories", task: "tasks", handoff: "handoffs", message: "messages" } as const;
/** Two things with the same id are told apart by this field and their creation time. */
const TITLES = { epic: "title", story: "title", task: "title", handoff: "summary", message: "text" } as const;

class Import {
  readonly #db: DatabaseSync;
  readonly #by: Actor;
  readonly #came: Came;
  /** Maps ids of the import to ids of the store, per kind. */
  readonly #ids = new Map<ThingKind, Map<string, string>>();
  readonly #report: ImportReport = {
    added: Object.fromEntries(RECORD_KINDS.map((kind) => [kind, 0])) as Record<RecordKind, number>,
    same: 0,
    updated: [],
    kept: [],
    renamed: [],
    recognized: [],
    problems: [],
  };
  readonly #known = new Map<string, Thing | undefined>();
  /** New ids must not be one of these: their records may not be written yet. */
  readonly #reserved = new Set<string>();
  /** Ids assigned in this import. */
  readonly #given = new Set<string>();
  readonly #aliases: { kind: ThingKind; alias: string; id: string }[] = [];
  readonly #newTasks: string[] = [];
  readonly #touchedStories = new Set<string>();
  readonly #touchedEpics = new Set<string>();

  constructor(db: DatabaseSync, records: Iterable<WorkRecord>, by: Actor) {
    this.#db = db;
    this.#by = by;
    this.#came = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, []])) as unknown as Came;
    for (const given of records) {
      const { record, problems } = readRecord(given);
      for (const text of problems) this.#problem(given, text);
      if (!record) continue;
      (this.#came[record.kind] as WorkRecord[]).push(record);
      if (isThing(record)) for (const id of [record.id, ...(record.aliases ?? [])]) this.#reserved.add(id);
    }
  }

  run(): ImportReport {
    const { at } = this.#by;
    this.#importEpics();
    this.#importStories();
    this.#importTasks();
    const taskId = (id: string) => this.#resolve("task", id);
    importDependencies(this.#db, this.#came.dependency, {
      taskId,
      newTasks: new Set(this.#newTasks),
      report: this.#report,
      by: this.#by,
    });
    // The file is from before reviews had an order, or from another tool.
    for (const id of this.#newTasks)
      orderReviews(this.#db, seqOf(this.#db, "tasks", id) as number, { at, name: "haversack" });
    importEvents(this.#db, this.#came, { taskId, subjectId: (id) => this.#subject(id), report: this.#report });
    this.#importHandoffs();
    this.#importAgents();
    this.#importMessages();
    this.#addAliases();
    this.#follow(at.toISOString());
    rebuildQueue(this.#db);
    return this.#report;
  }

  #importEpics(): void {
    for (const epic of this.#identify<Of<"epic">>("epic", this.#came.epic)) {
      this.#put(epic);
      this.#touchedEpics.add(epic.id);
    }
  }

  #importStories(): void {
    for (const story of this.#identify<Of<"story">>("story", this.#came.story)) {
      this.#refer(story, "epic_id", "epic");
      const before = this.#stored("story", story.id)?.epic_id;
      this.#put(story);
      this.#touchedStories.add(story.id);
      for (const epic of [before, story.epic_id]) if (epic) this.#touchedEpics.add(epic);
    }
    // A task's epic is that of its story.
    const sql =
      "UPDATE tasks SET epic = (SELECT epic FROM stories WHERE seq = tasks.story) WHERE story IS NOT NULL AND epic IS DISTINCT FROM (SELECT epic FROM stories WHERE seq = tasks.story)";
    run(this.#db, sql);
  }

  #importTasks(): void {
    const tasks = this.#identify<Of<"task">>("task", this.#came.task);
    const parents: TaskRecord[] = [];
    for (const task of tasks) {
      this.#refer(task, "story_id", "story");
      this.#refer(task, "parent_id", "task");
    }
    const cameAs = new Map(tasks.map((task) => [task.id, task]));
    for (const task of tasks) {
      const story = task.story_id ?? this.#storyAbove(task, cameAs);
      if (story !== undefined) task.story_id = story;
      if (task.claim && task.status !== "in_progress") {
        this.#problem(task, `claim of ${task.claim.agent} left out: the task is ${task.status}, not in_progress`);
        delete task.claim;
      }
      const stored = this.#stored("task", task.id);
      const before = stored?.story_id;
      const written = this.#put(task);
      if (written) parents.push(written);
      if (written && !stored) this.#newTasks.push(written.id);
      for (const story of [before, task.story_id]) if (story) this.#touchedStories.add(story);
    }
    for (const task of parents) this.#setParent(task);
  }

  /** A sub-task without a story joins its parent's story. Such sub-tasks come from older files or other tools. */
  #storyAbove(task: TaskRecord, came: ReadonlyMap<string, TaskRecord>): string | undefined {
    const seen = new Set<string>();
    for (let above = task.parent_id; above !== undefined && !seen.has(above); ) {
      seen.add(above);
      const parent: TaskRecord | undefined = came.get(above) ?? this.#stored("task", above);
      if (parent?.story_id !== undefined) return parent.story_id;
      above = parent?.parent_id;
    }
    return undefined;
  }

  #setParent(task: TaskRecord): void {
    const seq = seqOf(this.#db, "tasks", task.id) as number;
    const parent = seqOf(this.#db, "tasks", task.parent_id);
    for (let above: number | null = parent; above !== null; ) {
      if (above === seq) {
        this.#problem(task, `parent_id ${task.parent_id} left out: the task would be its own ancestor`);
        return;
      }
      above = one<{ parent: number | null }>(this.#db, "SELECT parent FROM tasks WHERE seq = ?", above)?.parent ?? null;
    }
    run(this.#db, "UPDATE tasks SET parent = ? WHERE seq = ?", parent, seq);
  }

  #importHandoffs(): void {
    for (const handoff of this.#identify<Of<"handoff">>("handoff", this.#came.handoff)) {
      const taskId = this.#resolve("task", handoff.task_id);
      if (taskId === undefined) {
        this.#problem(handoff, `task_id ${handoff.task_id} is unknown: left out`);
        continue;
      }
      handoff.task_id = taskId;
      const stored = this.#stored("handoff", handoff.id);
      if (!stored) this.#numberAttempt(handoff);
      else if (stored.task_id !== taskId || stored.role !== handoff.role) {
        this.#problem(handoff, `is stored as ${stored.role}'s of task ${stored.task_id}: left out`);
        continue;
        // An earlier import may have renumbered it.
      } else handoff.attempt = stored.attempt;
      this.#put(handoff);
    }
  }

  #importAgents(): void {
    for (const agent of this.#came.agent) {
      const stored = storedAgent(this.#db, agent);
      if (!stored) {
        WRITERS.agent(this.#db, agent);
        this.#report.added.agent++;
      } else {
        // An older file must not remove an agent that exists here.
        const { removed_at: removed, ...rest } = agent;
        const came = stored.removed_at === undefined || removed === undefined ? rest : agent;
        this.#merge(nameOfRecord(agent), { stored, came, timeOf: seenAt, write: WRITERS.agent });
      }
    }
  }

  #importMessages(): void {
    for (const message of this.#identify<Of<"message">>("message", this.#came.message)) {
      const { readers = [] } = message;
      message.readers = readers.filter((reader) => {
        if (agentSeq(this.#db, reader) !== null) return true;
        this.#problem(message, `${nameOfAgent({ ...reader, name: reader.agent })} is unknown: left out as a reader`);
        return false;
      });
      if (message.readers.length === 0) {
        this.#problem(message, "has no reader: left out");
        continue;
      }
      if (message.subject !== undefined) message.subject = this.#subject(message.subject);
      this.#put(message);
    }
  }

  /** Two clones may both have stored a first attempt. The imported one then becomes the next attempt. */
  #numberAttempt(handoff: Of<"handoff">): void {
    const given = handoff.attempt;
    const isTaken = () =>
      one(
        this.#db,
        "SELECT 1 FROM handoffs h JOIN tasks t ON t.seq = h.task WHERE t.id = ? AND h.role = ? AND h.attempt = ?",
        handoff.task_id,
        handoff.role,
        handoff.attempt,
      ) !== undefined;
    while (isTaken()) handoff.attempt++;
    if (handoff.attempt === given) return;
    const name = `${handoff.id} (${handoff.role}, attempt`;
    this.#report.renamed.push({ from: `${name} ${given})`, to: `${name} ${handoff.attempt})` });
  }

  /** Assigns each record its final id. Oldest first, because rows are inserted in this order. */
  #identify<T extends Thing>(kind: T["kind"], came: readonly T[]): T[] {
    const ids = new Map<string, string>();
    this.#ids.set(kind, ids);
    const known = new Map<string, { first: T; id: string }[]>();
    const found: T[] = [];
    for (const record of came) {
      const alike = known.get(record.id) ?? [];
      let same = alike.find(({ first }) => !isAnother(first, record));
      if (!same) {
        same = { first: record, id: this.#finalId(record) };
        this.#given.add(same.id);
        known.set(record.id, [...alike, same]);
        // A reference to an id that two things share is taken to mean the one that keeps the id.
        if (alike.length === 0 || same.id === record.id) ids.set(record.id, same.id);
      }
      for (const alias of [record.id, ...(record.aliases ?? [])]) {
        if (alias !== same.id) this.#aliases.push({ kind, alias, id: same.id });
      }
      found.push({ ...record, id: same.id });
    }
    for (const [id, alike] of known) {
      if (alike.length < 2) continue;
      const others = alike.filter((one) => one.id !== ids.get(id)).map((one) => one.id);
      const text = `is the id of ${alike.length} different things in the import: all were imported; references point to ${ids.get(id)}, not to ${others.join(", ")}`;
      this.#problem(alike[0]?.first as T, text);
    }
    return found.sort((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id));
  }

  #finalId(record: Thing): string {
    const { kind, id, created_at } = record;
    const isThis = (candidate: string) => {
      const stored = this.#stored(kind, candidate);
      return stored !== undefined && !isAnother(stored, record);
    };
    if (isThis(id)) return id;
    const recognized = this.#namesHere(record).find(isThis);
    if (recognized !== undefined) {
      if (!this.#isAlias(kind, id, recognized)) this.#report.recognized.push({ from: id, to: recognized });
      return recognized;
    }
    if (!this.#isTaken(id) && !this.#given.has(id)) return id;
    // Renamed by an import before aliases existed.
    const sql = `SELECT id FROM ${TABLES[kind]} WHERE created_at = ? AND ${TITLES[kind]} = ? ORDER BY seq LIMIT 1`;
    const twin = one<{ id: string }>(this.#db, sql, created_at, titleOf(record));
    if (twin) return twin.id;
    const fresh = freshId(this.#db, TABLES[kind], { isReserved: (other) => this.#reserved.has(other) });
    this.#reserved.add(fresh);
    this.#report.renamed.push({ from: id, to: fresh });
    return fresh;
  }

  /** The ids that a thing may have in this store, according to the store's and the import's aliases. */
  #namesHere({ kind, id, aliases = [] }: Thing): string[] {
    const known = [id, ...aliases].flatMap((name) => withAlias(this.#db, TABLES[kind], name).map((row) => row.id));
    return [...known, ...aliases];
  }

  #isAlias(kind: ThingKind, alias: string, id: string): boolean {
    return withAlias(this.#db, TABLES[kind], alias).some((row) => row.id === id);
  }

  /** Runs at the end, because skipped records get no aliases. */
  #addAliases(): void {
    for (const { kind, alias, id } of this.#aliases) {
      if (seqOf(this.#db, TABLES[kind], id) !== null) addAlias(this.#db, alias, id);
    }
  }

  /** Cached: called up to three times per record. */
  #stored<Kind extends ThingKind>(kind: Kind, id: string): Of<Kind> | undefined {
    const key = `${kind} ${id}`;
    if (!this.#known.has(key)) this.#known.set(key, storedRecord(this.#db, kind, id));
    return this.#known.get(key) as Of<Kind> | undefined;
  }

  #isTaken(id: string): boolean {
    return Object.values(TABLES).some((table) => seqOf(this.#db, table, id) !== null);
  }

  /** Returns the written record, or undefined if nothing changed. */
  #put<T extends Thing>(given: T): T | undefined {
    const record = notAhead(given, this.#by.at);
    const { kind, id } = record;
    const write = WRITERS[kind] as Writer<T>;
    const stored = this.#stored(kind, id) as T | undefined;
    this.#known.delete(`${kind} ${id}`);
    if (!stored) {
      write(this.#db, record);
      this.#report.added[kind]++;
      return record;
    }
    // The time was cut to now, which is another one at every import: alone it is no change.
    if (record !== given && "updated_at" in stored && isEqual({ ...record, updated_at: stored.updated_at }, stored)) {
      this.#report.same++;
      return undefined;
    }
    const merged = this.#merge(id, { stored, came: record, timeOf, write });
    const fields = this.#report.updated.at(-1)?.fields.filter((field) => field !== "updated_at") ?? [];
    if (merged && kind === "task" && fields.length > 0)
      note(this.#db, this.#by, "task-updated", id, `by an import: ${fields.join(", ")}`);
    return merged;
  }

  #merge<T extends WorkRecord>(
    id: string,
    { stored, came, timeOf, write }: { stored: T; came: T; timeOf: (record: T) => string; write: Writer<T> },
  ): T | undefined {
    const { record: merged, updated, kept } = mergeRecord(stored, came, { timeOf, at: this.#by.at });
    if (updated.length > 0) this.#report.updated.push({ id, fields: updated });
    if (kept.length > 0) this.#report.kept.push({ id, fields: kept });
    if (updated.length === 0) {
      if (kept.length === 0) this.#report.same++;
      return undefined;
    }
    write(this.#db, merged);
    return merged;
  }

  #refer<Field extends string>(
    record: WorkRecord & { [name in Field]?: string },
    field: Field,
    kind: "epic" | "story" | "task",
  ): void {
    const given = record[field];
    if (given === undefined) return;
    const id = this.#resolve(kind, given);
    if (id === undefined) {
      this.#problem(record, `${field} ${given} is unknown: imported without it`);
      delete record[field];
    } else (record as Record<string, unknown>)[field] = id;
  }

  #resolve(kind: ThingKind, id: string): string | undefined {
    const known = this.#ids.get(kind)?.get(id);
    if (known !== undefined) return known;
    if (seqOf(this.#db, TABLES[kind], id) !== null) return id;
    const [target, ...others] = withAlias(this.#db, TABLES[kind], id);
    return others.length === 0 ? target?.id : undefined;
  }

  #subject(id: string): string {
    for (const ids of this.#ids.values()) {
      const known = ids.get(id);
      if (known !== undefined) return known;
    }
    const kinds = Object.keys(TABLES) as ThingKind[];
    return kinds.map((kind) => this.#resolve(kind, id)).find((known) => known !== undefined) ?? id;
  }

  /** Lines merged from two branches may be valid alone but together mark a story `done` that has an open task. */
  #follow(at: string): void {
    for (const id of this.#touchedStories) followTasks(this.#db, seqOf(this.#db, "stories", id), at);
    for (const id of this.#touchedEpics) followStories(this.#db, seqOf(this.#db, "epics", id), at);
  }

  #problem(record: WorkRecord, text: string): void {
    this.#report.problems.push({ where: nameOfRecord(record), text });
  }
}

function isThing(record: WorkRecord): record is Thing {
  return record.kind in TABLES;
}

/** Different creation time and different title. */
function isAnother(one: Thing, other: Thing): boolean {
  return one.created_at !== other.created_at && titleOf(one) !== titleOf(other);
}

function titleOf(record: Thing): string {
  return (record as unknown as Record<string, string>)[TITLES[record.kind]] as string;
}

function seenAt({ last_seen_at, created_at }: Of<"agent">): string {
  return last_seen_at ?? created_at;
}

function timeOf(record: Thing): string {
  if (record.kind === "message") return record.created_at;
  if (record.kind !== "handoff") return record.updated_at;
  return [record.created_at, record.compacted_at ?? "", record.archived_at ?? ""].sort().at(-1) as string;
}

/** A time of change in the future counts as now. Else it would win over every later change. */
function notAhead<T extends Thing>(record: T, at: Date): T {
  const now = at.toISOString();
  return "updated_at" in record && record.updated_at > now ? { ...record, updated_at: now } : record;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
