/** Runs in SQLite. */
import type { DatabaseSync } from "node:sqlite";
import type { RunStore } from "../../run-store.ts";
import { readStore, type StoreHandle, writeStore } from "../access.ts";
import {
  addMetrics,
  addSession,
  addTest,
  createRun,
  drainedMachines,
  getRun,
  lastRun,
  listRuns,
  listRunTasks,
  listSessions,
  listTests,
  metricsSince,
  requestStop,
  sessionsSince,
  setDrained,
  setTask,
  stopRequest,
  takeRun,
  tasksSince,
  updateRun,
  updateSession,
} from "./runs.ts";

export class SqliteRunStore implements RunStore {
  readonly #handle: StoreHandle;

  constructor(handle: StoreHandle) {
    this.#handle = handle;
  }

  createRun = this.#writes(createRun);
  takeRun = this.#writes(takeRun);
  updateRun = this.#writes(updateRun);
  requestStop = this.#writes(requestStop);
  addSession = this.#writes(addSession);
  updateSession = this.#writes(updateSession);
  setTask = this.#writes(setTask);
  addTest = this.#writes(addTest);
  addMetrics = this.#writes(addMetrics);
  setDrained = this.#writes(setDrained);
  getRun = this.#reads(getRun);
  listRuns = this.#reads(listRuns);
  lastRun = this.#reads(lastRun);
  stopRequest = this.#reads(stopRequest);
  listSessions = this.#reads(listSessions);
  sessionsSince = this.#reads(sessionsSince);
  tasksSince = this.#reads(tasksSince);
  listTests = this.#reads(listTests);
  metricsSince = this.#reads(metricsSince);
  drainedMachines = this.#reads(drainedMachines);
  listTasks = this.#reads(listRunTasks);

  #reads<Args extends unknown[], T>(read: (db: DatabaseSync, ...args: Args) => T): (...args: Args) => Promise<T> {
    return async (...args) => readStore(this.#handle, (db) => read(db, ...args));
  }

  #writes<Args extends unknown[], T>(change: (db: DatabaseSync, ...args: Args) => T): (...args: Args) => Promise<T> {
    return async (...args) => writeStore(this.#handle, (db) => change(db, ...args));
  }
}
