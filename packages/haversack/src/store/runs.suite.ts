/** What every run store does, whichever database it uses. */
import { beforeEach, expect, it } from "vitest";
import type { NewRun, RunStore } from "./run-store.ts";
import { clock, faultOf } from "./work-under-test.suite.ts";

export function newRun(machine: string, more: Partial<NewRun> = {}): NewRun {
  const process = { id: 1, space: machine, start: 2 };
  return { scope: { kind: "all" }, client: "c", options: { size: 2 }, machine, process, startedAt: clock(0), ...more };
}

export function describeRunStore(open: () => RunStore): void {
  let runs: RunStore;
  beforeEach(() => {
    runs = open();
  });

  it("keeps runs of several machines, newest first", async () => {
    const one = await runs.createRun(newRun("one"));
    const two = await runs.createRun(newRun("two", { startedAt: clock(1), scope: { kind: "epic", id: "E1" } }));
    expect((await runs.listRuns({ limit: 9 })).map(({ id, machine }) => [id, machine])).toEqual([
      [two.id, "two"],
      [one.id, "one"],
    ]);
    expect(await runs.getRun(one.id)).toEqual(one);
    expect((await runs.getRun(one.id.toLowerCase().slice(0, 5))).id).toBe(one.id);
    expect(await faultOf(runs.getRun("R"))).toMatchObject({ code: "not-found" });
    expect((await runs.lastRun({ kind: "epic", id: "E1" }))?.id).toBe(two.id);
    expect(await runs.lastRun({ kind: "epic", id: "E1" }, "one")).toBeUndefined();
  });

  it("lets one process take a run over", async () => {
    const run = await runs.createRun(newRun("one"));
    const by = { machine: "two", process: { id: 9, space: "two" }, seenAt: clock(5) };
    await runs.requestStop(run.id, "now");
    expect(await runs.takeRun(run, by)).toBe(true);
    expect(await runs.takeRun(run, { ...by, process: { id: 10, space: "two" } })).toBe(false);
    expect(await runs.getRun(run.id)).toMatchObject({ ...by, restarts: 1 });
    expect(await runs.stopRequest(run.id)).toBeUndefined();
  });

  it("changes a run without losing the wish to stop it", async () => {
    const { id } = await runs.createRun(newRun("one"));
    await runs.requestStop(id, "drain");
    await runs.updateRun(id, { state: "ended", endedAt: clock(3), stopped: "done: all", workedMs: 5 });
    expect(await runs.getRun(id)).toMatchObject({
      state: "ended",
      endedAt: clock(3),
      stopped: "done: all",
      workedMs: 5,
    });
    expect(await runs.stopRequest(id)).toBe("drain");
    await runs.requestStop(id, undefined);
    expect(await runs.stopRequest(id)).toBeUndefined();
  });

  it("keeps sessions, tasks, tests and metrics, in order", async () => {
    const { id: runId } = await runs.createRun(newRun("one"));
    for (const taskId of ["T1", "T2"])
      await runs.addSession({ runId, purpose: "batch", taskIds: [taskId], startedAt: clock(1) });
    await runs.updateSession(runId, 2, { endedAt: clock(2), end: "completed", costUsd: 0.5 });
    const sessions = await runs.listSessions(runId);
    expect(sessions.map(({ number, taskIds, endedAt }) => [number, taskIds, endedAt])).toEqual([
      [1, ["T1"], undefined],
      [2, ["T2"], clock(2)],
    ]);
    expect(await runs.sessionsSince(clock(1))).toHaveLength(2);
    expect(await runs.sessionsSince(clock(2))).toEqual([]);

    const task = { runId, taskId: "T1", fixes: 0, reviewFailures: 0, title: "t", tokens: 0, sessions: 1, at: clock(3) };
    await runs.setTask({ ...task, state: "claimed" });
    await runs.setTask({ ...task, state: "done", summary: "with a NUL \0" });
    expect(await runs.listTasks(runId)).toEqual([{ ...task, state: "done", summary: "with a NUL \0" }]);
    expect(await runs.tasksSince(clock(4))).toEqual([]);

    const test = {
      runId,
      session: 1,
      taskIds: ["T1"],
      exitCode: 0,
      tookMs: 1,
      fingerprint: "f",
      output: "",
      at: clock(4),
    };
    for (const command of ["b", "a"]) await runs.addTest({ ...test, command, isGreen: true });
    expect((await runs.listTests(runId)).map(({ command }) => command)).toEqual(["b", "a"]);

    const metrics = {
      ...{ sessionId: "s", runId, batchesCompleted: 1, lastBatchSize: 2 },
      ...{ lastBatchOutcome: "completed" as const, createdAt: clock(5) },
    };
    await runs.addMetrics(metrics);
    expect(await runs.metricsSince(clock(5))).toEqual([metrics]);
  });

  it("knows which machines are drained", async () => {
    expect(await runs.drainedMachines()).toEqual([]);
    await runs.setDrained("two", true);
    await runs.setDrained("one", true);
    await runs.setDrained("one", true);
    expect(await runs.drainedMachines()).toEqual(["one", "two"]);
    await runs.setDrained("one", false);
    expect(await runs.drainedMachines()).toEqual(["two"]);
  });
}
