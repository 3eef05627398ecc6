/**
 * What to work on next. `nextBatch`: tasks that can run in parallel, as many as the session or agent has proved to manage. `nextReady`: the
 * queue in order. Both read only a few tasks more than they return, however long the queue is.
 */
import { COUNTED_READY, type QueuedTask, type Scope } from "../../store/work-store.ts";
import { batchGroups, firstOverlap, nextBatchSize, pickBatch } from "../../work/batch.ts";
import { checkChoice, checkWhole } from "../../work/clean-input.ts";
import { fitList, type TokenCut } from "../../work/fit-list.ts";
import type { TaskStatus } from "../../work/task.ts";
import { FIELD_SETS, type FieldSet, type View, viewTask } from "../../work/task-view.ts";
import { given, type WorkParts } from "./work-parts.ts";

export interface NextInput {
  limit?: number | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Default: minimal. */
  fields?: string | undefined;
  /** A limit for the whole answer. Default: none. */
  maxTokens?: number | undefined;
  /** Formats one entry of the answer. Default: JSON. */
  text?: ((view: View) => string) | undefined;
}

export interface NextBatch {
  tasks: QueuedTask[];
  views: View[];
  /** How many were requested. */
  size: number;
  /** Counted up to `COUNTED_READY`. */
  ready: number;
  /** Ready, but they share files with a picked or running task. */
  heldBack: QueuedTask[];
  /** Why the batch is empty although tasks are ready: all checked tasks share files with running ones. */
  inTheWay?: string;
  /** `maxTokens` left some out. */
  cut?: TokenCut;
}

/** How many tasks beyond the batch to check for shared files: at first, and again if too few are found. */
const LOOK_AHEAD = 24;
const LOOK_FURTHER = 200;

export async function nextBatch(
  { limit, batchSize, ...input }: NextInput & { batchSize?: number | undefined },
  { store, by }: Reading,
): Promise<NextBatch> {
  const { scope, fields, maxTokens } = checkNextInput(input);
  const sizes = [checkSize("limit", limit), checkSize("batch_size", batchSize)].filter((size) => size !== undefined);
  // Whose success decides the size: the session's, otherwise the named agent's. A caller without either gets a name from its client and
  // process, so its size is kept while the process lives. No session id has a colon in this place.
  const receiver = by.sessionId ?? `agent:${by.name}`;
  const last = sizes.length === 0 ? await store.lastBatch(receiver) : undefined;
  const size = sizes.length > 0 ? Math.min(...sizes) : nextBatchSize(last);
  const { batch, heldBack, ready } = await pickApart({ scope, size }, { store, by });
  const shown = await withDetails(batch, fields, { store, by });
  const { views, cut } = fitList(shown, { view: viewTask, fields, maxTokens, text: input.text });
  const tasks = batch.slice(0, views.length);
  // If the size was given, there is nothing to learn. Skip the write (4 ms for the disk) if the batch is the same as before.
  const isKnown = last?.size === size && last.tasks.map(({ id }) => id).join() === tasks.map(({ id }) => id).join();
  if (sizes.length === 0 && tasks.length > 0 && !isKnown) {
    // Record the requested size: a short queue says nothing about what the session can manage.
    await store.recordBatch({ receiver, size, taskIds: tasks.map(({ id }) => id) }, by);
  }
  const inTheWay = batch.length === 0 ? await whatIsInTheWay(heldBack, { store, by }) : undefined;
  return { tasks, views, size, ready, heldBack, ...given({ inTheWay, cut }) };
}

export interface NextReady {
  tasks: (QueuedTask & { batchGroup: number })[];
  views: View[];
  /** Counted up to `COUNTED_READY`. */
  ready: number;
  leftOut: number;
  /** `maxTokens` left some out. */
  cut?: TokenCut;
}

const DEFAULT_READY = 10;

export async function nextReady({ limit, ...input }: NextInput, { store, by }: Reading): Promise<NextReady> {
  const { scope, fields, maxTokens } = checkNextInput(input);
  const most = checkSize("limit", limit) ?? DEFAULT_READY;
  const { tasks, ready } = await store.nextTasks({ ...scope, limit: most, at: by.at });
  const groups = batchGroups(tasks);
  const shown = await withDetails(tasks, fields, { store, by });
  const { views, cut } = fitList(shown, { view: viewTask, fields, maxTokens, text: input.text });
  return {
    tasks: tasks.slice(0, views.length).map((task, at) => ({ ...task, batchGroup: groups[at] ?? 1 })),
    views,
    ready,
    leftOut: Math.max(0, ready - views.length),
    ...given({ cut }),
  };
}

