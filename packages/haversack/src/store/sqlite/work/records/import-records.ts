/**
 * Records into the store. What is new is added; what is there already is left alone when it is the same, and otherwise merged
 * with every changed field named; the same id for two different things gives what came a new one, all that refers to it
 * in the import follows, and the old id is an alias from then on. What cannot be taken over is reported, and the rest is taken. At the end the queue and the
 * statuses of stories and epics are true.
 */
import type { DatabaseSync } from "node:sqlite";
import { nameOfAgent, nameOfRecord, RECORD_KINDS, type RecordKind, readRecord } from "../../../record-fields.ts";
import type { ImportOptions, ImportReport, TaskRecord, WorkRecord } from "../../../work-records.ts";
import { followStories, followTasks } from "../groups.ts";
import { addAlias, freshId, withAlias } from "../ids.ts";
import { orderReviews } from "../parts.ts";
import { rebuildQueue } from "../queue.ts";
import { one, run } from "../rows.ts";
import { storedAgent, storedRecord } from "./export-records.ts";
import { importDependencies } from "./import-dependencies.ts";
import { importEvents } from "./import-events.ts";
import {
  agentSeq,
  mergeRecord,
  seqOf,
  writeAgent,
  writeEpic,
  writeHandoff,
  writeMessage,
  writeStory,
  writeTask,
} from "./write-record.ts";

/** Inside a transaction of the caller's. A dry run does all of it and takes it back. */
export function importRecords(
  db: DatabaseSync,
  records: Iterable<WorkRecord>,
  { isDryRun = false }: ImportOptions,
  { at }: { at: Date },
): ImportReport {
  if (!isDryRun) return new Import(db, records).run(at);
  db.exec("SAVEPOINT import_records");
  try {
    return new Import(db, records).run(at);
  } finally {
    db.exec("ROLLBACK TO import_records");
    db.exec("RELEASE import_records");
  }
}

type Of<Kind extends RecordKind> = Extract<WorkRecord, { kind: Kind }>;
type Came = { [Kind in RecordKind]: Of<Kind>[] };
type Writer<T> = (db: DatabaseSync, record: T) => void;
/** What has an id. */
type Thing = Of<"epic" | "story" | "task" | "handoff" | "message">;
type ThingKind = Thing["kind"];

const TABLES = { epic: "epics", story: "stories", task: "tasks", handoff: "handoffs", message: "messages" } as const;
/** What two things of one id are told apart by, beside their time. */
const TITLES = { epic: "title", story: "title", task: "title", handoff: "summary", message: "text" } as const;

class Import {
  readonly #db: DatabaseSync;
  readonly #came: Came;
  /** Ids of the import to ids of the store, per kind. */
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
  /** No new id may be one of these: what has it may not be written yet. */
  readonly #reserved = new Set<string>();
  /** Ids that things of this import have got. */
  readonly #given = new Set<string>();
  readonly #aliases: { kind: ThingKind; alias: string; id: string }[] = [];
  readonly #newTasks: string[] = [];
  readonly #touchedStories = new Set<string>();
  readonly #touchedEpics = new Set<string>();

