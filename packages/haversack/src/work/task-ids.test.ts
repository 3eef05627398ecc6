import { expect, it } from "vitest";
import { taskIdsIn } from "./task.ts";

it("finds ids in a sentence, each once, in their order", () => {
  const text = "Review task-7f3a.b (after T482913577204). T482913577204, then `T4829`; task-7f3a.b, T1207.";
  expect(taskIdsIn(text)).toEqual(["task-7f3a.b", "T482913577204", "T4829", "T1207"]);
});

it.each([
  "T4829",
  "Task T4829.",
  "(T4829)",
  "T4829, then",
  "`T4829`",
  "#T4829",
  "T4829's tests",
  "task: t4829\n",
  "id=T4829",
])("finds one in %j", (text) => {
  expect(taskIdsIn(text)).toEqual(["T4829"]);
});

it("finds an old id wherever it stands", () => {
  expect(taskIdsIn("branch feature/T482913577204-login")).toEqual(["T482913577204"]);
});

it.each([
  "",
  "no ids",
  "T482",
  "T4829135772041",
  "XT482913577204",
  "XT4829",
  "AT4829",
  "T4829b",
  "T4829_b",
  "subtask-",
  "multitask-x1",
  "fixtures/T1000.json",
  "T1000.json",
  "the T1000-series",
  "C:\\T1000\\x",
  "2026-11-16T0930",
  "a-T1000",
  "v2.T1000",
])("finds none in %j", (text) => {
  expect(taskIdsIn(text)).toEqual([]);
});

it("is done in time with a hostile text, and stops at fifty", () => {
  expect(taskIdsIn("task-".repeat(100_000)).length).toBeLessThanOrEqual(50);
  expect(taskIdsIn("T1".repeat(100_000)).length).toBeLessThanOrEqual(50);
  expect(taskIdsIn(Array.from({ length: 80 }, (_, at) => `task-${at}`).join(" "))).toHaveLength(50);
});
