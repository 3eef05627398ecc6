import { describe, expect, it } from "vitest";
import { orderKey, priorityOf, type QueuePlace, rankOf, scoreAt } from "./task.ts";

const DAY = 86_400_000;
const start = Date.parse("2031-01-01T00:00:00Z");
const key = (place: Partial<QueuePlace>) =>
  orderKey({ epicRank: 2, taskRank: 2, dependents: 0, createdAtMs: start, ...place });

describe("orderKey", () => {
  it.each<[string, Partial<QueuePlace>, Partial<QueuePlace>]>([
    ["a P0 epic before a P1 epic", { epicRank: 0 }, { epicRank: 1 }],
    ["an epic's priority before a task's own, two steps of it", { epicRank: 1, taskRank: 2 }, { taskRank: 0 }],
    ["a P1 task before a P2 task", { taskRank: 1 }, { taskRank: 2 }],
    ["one that others wait for", { dependents: 1 }, {}],
    ["the older of two equal ones", { createdAtMs: start - 1 }, {}],
    [
      "one that has waited 301 days before a fresh one of the next priority",
      { createdAtMs: start - 301 * DAY },
      { taskRank: 1 },
    ],
    [
      "an outage before a chore of a year ago",
      { epicRank: 0, taskRank: 0 },
      { taskRank: 3, createdAtMs: start - 400 * DAY },
    ],
  ])("puts %s", (_, first, second) => {
    expect(key(first)).toBeGreaterThan(key(second));
  });

  it("counts at most ten that wait, so that a hub does not outrank every priority", () => {
    expect(key({ dependents: 10 })).toBe(key({ dependents: 100_000 }));
    expect(key({ dependents: 100_000 })).toBeLessThan(key({ epicRank: 1 }));
  });

  it("is a whole number that no store rounds", () => {
    expect(Number.isSafeInteger(key({ epicRank: 0, taskRank: 0, dependents: 10, createdAtMs: 0 }))).toBe(true);
  });
});

describe("scoreAt", () => {
  it("grows by a point in ten days and keeps the order", () => {
    const at = new Date(start + 30 * DAY);
    expect(scoreAt(key({}), at)).toBe(100 + 30 + 3);
    expect(scoreAt(key({ epicRank: 0, taskRank: 0, dependents: 2 }), at)).toBe(300 + 90 + 10 + 3);
  });
});

it("reads and writes priorities", () => {
  expect(rankOf("P3")).toBe(3);
  expect(priorityOf(0)).toBe("P0");
});
