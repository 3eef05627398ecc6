/** Finds ids by exact id, alias or prefix, and creates new ids. */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { digitsFor, MOST_DIGITS, newId, type RandomSource } from "../../../base/ids.ts";
import { nearest } from "../../../base/nearest.ts";
import {
  all,
  type EpicRow,
  one,
  run,
  STORY_COLUMNS,
  type StoryRow,
  TASK_COLUMNS,
  type TaskRow,
  value,
} from "./rows.ts";

export type ThingTable = "epics" | "stories" | "tasks" | "handoffs" | "messages";

export function addAlias(db: DatabaseSync, alias: string, id: string): void {
  run(db, "INSERT OR IGNORE INTO aliases (alias, id) VALUES (?, ?)", alias, id);
}

/** The aliases of one thing, sorted. */
export function aliasesOf(db: DatabaseSync, id: string): string[] {
  return all<{ alias: string }>(db, "SELECT alias FROM aliases WHERE id = ? ORDER BY alias", id).map(
    ({ alias }) => alias,
  );
}

/** Things with this alias, oldest first. Usually one. */
export function withAlias(db: DatabaseSync, table: ThingTable, alias: string): { seq: number; id: string }[] {
  const sql = `SELECT t.seq, t.id FROM aliases a JOIN ${table} t ON t.id = a.id WHERE a.alias = ? ORDER BY t.seq`;
  return all(db, sql, alias);
}

// Resolves an id to its row: by exact id, else by alias, else as a unique prefix. Unknown ids throw a fault that names the nearest one.

export type IdKind = "epic" | "story" | "task" | "handoff";

const TABLES: Readonly<Record<IdKind, ThingTable>> = {
  epic: "epics",
  story: "stories",
  task: "tasks",
  handoff: "handoffs",
};

export function findTask(db: DatabaseSync, id: string): TaskRow {
  return one<TaskRow>(db, `SELECT ${TASK_COLUMNS} WHERE t.seq = ?`, findSeq(db, "task", id)) as TaskRow;
}

export function findStory(db: DatabaseSync, id: string): StoryRow {
  return one<StoryRow>(db, `SELECT ${STORY_COLUMNS} WHERE s.seq = ?`, findSeq(db, "story", id)) as StoryRow;
}

export function findEpic(db: DatabaseSync, id: string): EpicRow {
  return one<EpicRow>(db, "SELECT * FROM epics WHERE seq = ?", findSeq(db, "epic", id)) as EpicRow;
}

export function findSeq(db: DatabaseSync, kind: IdKind, id: string): number {
  const wanted = id.trim();
  const whole = findWhole(db, kind, wanted);
  if (whole.length === 1 && whole[0]) return whole[0].seq;
  if (whole.length > 1) throw sharedAlias(kind, wanted, whole);
  const found = beginsWith(db, kind, wanted);
  if (found.length === 1 && found[0]) return found[0].seq;
  if (found.length > 1) throw ambiguous(kind, wanted, found);
  throw unknown(db, kind, wanted);
}

export function findAny(db: DatabaseSync, id: string): { kind: IdKind; seq: number; id: string } {
  const wanted = id.trim();
  for (const find of [exactly, byAlias]) {
    const found = KINDS.flatMap((kind) => find(db, kind, wanted).map((row) => ({ kind, ...row })));
    if (found.length === 1 && found[0]) return found[0];
    // Digits alone may match an epic and a task. Without a letter, a task is meant.
    const task = isBare(wanted) ? found.filter(({ kind }) => kind === "task") : [];
    if (task.length === 1 && task[0]) return task[0];
    if (found.length > 1) throw sharedAlias("id", wanted, found);
  }
  const found = KINDS.flatMap((kind) => beginsWith(db, kind, wanted).map((row) => ({ kind, ...row })));
  if (found.length === 1 && found[0]) return found[0];
  if (found.length > 1) throw ambiguous("id", wanted, found);
  throw unknown(db, "task", wanted, "nothing has the id");
}

/** Up to four ids of which this one is only a prefix. None if something has exactly this id or alias. */
export function findLonger(db: DatabaseSync, id: string): { kind: IdKind; id: string }[] {
  const wanted = id.trim();
  if (wanted === "" || KINDS.some((kind) => findWhole(db, kind, wanted).length > 0)) return [];
  return KINDS.flatMap((kind) =>
    beginsWith(db, kind, wanted, { isAnyLength: true }).map((row) => ({ kind, id: row.id })),
  ).slice(0, 4);
}

const KINDS = Object.keys(TABLES) as IdKind[];

interface Found {
  seq: number;
  id: string;
}

function findWhole(db: DatabaseSync, kind: IdKind, wanted: string): Found[] {
  const exact = exactly(db, kind, wanted);
  return exact.length > 0 ? exact : byAlias(db, kind, wanted);
}

function exactly(db: DatabaseSync, kind: IdKind, wanted: string): Found[] {
  const sql = `SELECT seq, id FROM ${TABLES[kind]} WHERE id = ?`;
  const found = one<Found>(db, sql, wanted) ?? one<Found>(db, sql, asWritten(wanted, kind));
  return found ? [found] : [];
}

function byAlias(db: DatabaseSync, kind: IdKind, wanted: string): Found[] {
  const found = withAlias(db, TABLES[kind], wanted);
  return found.length > 0 ? found : withAlias(db, TABLES[kind], asWritten(wanted, kind));
}

/** Our ids have a capital letter; people type `t4829`, or `4829` where the kind is clear. */
function asWritten(id: string, kind: IdKind): string {
  if (isBare(id)) return `${LETTERS[TABLES[kind]]}${id}`;
  return /^[a-z]\d/.test(id) ? id.charAt(0).toUpperCase() + id.slice(1) : id;
}

