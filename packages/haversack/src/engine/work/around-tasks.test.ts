/** Dependencies, lists by story and epic, the board, the history: each counts what it leaves out and says how to get it. */
import { describe, expect, it } from "vitest";
import { countTokens } from "../../tokens/count.ts";
import { listActivity } from "./activity.ts";
import { addDependency, listDependencies } from "./dependencies.ts";
import { createEpic, createStory, listEpics, updateEpic, updateStory } from "./groups.ts";
import { memoryWork } from "./memory-work.suite.ts";
import { projectStatus } from "./session-context.ts";
import { setBlocker, setStatus } from "./set-status.ts";
import { createTask, getTask, kanbanBoard, listTasks, updateTask } from "./tasks.ts";
import { explainShortId, type WorkParts } from "./work-parts.ts";

async function create(count: number, work: WorkParts, dependsOn: string[] = []): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    ids.push((await createTask({ title: `Task ${number}`, dependsOn }, work)).id);
  }
  return ids;
}

describe("dependencies", () => {
  it("are given up to a limit and a ceiling, and counted beyond", async () => {
    const work = memoryWork();
    const [hub = ""] = await create(1, work);
    const waiting = await create(60, work, [hub]);
    const few = await listDependencies({ taskId: hub }, work);
    expect(few.view.needed_by).toHaveLength(50);
    expect(few.leftOut).toEqual({ needed_by: 10 });
    expect((await listDependencies({ taskId: hub, limit: 100 }, work)).leftOut).toEqual({});
    const { view, leftOut } = await listDependencies({ taskId: hub, maxTokens: 200 }, work);
    const answer = { ...view, left_out: leftOut, more: "a larger limit or max_tokens" };
    expect(await countTokens(JSON.stringify(answer))).toBeLessThanOrEqual(200);
    expect((view.needed_by?.length ?? 0) + (leftOut.needed_by ?? 0)).toBe(60);
    await expect(listDependencies({ taskId: hub, limit: 0 }, work)).rejects.toThrow("limit must be");
    // A single task's own view has the first ten, and says so.
    expect((await getTask({ taskId: hub, fields: "full" }, work)).view).toMatchObject({
      waited_for_by: expect.objectContaining({ length: 10 }),
      left_out: { waited_for_by: 50 },
      more: "get_task_dependencies",
    });
    expect((await getTask({ taskId: hub }, work)).view).not.toHaveProperty("left_out");
    expect((await getTask({ taskId: waiting[0] ?? "", fields: "full" }, work)).view).not.toHaveProperty("left_out");
  });

  it("that become weaker are told", async () => {
    const work = memoryWork();
    const [a = "", b = ""] = await create(2, work);
    await addDependency({ taskId: a, dependsOnId: b, type: "requires" }, work);
    expect(await addDependency({ taskId: a, dependsOnId: b, type: "relates_to" }, work)).toMatchObject({
      kind: "added",
      note: `${a} no longer waits for ${b}: it was requires, and relates_to does not block`,
    });
    expect(await addDependency({ taskId: a, dependsOnId: b, type: "blocks" }, work)).not.toHaveProperty("note");
  });
});

describe("a dependency of or on a task that is over", () => {
  it("says that nothing waits because of it", async () => {
    const work = memoryWork();
    const [a = "", b = "", c = ""] = await create(3, work);
    await setStatus({ taskId: a, status: "done" }, work);
    expect(await addDependency({ taskId: a, dependsOnId: b }, work)).toMatchObject({
      note: `${a} is done: it waits for ${b} only after it is reopened`,
    });
    expect(await addDependency({ taskId: c, dependsOnId: a }, work)).toMatchObject({
      note: `${a} is done already: ${c} does not wait`,
    });
    expect(await addDependency({ taskId: c, dependsOnId: b }, work)).not.toHaveProperty("note");
  });
});