  constructor(db: DatabaseSync, records: Iterable<WorkRecord>) {
    this.#db = db;
    this.#came = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, []])) as unknown as Came;
    for (const given of records) {
      const { record, problems } = readRecord(given);
      for (const text of problems) this.#problem(given, text);
      if (!record) continue;
      (this.#came[record.kind] as WorkRecord[]).push(record);
      if (isThing(record)) for (const id of [record.id, ...(record.aliases ?? [])]) this.#reserved.add(id);
    }
  }

  run(at: Date): ImportReport {
    this.#importEpics();
    this.#importStories();
    this.#importTasks();
    const taskId = (id: string) => this.#resolve("task", id);
    importDependencies(this.#db, this.#came.dependency, { taskId, report: this.#report });
    // A file from before reviews had an order, or from another tool.
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
      this.#put(epic, writeEpic);
      this.#touchedEpics.add(epic.id);
    }
  }

  #importStories(): void {
    for (const story of this.#identify<Of<"story">>("story", this.#came.story)) {
      this.#refer(story, "epic_id", "epic");
      const before = this.#stored("story", story.id)?.epic_id;
      this.#put(story, writeStory);
      this.#touchedStories.add(story.id);
      for (const epic of [before, story.epic_id]) if (epic) this.#touchedEpics.add(epic);
    }
    // Tasks have the epic of their story.
    run(
      this.#db,
      "UPDATE tasks SET epic = (SELECT epic FROM stories WHERE seq = tasks.story) WHERE story IS NOT NULL AND epic IS NOT (SELECT epic FROM stories WHERE seq = tasks.story)",
    );
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
      const written = this.#put(task, writeTask);
      if (written) parents.push(written);
      if (written && !stored) this.#newTasks.push(written.id);
      for (const story of [before, task.story_id]) if (story) this.#touchedStories.add(story);
    }
    for (const task of parents) this.#setParent(task);
  }

  /** A sub-task without a story is in that of its parent: in a file from before that was so, or from another tool. */
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
        // An earlier import may have given it another number.
      } else handoff.attempt = stored.attempt;
      this.#put(handoff, writeHandoff);
    }
  }

  #importAgents(): void {
    for (const agent of this.#came.agent) {
      const stored = storedAgent(this.#db, agent);
      if (!stored) {
        writeAgent(this.#db, agent);
        this.#report.added.agent++;
      } else {
        // An older file must not remove an agent that is here.
        const { removed_at: removed, ...rest } = agent;
        const came = stored.removed_at === undefined || removed === undefined ? rest : agent;
        this.#merge(nameOfRecord(agent), { stored, came, timeOf: seenAt, write: writeAgent });
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
      this.#put(message, writeMessage);
    }
  }

  /** Two clones may both have stored a first attempt: what came is then the next one. */
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

  /** Each with the id that it will have, oldest first: rows that came first stand first. */
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
        // What refers to an id that two things have means, as far as anyone can tell, the one that keeps it.
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
      const text = `is the id of ${alike.length} different things in the import: all were taken, references go to ${ids.get(id)} and not to ${others.join(", ")}`;
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
    // Renamed by an import before there were aliases.
    const twin = one<{ id: string }>(
      this.#db,
      `SELECT id FROM ${TABLES[kind]} WHERE created_at = ? AND ${TITLES[kind]} = ? ORDER BY seq LIMIT 1`,
      created_at,
      titleOf(record),
    );
    if (twin) return twin.id;
    const fresh = freshId(this.#db, TABLES[kind], { isReserved: (other) => this.#reserved.has(other) });
    this.#reserved.add(fresh);
    this.#report.renamed.push({ from: id, to: fresh });
    return fresh;
  }

  /** The ids that a thing may have in this store, by what the store and what the import know of its names. */
  #namesHere({ kind, id, aliases = [] }: Thing): string[] {
    const known = [id, ...aliases].flatMap((name) => withAlias(this.#db, TABLES[kind], name).map((row) => row.id));
    return [...known, ...aliases];
  }

  #isAlias(kind: ThingKind, alias: string, id: string): boolean {
    return withAlias(this.#db, TABLES[kind], alias).some((row) => row.id === id);
  }

  /** At the end: what was left out gets none. */
  #addAliases(): void {
    for (const { kind, alias, id } of this.#aliases) {
      if (seqOf(this.#db, TABLES[kind], id) !== null) addAlias(this.#db, alias, id);
    }
  }

  /** Asked for up to three times per record. */
  #stored<Kind extends ThingKind>(kind: Kind, id: string): Of<Kind> | undefined {
    const key = `${kind} ${id}`;
    if (!this.#known.has(key)) this.#known.set(key, storedRecord(this.#db, kind, id));
    return this.#known.get(key) as Of<Kind> | undefined;
  }

  #isTaken(id: string): boolean {
    return Object.values(TABLES).some((table) => seqOf(this.#db, table, id) !== null);
  }

  /** What was written, or undefined when nothing had to be. */
  #put<T extends Thing>(record: T, write: Writer<T>): T | undefined {
    const { kind, id } = record;
    const stored = this.#stored(kind, id) as T | undefined;
    this.#known.delete(`${kind} ${id}`);
    if (!stored) {
      write(this.#db, record);
      this.#report.added[kind]++;
      return record;
    }
    return this.#merge(id, { stored, came: record, timeOf, write });
  }

  #merge<T extends WorkRecord>(
    id: string,
    { stored, came, timeOf, write }: { stored: T; came: T; timeOf: (record: T) => string; write: Writer<T> },
  ): T | undefined {
    const { record: merged, updated, kept } = mergeRecord(stored, came, timeOf);
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

  /** Lines of two branches, each true in itself, may together say `done` of a story with an open task. */
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

/** Neither made at the same time nor called the same. */
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

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