function isBare(id: string): boolean {
  return /^\d+$/.test(id);
}

/** Shorter ids are probably invented: "T4" for the fourth task of a plan. */
const FEWEST_DIGITS = 3;
/** Minimum prefix length of an imported id (`task-…`). */
const FEWEST_CHARACTERS = 5;

function beginsWith(
  db: DatabaseSync,
  kind: IdKind,
  wanted: string,
  { isAnyLength = false }: { isAnyLength?: boolean } = {},
): Found[] {
  const start = asWritten(wanted, kind);
  const fewest = /^[a-z]\d*$/i.test(start) ? 1 + FEWEST_DIGITS : FEWEST_CHARACTERS;
  if (start.length < fewest && !isAnyLength) return [];
  return all(db, `SELECT seq, id FROM ${TABLES[kind]} WHERE id >= ? AND id < ? LIMIT 4`, start, `${start}\u{10ffff}`);
}

function sharedAlias(kind: string, wanted: string, found: readonly { id: string }[]): HaversackError {
  const some = found.slice(0, 3).map(({ id }) => id);
  return new HaversackError("not-found", `"${wanted}" is an alias of more than one ${kind}: ${some.join(", ")}`, {
    hint: "use one of these ids",
  });
}

function ambiguous(kind: string, wanted: string, found: readonly { id: string }[]): HaversackError {
  const some = found.slice(0, 3).map(({ id }) => id);
  return new HaversackError(
    "not-found",
    `"${wanted}" is a prefix of more than one ${kind}: ${some.join(", ")}${found.length > 3 ? ", …" : ""}`,
    { hint: "give more of its digits" },
  );
}

function unknown(db: DatabaseSync, kind: IdKind, wanted: string, text?: string): HaversackError {
  const real = KINDS.find((other) => findWhole(db, other, wanted).length > 0);
  if (real) {
    return new HaversackError("not-found", `${wanted} is ${withArticle(real)}, not ${withArticle(kind)}`);
  }
  // Newest first: a wrong id most likely means one of those. Comparing 100,000 ids would take 0.25 s.
  const ids = all<{ id: string }>(db, `SELECT id FROM ${TABLES[kind]} ORDER BY seq DESC LIMIT 20000`);
  const [guess] = nearest(
    asWritten(wanted, kind),
    ids.map((row) => row.id),
  );
  const shown = JSON.stringify(wanted.length > 80 ? `${wanted.slice(0, 80)}…` : wanted);
  const what = text ?? `there is no ${kind}`;
  return new HaversackError("not-found", `${what} ${shown}${guess ? `; did you mean ${guess}?` : ""}`, {
    ...(!guess && {
      hint: ids.length === 0 ? `there is no ${kind} yet` : `\`haversack ${kind} list\` shows them`,
    }),
  });
}

function withArticle(kind: IdKind): string {
  return `${kind === "epic" ? "an" : "a"} ${kind}`;
}

// Creates an id that is unused in the store. Runs in the transaction that inserts the row, so the id stays free until then. Its length
// depends on the project's size (`digitsFor`).

export interface FreshIdOptions {
  /** Ids that are not stored yet but must stay free. */
  isReserved?: (id: string) => boolean;
  /** Default: the system's. */
  random?: RandomSource;
}

export function freshId(
  db: DatabaseSync,
  table: ThingTable,
  { isReserved = () => false, random }: FreshIdOptions = {},
): string {
  const plan = idPlans.get(db);
  const wanted = plan?.wanted[plan.made.length];
  if (wanted !== undefined && !isReserved(wanted) && !isTaken(db, wanted)) {
    plan?.made.push(wanted);
    return wanted;
  }
  // Uses the last row number: rows are never deleted, and counting would read the whole table for every new task.
  const size = value(db, `SELECT coalesce(max(seq), 0) + 1 FROM ${table}`);
  for (let digits = digitsFor(size) + (plan?.moreDigits ?? 0); ; digits++) {
    for (let tries = 0; tries < TRIES; tries++) {
      const id = newId(LETTERS[table], Math.min(digits, MOST_DIGITS), random);
      if (isReserved(id) || isTaken(db, id)) continue;
      plan?.made.push(id);
      return id;
    }
    // Free numbers of this length are rare, e.g. after an import of many short ids.
  }
}

/**
 * A change that is made twice: first on a machine that cannot reach the shared store, then there. IDs stay the same where they are free.
 * Longer IDs make it unlikely that two such machines choose the same one.
 */
export interface IdPlan {
  /** The IDs that the change has got before, in order. */
  wanted: readonly string[];
  /** The IDs that it gets now. */
  made: string[];
  moreDigits?: number;
}

const idPlans = new WeakMap<DatabaseSync, IdPlan>();

/** For the changes that follow on this connection. Undefined: back to usual. */
export function planIds(connection: DatabaseSync, plan: IdPlan | undefined): void {
  if (plan) idPlans.set(connection, plan);
  else idPlans.delete(connection);
}

export const LETTERS: Readonly<Record<ThingTable, string>> = {
  epics: "E",
  stories: "S",
  tasks: "T",
  handoffs: "H",
  messages: "M",
};

/** At most 1 in 28 ids of this length is taken, so 10 failed tries in a row practically never happen. */
const TRIES = 10;

/** Whether any kind has this id or alias: imported ids need not begin with the letter of their kind. */
export function isTaken(db: DatabaseSync, id: string): boolean {
  return one(db, TAKEN, id) !== undefined;
}

const TAKEN = [...Object.keys(LETTERS).map((table) => `SELECT 1 FROM ${table} WHERE id = ?1`)]
  .concat("SELECT 1 FROM aliases WHERE alias = ?1")
  .join(" UNION ALL ");
