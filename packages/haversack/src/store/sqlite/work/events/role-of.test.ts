import { expect, it } from "vitest";
import { roleOf } from "./wake-state.ts";

const NONE = { isSubAgent: false, isCoordinating: false, hasTask: false };

it("goes by what somebody said, then by what the session does", () => {
  expect(roleOf({ ...NONE, given: "writer", isCoordinating: true, hasTask: true })).toEqual({
    role: "writer",
    isSolo: false,
  });
  expect(roleOf({ ...NONE, isCoordinating: true, hasTask: true })).toEqual({ role: "orchestrator", isSolo: false });
  expect(roleOf({ ...NONE, hasTask: true })).toEqual({ role: "implementer", isSolo: true });
  expect(roleOf(NONE)).toEqual({ role: "", isSolo: false });
  expect(roleOf({ ...NONE, isSubAgent: true, hasTask: true })).toEqual({ role: "", isSolo: false });
});
