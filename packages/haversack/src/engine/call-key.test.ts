import { expect, it } from "vitest";
import { callKey, noteOfCall } from "./call-key.ts";

it("is the same for the same call, however its fields are ordered", () => {
  const key = callKey("update_task_status", {
    task_id: "T1",
    status: "in_progress",
    x: { b: [1, { d: 1, c: 2 }], a: null },
  });
  expect(
    callKey("update_task_status", { x: { a: null, b: [1, { c: 2, d: 1 }] }, status: "in_progress", task_id: "T1" }),
  ).toEqual(key);
  expect(callKey("get_next_batch", undefined)).toEqual(callKey("get_next_batch", {}));
  expect(noteOfCall(key, "call_1")).toBe(`${key.key}@call_1`);
});

it("is another for another tool, another value, or another order in a list", () => {
  const keys = [
    callKey("a", { id: "T1" }),
    callKey("b", { id: "T1" }),
    callKey("a", { id: "T2" }),
    callKey("a", { id: ["T1", "T2"] }),
    callKey("a", { id: ["T2", "T1"] }),
    callKey("a", {}),
  ];
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
});
