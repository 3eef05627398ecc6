/** Tasks: what is stored, what is refused, and the order of lists. */
import { expect, it } from "vitest";
import type { NewTask, TaskQuery } from "./work-store.ts";
import {
  agent,
  clock,
  faultOf,
  finish,
  kindsOf,
  makeTask,
  merging,
  setTo,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function tasksSuite(test: UnderTest): void {
  const list = async (query: Partial<TaskQuery> = {}) => {
    const { items, total } = await test.store.listTasks({ limit: 50, at: clock(0), ...query });
    return { titles: items.map(({ title }) => title), total };
  };

  it("gives back every field, and leaves out what was not given", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: "e" }, agent());
    const story = await store.createStory({ title: "s", epicId: epic.id }, agent());
    const parentId = await makeTask(test, "parent");
    const fields = {
      title: "Ünïcode 🎒 and 'quotes' \"too\" -- ; DROP",
      type: "bug",
      priority: "P0",
      storyId: story.id,
      parentId,
      description: "line one\nline two\u0000after",
      acceptanceCriteria: "- works",
      files: ["src/b.ts", "src/a.ts"],
      steps: [
        { text: "first", done: true },
        { text: "second", done: false },
      ],
      estimateHours: 1.5,
      skill: "testing, debugging",
      planFile: "docs/plan.md",
      planSection: "Task 3",
      contextSummary: "context",
      handoffNotes: "notes",
      assignee: "ben",
      source: "import:x",
    } satisfies NewTask;
    const made = await store.createTask(fields, agent("ann", 5));
    expect(made).toEqual({
      ...fields,
      files: ["src/a.ts", "src/b.ts"],
      id: made.id,
      epicId: epic.id,
      status: "todo",
      createdAt: clock(5),
      updatedAt: clock(5),
    });
    const other = await test.reopen();
    expect(await other.getTask(made.id, clock(5))).toEqual({
      ...made,
      waitsFor: [],
      waitedForBy: [],
      relatesTo: [],
      parts: [],
      blockers: [],
      failureCount: 0,
    });

    const bare = await store.createTask({ title: "  bare  " }, agent());
    expect(bare).toEqual({
      id: bare.id,
      title: "bare",
      status: "todo",
      type: "feature",
      priority: "P2",
      files: [],
      steps: [],
      createdAt: clock(0),
      updatedAt: clock(0),
    });
  });

  it("changes what is given, clears what is null and leaves the rest", async () => {
    const { store } = test;
    const { id } = await store.createTask(
      {
        title: "a",
        description: "d",
        skill: "s",
        priority: "P0",
        type: "bug",
        files: ["x"],
        steps: [{ text: "t", done: false }],
      },
      agent(),
    );
    const changed = await store.updateTask(
      id,
      { title: "b", description: null, files: ["y", "x", "y"], priority: null },
      agent("ben", 3),
    );
    expect(changed).toMatchObject({
      title: "b",
      skill: "s",
      type: "bug",
      priority: "P2",
      files: ["x", "y"],
      steps: [{ text: "t" }],
    });
    expect(changed).not.toHaveProperty("description");
    expect(changed).toMatchObject({ createdAt: clock(0), updatedAt: clock(3) });
    expect(await store.updateTask(id, { files: null, steps: null }, agent())).toMatchObject({ files: [], steps: [] });
    expect(await kindsOf(test, id)).toEqual(["task-created", "task-updated", "task-updated"]);
  });

  it("refuses wrong fields by name, and nothing has changed", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    const wrong = (fields: object) => fields as never;
    const calls: [field: string, () => Promise<unknown>][] = [
      ["title", () => store.createTask({ title: "  " }, agent())],
      ["title", () => store.createTask({ title: "two\nlines" }, agent())],
      ["title", () => store.updateTask(id, { title: null }, agent())],
      ["title", () => store.createEpic({ title: "" }, agent())],
      ["title", () => store.createStory({ title: "a\rb" }, agent())],
      ["priority", () => store.createTask(wrong({ title: "t", priority: "P4" }), agent())],
      ["priority", () => store.updateTask(id, wrong({ priority: "high" }), agent())],
      ["priority", () => store.createEpic(wrong({ title: "e", priority: "p1" }), agent())],
      ["task_type", () => store.createTask(wrong({ title: "t", type: "fix" }), agent())],
      ["estimate_hours", () => store.createTask({ title: "t", estimateHours: -1 }, agent())],
      ["estimate_hours", () => store.updateTask(id, { estimateHours: Number.NaN }, agent())],
      ["status", () => store.setStatus(wrong({ taskId: id, status: "doing", leaseMs: 1 }), agent())],
      ["status", () => store.listTasks(wrong({ limit: 1, status: "open", at: clock(0) }))],
      ["priority", () => store.listTasks(wrong({ limit: 1, priority: "1", at: clock(0) }))],
      ["task_type", () => store.listTasks(wrong({ limit: 1, type: "x", at: clock(0) }))],
      ["limit", () => store.listTasks({ limit: 0, at: clock(0) })],
      ["limit", () => store.listTasks({ limit: -5, at: clock(0) })],
      ["offset", () => store.listTasks({ limit: 1, offset: -1, at: clock(0) })],
      ["limit", () => store.nextTasks({ limit: -1, at: clock(0) })],
      ["limit", () => store.listEpics({ limit: 0 })],
      ["status", () => store.listStories(wrong({ limit: 1, status: "blocked" }))],
      ["dependency_type", () => store.addDependency(wrong({ taskId: id, dependsOnId: id, type: "needs" }), agent())],
      ["reason", () => store.setBlocker({ taskId: id, reason: " " }, agent())],
      ["summary", () => store.recordFailure({ taskId: id, summary: "" }, agent())],
      ["parent_id", () => store.updateTask(id, { parentId: id }, agent())],
    ];
    for (const [field, call] of calls) {
      const { code, message } = await faultOf(call());
      expect(`${code} ${message}`).toMatch(new RegExp(`^input-invalid .*\\b${field}\\b`));
    }
    expect(await list()).toEqual({ titles: ["t"], total: 1 });
    expect(await kindsOf(test, id)).toEqual(["task-created"]);
  });

  it("offers the word that was meant", async () => {
    const id = await makeTask(test, "t");
    const { message } = await faultOf(setTo(test, id, "in_progres" as never));
    expect(message).toBe(
      'status must be one of todo, in_progress, review, done, blocked, archived, but is "in_progres"; did you mean in_progress?',
    );
  });

  it("refuses to make a task its own ancestor", async () => {
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b", { parentId: a });
    const c = await makeTask(test, "c", { parentId: b });
    expect((await faultOf(test.store.updateTask(a, { parentId: c }, agent()))).message).toContain("parent_id");
    expect((await list({ parentId: a })).titles).toEqual(["b"]);
  });

  it("lists what is being worked on first, then ready ones in the queue's order, done ones last", async () => {
    const { store } = test;
    const id: Record<string, string> = {};
    for (const title of ["done 1", "done 2", "waits", "low", "high", "blocked", "review", "running", "gone"]) {
      id[title] = await makeTask(test, title, { priority: title === "high" ? "P0" : "P3" });
    }
    const of = (title: string) => id[title] ?? "";
    await finish(test, of("done 1"));
    await finish(test, of("done 2"));
    await store.addDependency({ taskId: of("waits"), dependsOnId: of("low"), type: "blocks" }, agent());
    await setTo(test, of("blocked"), "blocked");
    await setTo(test, of("review"), "review");
    await setTo(test, of("running"), "in_progress");
    await setTo(test, of("gone"), "archived");
    const titles = ["running", "review", "blocked", "high", "low", "waits", "done 2", "done 1"];
    expect(await list()).toEqual({ titles, total: 8 });
    expect(await list({ status: "archived" })).toEqual({ titles: ["gone"], total: 1 });
    expect(await list({ status: "todo" })).toEqual({ titles: ["high", "low", "waits"], total: 3 });
    for (const limit of [1, 2, 3, 5]) {
      const pages: string[] = [];
      for (let offset = 0; offset < 8; offset += limit) pages.push(...(await list({ limit, offset })).titles);
      expect(pages).toEqual(titles);
    }
    expect(await list({ offset: 8 })).toEqual({ titles: [], total: 8 });
  });

  it("finds many as it finds few", async () => {
    for (let number = 0; number < 620; number++) await makeTask(test, `strap ${number}`);
    const { id: story } = await test.store.createStory({ title: "s" }, agent());
    await makeTask(test, "strap of a story", { storyId: story });
    expect(await list({ find: "STRAP", limit: 2, offset: 620 })).toEqual({ titles: ["strap of a story"], total: 621 });
    expect(await list({ find: "strap", storyId: story })).toEqual({ titles: ["strap of a story"], total: 1 });
    expect((await list({ find: "strap 61" })).total).toBe(11);
  });

  it("filters by every field, and by several at once", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: "e" }, agent());
    const story = await store.createStory({ title: "s", epicId: epic.id }, agent());
    await makeTask(test, "a", { storyId: story.id, priority: "P0", type: "bug", assignee: "ben", planFile: "p.md" });
    const b = await makeTask(test, "b", { storyId: story.id, priority: "P0" });
    await makeTask(test, "c", { parentId: b });
    await store.updateWip({ taskId: b, merge: merging({ phase: "x" }) }, agent());
    expect((await list({ epicId: epic.id })).titles).toEqual(["a", "c", "b"]);
    expect((await list({ storyId: story.id, type: "bug" })).titles).toEqual(["a"]);
    expect((await list({ priority: "P0", type: "feature" })).titles).toEqual(["b"]);
    expect((await list({ assignee: "ben" })).titles).toEqual(["a"]);
    expect((await list({ planFile: "p.md" })).titles).toEqual(["a"]);
    expect((await list({ parentId: b })).titles).toEqual(["c"]);
    await makeTask(test, "Sew the 50% strap_a");
    expect((await list({ find: "sew THE" })).titles).toEqual(["Sew the 50% strap_a"]);
    expect((await list({ find: "50% strap_" })).titles).toEqual(["Sew the 50% strap_a"]);
    expect(await list({ find: "5%p" })).toEqual({ titles: [], total: 0 });
    expect((await list({ find: b.toLowerCase() })).titles).toEqual(["b"]);
    await makeTask(test, "Ärger mit ΣΊΣΥΦΟΣ");
    for (const find of ["ärger", "ÄRGER M", "σίσυφοσ"]) expect((await list({ find })).total, find).toBe(1);
    expect(await list({ find: "örger" })).toEqual({ titles: [], total: 0 });
    expect(await list({ hasWip: true })).toEqual({ titles: ["b"], total: 1 });
    expect(await list({ hasWip: true, type: "bug" })).toEqual({ titles: [], total: 0 });
  });

  it("counts by status and what is ready, in all or in a scope", async () => {
    const { store } = test;
    const story = await store.createStory({ title: "s" }, agent());
    const a = await makeTask(test, "a", { storyId: story.id });
    await makeTask(test, "b", { storyId: story.id, dependsOn: [a] });
    await makeTask(test, "c");
    await setTo(test, await makeTask(test, "d"), "done");
    const none = { todo: 0, in_progress: 0, review: 0, done: 0, blocked: 0, archived: 0, ready: 0 };
    expect(await store.countTasks({}, clock(0))).toEqual({ ...none, todo: 3, done: 1, ready: 2 });
    expect(await store.countTasks({ storyId: story.id }, clock(0))).toEqual({ ...none, todo: 2, ready: 1 });
    expect((await store.getStory(story.id)).counts).toEqual({ ...none, todo: 2, ready: 1 });
  });

  it("keeps failures, newest first, and counts them on the task", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    expect(await store.recordFailure({ taskId: id, summary: "first", details: "x\ny" }, agent("ann", 1))).toEqual({
      count: 1,
    });
    expect(await store.recordFailure({ taskId: id, summary: "second" }, agent("ben", 2))).toEqual({ count: 2 });
    expect(await store.listFailures(id)).toEqual([
      { taskId: id, at: clock(2), actor: "ben", summary: "second" },
      { taskId: id, at: clock(1), actor: "ann", summary: "first", details: "x\ny" },
    ]);
    expect((await store.getTask(id, clock(3))).failureCount).toBe(2);
    expect(await kindsOf(test, id)).toEqual(["task-created", "task-failed", "task-failed"]);
  });

  it("makes a task with what it waits for in one go, or not at all", async () => {
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b", { dependsOn: [a, a] });
    expect((await test.store.getTask(b, clock(0))).waitsFor).toEqual([{ id: a, title: "a", status: "todo" }]);
    await faultOf(test.store.createTask({ title: "c", dependsOn: [a, "T000"] }, agent()));
    expect((await list()).total).toBe(2);
    expect((await test.store.getTask(a, clock(0))).waitedForBy).toEqual([{ id: b, title: "b", status: "todo" }]);
  });
}
