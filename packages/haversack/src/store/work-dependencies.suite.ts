/** Dependencies: which ones make a task wait, and which cycles are refused. */
import { expect, it } from "vitest";
import type { DependencyType } from "../work/task.ts";
import {
  agent,
  clock,
  faultOf,
  finish,
  kindsOf,
  makeTask,
  ready,
  setTo,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function dependenciesSuite(test: UnderTest): void {
  const add = (taskId: string, dependsOnId: string, type: DependencyType = "blocks") =>
    test.store.addDependency({ taskId, dependsOnId, type }, agent());
  const make = async (...titles: string[]) => {
    const ids: string[] = [];
    for (const title of titles) ids.push(await makeTask(test, title));
    return ids as [string, string, string, string, string];
  };

  for (const type of ["blocks", "requires"] as const) {
    it(`makes a task wait: ${type}`, async () => {
      const [a, b] = await make("a", "b");
      expect(await add(b, a, type)).toEqual({ kind: "added", dependency: { taskId: b, dependsOnId: a, type } });
      expect(await ready(test)).toEqual(["a"]);
      await setTo(test, a, "in_progress");
      expect(await ready(test)).toEqual([]);
      await setTo(test, a, "review");
      expect(await ready(test)).toEqual([]);
      await setTo(test, a, "done");
      expect(await ready(test)).toEqual(["b"]);
      await setTo(test, a, "todo");
      expect(await ready(test)).toEqual(["a"]);
      await setTo(test, a, "archived");
      expect(await ready(test)).toEqual(["b"]);
    });
  }

  it("makes the reviews of a task wait for one another in the workflow's order, whichever was made first", async () => {
    const parentId = await makeTask(test, "Add login");
    const quality = await makeTask(test, "Code quality review", { parentId });
    const spec = await makeTask(test, "Spec review", { parentId });
    expect(await ready(test)).toEqual(["Add login", "Spec review"].reverse());
    const early = await test.store.claim({ taskId: quality, leaseMs: 60_000 }, agent());
    expect(early).toMatchObject({ kind: "waits", for: [{ id: spec }] });
    expect(await setTo(test, quality, "in_progress")).toMatchObject({ kind: "waits", for: [{ id: spec }] });
    const forced = await test.store.claim({ taskId: quality, leaseMs: 60_000, isForced: true }, agent("bob"));
    expect(forced.kind).toBe("claimed");
    await test.store.release({ taskId: quality }, agent("bob"));
    await finish(test, spec);
    expect(await ready(test)).toContain("Code quality review");
    // The review was revoked: the task is open again.
    await setTo(test, spec, "todo");
    expect(await ready(test)).not.toContain("Code quality review");
  });

  it("puts a sub-task for the implementation before the reviews, and leaves reviews of other tasks alone", async () => {
    const parentId = await makeTask(test, "Add login");
    const spec = await makeTask(test, "Spec review", { parentId });
    const build = await makeTask(test, "Implement the form", { parentId });
    await makeTask(test, "Code review", { parentId: await makeTask(test, "Add logout") });
    await makeTask(test, "Code review");
    expect((await test.store.getTask(spec, clock(0))).waitsFor.map(({ id }) => id)).toEqual([build]);
    expect((await ready(test)).filter((title) => title.includes("review"))).toEqual(["Code review", "Code review"]);
  });

  it("follows a review that gets another title or parent, and no order where somebody has set the opposite", async () => {
    const parentId = await makeTask(test, "Add login");
    const spec = await makeTask(test, "Spec review", { parentId });
    const later = await makeTask(test, "Look at the names", { parentId });
    await test.store.updateTask(later, { title: "Quality review" }, agent());
    const waits = async () => (await test.store.getTask(later, clock(0))).waitsFor.map(({ id }) => id);
    expect(await waits()).toEqual([spec]);
    await test.store.updateTask(later, { parentId: null }, agent());
    expect(await waits()).toEqual([]);
    await add(spec, later);
    await test.store.updateTask(later, { parentId }, agent());
    expect(await waits()).toEqual([]);
  });

  it("waits until the last of several is over", async () => {
    const [a, b, c] = await make("a", "b", "c");
    await add(c, a);
    await add(c, b, "requires");
    await finish(test, a);
    expect(await ready(test)).toEqual(["b"]);
    expect((await test.store.getTask(c, clock(0))).waitsFor.map(({ id }) => id)).toEqual([b]);
    await finish(test, b);
    expect(await ready(test)).toEqual(["c"]);
  });

  it("does not make a task wait that only relates to another, even both ways", async () => {
    const [a, b] = await make("a", "b");
    await add(a, b, "relates_to");
    expect((await add(b, a, "relates_to")).kind).toBe("added");
    expect(await ready(test)).toEqual(["a", "b"]);
    expect((await test.store.getTask(a, clock(0))).relatesTo.map(({ id }) => id)).toContain(b);
    expect((await faultOf(add(a, a, "relates_to"))).code).toBe("input-invalid");
  });

  it("names a task once that relates both ways", async () => {
    const [a, b] = await make("a", "b");
    await add(a, b, "relates_to");
    await add(b, a, "relates_to");
    expect((await test.store.getTask(a, clock(0))).relatesTo).toEqual([{ id: b, title: "b", status: "todo" }]);
  });

  it("refuses a cycle and shows it from the task back to itself", async () => {
    const [a, b, c, d, e] = await make("a", "b", "c", "d", "e");
    await add(b, a);
    await add(c, b, "requires");
    await add(d, c);
    // A longer cycle as well: the shortest is shown.
    await add(e, b);
    await add(d, e);
    const path = (outcome: Awaited<ReturnType<typeof add>>) =>
      outcome.kind === "cycle" ? outcome.path.map(({ id }) => id) : outcome;
    expect(path(await add(a, a))).toEqual([a, a]);
    expect(path(await add(a, b, "requires"))).toEqual([a, b, a]);
    expect(path(await add(a, d))).toEqual([a, d, c, b, a]);
    expect(await test.store.listDependencies(a)).toMatchObject({ dependsOn: [], neededBy: [{ id: b }] });
    expect(await ready(test)).toEqual(["a"]);
    expect(await kindsOf(test, a)).toEqual(["task-created"]);
    expect((await add(a, d, "relates_to")).kind).toBe("added");
  });

  it("refuses a cycle through tasks that are done: they can be reopened", async () => {
    const [a, b] = await make("a", "b");
    await add(b, a);
    await finish(test, a);
    expect((await add(a, b)).kind).toBe("cycle");
  });

  it("changes its type, and is unchanged when it is the same again", async () => {
    const [a, b] = await make("a", "b");
    await add(b, a, "relates_to");
    expect((await add(b, a, "blocks")).kind).toBe("added");
    expect(await ready(test)).toEqual(["a"]);
    expect((await add(b, a, "requires")).kind).toBe("added");
    expect(await add(b, a, "requires")).toEqual({
      kind: "unchanged",
      dependency: { taskId: b, dependsOnId: a, type: "requires" },
    });
    expect(await ready(test)).toEqual(["a"]);
    expect((await test.store.listDependencies(b)).dependsOn).toEqual([
      { id: a, title: "a", status: "todo", type: "requires" },
    ]);
    expect((await add(b, a, "relates_to")).kind).toBe("added");
    expect(await ready(test)).toEqual(["a", "b"]);
  });

  it("sees no cycle in what only relates", async () => {
    const [a, b, c] = await make("a", "b", "c");
    await add(a, b, "relates_to");
    await add(b, c);
    expect((await add(b, a)).kind).toBe("added");
    expect((await add(c, a)).kind).toBe("added");
  });

  it("does not let what only relates become a cycle", async () => {
    const [a, b] = await make("a", "b");
    await add(b, a);
    await add(a, b, "relates_to");
    expect((await add(a, b, "blocks")).kind).toBe("cycle");
    expect((await test.store.listDependencies(a)).dependsOn).toMatchObject([{ id: b, type: "relates_to" }]);
  });

  it("is removed once, and frees the task", async () => {
    const { store } = test;
    const [a, b] = await make("a", "b");
    await add(b, a);
    expect(await store.removeDependency({ taskId: a, dependsOnId: b }, agent())).toBe(false);
    expect(await store.removeDependency({ taskId: b, dependsOnId: a }, agent())).toBe(true);
    expect(await store.removeDependency({ taskId: b, dependsOnId: a }, agent())).toBe(false);
    expect(await ready(test)).toEqual(["a", "b"]);
    expect(await store.listDependencies(a)).toEqual({ dependsOn: [], neededBy: [] });
    expect(await kindsOf(test, b)).toEqual(["task-created", "dependency-added", "dependency-removed"]);
  });

  it("shows both directions of a task, done ones too", async () => {
    const [a, b, c] = await make("a", "b", "c");
    await add(b, a);
    await add(c, b, "requires");
    await finish(test, a);
    expect(await test.store.listDependencies(b)).toEqual({
      dependsOn: [{ id: a, title: "a", status: "done", type: "blocks" }],
      neededBy: [{ id: c, title: "c", status: "todo", type: "requires" }],
    });
  });
}
