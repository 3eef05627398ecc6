/**
 * Runs in PostgreSQL, of all machines. A run's sign of life has the server's time, because the clocks of several machines differ; readers
 * get it by their own clock, so its age is right.
 */
import type { Run, RunStore } from "../run-store.ts";
import type { Connection } from "./connection.ts";
import type { Server, Start } from "./server.ts";
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
} from "./work/runs.ts";

export class PostgresRunStore implements RunStore {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  createRun: RunStore["createRun"] = (run) =>
    this.#server.write((db, start) => createRun(db, { ...run, startedAt: this.#now(start, run.startedAt) }));
  takeRun: RunStore["takeRun"] = (run, by) =>
    this.#server.write((db, start) => takeRun(db, run, { ...by, seenAt: this.#now(start, by.seenAt) }));
  updateRun: RunStore["updateRun"] = (id, { seenAt, ...change }) =>
    this.#server.write((db, start) =>
      updateRun(db, id, seenAt ? { ...change, seenAt: this.#now(start, seenAt) } : change),
    );
  getRun: RunStore["getRun"] = (id) => this.#readRun((db) => getRun(db, id));
  listRuns: RunStore["listRuns"] = (query) =>
    this.#server.read(async (db, start) => (await listRuns(db, query)).map((run) => this.#shown(run, start)));
  lastRun: RunStore["lastRun"] = (scope, machine) => this.#readRun((db) => lastRun(db, scope, machine));

  requestStop = this.#writes(requestStop);
  addSession = this.#writes(addSession);
  updateSession = this.#writes(updateSession);
  setTask = this.#writes(setTask);
  addTest = this.#writes(addTest);
  addMetrics = this.#writes(addMetrics);
  setDrained = this.#writes(setDrained);
  stopRequest = this.#reads(stopRequest);
  listSessions = this.#reads(listSessions);
  sessionsSince = this.#reads(sessionsSince);
  tasksSince = this.#reads(tasksSince);
  listTests = this.#reads(listTests);
  metricsSince = this.#reads(metricsSince);
  drainedMachines = this.#reads(drainedMachines);
  listTasks = this.#reads(listRunTasks);

  #now({ now }: Start, given: Date): Date {
    return this.#server.isServerClock ? now : given;
  }

  #shown<T extends Run | undefined>(run: T, { now }: Start): T {
    if (!run || !this.#server.isServerClock) return run;
    return { ...run, seenAt: new Date(Date.now() - (now.getTime() - run.seenAt.getTime())) };
  }

  #readRun<T extends Run | undefined>(read: (db: Connection) => Promise<T>): Promise<T> {
    return this.#server.read(async (db, start) => this.#shown(await read(db), start));
  }

  #reads<Args extends unknown[], T>(
    read: (db: Connection, ...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    return (...args) => this.#server.read((db) => read(db, ...args));
  }

  #writes<Args extends unknown[], T>(
    change: (db: Connection, ...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    return (...args) => this.#server.write((db) => change(db, ...args));
  }
}
