/** Shared by the work store suites: the store under test, the fake clock, actors, and faults as values. */
import type { FaultCode, HaversackError } from "../base/errors.ts";
import { mergeWip } from "../work/wip/merge-wip.ts";
import type { WipPatch } from "../work/wip/wip.ts";
import type { Actor, NewTask, WipMerger, WorkStore } from "./work-store.ts";

export interface OpenedWorkStore {
  store: WorkStore;
  /** The same data through another connection, as another process would see it. */
  reopen: () => Promise<WorkStore>;
  close: () => Promise<void>;
}

export interface UnderTest {
  /** A new store for every test. */
  readonly store: WorkStore;
  reopen(): Promise<WorkStore>;
}

export const MINUTE_MS = 60_000;
export const LEASE_MS = 60 * MINUTE_MS;

/** Minutes after the start time of every test. */
export function clock(minutes: number): Date {
  return new Date(Date.parse("2031-05-06T07:08:09.123Z") + minutes * MINUTE_MS);
}

export function agent(name = "ann", minutes = 0, more: Partial<Actor> = {}): Actor {
  return { name, at: clock(minutes), ...more };
}

export function person(minutes = 0): Actor {
  return agent("paula", minutes, { isPerson: true });
}

export async function makeTask(
  { store }: UnderTest,
  title: string,
  more: Partial<NewTask> = {},
  minutes = 0,
): Promise<string> {
  return (await store.createTask({ title, ...more }, agent("ann", minutes))).id;
}

export function setTo(
  { store }: UnderTest,
  taskId: string,
  status: Parameters<WorkStore["setStatus"]>[0]["status"],
  by: Actor = agent(),
): ReturnType<WorkStore["setStatus"]> {
  return store.setStatus({ taskId, status, leaseMs: LEASE_MS }, by);
}

/** Claims and completes the task, as agents do. */
export async function finish(test: UnderTest, taskId: string, by: Actor = agent()): ReturnType<WorkStore["setStatus"]> {
  await setTo(test, taskId, "in_progress", by);
  return setTo(test, taskId, "done", by);
}

export async function statusOf({ store }: UnderTest, taskId: string, minutes = 0): Promise<string> {
  return (await store.getTask(taskId, clock(minutes))).status;
}

/** Titles of the ready tasks, in order. */
export async function ready(
  { store }: UnderTest,
  scope: { epicId?: string; storyId?: string } = {},
  minutes = 0,
): Promise<string[]> {
  const { tasks } = await store.nextTasks({ limit: 100, at: clock(minutes), ...scope });
  return tasks.map(({ title }) => title);
}

export async function kindsOf({ store }: UnderTest, subject: string): Promise<string[]> {
  const { activity } = await store.listActivity({ limit: 100, subject });
  return activity.map(({ kind }) => kind).reverse();
}

/** The fault of a promise that must be rejected. */
export async function faultOf(promise: Promise<unknown>): Promise<{ code: FaultCode; message: string; hint?: string }> {
  const error = await promise.then(
    (value) => {
      throw new Error(`no fault, but ${JSON.stringify(value)}`);
    },
    (thrown: HaversackError) => thrown,
  );
  if (error.name !== "HaversackError") throw error;
  return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
}

export function merging(patch: WipPatch, minutes = 0): WipMerger {
  return (current) => mergeWip(current, patch, { at: clock(minutes) });
}
