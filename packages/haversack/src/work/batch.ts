import type { Verdict } from "./handoff.ts";
import type { TaskBrief } from "./task.ts";

/**
 * Which ready tasks can run in parallel: those that share no file. A path with a trailing slash, or one that is a folder of another
 * path, includes everything in it. A wildcard includes the whole folder before it (`src/*.ts` means `src`). Tasks without files
 * conflict with nothing.
 */
export interface BatchCandidate {
  id: string;
  files: readonly string[];
}

export interface PickedBatch<T> {
  batch: T[];
  /** Ready, but in conflict with a picked task. */
  heldBack: T[];
}

/** Starts with the most important task. Considers only `candidates`. */
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

/** The number of the batch in which each task would run, from 1, if all earlier batches are done. */
export function batchGroups<T extends BatchCandidate>(candidates: readonly T[]): number[] {
  const groups: PathSet[] = [];
  return candidates.map(({ files }) => {
    let at = groups.findIndex((used) => !files.some((file) => used.overlaps(file)));
    if (at < 0) at = groups.push(new PathSet([])) - 1;
    for (const file of files) groups[at]?.add(file);
    return at + 1;
  });
}

/** The first file that the others touch too. */
export function firstOverlap(files: readonly string[], others: readonly string[]): string | undefined {
  const used = new PathSet(others);
  return files.find((file) => used.overlaps(file));
}

class PathSet {
  readonly #paths = new Set<string>();
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
    // `*.ts`, `**`: matches everything.
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

/** No brackets: `[id]` and `(group)` are folder names in web frameworks. */
const WILDCARD = /[*?{]/;

function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) folders.push(path.slice(0, at));
  return folders;
}

// The size of a session's next batch: small at first, larger after success. A batch that is too large fails halfway, when the window is
// full, and costs more than two small ones.

export const FIRST_SIZE = 2;
export const MOST_SIZE = 4;

/** A session's last batch and its outcome. */
export interface LastBatch {
  size: number;
  tasks: readonly (TaskBrief & { lastVerdict?: Verdict })[];
}

export function nextBatchSize(last: LastBatch | undefined): number {
  if (!last) return FIRST_SIZE;
  return sizeAfter(last.size, outcomeOf(last));
}

export function sizeAfter(size: number, outcome: BatchOutcome): number {
  return Math.min(MOST_SIZE, Math.max(FIRST_SIZE, size + CHANGES[outcome]));
}

export type BatchOutcome = "completed" | "unfinished" | "blocked" | "not-started";

const CHANGES: Readonly<Record<BatchOutcome, number>> = {
  completed: 1,
  unfinished: -1,
  blocked: 0,
  // The session asked again before it started, e.g. after a lost answer. That says nothing about the size.
  "not-started": 0,
};

export function outcomeOf({ tasks }: LastBatch): BatchOutcome {
  if (tasks.every(({ status, lastVerdict }) => status === "todo" && !lastVerdict)) return "not-started";
  const open = tasks.filter((task) => !isOver(task));
  if (open.some((task) => !isBlocked(task))) return "unfinished";
  return open.length > 0 ? "blocked" : "completed";
}

type GivenTask = LastBatch["tasks"][number];

/** In review, the work itself is finished unless the verdict says otherwise. */
function isOver({ status, lastVerdict = "PASS" }: GivenTask): boolean {
  return status === "done" || status === "archived" || (status === "review" && lastVerdict === "PASS");
}

function isBlocked({ status, lastVerdict }: GivenTask): boolean {
  return status === "blocked" || lastVerdict === "BLOCKED";
}
