import { expect, it } from "vitest";
import { changesSince } from "./git-changes.ts";

const nothingKnown = { modified: [], uncommitted: [] };
const anybody = () => true;

it("takes what differs from the state at the claim, and not what was there before", () => {
  const before = { head: "a", files: { "old.ts": "1", "again.ts": "1", "gone.ts": "1" } };
  const now = { head: "a", files: { "old.ts": "1", "again.ts": "2", "new.ts": "1" }, committed: [] };
  expect(changesSince(before, now, { known: nothingKnown, mayBeOurs: anybody })).toEqual({
    changed: ["again.ts", "new.ts"],
    uncommitted: ["again.ts", "new.ts"],
    settled: [],
  });
});

it("takes what was committed since, without calling it uncommitted", () => {
  const before = { head: "a", files: {} };
  const now = { head: "b", files: { "x.ts": "1" }, committed: ["y.ts", "x.ts"] };
  expect(changesSince(before, now, { known: nothingKnown, mayBeOurs: anybody })).toEqual({
    changed: ["y.ts", "x.ts"],
    uncommitted: ["x.ts"],
    settled: [],
  });
});

it("says only what is new: known files stay where they are, and committed ones leave the list", () => {
  const known = { modified: ["a.ts", "b.ts", "c.ts"], uncommitted: ["a.ts", "b.ts"] };
  const now = { head: "b", files: { "a.ts": "2", "c.ts": "1" }, committed: ["b.ts"] };
  expect(changesSince({ head: "a", files: {} }, now, { known, mayBeOurs: anybody })).toEqual({
    changed: [],
    uncommitted: ["c.ts"],
    settled: ["b.ts"],
  });
});

it("without a state of before attributes nothing, and still sees what is committed by now", () => {
  const known = { modified: ["a.ts", "b.ts"], uncommitted: ["a.ts", "b.ts"] };
  const now = { head: "b", files: { "a.ts": "1", "x.ts": "1" }, committed: [] };
  expect(changesSince(undefined, now, { known, mayBeOurs: anybody })).toEqual({
    changed: [],
    uncommitted: [],
    settled: ["b.ts"],
  });
});

it("leaves what others have changed, and names no more than fifty files", () => {
  const files = Object.fromEntries(
    Array.from({ length: 80 }, (_, at) => [`gen/${String(at).padStart(2, "0")}.ts`, "1"]),
  );
  const now = { head: "a", files: { "theirs.ts": "1", ...files }, committed: [] };
  const { changed } = changesSince({ head: "a", files: {} }, now, {
    known: nothingKnown,
    mayBeOurs: (path) => path !== "theirs.ts",
  });
  expect(changed).toHaveLength(50);
  expect(changed.at(-1)).toBe("gen/79.ts");
  expect(changed).not.toContain("theirs.ts");
});

it("leaves out a file that a client is just writing under another name", () => {
  const now = { head: "a", files: { "sub.txt.tmp.19410.2a00ab5e2cbf": "1", "sub.txt": "1" }, committed: [] };
  const { changed } = changesSince({ head: "a", files: {} }, now, { known: nothingKnown, mayBeOurs: anybody });
  expect(changed).toEqual(["sub.txt"]);
});
