/**
 * From an id to its row: the thing that has it, else the one that has it as an alias, else the only one that it is a prefix of. What
 * does not exist is a fault that names the nearest.
 */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { nearest } from "../../../base/nearest.ts";
import { type ThingTable, withAlias } from "./aliases.ts";
import { all, one } from "./prepared.ts";
import { type EpicRow, STORY_COLUMNS, type StoryRow, TASK_COLUMNS, type TaskRow } from "./rows.ts";

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

/** What kind of thing has the id. */
export function findAny(db: DatabaseSync, id: string): { kind: IdKind; seq: number; id: string } {
  const wanted = id.trim();
  for (const find of [exactly, byAlias]) {
    const found = KINDS.flatMap((kind) => find(db, kind, wanted).map((row) => ({ kind, ...row })));
    if (found.length === 1 && found[0]) return found[0];
    // Digits alone may be of an epic and of a task: whoever leaves the letter out speaks of a task.
    const task = isBare(wanted) ? found.filter(({ kind }) => kind === "task") : [];
    if (task.length === 1 && task[0]) return task[0];
    if (found.length > 1) throw sharedAlias("id", wanted, found);
  }
  const found = KINDS.flatMap((kind) => beginsWith(db, kind, wanted).map((row) => ({ kind, ...row })));
  if (found.length === 1 && found[0]) return found[0];
  if (found.length > 1) throw ambiguous("id", wanted, found);
  throw unknown(db, "task", wanted, "nothing has the id");
}

/** Up to four ids that this one is only a prefix of; none when something has just this id or alias. */
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

const LETTERS: Readonly<Record<IdKind, string>> = { epic: "E", story: "S", task: "T", handoff: "H" };

/** Our ids have a capital letter; people type `t4829`, or `4829` where the kind is clear. */
function asWritten(id: string, kind: IdKind): string {
  if (isBare(id)) return `${LETTERS[kind]}${id}`;
  return /^[a-z]\d/.test(id) ? id.charAt(0).toUpperCase() + id.slice(1) : id;
}

function isBare(id: string): boolean {
  return /^\d+$/.test(id);
}

/** Less is more likely made up than meant: "T4" for the fourth task of a plan. */
const FEWEST_DIGITS = 3;
/** Of an imported id (`task-…`). */
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
  // Newest first: a wrong id is most likely one of those. All of 100,000 would take a quarter of a second.
  const ids = all<{ id: string }>(db, `SELECT id FROM ${TABLES[kind]} ORDER BY seq DESC LIMIT 20000`);
  const [guess] = nearest(
    asWritten(wanted, kind),
    ids.map((row) => row.id),
  );
  const shown = JSON.stringify(wanted.length > 80 ? `${wanted.slice(0, 80)}…` : wanted);
  const what = text ?? `there is no ${kind}`;
  return new HaversackError("not-found", `${what} ${shown}${guess ? `; did you mean ${guess}?` : ""}`, {
    ...(!guess && {
      hint: ids.length === 0 ? `there is no ${kind} at all yet` : `\`haversack ${kind} list\` shows them`,
    }),
  });
}

function withArticle(kind: IdKind): string {
  return `${kind === "epic" ? "an" : "a"} ${kind}`;
}
