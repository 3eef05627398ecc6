import { expect, it } from "vitest";
import { Guard, Refusal } from "./guard.ts";

it("pauses after three calls that took too long", () => {
  let now = 0;
  const lines: string[] = [];
  const guard = new Guard({ log: (_, line) => void lines.push(line), now: () => now });
  const slow = () => {
    now += 300;
    return "answer";
  };
  expect([1, 2, 3, 4].map(() => guard.call("prompt", slow))).toEqual(["answer", "answer", "answer", undefined]);
  expect(lines).toHaveLength(3);
});

it("lets a refusal through and nothing else, even when the log fails", async () => {
  const guard = new Guard({
    log: () => {
      throw new Error("disk full");
    },
  });
  await expect(guard.hook("x", async () => Promise.reject(new Refusal("no")))()).rejects.toThrow("no");
  await expect(guard.hook("x", async () => Promise.reject(new Error("bug")))()).resolves.toBeUndefined();
});

function scene() {
  let now = 0;
  const lines: string[] = [];
  const guard = new Guard({ log: (_, line) => void lines.push(line), now: () => now });
  const fail = () =>
    guard.call("prompt", () => {
      throw new Error("broken");
    });
  return { guard, lines, fail, wait: (minutes: number) => (now += minutes * 60_000) };
}

it("goes on after a pause, once the cause of the faults is gone", () => {
  const { guard, lines, fail, wait } = scene();
  for (let n = 0; n < 10; n++) fail();
  expect(lines.at(-1)).toContain("pauses for 1 min");
  expect(guard.call("prompt", () => "answer")).toBeUndefined();
  wait(1);
  expect(guard.call("prompt", () => "answer")).toBe("answer");
  // After ten quiet minutes, a single fault does not start a pause.
  wait(11);
  fail();
  expect(guard.isPaused).toBe(false);
});

it("pauses longer each time while the faults go on, but never for good", () => {
  const { lines, fail, wait } = scene();
  for (let n = 0; n < 10; n++) fail();
  for (let n = 0; n < 6; n++) {
    wait(10);
    fail();
  }
  const pauses = lines.flatMap((line) => /pauses for (\d+) min/.exec(line)?.[1] ?? []);
  expect(pauses).toEqual(["1", "2", "4", "8", "10", "10", "10"]);
});

it("forgets faults that lie far apart", () => {
  const { guard, fail, wait } = scene();
  for (let n = 0; n < 50; n++) {
    fail();
    wait(2);
  }
  expect(guard.isPaused).toBe(false);
});
