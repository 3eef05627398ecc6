import { expect, it } from "vitest";
import { formatWip } from "./wip.ts";

it("says what a reader needs to go on", () => {
  const text = formatWip({
    phase: "testing",
    files_modified: ["src/auth.ts", "src/types.ts"],
    uncommitted_files: ["src/types.ts"],
    last_commit: "a1b2c3d",
    decisions: [{ decision: "JWT over sessions", reason: "stateless" }],
    test_results: { ran: true, passed: 12, failed: 1, failing_test: "auth.test.ts: expired token" },
    errors: [{ type: "type_error", file: "src/auth.ts:42", message: "not assignable" }],
    plan: { done: 2, total: 5, current: "write the hook" },
    next_step: "Fix the failing test",
  });
  expect(text).toBe(`## Work in progress
- Phase: testing
- Plan: 2 of 5 steps done; now: write the hook
- Files changed: src/auth.ts; src/types.ts
- Not committed: src/types.ts
- Last commit: a1b2c3d
- Tests: 12 passed, 1 failed, failing: auth.test.ts: expired token
- Errors: type_error: src/auth.ts:42: not assignable
- Decided: JWT over sessions (stateless)
- Next: Fix the failing test`);
});

it("is empty when there is nothing, and survives foreign shapes", () => {
  expect(formatWip({})).toBe("");
  expect(formatWip({ errors: "x", plan: 3, test_results: null, files_modified: [{}, 4] })).toBe("");
});

it.each([
  [{ passed: 3, failed: 1 }, "- Tests: 3 passed, 1 failed"],
  [{ failing_test: "auth" }, "- Tests: ran, failing: auth"],
  [{ command: "npm test" }, "- Tests: ran"],
])("shows results that do not say that they ran: %j", (results, line) => {
  expect(formatWip({ test_results: results })).toBe(`## Work in progress\n${line}`);
  expect(formatWip({ test_results: { ...results, ran: false } })).toBe("");
});

it("keeps the newest of a long list", () => {
  const files = Array.from({ length: 40 }, (_, at) => `f${at}.ts`);
  expect(formatWip({ files_modified: files })).toMatch(/f39\.ts; and 25 more$/);
});
