import { describe, expect, it } from "vitest";
import type { TreeTask } from "./state.ts";
import { type TreeOptions, treeOf } from "./task-pieces.ts";

const tasks: TreeTask[] = [
  { id: "T1", title: "Add user model", status: "done", agent: "backend" },
  { id: "T2", title: "Add login endpoint", status: "in_progress", agent: "backend" },
  { id: "T3", title: "Add JWT middleware", status: "todo" },
  { id: "T21", title: "Implementation", status: "done", parentId: "T2" },
  { id: "T22", title: "Spec review", status: "review", parentId: "T2", lastVerdict: "PASS" },
];

const many = (count: number, current: number): TreeTask[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `T${index}`,
    title: `Task ${index}`,
    status: index < current ? "done" : "todo",
  }));

const renderTree = (tasks: readonly TreeTask[], { maxLines, ...options }: TreeOptions & { maxLines: number }) =>
  treeOf(tasks, options)(maxLines);

describe("treeOf", () => {
  it("nests sub-tasks and steps below the current one", () => {
    const steps = [
      { text: "Write the test", done: true },
      { text: "Make it pass", done: false },
    ];
    expect(renderTree(tasks, { currentId: "T2", steps, maxLines: 20 })).toBe(
      [
        "- [x] Add user model (@backend, done)",
        "- [ ] T2 Add login endpoint (@backend, in progress)  <-- CURRENT",
        "    - [x] Write the test",
        "    - [ ] step 2 of 2: see below",
        "    - [x] Implementation (done)",
        "    - [ ] T22 Spec review (in review, PASS)",
        "- [ ] T3 Add JWT middleware (pending)",
      ].join("\n"),
    );
  });

  it("shows a window around the current one and counts the rest", () => {
    const text = renderTree(many(260, 220), { currentId: "T220", maxLines: 9 });
    const lines = text.split("\n");
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe("… 217 done before");
    expect(lines[4]).toContain("<-- CURRENT");
    expect(lines.at(-1)).toBe("… 34 pending after");
  });

  it("counts those that the reader did not bring", () => {
    const text = renderTree(many(5, 2), { currentId: "T2", maxLines: 9, counts: { done: 214, total: 252 } });
    expect(text).toMatch(/^… 212 done before\n/);
    expect(text).toMatch(/\n… 35 pending after$/);
  });

  it("ends at the ends of the list", () => {
    expect(renderTree(many(20, 0), { currentId: "T0", maxLines: 5 })).toMatch(
      /^- \[ \] T0 .*CURRENT\n[^…]*\n… 15 pending after$/,
    );
    expect(renderTree(many(20, 19), { currentId: "T19", maxLines: 5 })).toMatch(/^… 15 done before\n[^…]*CURRENT$/);
    expect(renderTree(many(4, 2), { maxLines: 9 }).split("\n")).toHaveLength(4);
  });

  it("shows tasks whose parents are unknown or go in a circle, each once", () => {
    const odd: TreeTask[] = [
      { id: "A", title: "a", status: "todo", parentId: "B" },
      { id: "B", title: "b", status: "todo", parentId: "A" },
      { id: "C", title: "c", status: "todo", parentId: "gone" },
      { id: "D", title: "d", status: "todo", parentId: "D" },
    ];
    const lines = renderTree(odd, { maxLines: 20 }).split("\n");
    expect(lines.map((line) => line.trim()).sort()).toEqual(
      ["A a", "B b", "C c", "D d"].map((name) => `- [ ] ${name} (pending)`),
    );
  });

  it("keeps titles on one line, without control characters", () => {
    const text = renderTree([{ id: "T1", title: `a\n## b\u001b[31m${"x".repeat(500)}`, status: "todo" }], {
      maxLines: 5,
    });
    expect(text).toMatch(/^- \[ \] T1 a ## bx+… \(pending\)$/);
  });
});
