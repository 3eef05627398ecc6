import type { RunStore } from "../../run-store.ts";
import { Operations } from "../access.ts";
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

export class SqliteRunStore extends Operations implements RunStore {
  createRun = this.writes(createRun);
  takeRun = this.writes(takeRun);
  updateRun = this.writes(updateRun);
  requestStop = this.writes(requestStop);
  addSession = this.writes(addSession);
  updateSession = this.writes(updateSession);
  setTask = this.writes(setTask);
  addTest = this.writes(addTest);
  addMetrics = this.writes(addMetrics);
  setDrained = this.writes(setDrained);
  getRun = this.reads(getRun);
  listRuns = this.reads(listRuns);
  lastRun = this.reads(lastRun);
  stopRequest = this.reads(stopRequest);
  listSessions = this.reads(listSessions);
  sessionsSince = this.reads(sessionsSince);
  tasksSince = this.reads(tasksSince);
  listTests = this.reads(listTests);
  metricsSince = this.reads(metricsSince);
  drainedMachines = this.reads(drainedMachines);
  listTasks = this.reads(listRunTasks);
}
