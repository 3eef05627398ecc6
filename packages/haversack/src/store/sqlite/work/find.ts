/** From an id, or the beginning of one, to its row. What does not exist is a fault that names the nearest. */
import type { DatabaseSync } from "node:sqlite";
import { HaversackError } from "../../../base/errors.ts";
import { nearest } from "../../../base/nearest.ts";
import { all, one } from "./prepared.ts";
import { type EpicRow, STORY_COLUMNS, type StoryRow, TASK_COLUMNS, type TaskRow } from "./rows.ts";

export type IdKind = "epic" | "story" | "task" | "handoff";

const TABLES: Readonly<Record<IdKind, string>> = {
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
  const table = TABLES[kind];
  const wanted = id.trim();
  const exact = one<{ seq: number }>(db, `SELECT seq FROM ${table} WHERE id = ?`, wanted);
  if (exact) return exact.seq;
  const beginning = beginsWith(db, table, wanted);
  if (beginning.length === 1 && beginning[0]) return beginning[0].seq;
  if (beginning.length > 1) throw ambiguous(kind, wanted, beginning);
  throw unknown(db, kind, wanted);
}

/** What kind of thing has the id. */
export function findAny(db: DatabaseSync, id: string): { kind: IdKind; seq: number; id: string } {
  const wanted = id.trim();
  const kinds = Object.keys(TABLES) as IdKind[];
  for (const kind of kinds) {
    const found = one<{ seq: number }>(db, `SELECT seq FROM ${TABLES[kind]} WHERE id = ?`, wanted);
    if (found) return { kind, seq: found.seq, id: wanted };
  }
  const found = kinds.flatMap((kind) => beginsWith(db, TABLES[kind], wanted).map((row) => ({ kind, ...row })));
  if (found.length === 1 && found[0]) return found[0];
  if (found.length > 1) throw ambiguous("id", wanted, found);
  throw unknown(db, "task", wanted, "nothing has the id");
}

/** A letter and four digits: what is shorter is more likely made up than meant ("T4" for the fourth task of a plan). */
const SHORTEST = 5;

function beginsWith(db: DatabaseSync, table: string, wanted: string): { seq: number; id: string }[] {
  if (wanted.length < SHORTEST) return [];
  // Digits after the letter: people type `t48`.
  const start = /^[a-z]\d/.test(wanted) ? wanted[0]?.toUpperCase() + wanted.slice(1) : wanted;
  return all(db, `SELECT seq, id FROM ${table} WHERE id >= ? AND id < ? LIMIT 4`, start, `${start}\u{10ffff}`);
}

function ambiguous(kind: string, wanted: string, found: readonly { id: string }[]): HaversackError {
  const some = found.slice(0, 3).map(({ id }) => id);
  return new HaversackError(
    "not-found",
    `"${wanted}" begins more than one ${kind}: ${some.join(", ")}${found.length > 3 ? ", …" : ""}`,
    { hint: "give more of its digits" },
  );
}

function unknown(db: DatabaseSync, kind: IdKind, wanted: string, text?: string): HaversackError {
  const others = (Object.keys(TABLES) as IdKind[]).filter((other) => other !== kind);
  const real = others.find((other) => one(db, `SELECT 1 FROM ${TABLES[other]} WHERE id = ?`, wanted));
  if (real) {
    return new HaversackError("not-found", `${wanted} is ${real === "epic" ? "an" : "a"} ${real}, not a ${kind}`);
  }
  // Newest first: a wrong id is most likely one of those. All of 100,000 would take a quarter of a second.
  const ids = all<{ id: string }>(db, `SELECT id FROM ${TABLES[kind]} ORDER BY seq DESC LIMIT 20000`);
  const [guess] = nearest(
    wanted,
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
