import { expect, it } from "vitest";
import { followersOf, mayFollow, TASK_STATUSES } from "./task.ts";

it("lets every status be left, and done and archived only by reopening or putting away", () => {
  for (const status of TASK_STATUSES) expect(followersOf(status).length).toBeGreaterThan(0);
  expect(followersOf("done")).toEqual(["todo", "archived"]);
  expect(followersOf("archived")).toEqual(["todo"]);
  expect(mayFollow("done", "in_progress")).toBe(false);
  expect(mayFollow("blocked", "done")).toBe(false);
  expect(mayFollow("review", "in_progress")).toBe(true);
});
