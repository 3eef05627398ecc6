/** WIP: merged under the lock of the store, with a history of what was replaced. */
import { expect, it } from "vitest";
import type { WipPatch } from "../work/wip/wip.ts";
import { agent, clock, faultOf, finish, makeTask, merging, type UnderTest } from "./work-under-test.suite.ts";

export function wipSuite(test: UnderTest): void {
  const update = (taskId: string, patch: WipPatch, by = agent()) =>
    test.store.updateWip({ taskId, merge: (current) => merging(patch)(current) }, by);

  it("merges what comes into what is there, and keeps unknown fields", async () => {
    const id = await makeTask(test, "t");
    expect(await test.store.getTask(id, clock(0))).not.toHaveProperty("wip");
    expect(await update(id, { phase: "one", files_modified: ["a.ts"], mine: { deep: [1] } })).toMatchObject({
      changed: true,
    });
    const { wip } = await update(
      id,
      { phase: "two", files_modified: ["b.ts"], mine: { more: "é🎒" } },
      agent("ben", 7),
    );
    expect(wip).toMatchObject({ phase: "two", files_modified: ["a.ts", "b.ts"], mine: { deep: [1], more: "é🎒" } });
    const other = await test.reopen();
    expect(await other.getTask(id, clock(7))).toMatchObject({ wip, wipUpdatedAt: clock(7) });
  });

  it("says when nothing changed, and writes nothing then", async () => {
    const id = await makeTask(test, "t");
    await update(id, { phase: "one" }, agent("ann", 1));
    expect(await update(id, { phase: "one" }, agent("ben", 9))).toMatchObject({
      changed: false,
      wip: { phase: "one" },
    });
    expect((await test.store.getTask(id, clock(9))).wipUpdatedAt).toEqual(clock(1));
    const empty = await makeTask(test, "u");
    expect(await update(empty, {})).toEqual({ changed: false, wip: {} });
    expect((await test.store.listTasks({ hasWip: true, limit: 5, at: clock(9) })).total).toBe(1);
  });

  it("tells WIP that somebody's work left from WIP that was only written", async () => {
    const { store } = test;
    const listed = async () => {
      const { items } = await store.listTasks({ hasWip: true, hasHolder: true, limit: 5, at: clock(1) });
      return items.map(({ id }) => id);
    };
    const written = await makeTask(test, "written");
    const begun = await makeTask(test, "begun");
    await store.claim({ taskId: begun, leaseMs: 60_000 }, agent());
    for (const id of [written, begun]) await update(id, { phase: "one" });
    expect(await listed()).toEqual([begun]);
    await store.release({ taskId: begun }, agent());
    expect(await listed()).toEqual([]);
  });

  it("keeps all that was replaced or removed, newest first", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await update(id, { phase: "one", context: { a: 1 } as never });
    await update(id, { phase: "two" }, agent("ben", 1));
    await update(id, { phase: null, context: { a: 2 } as never }, agent("cy", 2));
    expect(await store.wipHistory({ taskId: id, limit: 10 })).toEqual([
      { at: clock(2), actor: "cy", path: "context.a", before: 1, after: 2 },
      { at: clock(2), actor: "cy", path: "phase", before: "two", after: null },
      { at: clock(1), actor: "ben", path: "phase", before: "one", after: "two" },
    ]);
    expect(await store.wipHistory({ taskId: id, limit: 1 })).toHaveLength(1);
    for (const limit of [0, -1]) {
      expect((await faultOf(store.wipHistory({ taskId: id, limit }))).message).toContain("limit");
    }
  });

  it("loses nothing when two connections merge at once", async () => {
    const id = await makeTask(test, "t");
    const other = await test.reopen();
    const files = Array.from({ length: 20 }, (_, index) => `f${String(index).padStart(2, "0")}.ts`);
    await Promise.all(
      files.map((file, index) =>
        (index % 2 ? other : test.store).updateWip({ taskId: id, merge: merging({ files_modified: [file] }) }, agent()),
      ),
    );
    const { wip } = await test.store.getTask(id, clock(0));
    expect([...(wip?.files_modified ?? [])].sort()).toEqual(files);
  });

  it("changes nothing when the merge throws", async () => {
    const id = await makeTask(test, "t");
    await update(id, { phase: "one" });
    const refusal = test.store.updateWip(
      {
        taskId: id,
        merge: () => {
          throw new Error("no");
        },
      },
      agent(),
    );
    await expect(refusal).rejects.toThrow("no");
    expect((await test.store.getTask(id, clock(0))).wip).toMatchObject({ phase: "one" });
    await update(id, { phase: "two" });
  });

  it("stays when the task is done and reopened", async () => {
    const id = await makeTask(test, "t");
    await update(id, { phase: "one" });
    await finish(test, id);
    expect((await test.store.getTask(id, clock(0))).wip).toMatchObject({ phase: "one" });
  });
}
