import { expect, it } from "vitest";
import { taskIdsIn } from "./task-ids.ts";

it("finds ids in a sentence, each once, in their order", () => {
  const text = "Review task-7f3a.b (after T482913577204). T482913577204, then `T000000000001`; task-7f3a.b.";
  expect(taskIdsIn(text)).toEqual(["task-7f3a.b", "T482913577204", "T000000000001"]);
});

it.each(["", "no ids", "T48291357720", "T4829135772041", "XT482913577204", "subtask-", "multitask-x1"])(
  "finds none in %j",
  (text) => {
    expect(taskIdsIn(text)).toEqual([]);
  },
);

it("is done in time with a hostile text, and stops at ten", () => {
  expect(taskIdsIn("task-".repeat(100_000)).length).toBeLessThanOrEqual(10);
  expect(taskIdsIn(Array.from({ length: 50 }, (_, at) => `task-${at}`).join(" "))).toHaveLength(10);
});
