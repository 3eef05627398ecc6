/** Tasks that were started and left: how long they are listed, and what removes them from the list. */
import { expect, it } from "vitest";
import {
  agent,
  clock,
  LEASE_MS,
  MINUTE_MS,
  makeTask,
  merging,
  person,
  setTo,
  type UnderTest,
} from "./work-under-test.suite.ts";

const WEEK_MINUTES = 7 * 24 * 60;

export function leftSuite(test: UnderTest): void {
  const place = { client: "claude-code", worktree: "/repo/wt", branch: "auth" };
  const ann = (minutes: number) => agent("ann", minutes, { sessionId: "s1", place });
  const left = (minutes: number) => test.store.listLeft({ limit: 10, at: clock(minutes) });
  const leftIds = async (minutes: number) => (await left(minutes)).map(({ id }) => id);

  async function begun(minutes = 0): Promise<string> {
    const id = await makeTask(test, "t");
    await test.store.claim({ taskId: id, leaseMs: LEASE_MS }, ann(minutes));
    return id;
  }

  it("lists nothing that is held, and what is not with whoever held it, where, and how it ended", async () => {
    const id = await begun();
    await test.store.heartbeat({ taskId: id, leaseMs: LEASE_MS }, ann(5));
    expect(await left(64)).toEqual([]);
    expect(await left(65)).toEqual([
      {
        id,
        title: "t",
        status: "todo",
        agent: "ann",
        sessionId: "s1",
        ...place,
        claimedAt: clock(0),
        lastSeenAt: clock(5),
        endedAs: "expired",
        endedAt: clock(65),
      },
    ]);
  });

  it("knows it after any number of operations and any time, also through another connection", async () => {
    const id = await begun();
    const other = await test.reopen();
    for (let minutes = 61; minutes < 70; minutes++) {
      await test.store.listTasks({ limit: 10, at: clock(minutes) });
      await makeTask(test, `other ${minutes}`, {}, minutes);
      await other.claim({ taskId: await makeTask(test, "x", {}, minutes), leaseMs: MINUTE_MS }, agent("bob", minutes));
    }
    await test.store.updateWip({ taskId: id, merge: merging({ next_step: "go on" }) }, person(80));
    expect((await other.listLeft({ limit: 100, at: clock(WEEK_MINUTES) })).map((task) => task.id)).toContain(id);
  });

  it("lists the newest sign of life first, and no more than asked for", async () => {
    const first = await begun(0);
    const second = await begun(2);
    const third = await begun(1);
    expect(await leftIds(100)).toEqual([second, third, first]);
    expect(await test.store.listLeft({ limit: 2, at: clock(100) })).toHaveLength(2);
  });

  for (const status of ["done", "archived", "blocked", "review"] as const) {
    it(`forgets it when it is set to ${status}, held or not`, async () => {
      for (const minutes of [1, 61]) {
        const id = await begun();
        await setTo(test, id, status, person(minutes));
        expect(await leftIds(200)).toEqual([]);
        if (status === "done" || status === "archived") {
          // A task that is started over was not left.
          await setTo(test, id, "todo", person(201));
          expect(await leftIds(202)).toEqual([]);
        }
      }
    });
  }

  it("forgets it when it is given back on purpose, held or not", async () => {
    for (const minutes of [1, 61]) {
      const id = await begun();
      expect(await test.store.release({ taskId: id }, ann(minutes))).toMatchObject({ kind: "released" });
      expect(await leftIds(200)).toEqual([]);
      expect(await test.store.release({ taskId: id }, ann(minutes))).toMatchObject({ kind: "not-held" });
    }
  });

  it("belongs to whoever took it, by a claim, a theft or a sub-agent", async () => {
    const expired = await begun();
    await test.store.claim({ taskId: expired, leaseMs: LEASE_MS }, agent("bob", 61, { sessionId: "s2" }));
    expect(await leftIds(62)).toEqual([]);
    expect(await left(130)).toMatchObject([{ id: expired, agent: "bob", sessionId: "s2" }]);
    // Ann's work tree says nothing about Bob's.
    expect((await left(130))[0]).not.toHaveProperty("worktree");

    const stolen = await begun(200);
    await test.store.claim({ taskId: stolen, leaseMs: LEASE_MS, stealReason: "r" }, agent("eve", 201));
    const passed = await begun(200);
    const sub = agent("ann.a1", 202, { sessionId: "s1", agentId: "a1" });
    await test.store.claim({ taskId: passed, leaseMs: LEASE_MS }, sub);
    expect(await left(300)).toMatchObject([
      { id: passed, agent: "ann.a1", agentId: "a1", worktree: "/repo/wt" },
      { id: stolen, agent: "eve" },
      { id: expired, agent: "bob" },
    ]);
  });

  it("goes with an export and comes back from it, and an older state does not bring it back", async () => {
    const id = await begun();
    const before: unknown[] = [];
    await left(61);
    for await (const record of test.store.exportRecords()) before.push(record);
    expect(before).toContainEqual(
      expect.objectContaining({
        id,
        last_holder: {
          agent: "ann",
          session_id: "s1",
          ...place,
          claimed_at: clock(0).toISOString(),
          last_seen_at: clock(0).toISOString(),
          ended_as: "expired",
          ended_at: clock(60).toISOString(),
        },
      }),
    );
    await setTo(test, id, "done", person(62));
    const records = before as Parameters<typeof test.store.importRecords>[0];
    await test.store.importRecords(records, {}, person(63));
    expect(await leftIds(64)).toEqual([]);
    expect((await test.store.getTask(id, clock(64))).status).toBe("done");
  });
}
