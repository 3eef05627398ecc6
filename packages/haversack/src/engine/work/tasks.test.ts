import { describe, expect, it } from "vitest";
import {
  createEpic,
  createStory,
  getEpic,
  getStory,
  listEpics,
  listStories,
  updateEpic,
  updateStory,
} from "./groups.ts";
import { memoryWork } from "./memory-work.suite.ts";
import { createTask, getTask, listTasks, updateTask } from "./tasks.ts";

describe("createTask", () => {
  it("needs a title alone", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "Add login" }, work);
    expect(id).toMatch(/^T\d{4,12}$/);
    expect((await getTask({ taskId: id }, work)).view).toEqual({
      id,
      title: "Add login",
      status: "todo",
      task_type: "feature",
      priority: "P2",
    });
  });

  it("takes all fields, cleaned, with what it waits for", async () => {
    const work = memoryWork();
    const epic = await createEpic({ title: "Auth", priority: "P1" }, work);
    const story = await createStory({ title: "Log in", epicId: epic.id }, work);
    const first = await createTask({ title: "Schema" }, work);
    const { id } = await createTask(
      {
        title: "Form",
        storyId: story.id.slice(0, -1),
        type: "bug",
        priority: "P0",
        description: "key ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
        files: ["./src/form.ts"],
        steps: ["write"],
        skill: "forms",
        traceabilityRef: "plan.md#Task 2",
        dependsOn: [first.id],
      },
      work,
    );
    expect((await getTask({ taskId: id, fields: "full" }, work)).view).toMatchObject({
      task_type: "bug",
      priority: "P0",
      description: "key [masked:github-token]",
      files: ["src/form.ts"],
      steps: [{ text: "write" }],
      story_id: story.id,
      epic_id: epic.id,
      traceability_ref: "plan.md#Task 2",
      waits_for: [{ id: first.id, title: "Schema", status: "todo" }],
    });
  });

  it.each([
    [{ title: "a\nb" }, "title must be one line"],
    [{ title: "" }, "title must not be empty"],
    [{ title: "x", type: "epic" }, 'task_type must be one of feature, bug, chore, spike, test, api, but is "epic"'],
    [{ title: "x", priority: "P9" }, "priority must be one of P0, P1, P2, P3"],
    [{ title: "x", storyId: "S000000000000" }, 'there is no story "S000000000000"'],
    [{ title: "x", dependsOn: ["T000000000000"] }, 'there is no task "T000000000000"'],
    [{ title: "x", description: "y".repeat(100_001) }, "description has 100001 characters; at most 100000"],
    [{ title: "x", estimateHours: -1 }, "estimate_hours must be a number from 0 to 100000, but is -1"],
    [{ title: "x", estimateHours: 1e9 }, "estimate_hours must be a number from 0 to 100000, but is 1000000000"],
  ])("%j is a fault that names the field, and nothing is stored", async (input, text) => {
    const work = memoryWork();
    await expect(async () => createTask(input, work)).rejects.toThrow(text);
    expect((await listTasks({}, work)).total).toBe(0);
  });
});

describe("updateTask", () => {
  it("changes what is given, clears what is null or empty, keeps the rest", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A", description: "d", skill: "s", traceabilityRef: "p.md#1" }, work);
    await updateTask({ taskId: id, title: "B", description: "", skill: undefined, traceabilityRef: null }, work);
    const { view } = await getTask({ taskId: id, fields: "full" }, work);
    expect(view).toMatchObject({ title: "B", skill: "s" });
    expect(view).not.toHaveProperty("description");
    expect(view).not.toHaveProperty("traceability_ref");
    await expect(async () => updateTask({ taskId: id, title: "" }, work)).rejects.toThrow("title must not be empty");
    await expect(async () => updateTask({ taskId: id, title: null }, work)).rejects.toThrow("title must be a text");
  });
});

describe("lists", () => {
  it("are minimal, limited, and say what was left out and where it begins", async () => {
    const work = memoryWork();
    for (let number = 1; number <= 7; number++)
      await createTask({ title: `Task ${number}`, description: "long" }, work);
    const first = await listTasks({ limit: 3 }, work);
    expect(first).toMatchObject({ total: 7, leftOut: 4, nextOffset: 3 });
    for (const view of first.views) expect(Object.keys(view)).toEqual(["id", "title", "status"]);
    const rest = await listTasks({ limit: 10, offset: 3 }, work);
    expect(rest).toMatchObject({ total: 7, leftOut: 0 });
    expect(rest).not.toHaveProperty("nextOffset");
    expect(new Set([...first.items, ...rest.items].map(({ id }) => id)).size).toBe(7);
    const few = await listTasks({ maxTokens: 100 }, work);
    expect(few.views.length).toBeLessThan(5);
    expect(few.leftOut).toBe(7 - few.views.length);
    expect(few.nextOffset).toBe(few.views.length);
  });

  it.each([
    [{ limit: -1 }, "limit must be a whole number of at least 1, but is -1"],
    [{ limit: 0 }, "limit must be"],
    [{ limit: 1.5 }, "limit must be"],
    [{ offset: -1 }, "offset must be a whole number of at least 0, but is -1"],
    [{ maxTokens: 0 }, "max_tokens must be"],
    [{ fields: "all" }, "fields must be one of minimal, standard, full"],
    [{ status: "doing" }, "status must be one of todo, in_progress"],
    [{ epicId: "E1" }, 'there is no epic "E1"'],
  ])("%j is refused", async (input, text) => {
    await expect(listTasks(input, memoryWork())).rejects.toThrow(text);
  });

  it("of epics and stories, with their tasks counted", async () => {
    const work = memoryWork();
    const epic = await createEpic({ title: "Auth" }, work);
    const story = await createStory({ title: "Log in", epicId: epic.id }, work);
    await createTask({ title: "x", storyId: story.id }, work);
    expect((await listEpics({}, work)).views).toEqual([{ id: epic.id, title: "Auth", status: "todo" }]);
    expect((await listStories({ epicId: epic.id }, work)).views).toHaveLength(1);
    expect((await getEpic({ epicId: epic.id }, work)).view).toMatchObject({
      priority: "P2",
      tasks: { todo: 1, ready: 1 },
    });
    expect((await getStory({ storyId: story.id }, work)).view).toMatchObject({ epic_id: epic.id, tasks: { todo: 1 } });
    await updateEpic({ epicId: epic.id, priority: "P0", description: "d" }, work);
    await updateStory({ storyId: story.id, title: "Sign in", epicId: null }, work);
    expect((await getStory({ storyId: story.id }, work)).view).not.toHaveProperty("epic_id");
    await expect(async () => updateEpic({ epicId: epic.id, status: "done" }, work)).rejects.toThrow(
      'status must be one of archived, todo, but is "done"',
    );
  });
});
