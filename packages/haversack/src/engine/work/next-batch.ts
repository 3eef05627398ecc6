/**
 * What to work on next. `nextBatch`: tasks that can run side by side, as many as the session has shown to manage. `nextReady`: the
 * queue in its order. Neither reads more than a few tasks beyond what it gives, however long the queue is.
 */
import type { NextTasks, QueuedTask, Scope } from "../../store/work-store.ts";
import { batchGroups, type PickedBatch, pickBatch } from "../../work/batch.ts";
import { nextBatchSize } from "../../work/batch-size.ts";
import { checkChoice, checkWhole } from "../../work/check-value.ts";
import { fitList } from "../../work/fit-list.ts";
import { FIELD_SETS, type View, viewTask } from "../../work/task-view.ts";
import { given, type WorkParts } from "./work-parts.ts";

export interface NextInput {
  limit?: number | undefined;
  epicId?: string | undefined;
  storyId?: string | undefined;
  /** Default: minimal. */
  fields?: string | undefined;
  /** A ceiling for the whole answer. Default: none. */
  maxTokens?: number | undefined;
}

export interface NextBatch {
  tasks: QueuedTask[];
  views: View[];
  /** How many were wanted. */
  size: number;
  /** Counted up to `COUNTED_READY`. */
  ready: number;
  /** Ready, but they touch files of a picked or running one. */
  heldBack: QueuedTask[];
}

/** How far beyond the batch to look for tasks that are in nobody's way. */
const LOOK_AHEAD = 24;

export async function nextBatch(
  { limit, batchSize, ...input }: NextInput & { batchSize?: number | undefined },
  { store, by }: WorkParts,
): Promise<NextBatch> {
  const { scope, fields, maxTokens } = checkNextInput(input);
  const sizes = [checkSize("limit", limit), checkSize("batch_size", batchSize)].filter((size) => size !== undefined);
  const last = sizes.length === 0 && by.sessionId ? await store.lastBatch(by.sessionId) : undefined;
  const size = sizes.length > 0 ? Math.min(...sizes) : nextBatchSize(last);
  const next: NextTasks = await store.nextTasks({ ...scope, limit: size + LOOK_AHEAD, at: by.at });
  // Of the whole project: an agent of another epic may be in the same file.
  const taken = next.tasks.some(({ files }) => files.length > 0) ? await store.filesInProgress({}, by.at) : [];
  const { batch, heldBack } = pickApart(next.tasks, { size, taken });
  const { views } = fitList(batch, { view: viewTask, fields, maxTokens });
  const tasks = batch.slice(0, views.length);
  // A size that is given learns nothing. A write waits for the disk (4 ms), and the same batch again needs none.
  const isKnown = last?.size === size && last.tasks.map(({ id }) => id).join() === tasks.map(({ id }) => id).join();
  if (by.sessionId && sizes.length === 0 && tasks.length > 0 && !isKnown) {
    // With the size that was wanted: a queue with less in it says nothing of what the session can manage.
    await store.recordBatch({ sessionId: by.sessionId, size, taskIds: tasks.map(({ id }) => id) }, by);
  }
  return { tasks, views, size, ready: next.ready, heldBack };
}

export interface NextReady {
  tasks: (QueuedTask & { batchGroup: number })[];
  views: View[];
  /** Counted up to `COUNTED_READY`. */
  ready: number;
  leftOut: number;
}

const DEFAULT_READY = 10;

export async function nextReady({ limit, ...input }: NextInput, { store, by }: WorkParts): Promise<NextReady> {
  const { scope, fields, maxTokens } = checkNextInput(input);
  const most = checkSize("limit", limit) ?? DEFAULT_READY;
  const { tasks, ready } = await store.nextTasks({ ...scope, limit: most, at: by.at });
  const groups = batchGroups(tasks);
  const { views } = fitList(tasks, { view: viewTask, fields, maxTokens });
  return {
    tasks: tasks.slice(0, views.length).map((task, at) => ({ ...task, batchGroup: groups[at] ?? 1 })),
    views,
    ready,
    leftOut: Math.max(0, ready - views.length),
  };
}

/** In nobody's way; when all are in the way of running ones, better those than nothing. */
export function pickApart(
  tasks: readonly QueuedTask[],
  { size, taken }: { size: number; taken: readonly string[] },
): PickedBatch<QueuedTask> {
  const apart = pickBatch(tasks, { size, taken });
  return apart.batch.length > 0 || taken.length === 0 ? apart : pickBatch(tasks, { size });
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
