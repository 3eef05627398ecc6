import { expect, it } from "vitest";
import { isOfRun } from "./run-agents.ts";
import { isRunAlive } from "./run-record.ts";

it("knows its agents from those of a run with a longer number", () => {
  expect(["run-r501", "run-r501-t12", "run-r501/implementer"].map((agent) => isOfRun(agent, "R501"))).toEqual([
    true,
    true,
    true,
  ]);
  expect(["run-r5010", "run-r50", "ann"].map((agent) => isOfRun(agent, "R501"))).toEqual([false, false, false]);
});

it("takes a run of another machine for alive while it gives signs of life", () => {
  const now = new Date("2026-11-18T12:00:00Z");
  const run = (secondsAgo: number) => ({
    process: { id: 1, space: "" },
    seenAt: new Date(now.getTime() - secondsAgo * 1000),
  });
  const alive = (answer: boolean | undefined, secondsAgo: number) =>
    isRunAlive(run(secondsAgo), { isAlive: () => answer, now });
  expect([alive(undefined, 30), alive(undefined, 600), alive(true, 600), alive(false, 1)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