type Reading = Pick<WorkParts, "store" | "by">;

/** Ready tasks that share no file with each other or with tasks in progress. */
export async function pickApart(
  { scope, size }: { scope: Scope; size: number },
  { store, by }: Reading,
): Promise<{ batch: QueuedTask[]; heldBack: QueuedTask[]; ready: number }> {
  let next = await store.nextTasks({ ...scope, limit: size + LOOK_AHEAD, at: by.at });
  // For the whole project: an agent of another epic may be editing the same file.
  const taken = next.tasks.some(({ files }) => files.length > 0) ? await store.filesInProgress({}, by.at) : [];
  let picked = pickBatch(next.tasks, { size, taken });
  if (picked.batch.length < size && next.ready > next.tasks.length) {
    next = await store.nextTasks({ ...scope, limit: size + LOOK_FURTHER, at: by.at });
    picked = pickBatch(next.tasks, { size, taken: taken.length > 0 ? taken : await store.filesInProgress({}, by.at) });
  }
  return { ...picked, ready: next.ready };
}

/** Enough to find one: more are hardly ever in progress at once. */
const MOST_RUNNING = 200;

/** "T… is ready, but touches src/a.ts as T… in progress does" */
export async function whatIsInTheWay(
  heldBack: readonly QueuedTask[],
  { store, by }: Reading,
): Promise<string | undefined> {
  const [first] = heldBack;
  if (!first) return undefined;
  const { items } = await store.listTasks({ status: "in_progress", limit: MOST_RUNNING, at: by.at });
  for (const { id, files } of items) {
    const file = firstOverlap(first.files, files);
    if (file !== undefined) return `${first.id} is ready, but touches ${file}, as does ${id} (in progress)`;
  }
  return `${first.id} is ready, but touches files of a task in progress`;
}

const SHOWN_TASKS = 3;
const REASON_CHARS = 200;

/** Why nothing in a scope can be started, one text per task: `T12 "Log in": waits for T7 "Sessions" (todo)`. */
export async function whyWaiting(scope: Scope, { store, by: { at } }: Reading) {
  const blocked = await store.listTasks({ ...scope, status: "blocked", limit: SHOWN_TASKS, at });
  const waiting = await store.listTasks({ ...scope, status: "todo", limit: SHOWN_TASKS, at });
  return Promise.all(
    [...blocked.items, ...waiting.items].map(async ({ id, title }) => {
      const { blockers, waitsFor } = await store.getTask(id, at);
      const others = waitsFor.slice(0, SHOWN_TASKS).map((one) => `${one.id} "${one.title}" (${one.status})`);
      const why =
        blockers[0]?.reason.slice(0, REASON_CHARS) ?? (others.length > 0 ? `waits for ${others.join(", ")}` : "");
      return `${id} "${title}"${why === "" ? "" : `: ${why}`}`;
    }),
  );
}

/** Adds WIP and claim if all fields are requested. */
export async function withDetails<T extends { id: string; status: TaskStatus }>(
  tasks: readonly T[],
  fields: FieldSet,
  { store, by }: Reading,
): Promise<T[]> {
  if (fields !== "full") return [...tasks];
  const found: T[] = [];
  for (const task of tasks) found.push({ ...task, ...(await store.getTask(task.id, by.at)) });
  return found;
}

/** For readers, minus the tasks already shown. Counting stops at `COUNTED_READY`. */
export function readyCount(ready: number, shown = 0): number | string {
  return ready >= COUNTED_READY ? `${COUNTED_READY - shown}+` : ready - shown;
}

function checkSize(field: string, value: number | undefined): number | undefined {
  return value === undefined ? undefined : checkWhole(value, { field, fallback: 1 });
}

function checkNextInput({ epicId, storyId, fields, maxTokens }: Omit<NextInput, "limit">) {
  const scope: Scope = given({ epicId, storyId });
  return {
    scope,
    fields: checkChoice(fields, { field: "fields", choices: FIELD_SETS }) ?? "minimal",
    maxTokens: checkSize("max_tokens", maxTokens),
  };
}
