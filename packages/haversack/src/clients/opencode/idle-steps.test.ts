import { expect, it, vi } from "vitest";
import { runWhenIdle } from "./warm-up.ts";

/** `tookMs`: how long each step takes by the mocked clock. */
function stepsOf(count: number, tookMs: number) {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const done: number[] = [];
  const steps = Array.from({ length: count }, (_, at) => () => {
    now += tookMs;
    done.push(at);
  });
  return { steps, done };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("runs nothing at once, then slices of at least ten milliseconds", async () => {
  const { steps, done } = stepsOf(5, 6);
  runWhenIdle(steps, { onFault: () => undefined });
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual([0, 1]);
  await turn();
  expect(done).toEqual([0, 1, 2, 3]);
  await turn();
  expect(done).toEqual([0, 1, 2, 3, 4]);
  vi.restoreAllMocks();
});

it("stops when it is told to, and after a fault, which it tells once", async () => {
  const { steps, done } = stepsOf(3, 20);
  const running = runWhenIdle(steps, { onFault: () => undefined });
  await turn();
  running.stop();
  await turn();
  expect(done).toEqual([0]);

  const faults: unknown[] = [];
  const broken = () => {
    throw new Error("no");
  };
  runWhenIdle([broken, broken], { onFault: (fault) => faults.push(fault) });
  await turn();
  await turn();
  expect(faults).toHaveLength(1);
  vi.restoreAllMocks();
});
