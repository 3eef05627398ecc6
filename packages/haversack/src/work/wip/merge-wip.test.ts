import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeWip } from "./merge-wip.ts";
import type { Wip, WipPatch } from "./wip.ts";

const at = new Date("2026-01-02T03:04:05Z");
const later = new Date("2026-01-02T04:00:00Z");
const merge = (current: Wip, patch: WipPatch) => mergeWip(current, patch, { at });

describe("mergeWip", () => {
  it("unites files, the newest last", () => {
    const { wip, changes } = merge({ files_modified: ["a.ts", "b.ts"] }, { files_modified: ["c.ts", "a.ts"] });
    expect(wip.files_modified).toEqual(["b.ts", "c.ts", "a.ts"]);
    expect(changes).toEqual([]);
  });

  it("lets a patch that comes late add, but neither settle nor replace what is newer", () => {
    const green = { ran: true, passed: 3, failed: 0, skipped: 0 };
    const now = mergeWip({}, { uncommitted_files: ["a.ts"], test_results: green }, { at: later }).wip;
    const late: WipPatch = {
      files_modified: ["b.ts"],
      test_results: { ...green, failed: 1 },
      $settled: { files: ["a.ts"] },
    };
    expect(merge(now, late).wip).toMatchObject({
      files_modified: ["b.ts"],
      uncommitted_files: ["a.ts"],
      test_results: green,
    });
  });

  it("keeps paths relative to the worktree that the work is in", () => {
    const main = { root: "/repo" };
    const tree = { root: "/repo", worktree: "/trees/a" };
    const edit = (file: string) => ({ files_modified: [file], uncommitted_files: [file] });
    const first = merge({}, { $place: main, ...edit("x.ts") }).wip;
    expect(first).toMatchObject(edit("x.ts"));
    expect(first).not.toHaveProperty("worktree");
    expect(first).not.toHaveProperty("$place");

    const moved = merge(first, { $place: tree, ...edit("y.ts") }).wip;
    expect(moved).toMatchObject({ worktree: "/trees/a", uncommitted_files: ["/repo/x.ts", "y.ts"] });

    const back = merge(moved, { $place: main, ...edit("z.ts") });
    expect(back.wip).toMatchObject({ files_modified: ["x.ts", "/trees/a/y.ts", "z.ts"] });
    expect(back.wip).not.toHaveProperty("worktree");
    expect(back.changes).toEqual([{ path: "worktree", before: "/trees/a", after: null }]);
  });

  it("reads the WIP of before, with whole paths in a worktree", () => {
    const old: Wip = { files_modified: ["/trees/a/x.ts", "/elsewhere/y.ts"] };
    const place = { root: "/repo", worktree: "/trees/a" };
    expect(merge(old, { $place: place, files_modified: ["x.ts"] }).wip).toMatchObject({
      worktree: "/trees/a",
      files_modified: ["/elsewhere/y.ts", "x.ts"],
    });
    // Not trusted: agents write WIP too.
    expect(merge(old, { $place: {} as never, phase: "x" }).wip.files_modified).toEqual(old.files_modified);
  });

  it("knows a decision by its text, keeps its reason, and says when it changes", () => {
    const before: Wip = { decisions: [{ decision: "JWT over sessions", reason: "Stateless" }] };
    expect(merge(before, { decisions: [{ decision: "JWT over sessions" }] }).wip.decisions).toEqual(before.decisions);
    const { wip, changes } = merge(before, { decisions: [{ decision: "JWT over sessions", reason: "Scales" }] });
    expect(wip.decisions).toEqual([{ decision: "JWT over sessions", reason: "Scales" }]);
    expect(changes).toEqual([{ path: "decisions[JWT over sessions].reason", before: "Stateless", after: "Scales" }]);
  });

  it("takes decisions and errors that agents write as plain text", () => {
    const { wip } = merge({}, {
      decisions: "Use SQLite",
      errors: ["boom"],
      files_modified: "a.ts",
    } as unknown as WipPatch);
    expect(wip).toMatchObject({
      decisions: [{ decision: "Use SQLite" }],
      errors: [{ type: "other", message: "boom" }],
      files_modified: ["a.ts"],
    });
  });

  it("keeps the newest ten errors and reports those that fall out", () => {
    const errors = Array.from({ length: 10 }, (_, index) => ({ type: "command", message: `m${index}` }));
    const first = merge({}, { errors }).wip;
    const { wip, changes } = mergeWip(first, { errors: [{ type: "command", message: "new" }] }, { at: later });
    expect(wip.errors).toHaveLength(10);
    expect(wip.errors?.at(-1)).toEqual({ type: "command", message: "new", at: later.toISOString() });
    expect(changes).toEqual([
      { path: "errors", before: { type: "command", message: "m0", at: at.toISOString() }, after: null },
    ]);
  });

  it("replaces a test run as a whole", () => {
    const red = merge({}, { test_results: { ran: true, passed: 3, failed: 1, failing_test: "a" } }).wip;
    const { wip, changes } = merge(red, { test_results: { ran: true, passed: 4, failed: 0 } });
    expect(wip.test_results).toEqual({ ran: true, passed: 4, failed: 0, at: at.toISOString() });
    expect(changes).toEqual([{ path: "test_results", before: red.test_results, after: wip.test_results }]);
  });

  it("notes the time of an equal run without calling it a change of results", () => {
    const patch: WipPatch = { test_results: { ran: true, passed: 4, failed: 0 } };
    const { wip, changes } = mergeWip(merge({}, patch).wip, patch, { at: later });
    expect(wip.test_results?.at).toBe(later.toISOString());
    expect(changes).toEqual([]);
  });

  it("removes with null, also inside objects, and says so", () => {
    const { wip, changes } = merge(
      { context: "x", mine: { a: 1, b: { c: 2, d: 3 } } },
      { context: null, mine: { b: { c: null } } },
    );
    expect(wip).toEqual({ mine: { a: 1, b: { d: 3 } }, updated_at: at.toISOString() });
    expect(changes).toEqual([
      { path: "context", before: "x", after: null },
      { path: "mine.b.c", before: 2, after: null },
    ]);
  });

  it("keeps unknown fields, merges objects, unites arrays, replaces the rest aloud", () => {
    const { wip, changes } = merge(
      { risk: "low", notes: ["a"], env: { db: "pg", port: 1 } },
      { risk: "high", notes: ["b", "a"], env: { port: 2 } },
    );
    expect(wip).toMatchObject({ risk: "high", notes: ["b", "a"], env: { db: "pg", port: 2 } });
    expect(changes).toEqual([
      { path: "risk", before: "low", after: "high" },
      { path: "env.port", before: 1, after: 2 },
    ]);
  });

  it("reports a value whose type changes", () => {
    expect(merge({ notes: ["a"] }, { notes: "b" }).changes).toEqual([{ path: "notes", before: ["a"], after: "b" }]);
    expect(merge({ notes: "a" }, { notes: ["b"] }).changes).toEqual([{ path: "notes", before: "a", after: ["b"] }]);
    expect(merge({ notes: ["a"] }, { notes: { b: 1 } }).changes).toEqual([
      { path: "notes", before: ["a"], after: { b: 1 } },
    ]);
  });

  it("settles errors by their values and files by path or folder", () => {
    const before: Wip = {
      errors: [
        { type: "type_error", tool: "tsc", message: "a" },
        { type: "test", message: "b" },
        { type: "lint_error", tool: "eslint", message: "c" },
      ],
      uncommitted_files: ["a.ts", "lib/b.ts", "library.ts"],
      uncommitted_changes: true,
    };
    const { wip, changes } = merge(before, {
      $settled: { errors: [{ tool: "tsc" }, { type: "test" }], files: ["lib"] },
    });
    expect(wip.errors?.map(({ message }) => message)).toEqual(["c"]);
    expect(wip).toMatchObject({ uncommitted_files: ["a.ts", "library.ts"], uncommitted_changes: true });
    expect(changes).toHaveLength(3);
    expect(wip).not.toHaveProperty("$settled");
    const done = merge(wip, { $settled: { files: ["a.ts", "library.ts"] } }).wip;
    expect(done).toMatchObject({ uncommitted_files: [], uncommitted_changes: false });
  });

  it("settles nothing with an empty wish, and ignores one of another shape", () => {
    const before: Wip = { errors: [{ type: "test", message: "b" }], uncommitted_files: ["a"] };
    expect(merge(before, { $settled: { errors: [{}] } }).wip).toBe(before);
    expect(merge(before, { $settled: { errors: "x", files: 3 } } as unknown as WipPatch).wip).toBe(before);
    expect(merge(before, { $settled: "all" } as unknown as WipPatch).wip).toBe(before);
  });

  it("returns the same object when nothing changed", () => {
    const before: Wip = { phase: "testing", files_modified: ["a"] };
    expect(merge(before, { phase: "testing", files_modified: ["a"] }).wip).toBe(before);
    expect(merge(before, {}).wip).toBe(before);
  });

  it("leaves prototypes alone", () => {
    const patch = JSON.parse('{"__proto__":{"x":1},"mine":{"__proto__":{"y":1},"constructor":"z"}}') as WipPatch;
    const { wip } = merge({}, patch);
    expect(Object.getPrototypeOf(wip)).toBe(Object.prototype);
    expect((wip as { x?: number }).x).toBeUndefined();
    expect((wip["mine"] as { y?: number }).y).toBeUndefined();
    expect(Object.hasOwn(wip["mine"] as object, "constructor")).toBe(true);
  });

  const text = fc.string({ maxLength: 4 });
  const file = fc.constantFrom("a.ts", "b.ts", "lib/c.ts", "lib/d.ts");
  const error = fc.record(
    { type: fc.constantFrom("test", "command"), message: text },
    { requiredKeys: ["type", "message"] },
  );
  const lists = {
    files_modified: fc.array(file),
    uncommitted_files: fc.array(file),
    decisions: fc.array(fc.record({ decision: text, reason: text }, { requiredKeys: ["decision"] }), { maxLength: 6 }),
    errors: fc.array(error, { maxLength: 14 }),
    mine: fc.array(fc.oneof(text, fc.integer()), { maxLength: 6 }),
  };
  const plain = fc.record(
    {
      ...lists,
      phase: text,
      uncommitted_changes: fc.boolean(),
      context: text,
      test_results: fc.record({ ran: fc.constant(true), passed: fc.nat(9), failed: fc.option(fc.nat(9)) }),
      deep: fc.record(
        { a: fc.nat(3), b: fc.record({ c: fc.array(fc.nat(4)), d: text }, { requiredKeys: [] }) },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<WipPatch>;
  const any = fc
    .tuple(
      plain,
      fc.record(
        {
          context: fc.constant(null),
          deep: fc.constant({ b: null }),
          $settled: fc.record({
            files: fc.oneof(fc.constant("all" as const), fc.array(fc.constantFrom("lib", "a.ts"))),
            errors: fc.constant([{ type: "test" }]),
          }),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([base, extra]) => ({ ...base, ...extra }) as WipPatch);
  const reached = fc
    .array(any, { maxLength: 4 })
    .map((patches) => patches.reduce<Wip>((wip, patch) => merge(wip, patch).wip, {}));

  it("is idempotent", () => {
    fc.assert(
      fc.property(reached, any, (current, patch) => {
        // Settling and adding in one patch is two steps: the second time there is something to settle.
        fc.pre(!patch.$settled || (patch.uncommitted_files === undefined && patch.errors === undefined));
        const once = merge(current, patch).wip;
        expect(merge(once, patch).wip).toEqual(once);
      }),
    );
  });

  it("never alters its arguments", () => {
    fc.assert(
      fc.property(reached, any, (current, patch) => {
        const before = JSON.stringify([current, patch]);
        merge(current, patch);
        expect(JSON.stringify([current, patch])).toBe(before);
      }),
    );
  });

  it("loses no element but by the cap", () => {
    const keyed = (field: string, element: unknown) => {
      const { decision, type, message } = element as Record<string, unknown>;
      return JSON.stringify(field === "decisions" ? decision : field === "errors" ? [type, message] : element);
    };
    fc.assert(
      fc.property(reached, plain, (current, patch) => {
        const { wip } = merge(current, patch);
        for (const field of Object.keys(lists)) {
          const expected = new Set(
            [current, patch].flatMap((part) =>
              ((part[field] as unknown[]) ?? []).map((element) => keyed(field, element)),
            ),
          );
          const found = ((wip[field] as unknown[]) ?? []).map((element) => keyed(field, element));
          if (field === "errors" && expected.size > 10) expect(found).toHaveLength(10);
          else expect(new Set(found)).toEqual(expected);
          expect(new Set(found).size).toBe(found.length);
        }
      }),
    );
  });

  it("is associative for patches that only add and replace", () => {
    fc.assert(
      fc.property(plain, plain, plain, (a, b, c) => {
        const left = merge(merge(merge({}, a).wip, b).wip, c).wip;
        const right = merge(merge({}, a).wip, merge(merge({}, b).wip, c).wip as WipPatch).wip;
        expect(right).toEqual(left);
      }),
    );
  });

  it("reports every scalar that it replaces", () => {
    fc.assert(
      fc.property(reached, any, (current, patch) => {
        const { wip, changes } = merge(current, patch);
        for (const field of ["phase", "context", "test_results", "uncommitted_changes"]) {
          const before = JSON.stringify(current[field]);
          if (before !== undefined && before !== JSON.stringify(wip[field])) {
            expect(changes.some(({ path, before: old }) => path === field && JSON.stringify(old) === before)).toBe(
              true,
            );
          }
        }
      }),
    );
  });
});
