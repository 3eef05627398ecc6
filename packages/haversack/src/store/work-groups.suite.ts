/** Stories and epics: their status follows their tasks, completion is reported, and archiving includes open tasks. */
import { expect, it } from "vitest";
import type { GroupQuery, StatusOutcome } from "./work-store.ts";
import {
  agent,
  clock,
  faultOf,
  finish,
  kindsOf,
  makeTask,
  person,
  ready,
  setTo,
  statusOf,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function groupsSuite(test: UnderTest): void {
  const epicWith = async (count: number) => {
    const epic = (await test.store.createEpic({ title: "e" }, agent())).id;
    const stories: string[] = [];
    for (let number = 0; number < count; number++) {
      stories.push((await test.store.createStory({ title: `s${number}`, epicId: epic }, agent())).id);
    }
    return { epic, stories: stories as [string, string] };
  };
  const boundaries = (outcome: StatusOutcome) => (outcome.kind === "changed" ? outcome.boundaries : outcome);
  const story = async (id: string) => (await test.store.getStory(id)).status;
  const epicStatus = async (id: string) => (await test.store.getEpic(id)).status;

  it("keeps every field of both", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: " e ", description: "d", priority: "P0", source: "x" }, agent());
    expect(epic).toEqual({
      id: epic.id,
      title: "e",
      description: "d",
      priority: "P0",
      status: "todo",
      source: "x",
      createdAt: clock(0),
      updatedAt: clock(0),
    });
    const fields = { title: "s", epicId: epic.id, description: "d", acceptanceCriteria: "a", source: "y" };
    const made = await store.createStory(fields, agent());
    expect(made).toEqual({ ...fields, id: made.id, status: "todo", createdAt: clock(0), updatedAt: clock(0) });
    expect(await store.updateEpic(epic.id, { title: "f", description: null, priority: null }, agent("ann", 1))).toEqual(
      {
        id: epic.id,
        title: "f",
        priority: "P2",
        status: "todo",
        source: "x",
        createdAt: clock(0),
        updatedAt: clock(1),
      },
    );
    expect(await store.updateStory(made.id, { acceptanceCriteria: null, epicId: null }, agent("ann", 1))).toEqual({
      id: made.id,
      title: "s",
      description: "d",
      status: "todo",
      source: "y",
      createdAt: clock(0),
      updatedAt: clock(1),
    });
    expect(await kindsOf(test, epic.id)).toEqual(["epic-created", "epic-updated"]);
    expect(await kindsOf(test, made.id)).toEqual(["story-created", "story-updated"]);
  });

  it("follows its tasks, and tells the boundaries that a status crosses", async () => {
    const { epic, stories } = await epicWith(2);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    const b = await makeTask(test, "b", { storyId: stories[0] });
    const c = await makeTask(test, "c", { storyId: stories[1] });
    const states = async () => [await story(stories[0]), await story(stories[1]), await epicStatus(epic)];
    expect(await states()).toEqual(["todo", "todo", "todo"]);
    await setTo(test, a, "in_progress");
    expect(await states()).toEqual(["in_progress", "todo", "in_progress"]);
    expect(boundaries(await setTo(test, a, "done"))).toEqual({});
    expect(await states()).toEqual(["in_progress", "todo", "in_progress"]);
    expect(boundaries(await finish(test, b, agent("ann", 5)))).toEqual({ storyCompleted: stories[0] });
    expect(await states()).toEqual(["done", "todo", "in_progress"]);
    expect((await test.store.getStory(stories[0])).completedAt).toEqual(clock(5));
    const last = await finish(test, c, agent("ann", 6));
    expect(boundaries(last)).toEqual({ storyCompleted: stories[1], epicCompleted: epic });
    expect((await test.store.getEpic(epic)).completedAt).toEqual(clock(6));
    await setTo(test, c, "todo");
    expect(await states()).toEqual(["done", "todo", "in_progress"]);
    expect(await test.store.getEpic(epic)).not.toHaveProperty("completedAt");
  });

  it("completes a story whose last open task is archived, and archives one that has no other", async () => {
    const { epic, stories } = await epicWith(2);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    const b = await makeTask(test, "b", { storyId: stories[0] });
    await finish(test, a);
    expect(boundaries(await setTo(test, b, "archived"))).toEqual({ storyCompleted: stories[0] });
    const c = await makeTask(test, "c", { storyId: stories[1] });
    expect(boundaries(await setTo(test, c, "archived"))).toEqual({ epicCompleted: epic });
    expect(await story(stories[1])).toBe("archived");
  });

  it("is in progress as long as a task is in review or blocked", async () => {
    const { stories } = await epicWith(1);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    for (const status of ["review", "blocked"] as const) {
      await setTo(test, a, status);
      expect(await story(stories[0])).toBe("in_progress");
      await setTo(test, a, "todo");
      expect(await story(stories[0])).toBe("todo");
    }
  });

  it("opens again when a task or a story comes to what was done", async () => {
    const { epic, stories } = await epicWith(1);
    await finish(test, await makeTask(test, "a", { storyId: stories[0] }));
    expect([await story(stories[0]), await epicStatus(epic)]).toEqual(["done", "done"]);
    await makeTask(test, "b", { storyId: stories[0] });
    expect([await story(stories[0]), await epicStatus(epic)]).toEqual(["in_progress", "in_progress"]);
    const other = await epicWith(1);
    await finish(test, await makeTask(test, "c", { storyId: other.stories[0] }));
    await test.store.createStory({ title: "more", epicId: other.epic }, agent());
    expect(await epicStatus(other.epic)).toBe("in_progress");
  });

  it("moves a task between stories, and both follow", async () => {
    const { epic, stories } = await epicWith(2);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    await finish(test, await makeTask(test, "b", { storyId: stories[0] }));
    const moved = await test.store.updateTask(a, { storyId: stories[1] }, agent());
    expect(moved).toMatchObject({ storyId: stories[1], epicId: epic });
    expect([await story(stories[0]), await story(stories[1])]).toEqual(["done", "todo"]);
    expect(await ready(test, { storyId: stories[0] })).toEqual([]);
    expect(await ready(test, { storyId: stories[1] })).toEqual(["a"]);
    const alone = await test.store.updateTask(a, { storyId: null }, agent());
    expect(alone).not.toHaveProperty("storyId");
    expect(alone).not.toHaveProperty("epicId");
    expect(await ready(test, { epicId: epic })).toEqual([]);
    expect(await ready(test)).toEqual(["a"]);
  });

  it("moves a story between epics with its tasks, and both follow", async () => {
    const from = await epicWith(2);
    const to = await epicWith(0);
    const a = await makeTask(test, "a", { storyId: from.stories[0] });
    await finish(test, await makeTask(test, "b", { storyId: from.stories[1] }));
    await setTo(test, a, "in_progress");
    await test.store.updateStory(from.stories[0], { epicId: to.epic }, agent());
    expect(await test.store.getTask(a, clock(0))).toMatchObject({ epicId: to.epic });
    expect([await epicStatus(from.epic), await epicStatus(to.epic)]).toEqual(["done", "in_progress"]);
    expect((await test.store.getEpic(to.epic)).counts).toMatchObject({ in_progress: 1, done: 0 });
    await setTo(test, a, "todo");
    expect(await ready(test, { epicId: to.epic })).toEqual(["a"]);
    expect(await ready(test, { epicId: from.epic })).toEqual([]);
  });

  it("archives a story with its open tasks; done ones stay done", async () => {
    const { epic, stories } = await epicWith(2);
    const open = await makeTask(test, "open", { storyId: stories[0] });
    const done = await makeTask(test, "done", { storyId: stories[0] });
    const after = await makeTask(test, "after", { dependsOn: [open] });
    await finish(test, done);
    expect(await test.store.updateStory(stories[0], { status: "archived" }, agent())).toMatchObject({
      status: "archived",
    });
    expect([await statusOf(test, open), await statusOf(test, done)]).toEqual(["archived", "done"]);
    expect(await ready(test)).toEqual(["after"]);
    expect(await statusOf(test, after)).toBe("todo");
    expect(await epicStatus(epic)).toBe("todo");
    const { items } = await test.store.listStories({ limit: 10, epicId: epic });
    expect(items.map(({ id }) => id)).toEqual([stories[1]]);
  });

  it("stays archived when something done in it is put away, and tells no boundary", async () => {
    const { stories } = await epicWith(1);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    await finish(test, a);
    await finish(test, await makeTask(test, "b", { storyId: stories[0] }));
    await test.store.updateStory(stories[0], { status: "archived" }, agent());
    expect(boundaries(await setTo(test, a, "archived"))).toEqual({});
    expect(await story(stories[0])).toBe("archived");
    await setTo(test, a, "todo");
    expect(await story(stories[0])).toBe("in_progress");
  });

  it("archives an epic with its stories and their open tasks", async () => {
    const { epic, stories } = await epicWith(2);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    await makeTask(test, "elsewhere");
    await setTo(test, a, "in_progress", agent("ben"));
    // Not while another agent holds one of its tasks.
    expect((await faultOf(test.store.updateEpic(epic, { status: "archived" }, agent()))).code).toBe("refused");
    expect(await statusOf(test, a)).toBe("in_progress");
    expect(await test.store.updateEpic(epic, { status: "archived" }, person())).toMatchObject({ status: "archived" });
    expect([await story(stories[0]), await story(stories[1]), await statusOf(test, a)]).toEqual([
      "archived",
      "archived",
      "archived",
    ]);
    expect(await test.store.listClaims({ at: clock(0) })).toEqual([]);
    expect(await ready(test)).toEqual(["elsewhere"]);
    expect((await test.store.listEpics({ limit: 10 })).total).toBe(0);
    expect((await test.store.listEpics({ limit: 10, status: "archived" })).items.map(({ id }) => id)).toEqual([epic]);
  });

  it("comes back from the archive with what went there with it, and not with what was there before", async () => {
    const { epic, stories } = await epicWith(1);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    const before = await makeTask(test, "before", { storyId: stories[0] });
    await setTo(test, before, "archived");
    await test.store.updateStory(stories[0], { status: "archived" }, agent());
    expect(await test.store.updateStory(stories[0], { status: "todo" }, agent())).toMatchObject({ status: "todo" });
    expect([await statusOf(test, a), await statusOf(test, before)]).toEqual(["todo", "archived"]);
    await test.store.updateEpic(epic, { status: "archived" }, agent());
    expect(await test.store.updateEpic(epic, { status: "todo" }, agent())).toMatchObject({ status: "todo" });
    expect([await statusOf(test, a), await statusOf(test, before)]).toEqual(["todo", "archived"]);
    expect(await ready(test)).toEqual(["a"]);
  });

  it("comes back from the archive when one of its tasks does, or when it is empty and set to todo", async () => {
    const { epic, stories } = await epicWith(1);
    const a = await makeTask(test, "a", { storyId: stories[0] });
    await test.store.updateEpic(epic, { status: "archived" }, agent());
    await setTo(test, a, "todo");
    expect([await story(stories[0]), await epicStatus(epic)]).toEqual(["todo", "todo"]);
    const empty = await epicWith(1);
    await test.store.updateEpic(empty.epic, { status: "archived" }, agent());
    await test.store.updateStory(empty.stories[0], { status: "todo" }, agent());
    expect([await story(empty.stories[0]), await epicStatus(empty.epic)]).toEqual(["todo", "todo"]);
  });

  it("lists epics by priority and age, stories by age, in pages", async () => {
    const { store } = test;
    for (const [title, priority] of [
      ["a", "P2"],
      ["b", "P0"],
      ["c", "P2"],
      ["d", "P1"],
    ] as const) {
      await store.createEpic({ title, priority }, agent());
    }
    const epics = async (query: GroupQuery) => {
      const { items, total } = await store.listEpics(query);
      return [items.map(({ title }) => title).join(""), total];
    };
    expect(await epics({ limit: 10 })).toEqual(["bdac", 4]);
    expect(await epics({ limit: 2, offset: 1 })).toEqual(["da", 4]);
    expect(await epics({ limit: 10, status: "done" })).toEqual(["", 0]);
    const { epic } = await epicWith(3);
    await store.createStory({ title: "elsewhere" }, agent());
    const { items, total } = await store.listStories({ epicId: epic, limit: 2, offset: 1 });
    expect([items.map(({ title }) => title), total]).toEqual([["s1", "s2"], 3]);
  });

  it("is complete only when the sub-tasks of its tasks are done", async () => {
    const { epic, stories } = await epicWith(1);
    const whole = await makeTask(test, "whole", { storyId: stories[0] });
    const part = await makeTask(test, "part", { parentId: whole });
    const below = await makeTask(test, "below", { parentId: part });
    expect(boundaries(await finish(test, whole))).toEqual({});
    await finish(test, part);
    expect([await story(stories[0]), await epicStatus(epic)]).toEqual(["in_progress", "in_progress"]);
    expect(await test.store.countTasks({ epicId: epic }, clock(0))).toMatchObject({ done: 2, todo: 1 });
    expect(boundaries(await finish(test, below))).toEqual({ storyCompleted: stories[0], epicCompleted: epic });
  });

  it("takes sub-tasks along when a task changes its story, and a task that becomes a sub-task", async () => {
    const { store } = test;
    const { stories } = await epicWith(2);
    const [from, to] = stories;
    const storyOf = async (id: string) => (await store.getTask(id, clock(0))).storyId;
    const whole = await makeTask(test, "whole");
    const part = await makeTask(test, "part", { parentId: whole });
    const apart = await makeTask(test, "apart", { parentId: whole, storyId: to });
    await store.updateTask(whole, { storyId: from }, agent());
    expect([await storyOf(part), await storyOf(apart)]).toEqual([from, to]);
    await store.updateTask(whole, { storyId: to }, agent());
    expect(await storyOf(part)).toBe(to);
    expect(await story(from)).toBe("todo");
    // The parent's story, instead of none.
    await store.updateTask(part, { storyId: null }, agent());
    expect(await storyOf(part)).toBe(to);
    const other = await makeTask(test, "other", { storyId: from });
    await store.updateTask(other, { parentId: whole }, agent());
    expect(await storyOf(other)).toBe(to);
    await store.updateTask(whole, { storyId: null }, agent());
    expect([await storyOf(part), await storyOf(other)]).toEqual([undefined, undefined]);
  });
}
