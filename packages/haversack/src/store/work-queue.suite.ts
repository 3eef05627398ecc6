/** The queue: the order of ready tasks, scope, and batches handed out. */
import { expect, it } from "vitest";
import type { Priority } from "../work/task.ts";
import { COUNTED_READY } from "./work-store.ts";
import { agent, clock, faultOf, finish, makeTask, ready, setTo, type UnderTest } from "./work-under-test.suite.ts";

export function queueSuite(test: UnderTest): void {
  const DAY = 24 * 60;
  const epicWith = async (priority: Priority) => {
    const epic = (await test.store.createEpic({ title: priority, priority }, agent())).id;
    return { epic, story: (await test.store.createStory({ title: "s", epicId: epic }, agent())).id };
  };
  const scores = async (minutes: number) => {
    const { tasks } = await test.store.nextTasks({ limit: 100, at: clock(minutes) });
    return Object.fromEntries(tasks.map(({ title, score }) => [title, score]));
  };

  it("orders by the priority of the epic, then of the task, then by age", async () => {
    const high = await epicWith("P0");
    const low = await epicWith("P3");
    await makeTask(test, "low P0", { storyId: low.story, priority: "P0" });
    await makeTask(test, "none P1", { priority: "P1" });
    await makeTask(test, "high P3 old", { storyId: high.story, priority: "P3" });
    await makeTask(test, "high P3 young", { storyId: high.story, priority: "P3" }, 1);
    await makeTask(test, "high P0", { storyId: high.story, priority: "P0" }, 2);
    expect(await ready(test)).toEqual(["high P0", "high P3 old", "high P3 young", "none P1", "low P0"]);
  });

  it("takes the older first, and of the same age the one that was made first", async () => {
    await makeTask(test, "b", {}, 5);
    await makeTask(test, "c", {}, 5);
    await makeTask(test, "a", {}, 4);
    expect(await ready(test)).toEqual(["a", "b", "c"]);
  });

  it("refuses a story of another epic as a scope", async () => {
    const { story } = await epicWith("P1");
    const other = await test.store.createEpic({ title: "other" }, agent());
    const fault = await faultOf(test.store.nextTasks({ limit: 1, at: clock(0), storyId: story, epicId: other.id }));
    expect(fault).toMatchObject({ code: "input-invalid", message: expect.stringContaining("story_id") });
  });

  it("shows the score in points at the time of the question", async () => {
    const { story } = await epicWith("P1");
    const a = await makeTask(test, "a", { storyId: story, priority: "P0" });
    await makeTask(test, "waits", { dependsOn: [a] });
    await makeTask(test, "b", { priority: "P3" }, 5 * DAY);
    expect(await scores(10 * DAY)).toEqual({ a: 200 + 90 + 5 + 1, b: 100 + 0.5 });
    expect(await scores(30 * DAY)).toEqual({ a: 200 + 90 + 5 + 3, b: 100 + 2.5 });
  });

  it("lets a task overtake by having waited 300 days longer for one step of its own priority", async () => {
    await makeTask(test, "old P3", { priority: "P3" });
    await makeTask(test, "P2 after 299 days", { priority: "P2" }, 299 * DAY);
    await makeTask(test, "P2 after 301 days", { priority: "P2" }, 301 * DAY);
    expect(await ready(test, {}, 302 * DAY)).toEqual(["P2 after 299 days", "old P3", "P2 after 301 days"]);
  });

  it("lifts a task by those that wait for it, ten at most, and lowers it when they are over", async () => {
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b");
    const waiting: string[] = [];
    for (let number = 0; number < 12; number++) waiting.push(await makeTask(test, `w${number}`, { dependsOn: [b] }));
    expect(await scores(0)).toEqual({ b: 130 + 50, a: 130 });
    await setTo(test, waiting[0] ?? "", "archived");
    await setTo(test, waiting[1] ?? "", "archived");
    expect((await scores(0))["b"]).toBe(180);
    await setTo(test, waiting[2] ?? "", "archived");
    expect((await scores(0))["b"]).toBe(175);
    await setTo(test, waiting[2] ?? "", "todo");
    await test.store.removeDependency({ taskId: waiting[3] ?? "", dependsOnId: b }, agent());
    expect((await scores(0))["b"]).toBe(175);
    await test.store.addDependency({ taskId: waiting[3] ?? "", dependsOnId: a, type: "relates_to" }, agent());
    expect((await scores(0))["a"]).toBe(130);
  });

  it("follows a change of the epic's or the task's priority at once", async () => {
    const one = await epicWith("P2");
    const a = await makeTask(test, "a", { storyId: one.story });
    const b = await makeTask(test, "b", {}, 1);
    expect(await ready(test)).toEqual(["a", "b"]);
    await test.store.updateEpic(one.epic, { priority: "P3" }, agent());
    expect(await ready(test)).toEqual(["b", "a"]);
    await test.store.updateEpic(one.epic, { priority: "P0" }, agent());
    expect(await ready(test)).toEqual(["a", "b"]);
    expect((await scores(0))["a"]).toBe(330);
    await test.store.updateEpic(one.epic, { priority: null }, agent());
    await test.store.updateTask(b, { priority: "P1" }, agent());
    expect(await ready(test)).toEqual(["b", "a"]);
    await test.store.updateTask(a, { priority: "P0" }, agent());
    expect(await ready(test)).toEqual(["a", "b"]);
  });

  it("holds only what is todo and waits for nothing", async () => {
    for (const status of ["in_progress", "review", "blocked", "done", "archived"] as const) {
      await setTo(test, await makeTask(test, status), status);
    }
    const a = await makeTask(test, "a");
    await makeTask(test, "waits", { dependsOn: [a] });
    expect(await ready(test)).toEqual(["a"]);
  });

  it("gives as many as are asked for, whole, and counts the rest", async () => {
    await makeTask(test, "a", { files: ["x.ts"], description: "d", steps: [{ text: "s", done: false }] });
    await makeTask(test, "b");
    await makeTask(test, "c");
    const two = await test.store.nextTasks({ limit: 2, at: clock(0) });
    expect(two).toMatchObject({
      ready: 3,
      tasks: [{ title: "a", files: ["x.ts"], steps: [{ text: "s" }] }, { title: "b" }],
    });
    expect(await test.store.nextTasks({ limit: 5, at: clock(0) })).toMatchObject({ ready: 3, tasks: { length: 3 } });
    expect((await faultOf(test.store.nextTasks({ limit: 0, at: clock(0) }))).message).toContain("limit");
  });

  it("counts no further than it says", async () => {
    for (let number = 0; number < COUNTED_READY + 2; number++) await makeTask(test, `n${number}`);
    expect(await test.store.nextTasks({ limit: 1, at: clock(0) })).toMatchObject({
      ready: COUNTED_READY,
      tasks: [{ title: "n0" }],
    });
  });

  it("keeps to the epic or the story, in order", async () => {
    const a = await epicWith("P0");
    const other = (await test.store.createStory({ title: "s2", epicId: a.epic }, agent())).id;
    await makeTask(test, "a1", { storyId: a.story, priority: "P3" });
    await makeTask(test, "a2", { storyId: other, priority: "P1" });
    await makeTask(test, "a3", { storyId: a.story, priority: "P0" });
    await makeTask(test, "none", { priority: "P0" });
    expect(await ready(test, { epicId: a.epic })).toEqual(["a3", "a2", "a1"]);
    expect(await ready(test, { storyId: a.story })).toEqual(["a3", "a1"]);
    expect(await ready(test)).toEqual(["a3", "a2", "a1", "none"]);
  });

  it("is the same through another connection at once", async () => {
    const a = await makeTask(test, "a");
    await makeTask(test, "b", { dependsOn: [a] });
    const other = await test.reopen();
    expect((await other.nextTasks({ limit: 5, at: clock(0) })).tasks.map(({ title }) => title)).toEqual(["a"]);
    await finish(test, a);
    expect((await other.nextTasks({ limit: 5, at: clock(0) })).tasks.map(({ title }) => title)).toEqual(["b"]);
  });

  it("remembers the last batch of a session and what became of it", async () => {
    const { store } = test;
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b");
    const c = await makeTask(test, "c");
    expect(await store.lastBatch("s")).toBeUndefined();
    await store.recordBatch({ receiver: "s", size: 2, taskIds: [a] }, agent());
    await store.recordBatch({ receiver: "s", size: 3, taskIds: [b, c] }, agent("ann", 1));
    await store.recordBatch({ receiver: "other", size: 4, taskIds: [a] }, agent("ann", 2));
    await finish(test, b);
    await store.setHandoff({ taskId: b, role: "implementer", status: "FAIL", summary: "no" }, agent("ann", 3));
    await store.setHandoff({ taskId: b, role: "reviewer", status: "PASS", summary: "yes" }, agent("ann", 4));
    expect(await store.lastBatch("s")).toEqual({
      size: 3,
      at: clock(1),
      tasks: [
        { id: b, title: "b", status: "done", lastVerdict: "PASS" },
        { id: c, title: "c", status: "todo" },
      ],
    });
    expect((await faultOf(store.recordBatch({ receiver: "s", size: 0, taskIds: [] }, agent()))).message).toContain(
      "batch_size",
    );
  });

  it("hands out sub-tasks instead of their task, and the task when the last of them is over", async () => {
    const whole = await makeTask(test, "whole");
    const part = await makeTask(test, "part", { parentId: whole });
    const below = await makeTask(test, "below", { parentId: part });
    expect(await ready(test)).toEqual(["below"]);
    // An explicit claim still gets it.
    expect(await test.store.claim({ taskId: whole, leaseMs: 1000 }, agent())).toMatchObject({ kind: "claimed" });
    await setTo(test, whole, "todo");
    // Two levels below, with the level between finished.
    await finish(test, part);
    expect(await ready(test)).toEqual(["below"]);
    await finish(test, below);
    expect(await ready(test)).toEqual(["whole"]);
    await setTo(test, below, "todo");
    expect(await ready(test)).toEqual(["below"]);
    await test.store.updateTask(part, { parentId: null }, agent());
    expect(await ready(test)).toEqual(["whole", "below"]);
  });

  it("hands out a task whose sub-tasks come after its own work: they wait for it, or are reviews of it", async () => {
    const { store } = test;
    const first = await makeTask(test, "first");
    const after = await makeTask(test, "after", { parentId: first, dependsOn: [first] });
    await makeTask(test, "at last", { parentId: first, dependsOn: [after] });
    expect(await ready(test)).toEqual(["first"]);
    const second = await makeTask(test, "second");
    const review = await makeTask(test, "Spec review", { parentId: second });
    expect(await ready(test)).toEqual(["first", "second", "Spec review"]);
    const build = await makeTask(test, "Implement it", { parentId: second });
    expect(await ready(test)).toEqual(["first", "Implement it"]);
    await finish(test, build);
    expect(await ready(test)).toEqual(["first", "Spec review"]);
    await store.updateTask(review, { title: "Something else" }, agent());
    await finish(test, review);
    expect(await ready(test)).toEqual(["first", "second"]);
  });
}