describe("lists", () => {
  it("mark tasks that wait, and give the reasons of those that are blocked", async () => {
    const work = memoryWork();
    const [a = "", b = ""] = await create(2, work);
    await addDependency({ taskId: b, dependsOnId: a }, work);
    expect((await listTasks({}, work)).views).toEqual([
      { id: a, title: "Task 0", status: "todo" },
      { id: b, title: "Task 1", status: "todo", waiting: true },
    ]);
    await setBlocker({ taskId: a, reason: "no access" }, work);
    const { views } = await listTasks({ status: "blocked", fields: "standard" }, work);
    expect(views).toMatchObject([{ id: a, blockers: ["no access"] }]);
  });

  it("of tasks by the status of story and epic, with their totals", async () => {
    const work = memoryWork();
    const [done, open] = [await createEpic({ title: "D" }, work), await createEpic({ title: "O" }, work)];
    for (const { id: epicId } of [done, open]) {
      const story = await createStory({ title: "S", epicId }, work);
      const task = await createTask({ title: `of ${epicId}`, storyId: story.id }, work);
      if (epicId === done.id) await setStatus({ taskId: task.id, status: "done" }, work);
    }
    await create(3, work);
    const titles = async (input: object) => (await listTasks(input, work)).items.map(({ title }) => title);
    expect(await titles({ storyStatus: "done" })).toEqual([`of ${done.id}`]);
    expect(await titles({ epicStatus: "todo" })).toEqual([`of ${open.id}`]);
    expect(await titles({ epicStatus: "todo", storyStatus: "done" })).toEqual([]);
    expect(await listTasks({ epicStatus: "todo", limit: 1, offset: 1 }, work)).toMatchObject({ total: 1, items: [] });
    await expect(listTasks({ storyStatus: "open" }, work)).rejects.toThrow("story_status must be one of todo,");
  });

  it("of epics by priority", async () => {
    const work = memoryWork();
    for (const priority of ["P0", "P2", "P0"]) await createEpic({ title: priority, priority }, work);
    expect(await listEpics({ priority: "P0", limit: 1 }, work)).toMatchObject({ total: 2, leftOut: 1 });
    await expect(listEpics({ priority: "P9" }, work)).rejects.toThrow("priority must be one of");
  });
});

describe("the board", () => {
  it("has the first of each column, and counts the rest", async () => {
    const work = memoryWork();
    const ids = await create(25, work);
    await setStatus({ taskId: ids[0] ?? "", status: "in_progress" }, work);
    const { columns, leftOut } = await kanbanBoard({}, work);
    expect(Object.keys(columns)).toEqual(["todo", "in_progress", "review", "blocked"]);
    expect(columns.todo).toHaveLength(20);
    expect(leftOut).toEqual({ todo: 4 });
    await expect(kanbanBoard({ limitPerColumn: 0 }, work)).rejects.toThrow("limit_per_column must be");
    const small = await kanbanBoard({ maxTokens: 150, includeDone: true }, work);
    const answer = { ...small.columns, left_out: small.leftOut, more: "get_tasks with status and offset" };
    expect(await countTokens(JSON.stringify(answer))).toBeLessThanOrEqual(150);
    // Tasks in progress come first.
    expect(small.columns.in_progress).toHaveLength(1);
    expect((small.columns.todo?.length ?? 0) + (small.leftOut.todo ?? 0)).toBe(24);
  });
});

describe("history", () => {
  it("is cut to a ceiling, and goes on where that was", async () => {
    const work = memoryWork();
    const [id = ""] = await create(1, work);
    for (let number = 0; number < 12; number++) await setBlocker({ taskId: id, reason: `reason ${number}` }, work);
    const all = (await listActivity({ subject: id, limit: 100 }, work)).activity.map((one) => one.id);
    const first = await listActivity({ subject: id, limit: 100, maxTokens: 150 }, work);
    expect(await countTokens(JSON.stringify({ activity: first.views, more: "before: 1" }))).toBeLessThanOrEqual(150);
    expect(first.activity.length).toBeGreaterThan(0);
    const rest = await listActivity({ subject: id, limit: 100, beforeId: first.nextBeforeId }, work);
    expect([...first.activity, ...rest.activity].map((one) => one.id)).toEqual(all);
  });
});

it("changing nothing is refused, of a task, a story and an epic alike", async () => {
  const work = memoryWork();
  const [id = ""] = await create(1, work);
  const story = await createStory({ title: "S" }, work);
  const epic = await createEpic({ title: "E" }, work);
  await expect(updateTask({ taskId: id }, work)).rejects.toThrow("give at least one field to change");
  await expect(updateStory({ storyId: story.id }, work)).rejects.toThrow("give at least one field to change");
  await expect(updateEpic({ epicId: epic.id }, work)).rejects.toThrow("give at least one field to change");
});

it("a status says that nothing is ready", async () => {
  expect((await projectStatus({}, memoryWork())).view).toEqual({ tasks: { ready: 0 } });
});

it("a shortened id brings those that it is a prefix of; a whole one, and one of nothing, bring none", async () => {
  const work = memoryWork();
  const { id } = await createTask({ title: "A" }, work);
  const story = await createStory({ title: "S" }, work);
  const short = id.slice(0, 4);
  expect(await explainShortId(short, work)).toBe(`there is no task "${short}"; did you mean ${id}? Give IDs in full.`);
  expect(await explainShortId(story.id.slice(0, 3).toLowerCase(), work)).toContain(`did you mean ${story.id}?`);
  for (const given of [id, id.toLowerCase(), ` ${id} `, "E4", "", `${id}1`]) {
    expect(await explainShortId(given, work)).toBeUndefined();
  }
});
