/** The operations of work, for the library: each takes what its use case takes, without the parts. */
import { listActivity } from "./activity.ts";
import { claimTask, heartbeat, releaseTask } from "./claims.ts";
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
import { getHandoff, setHandoff } from "./handoffs.ts";
import { nextBatch } from "./next-batch.ts";
import { projectStatus } from "./project-status.ts";
import { resolveBlockers, setBlocker, setStatus } from "./set-status.ts";
import { createTask, getTask, listTasks, updateTask } from "./tasks.ts";
import { getWip, updateWip } from "./update-wip.ts";
import type { WorkParts } from "./work-parts.ts";

export const WORK_READS = {
  getTask,
  listTasks,
  nextBatch,
  getHandoff,
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

/** An id may be shortened, as on the command line. What cannot be done is a value: `{ kind: "refused", text }`. */
export type WorkOperations = Bound<typeof WORK_READS> & Bound<typeof WORK_WRITES>;
