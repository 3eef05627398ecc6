import type { RunStore } from "../../run-store.ts";
import { Operations } from "../access.ts";
import * as runs from "./runs.ts";

export class SqliteRunStore extends Operations implements RunStore {
  createRun = this.writes(runs.createRun);
  takeRun = this.writes(runs.takeRun);
  updateRun = this.writes(runs.updateRun);
  requestStop = this.writes(runs.requestStop);
  addSession = this.writes(runs.addSession);
  updateSession = this.writes(runs.updateSession);
  setTask = this.writes(runs.setTask);
  addTest = this.writes(runs.addTest);
  addMetrics = this.writes(runs.addMetrics);
  setDrained = this.writes(runs.setDrained);
  getRun = this.reads(runs.getRun);
  listRuns = this.reads(runs.listRuns);
  lastRun = this.reads(runs.lastRun);
  stopRequest = this.reads(runs.stopRequest);
  listSessions = this.reads(runs.listSessions);
  sessionsSince = this.reads(runs.sessionsSince);
  tasksSince = this.reads(runs.tasksSince);
  listTests = this.reads(runs.listTests);
  metricsSince = this.reads(runs.metricsSince);
  drainedMachines = this.reads(runs.drainedMachines);
  listTasks = this.reads(runs.listRunTasks);
}
