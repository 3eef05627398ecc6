import { describe, expect, it } from "vitest";
import { memoryWork } from "./memory-work.suite.ts";
import { nextBatch, nextReady, readyCount } from "./next-batch.ts";
import { setStatus, updateWip } from "./set-status.ts";
import { createTask, listTasks } from "./tasks.ts";
import type { WorkParts } from "./work-parts.ts";

async function create(work: WorkParts, ...tasks: { title: string; files?: string[] }[]): Promise<string[]> {
  const ids: string[] = [];
  for (const task of tasks) ids.push((await createTask(task, work)).id);
  return ids;
}

const titles = (count: number) => Array.from({ length: count }, (_, at) => ({ title: `Task ${at}` }));
const finish = async (work: WorkParts, ids: readonly string[], status = "done") => {
  for (const taskId of ids) await setStatus({ taskId, status }, work);
};

describe("nextBatch", () => {
  it("picks tasks that share no file, from the most important down", async () => {
    const work = memoryWork();
    const [a, , c] = await create(
      work,
      { title: "A", files: ["src/a.ts"] },
      { title: "B", files: ["src/a.ts", "src/b.ts"] },
      { title: "C", files: ["src/c.ts"] },
    );
    const { tasks, views, heldBack, ready } = await nextBatch({ limit: 3 }, work);
    expect(tasks.map(({ id }) => id)).toEqual([a, c]);
    expect(views[0]).toEqual({ id: a, title: "A", status: "todo" });
    expect(heldBack.map(({ title }) => title)).toEqual(["B"]);
    expect(ready).toBe(3);
  });

  it("keeps out of the files of running tasks, and says what is in the way when nothing else is ready", async () => {
    const work = memoryWork();
    const [running, same] = await create(
      work,
      { title: "Running", files: ["src/"] },
      { title: "Same", files: ["src/a.ts"] },
    );
    await setStatus({ taskId: running ?? "", status: "in_progress" }, work);
    expect(await nextBatch({ limit: 2 }, work)).toMatchObject({
      tasks: [],
      ready: 1,
      inTheWay: `${same} is ready, but touches src/a.ts, as does ${running} (in progress)`,
    });
    const [apart] = await create(work, { title: "Apart", files: ["docs/a.md"] });
    expect((await nextBatch({ limit: 2 }, work)).tasks.map(({ id }) => id)).toEqual([apart]);
  });

  it("adapts its size to the session: 2, then one more after each success, one less after a failure", async () => {
    const work = memoryWork({ sessionId: "s1" });
    await create(work, ...titles(30));
    const take = async () => (await nextBatch({}, work)).tasks.map(({ id }) => id);
    const first = await take();
    expect(first).toHaveLength(2);
    // Asked again, as after a lost answer.
    expect(await take()).toEqual(first);
    await finish(work, first);
    const second = await take();
    expect(second).toHaveLength(3);
    await finish(work, second);
    const third = await take();
    expect(third).toHaveLength(4);
    await finish(work, third.slice(1));
    await setStatus({ taskId: third[0] ?? "", status: "in_progress" }, work);
    expect(await take()).toHaveLength(3);
    expect((await nextBatch({}, work.as({ sessionId: "s2" }))).tasks).toHaveLength(2);
  });

  it("adapts its size to the agent's name where there is no session", async () => {
    const work = memoryWork({ name: "june" });
    await create(work, ...titles(30));
    const take = async (by: WorkParts = work) => (await nextBatch({}, by)).tasks.map(({ id }) => id);
    const first = await take();
    await finish(work, first);
    const second = await take();
    expect([first.length, second.length]).toEqual([2, 3]);
    await finish(work, second.slice(1));
    await setStatus({ taskId: second[0] ?? "", status: "in_progress" }, work);
    expect(await take()).toHaveLength(2);
    expect(await take(work.as({ name: "codex-4711" }))).toHaveLength(2);
    expect(await take(work.as({ sessionId: "june" }))).toHaveLength(2);
  });

  it("obeys a size that is given; of two, the smaller", async () => {
    const work = memoryWork({ sessionId: "s1" });
    await create(work, ...titles(9));
    expect((await nextBatch({ batchSize: 6 }, work)).tasks).toHaveLength(6);
    expect((await nextBatch({ limit: 1, batchSize: 6 }, work)).tasks).toHaveLength(1);
    expect(await work.store.lastBatch("s1")).toBeUndefined();
    for (const input of [{ limit: 0 }, { batchSize: -2 }, { limit: 1.5 }]) {
      await expect(nextBatch(input, work)).rejects.toThrow(/^(limit|batch_size) must be a whole number of at least 1/);
    }
  });

  it("looks past many tasks of one file for those that touch others", async () => {
    const work = memoryWork();
    await create(work, ...titles(120).map((task) => ({ ...task, files: ["src/a.ts"] })));
    const [apart] = await create(work, { title: "Apart", files: ["src/b.ts"] });
    const { tasks, ready } = await nextBatch({ limit: 2 }, work);
    expect(tasks.map(({ id }) => id)).toContain(apart);
    expect(ready).toBe(121);
  });

  it("says how many are ready when there is room for none", async () => {
    const work = memoryWork();
    await create(work, ...titles(3));
    const { tasks, ready, cut, inTheWay } = await nextBatch({ limit: 2, maxTokens: 5 }, work);
    expect({ tasks, ready, inTheWay }).toEqual({ tasks: [], ready: 3, inTheWay: undefined });
    expect((await nextBatch({ limit: 2, maxTokens: cut?.firstTokens }, work)).tasks).toHaveLength(1);
    expect((await nextReady({ limit: 2, maxTokens: 5 }, work)).cut).toBeDefined();
  });

  it("has WIP and claim in full, as every list", async () => {
    const work = memoryWork();
    const [a = ""] = await create(work, { title: "A" });
    await updateWip({ taskId: a, wip: { phase: "testing" } }, work);
    expect((await nextBatch({ fields: "full" }, work)).views[0]).toMatchObject({ wip: { phase: "testing" } });
    await setStatus({ taskId: a, status: "in_progress" }, work);
    expect((await listTasks({ fields: "full" }, work)).views[0]).toMatchObject({
      wip: { phase: "testing" },
      claim: { agent: "ann" },
    });
    expect((await listTasks({ fields: "standard" }, work)).views[0]).not.toHaveProperty("wip");
  });

  it("gives nothing when nothing is ready, and remembers no empty batch", async () => {
    const work = memoryWork({ sessionId: "s1" });
    expect(await nextBatch({}, work)).toMatchObject({ tasks: [], ready: 0 });
    expect(await work.store.lastBatch("s1")).toBeUndefined();
  });
});

it("readyCount says where counting stopped", () => {
  expect([readyCount(0), readyCount(999), readyCount(1000)]).toEqual([0, 999, "1000+"]);
});

describe("nextReady", () => {
  it("is the queue in its order, whatever files overlap, with the batch in which each would run", async () => {
    const work = memoryWork();
    const ids = await create(work, { title: "A", files: ["a"] }, { title: "B", files: ["a"] }, { title: "C" });
    const { tasks, leftOut } = await nextReady({ limit: 3 }, work);
    expect(tasks.map(({ id, batchGroup }) => [id, batchGroup])).toEqual([
      [ids[0], 1],
      [ids[1], 2],
      [ids[2], 1],
    ]);
    expect(leftOut).toBe(0);
    expect(await nextReady({ limit: 1 }, work)).toMatchObject({ leftOut: 2, ready: 3 });
  });
});
