/** The library's operations of work: each takes the input of its use case, without the parts. */
import { addActivity, listActivity } from "./activity.ts";
import { claimTask, heartbeat, listClaims, releaseTask } from "./claims.ts";
import { addDependency, listDependencies, removeDependency } from "./dependencies.ts";
import {
  createEpic,
  createStory,
  getEpic,
  getStory,
  listEpics,
  listStories,
  updateEpic,
  updateStory,
} from "./groups.ts";
import { decayHandoffs, getHandoff, listHandoffs, restoreHandoffs, setHandoff } from "./handoffs.ts";
import { nextBatch, nextReady } from "./next-batch.ts";
import { projectStatus } from "./session-context.ts";
import {
  getWip,
  listFailures,
  recordFailure,
  resolveBlockers,
  setBlocker,
  setStatus,
  updateWip,
} from "./set-status.ts";
import { createTask, getTask, listBlocked, listTasks, updateTask } from "./tasks.ts";
import type { WorkParts } from "./work-parts.ts";

export const WORK_READS = {
  getTask,
  listTasks,
  listBlocked,
  nextTasks: nextReady,
  nextBatch,
  listClaims,
  getHandoff,
  listHandoffs,
  listFailures,
  getWip,
  getEpic,
  listEpics,
  getStory,
  listStories,
  listDependencies,
  listActivity,
  projectStatus,
} as const;

export const WORK_WRITES = {
  createTask,
  updateTask,
  setStatus,
  claimTask,
  heartbeat,
  releaseTask,
  setHandoff,
  decayHandoffs,
  restoreHandoffs,
  recordFailure,
  addActivity,
  updateWip,
  createEpic,
  updateEpic,
  createStory,
  updateStory,
  addDependency,
  removeDependency,
  setBlocker,
  resolveBlockers,
} as const;

type UseCase = (input: never, parts: WorkParts) => Promise<unknown>;
type Bound<Cases extends Record<string, UseCase>> = {
  readonly [Name in keyof Cases]: (input: Parameters<Cases[Name]>[0]) => ReturnType<Cases[Name]>;
};

/** IDs may be shortened, as on the command line. A refusal is a value, not an exception: `{ kind: "refused", text }`. */
export type WorkOperations = Bound<typeof WORK_READS> & Bound<typeof WORK_WRITES>;
