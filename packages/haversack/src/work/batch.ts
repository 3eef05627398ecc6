import type { Verdict } from "./handoff.ts";
import type { TaskBrief } from "./task.ts";

/**
 * Which ready tasks can run side by side: those that touch no file that another of the batch touches. A path with a
 * trailing slash, or one that is a folder of another's, stands for all that is in it, and one with a wildcard for all of the
 * folder before it (`src/*.ts` for `src`). Tasks that name no file conflict with nothing.
 */
export interface BatchCandidate {
  id: string;
  files: readonly string[];
}

export interface PickedBatch<T> {
  batch: T[];
  /** Ready, but in the way of one that was picked. */
  heldBack: T[];
}

/** From the most important down. Does not look further than `candidates`. */
export function pickBatch<T extends BatchCandidate>(
  candidates: Iterable<T>,
  { size, taken = [] }: { size: number; taken?: readonly string[] },
): PickedBatch<T> {
  const used = new PathSet(taken);
  const picked: PickedBatch<T> = { batch: [], heldBack: [] };
  for (const candidate of candidates) {
    if (picked.batch.length >= size) break;
    if (candidate.files.some((file) => used.overlaps(file))) picked.heldBack.push(candidate);
    else {
      picked.batch.push(candidate);
      for (const file of candidate.files) used.add(file);
    }
  }
  return picked;
}

/** The number of the batch in which each task would run, from 1, when all before it are done. */
export function batchGroups<T extends BatchCandidate>(candidates: readonly T[]): number[] {
  const groups: PathSet[] = [];
  return candidates.map(({ files }) => {
    let at = groups.findIndex((used) => !files.some((file) => used.overlaps(file)));
    if (at < 0) at = groups.push(new PathSet([])) - 1;
    for (const file of files) groups[at]?.add(file);
    return at + 1;
  });
}

/** The first of the files that the others touch too. */
export function firstOverlap(files: readonly string[], others: readonly string[]): string | undefined {
  const used = new PathSet(others);
  return files.find((file) => used.overlaps(file));
}

class PathSet {
  readonly #paths = new Set<string>();
  /** Every folder above a path in the set. */
  readonly #folders = new Set<string>();

  constructor(paths: readonly string[]) {
    for (const path of paths) this.add(path);
  }

  add(path: string): void {
    const whole = normalise(path);
    this.#paths.add(whole);
    for (const folder of foldersOf(whole)) this.#folders.add(folder);
  }

  overlaps(path: string): boolean {
    const whole = normalise(path);
    // `*.ts`, `**`: anything.
    if (whole === "") return this.#paths.size > 0;
    if (this.#paths.has("")) return true;
    if (this.#paths.has(whole) || this.#folders.has(whole)) return true;
    return foldersOf(whole).some((folder) => this.#paths.has(folder));
  }
}

function normalise(path: string): string {
  const plain = path.replace(/^\.\//, "").replace(/\/+$/, "");
  if (!WILDCARD.test(plain)) return plain;
  const parts = plain.split("/");
  const first = parts.findIndex((part) => WILDCARD.test(part));
  return parts.slice(0, first).join("/");
}

/** No brackets: `[id]` and `(group)` are names of folders in web frameworks. */
const WILDCARD = /[*?{]/;

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) folders.push(path.slice(0, at));
  return folders;
}

// How many tasks the next batch of a session has: small at first, more after success. A batch that was too large
// fails in the middle, when the window is full, and costs more than two small ones.

export const FIRST_SIZE = 2;
export const MOST_SIZE = 4;

/** What a session was given last, and what has become of it. */
export interface LastBatch {
  size: number;
  tasks: readonly (TaskBrief & { lastVerdict?: Verdict })[];
}

export function nextBatchSize(last: LastBatch | undefined): number {
  if (!last) return FIRST_SIZE;
  return Math.min(MOST_SIZE, Math.max(FIRST_SIZE, last.size + CHANGES[outcomeOf(last)]));
}

export type BatchOutcome = "completed" | "unfinished" | "blocked" | "not-started";

const CHANGES: Readonly<Record<BatchOutcome, number>> = {
  completed: 1,
  unfinished: -1,
  blocked: 0,
  // Asked again before anything began, as after a lost answer: that says nothing of the size.
  "not-started": 0,
};

export function outcomeOf({ tasks }: LastBatch): BatchOutcome {
  if (tasks.every(({ status, lastVerdict }) => status === "todo" && !lastVerdict)) return "not-started";
  const open = tasks.filter((task) => !isOver(task));
  if (open.some((task) => !isBlocked(task))) return "unfinished";
  return open.length > 0 ? "blocked" : "completed";
}

type GivenTask = LastBatch["tasks"][number];

/** In review the work itself is finished, unless the verdict says otherwise. */
function isOver({ status, lastVerdict = "PASS" }: GivenTask): boolean {
  return status === "done" || status === "archived" || (status === "review" && lastVerdict === "PASS");
}

function isBlocked({ status, lastVerdict }: GivenTask): boolean {
  return status === "blocked" || lastVerdict === "BLOCKED";
}
