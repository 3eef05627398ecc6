import { expect, it } from "vitest";
import type { RunStore } from "../../store/run-store.ts";
import { measure, readDays } from "./run-metrics.ts";

it("counts what the success metrics name", () => {
  const session = (runId: string, purpose: "batch" | "fix", usedTokens = 0, end = "completed") => ({
    ...{ runId, number: 1, purpose, usedTokens, end },
    windowTokens: 100,
  });
  const metrics = measure({
    runs: [
      { id: "R1", restarts: 2, state: "ended" },
      { id: "R2", state: "ended" },
    ],
    sessions: [
      session("R1", "batch", 60),
      session("R1", "batch", 70),
      session("R1", "fix"),
      session("R2", "batch", 20, "crashed"),
    ],
    tasks: [
      { state: "done", fixes: 1, reviewFailures: 2 },
      { state: "blocked", fixes: 3, reviewFailures: 0 },
      { state: "done", fixes: 0, reviewFailures: 0 },
      { state: "done", fixes: 0, reviewFailures: 0 },
    ],
    batches: [
      { sessionId: "s", lastBatchOutcome: "completed" },
      { sessionId: "s", lastBatchOutcome: "interrupted" },
      { sessionId: "s", lastBatchOutcome: "completed" },
      { sessionId: "s", lastBatchOutcome: "failed" },
    ],
  });
  expect(metrics).toMatchObject({
    ...{ runs: 2, sessions: 4, tasksDone: 3, tasksPerSession: 1, batchCompletion: 0.5, interruptions: 1, restarts: 2 },
    ...{
      chainMedian: 1,
      chainLongest: 2,
      fillMedian: 0.6,
      fillHighest: 0.7,
      reviewFailures: 2,
      fixed: 2,
      fixerSuccess: 0.5,
    },
  });
});

it("counts a session as interrupted only if it was cut off", () => {
  const cutOff = (session: object, state: "running" | "interrupted" | "ended" = "ended") =>
    measure({
      runs: [{ id: "R1", state }],
      sessions: [{ runId: "R1", number: 1, sessionId: "s1", purpose: "batch", ...session }],
      tasks: [],
      batches: [
        { sessionId: "s1", lastBatchOutcome: "interrupted" },
        { sessionId: "s2", lastBatchOutcome: "completed" },
      ],
    }).interruptions;
  // In the middle of a task, or when it had finished all of them.
  expect(cutOff({ end: "window-full" })).toBe(1);
  expect(cutOff({ end: "window-full", sessionId: "s2" })).toBe(0);
  for (const end of ["completed", "failed"]) expect(cutOff({ end }), end).toBe(0);
  for (const end of ["crashed", "hung", "stopped", "circling"]) expect(cutOff({ end }), end).toBe(1);
  expect(cutOff({ end: "failed", toolCalls: 3 })).toBe(1);
  expect(cutOff({}, "running")).toBe(0);
  expect(cutOff({}, "interrupted")).toBe(1);
});

it("says nothing where nothing was recorded", () => {
  const metrics = measure({ runs: [], sessions: [], tasks: [], batches: [] });
  expect(metrics).toMatchObject({
    tasksDone: 0,
    tasksPerSession: undefined,
    batchCompletion: undefined,
    fillMedian: undefined,
  });
});

it("puts what runs did on the days of the local time zone, with the days between", async () => {
  const at = (day: number, hour: number) => new Date(2026, 2, day, hour);
  const session = (startedAt: Date, usedTokens: number) => ({
    ...{ purpose: "batch", runId: "R1", startedAt, usedTokens },
    windowTokens: 100,
  });
  const store = {
    sessionsSince: async () => [session(at(28, 0), 50), session(at(28, 23), 70), session(at(30, 1), 0)],
    tasksSince: async () => [
      { state: "done", at: at(28, 23) },
      { state: "blocked", at: at(28, 23) },
      { state: "done", at: at(30, 1) },
    ],
  } as unknown as RunStore;
  expect(await readDays({}, store)).toEqual([
    { day: "2026-03-28", tasksDone: 1, sessions: 2, fillMedian: 0.5 },
    { day: "2026-03-29", tasksDone: 0, sessions: 0, fillMedian: undefined },
    { day: "2026-03-30", tasksDone: 1, sessions: 1, fillMedian: undefined },
  ]);
  expect(await readDays({ to: at(29, 0) }, store)).toHaveLength(1);
  expect(await readDays({ to: at(1, 0) }, store)).toEqual([]);
});
