import { describe, expect, it } from "vitest";
import { type LastBatch, nextBatchSize, outcomeOf } from "./batch.ts";
import type { Verdict } from "./handoff.ts";
import type { TaskStatus } from "./task.ts";

/** `todo`, `done`, `in_progress FAIL`: status and last verdict of each task. */
function batch(size: number, ...tasks: string[]): LastBatch {
  return {
    size,
    tasks: tasks.map((text, at) => {
      const [status, lastVerdict] = text.split(" ") as [TaskStatus, Verdict | undefined];
      return { id: `T${at}`, title: "x", status, ...(lastVerdict && { lastVerdict }) };
    }),
  };
}

describe("nextBatchSize", () => {
  it("begins with 2, and grows to 4", () => {
    expect(nextBatchSize(undefined)).toBe(2);
    expect(nextBatchSize(batch(2, "done", "done"))).toBe(3);
    expect(nextBatchSize(batch(3, "done", "archived", "done"))).toBe(4);
    expect(nextBatchSize(batch(4, "done", "done", "done", "done"))).toBe(4);
  });

  it("shrinks to 2 when a task failed or was left unfinished", () => {
    expect(nextBatchSize(batch(4, "done", "done", "in_progress", "done"))).toBe(3);
    expect(nextBatchSize(batch(3, "done", "todo FAIL", "done"))).toBe(2);
    expect(nextBatchSize(batch(2, "done", "todo"))).toBe(2);
  });

  it("stays when one is blocked", () => {
    expect(nextBatchSize(batch(3, "done", "blocked", "done"))).toBe(3);
    expect(nextBatchSize(batch(3, "done", "in_progress BLOCKED", "done"))).toBe(3);
  });

  it("comes back into its bounds after a size that somebody fixed", () => {
    expect(nextBatchSize(batch(9, "done"))).toBe(4);
    expect(nextBatchSize(batch(1, "done"))).toBe(2);
  });
});

describe("outcomeOf", () => {
  it.each([
    [["todo", "todo"], "not-started"],
    [["done", "review PASS"], "completed"],
    [["done", "review FAIL"], "unfinished"],
    [["blocked", "in_progress"], "unfinished"],
    [["blocked", "todo FAIL"], "unfinished"],
    [["blocked", "done"], "blocked"],
    // A task that failed at first and is done in the end counts as done.
    [["done FAIL", "done"], "completed"],
  ] as const)("%j: %s", (tasks, outcome) => {
    expect(outcomeOf(batch(2, ...tasks))).toBe(outcome);
  });
});
