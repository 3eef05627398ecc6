import { describe, expect, it } from "vitest";
import { batchGroups, firstOverlap, pickBatch } from "./batch.ts";

const task = (id: string, ...files: string[]) => ({ id, files });
const ids = (tasks: { id: string }[]) => tasks.map(({ id }) => id);

describe("pickBatch", () => {
  it("takes the first ones that touch no file twice, and says what it held back", () => {
    const picked = pickBatch(
      [task("a", "src/x.ts"), task("b", "src/x.ts"), task("c"), task("d", "src/y.ts"), task("e")],
      { size: 3 },
    );
    expect(ids(picked.batch)).toEqual(["a", "c", "d"]);
    expect(ids(picked.heldBack)).toEqual(["b"]);
  });

  it.each([
    ["src/", "src/x.ts"],
    ["src/x.ts", "src"],
    ["./src/x.ts", "src/x.ts"],
    ["src/*.ts", "src/x.ts"],
    ["src/**/*.ts", "src/a/b.ts"],
    ["src/a/b.ts", "src/*/b.ts"],
    ["src/x.{ts,tsx}", "src/x.ts"],
    ["*.md", "README.md"],
    ["README.md", "**"],
  ])("knows that %s and %s overlap", (one, other) => {
    expect(ids(pickBatch([task("a", one), task("b", other)], { size: 2 }).batch)).toEqual(["a"]);
  });

  it.each([
    ["src/x.ts", "src/x.tsx"],
    ["src/x", "src/xy/z.ts"],
    ["src/*.ts", "docs/a.md"],
    ["src/a/*.ts", "src/b/*.ts"],
    ["app/[id]/page.tsx", "app/[id]/layout.tsx"],
  ])("knows that %s and %s do not", (one, other) => {
    expect(ids(pickBatch([task("a", one), task("b", other)], { size: 2 }).batch)).toEqual(["a", "b"]);
  });

  it("keeps away from files that are taken", () => {
    expect(ids(pickBatch([task("a", "x"), task("b", "y")], { size: 2, taken: ["x"] }).batch)).toEqual(["b"]);
  });

  it("asks for no more candidates than it needs", () => {
    let asked = 0;
    function* endless() {
      for (;;) yield task(`t${asked++}`);
    }
    expect(pickBatch(endless(), { size: 2 }).batch).toHaveLength(2);
    expect(asked).toBeLessThanOrEqual(3);
  });
});

it("firstOverlap names the file that both touch", () => {
  expect(firstOverlap(["docs/a.md", "src/a.ts"], ["src/"])).toBe("src/a.ts");
  expect(firstOverlap(["docs/a.md"], ["src/"])).toBeUndefined();
  expect(firstOverlap(["*.md"], [])).toBeUndefined();
});

describe("batchGroups", () => {
  it("numbers the batches in which tasks could run side by side", () => {
    const tasks = [task("a", "x"), task("b", "x"), task("c", "y"), task("d", "x", "y"), task("e")];
    expect(batchGroups(tasks)).toEqual([1, 2, 1, 3, 1]);
  });
});
