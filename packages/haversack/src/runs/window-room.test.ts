import { describe, expect, it } from "vitest";
import { batchSize, fullAt, windowUse } from "./window-room.ts";

const limit = { windowShare: 0.7 };
const auto = { size: "auto", isIsolated: false } as const;
const window = (usedTokens: number) => ({ usedTokens, windowTokens: 100_000 });

describe("how many tasks a session gets", () => {
  it("as many as the outcomes of earlier batches say, while nothing is known of their size", () => {
    expect(batchSize(auto, { size: 2, window: window(0), limit, use: { used: 0, tasks: 0 } })).toBe(2);
  });

  it.each([
    [5_000, 4],
    [12_000, 3],
    [20_000, 2],
    [35_000, 1],
    // One at least: else nothing would be done.
    [90_000, 1],
  ])("tasks of %i tokens: %i into a window of 100,000, with room to spare", (used, size) => {
    expect(batchSize(auto, { size: 4, window: window(0), limit, use: { used, tasks: 1 } })).toBe(size);
  });

  it("what the window still holds, and none when there is no room", () => {
    const use = { used: 20_000, tasks: 2 };
    expect(
      [20_000, 50_000, 60_000].map((used) => batchSize(auto, { size: 4, window: window(used), limit, use })),
    ).toEqual([3, 1, 0]);
  });

  it("the user's own number whole, or none", () => {
    const [wish, use] = [
      { size: 3, isIsolated: false },
      { used: 20_000, tasks: 2 },
    ];
    expect([0, 20_000, 40_000].map((used) => batchSize(wish, { size: 3, window: window(used), limit, use }))).toEqual([
      3, 3, 0,
    ]);
    expect(batchSize(wish, { size: 3, window: window(0), limit, use: { used: 90_000, tasks: 1 } })).toBe(3);
  });

  it("isolated tasks have a window each", () => {
    const use = { used: 60_000, tasks: 1 };
    expect(batchSize({ size: "auto", isIsolated: true }, { size: 4, window: window(0), limit, use })).toBe(4);
  });
});

it("counts what batches used and settled: not reviews, nor tasks that are still open", () => {
  const sessions = [
    { purpose: "batch", usedTokens: 30_000 },
    { purpose: "review", usedTokens: 9_000 },
    { purpose: "batch" },
  ] as const;
  const tasks = (["done", "blocked", "claimed", "returned"] as const).map((state) => ({ state }));
  expect(windowUse(sessions, tasks)).toEqual({ used: 30_000, tasks: 2 });
});

it("a window counts as full below the point where the client compacts it", () => {
  expect(fullAt({ windowTokens: 100_000 }, limit)).toBe(70_000);
  expect(fullAt({ windowTokens: 100_000 }, { ...limit, compactsAt: 0.5 })).toBe(45_000);
  expect(fullAt({ windowTokens: 100_000, compactsAtTokens: 60_000 }, limit)).toBe(54_000);
});
