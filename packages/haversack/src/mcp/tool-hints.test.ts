import { expect, it } from "vitest";
import { hintForAgent } from "./server.ts";

it.each([
  ["`haversack task list` shows them", "get_tasks shows them"],
  ["`haversack task list --status todo` shows them", "get_tasks shows them"],
  ["`haversack epic list` shows them", "`haversack epic list` shows them"],
  ["give more of its digits", "give more of its digits"],
  ["`haversack store restore` brings it back", undefined],
])("%s", (hint, told) => {
  expect(hintForAgent(hint, ["get_tasks", "get_task_handoff"])).toBe(told);
});
