/** Leases: when a claim expires, how a heartbeat prolongs it, and how a task returns to the queue. */
import { describe, expect, it } from "vitest";
import type { Actor, WorkStore } from "./work-store.ts";
import {
  agent,
  clock,
  faultOf,
  kindsOf,
  LEASE_MS,
  MINUTE_MS,
  makeTask,
  merging,
  person,
  ready,
  setTo,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function leasesSuite(test: UnderTest): void {
  const NOTE = "The claim of ann expired at 2031-05-06T08:08Z; go on from its WIP.";

  it("takes whatever the holder stores for a sign of life, for as long again as the claim was given", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await store.claim({ taskId: id, leaseMs: 4 * MINUTE_MS }, agent("ann", 0));
    await store.updateWip({ taskId: id, merge: merging({ phase: "a" }) }, agent("ann", 3));
    await store.setHandoff({ taskId: id, role: "r", status: "PASS", summary: "s" }, agent("ann", 6));
    expect(await store.getTask(id, clock(9))).toMatchObject({ claim: { leaseUntil: clock(10) } });
    await store.setHandoff({ taskId: id, role: "other", status: "PASS", summary: "s" }, agent("ben", 9));
    expect((await store.getTask(id, clock(10))).status).toBe("todo");
  });

  describe("a holder who has lost the task to somebody else", () => {
    const report = { role: "r", status: "PASS", summary: "s" } as const;
    const reports: [name: string, call: (store: WorkStore, id: string, by: Actor) => Promise<unknown>][] = [
      ["a handoff", (store, taskId, by) => store.setHandoff({ taskId, ...report }, by)],
      ["WIP", (store, taskId, by) => store.updateWip({ taskId, merge: merging({ phase: "late" }) }, by)],
      ["a failure", (store, taskId, by) => store.recordFailure({ taskId, summary: "late" }, by)],
    ];
    const ann = (minutes: number) => agent("ann", minutes, { sessionId: "s1" });
    const ben = (minutes: number) => agent("ben", minutes, { sessionId: "s2" });
    const lose = async () => {
      const id = await makeTask(test, "t");
      await test.store.claim({ taskId: id, leaseMs: LEASE_MS }, ann(0));
      await test.store.claim({ taskId: id, leaseMs: LEASE_MS }, ben(61));
      return id;
    };

    for (const [name, call] of reports) {
      it(`is refused ${name}, while the other works on it and after`, async () => {
        const { store } = test;
        const id = await lose();
        expect(await faultOf(call(store, id, ann(62)))).toMatchObject({ code: "refused" });
        expect(await faultOf(call(store, id, agent("ann.sub", 62, { sessionId: "s1", agentId: "a1" })))).toMatchObject({
          code: "refused",
        });
        await call(store, id, ben(63));
        await setTo(test, id, "done", ben(64));
        expect(await faultOf(call(store, id, ann(65)))).toMatchObject({
          code: "refused",
          message: expect.stringContaining("ben has claimed it since"),
        });
        await call(store, id, person(66));
      });
    }

    it("can neither finish, reopen, release nor prolong it", async () => {
      const { store } = test;
      const id = await lose();
      expect(await setTo(test, id, "done", ann(62))).toMatchObject({ kind: "held" });
      expect(await store.release({ taskId: id }, ann(62))).toMatchObject({ kind: "held" });
      expect(await store.heartbeat({ taskId: id, leaseMs: LEASE_MS }, ann(62))).toMatchObject({ kind: "lost" });
      await setTo(test, id, "done", ben(63));
      expect(await faultOf(setTo(test, id, "todo", ann(64)))).toMatchObject({ code: "refused" });
      expect(await faultOf(store.release({ taskId: id }, ann(64)))).toMatchObject({ code: "refused" });
    });

    it("may report again once it has claimed the task again", async () => {
      const { store } = test;
      const id = await lose();
      await store.release({ taskId: id }, ben(62));
      expect(await faultOf(store.setHandoff({ taskId: id, ...report }, ann(63)))).toMatchObject({ code: "refused" });
      await store.claim({ taskId: id, leaseMs: LEASE_MS }, ann(64));
      expect(await store.setHandoff({ taskId: id, ...report }, ann(65))).toMatchObject({ status: "PASS" });
    });

    it("is also one from whom it was taken by force", async () => {
      const { store } = test;
      const id = await makeTask(test, "t");
      await store.claim({ taskId: id, leaseMs: LEASE_MS }, ann(0));
      await store.claim({ taskId: id, leaseMs: LEASE_MS, stealReason: "stuck" }, ben(1));
      expect(await faultOf(store.setHandoff({ taskId: id, ...report }, ann(2)))).toMatchObject({ code: "refused" });
    });

    it("is not one whose lease ended without anybody taking the task, nor one who put it down, nor a reviewer", async () => {
      const { store } = test;
      const id = await makeTask(test, "t");
      await store.claim({ taskId: id, leaseMs: LEASE_MS }, ann(0));
      await store.setHandoff({ taskId: id, ...report }, ann(61));
      await store.claim({ taskId: id, leaseMs: LEASE_MS }, ann(62));
      await setTo(test, id, "review", ann(63));
      await store.setHandoff({ taskId: id, ...report, role: "reviewer" }, ben(64));
      await store.claim({ taskId: id, leaseMs: LEASE_MS }, ben(65));
      await store.setHandoff({ taskId: id, ...report, summary: "more" }, ann(66));
    });
  });

  it("gives an expired task back to the queue with its WIP and a note", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await setTo(test, id, "in_progress");
    await store.updateWip({ taskId: id, merge: merging({ phase: "half", next_step: "test it" }) }, agent());
    expect(await store.getTask(id, new Date(clock(60).getTime() - 1))).toMatchObject({ status: "in_progress" });
    const back = await store.getTask(id, clock(60));
    expect(back).toMatchObject({
      status: "todo",
      note: NOTE,
      wip: { phase: "half" },
      startedAt: clock(0),
      updatedAt: clock(60),
    });
    expect(back).not.toHaveProperty("claim");
    const next = await store.claim({ leaseMs: LEASE_MS }, agent("ben", 61));
    expect(next).toMatchObject({ kind: "claimed", note: NOTE, task: { id, wip: { next_step: "test it" } } });
    const { activity } = await store.listActivity({ limit: 1, kind: "claim-expired" });
    expect(activity).toMatchObject([{ at: clock(60), actor: "haversack", subject: id, text: NOTE }]);
  });

  const firsts: [name: string, call: (store: WorkStore) => Promise<unknown>][] = [
    ["reading the next ones", (store) => store.nextTasks({ limit: 1, at: clock(60) })],
    ["a list", (store) => store.listTasks({ limit: 1, at: clock(60) })],
    ["a count", (store) => store.countTasks({}, clock(60))],
    ["a list of claims", (store) => store.listClaims({ at: clock(60) })],
    ["a new task", (store) => store.createTask({ title: "other" }, agent("ben", 60))],
    ["a claim without an id", (store) => store.claim({ leaseMs: LEASE_MS }, agent("ben", 60))],
    ["a heartbeat", (store) => store.heartbeat({ leaseMs: LEASE_MS }, agent("ann", 60))],
  ];
  for (const [name, call] of firsts) {
    it(`returns it first thing in ${name}`, async () => {
      const id = await makeTask(test, "t");
      await setTo(test, id, "in_progress");
      await call(test.store);
      expect(await kindsOf(test, id)).toEqual(expect.arrayContaining(["claim-expired"]));
    });
  }

  it("answers with what is true after the return", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await setTo(test, id, "in_progress");
    expect(await ready(test, {}, 59)).toEqual([]);
    expect(await ready(test, {}, 60)).toEqual(["t"]);
    expect(await store.heartbeat({ taskId: id, leaseMs: LEASE_MS }, agent("ann", 61))).toEqual({
      kind: "lost",
      task: { id, title: "t", status: "todo" },
    });
    expect(await store.heartbeat({ leaseMs: LEASE_MS }, agent("ann", 61))).toEqual({ kind: "none" });
    // The task was left. Releasing it removes it from the list of left tasks.
    expect(await store.release({ taskId: id }, agent("ann", 61))).toMatchObject({
      kind: "released",
      task: { status: "todo" },
    });
    expect(await setTo(test, id, "in_progress", agent("ann", 61))).toMatchObject({
      kind: "changed",
      from: "todo",
      note: "The claim of ann expired at 2031-05-06T08:08Z.",
    });
  });

  it("puts the story back too", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: "e" }, agent());
    const story = await store.createStory({ title: "s", epicId: epic.id }, agent());
    const id = await makeTask(test, "t", { storyId: story.id });
    await setTo(test, id, "in_progress");
    expect([(await store.getStory(story.id)).status, (await store.getEpic(epic.id)).status]).toEqual([
      "in_progress",
      "in_progress",
    ]);
    await store.nextTasks({ limit: 1, at: clock(60) });
    expect([(await store.getStory(story.id)).status, (await store.getEpic(epic.id)).status]).toEqual(["todo", "todo"]);
  });

  it("is prolonged by a heartbeat, one claim or all of the agent's", async () => {
    const { store } = test;
    const ids = [await makeTask(test, "a"), await makeTask(test, "b"), await makeTask(test, "c")];
    const [a = "", b = "", c = ""] = ids;
    const ann = (minutes: number) => agent("ann", minutes, { sessionId: "s" });
    await setTo(test, a, "in_progress", ann(0));
    await setTo(test, b, "in_progress", ann(1));
    await setTo(test, c, "in_progress", agent("ben"));
    expect(await store.heartbeat({ taskId: a, leaseMs: LEASE_MS }, ann(30))).toMatchObject({
      kind: "prolonged",
      claims: [{ taskId: a, claimedAt: clock(0), heartbeatAt: clock(30), leaseUntil: clock(90) }],
    });
    const all = await store.heartbeat({ leaseMs: LEASE_MS }, ann(40));
    expect(all).toMatchObject({ kind: "prolonged", claims: [{ taskId: a }, { taskId: b }] });
    expect((await store.listClaims({ at: clock(70) })).map(({ taskId, leaseUntil }) => [taskId, leaseUntil])).toEqual([
      [a, clock(100)],
      [b, clock(100)],
    ]);
    // By session alone, as from a hook that knows no name.
    expect(await store.heartbeat({ leaseMs: LEASE_MS }, agent("hook", 80, { sessionId: "s" }))).toMatchObject({
      claims: [{ taskId: a, agent: "ann" }, { taskId: b }],
    });
    expect(await store.heartbeat({ leaseMs: LEASE_MS }, agent("hook", 80, { sessionId: "s", agentId: "sub" }))).toEqual(
      { kind: "none" },
    );
  });

  it("is never shortened", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await store.setStatus({ taskId: id, status: "in_progress", leaseMs: 600 * MINUTE_MS }, agent());
    await store.heartbeat({ taskId: id, leaseMs: MINUTE_MS }, agent("ann", 1));
    await store.claim({ taskId: id, leaseMs: MINUTE_MS }, agent("ann", 2));
    expect((await store.getTask(id, clock(599))).claim).toMatchObject({
      leaseUntil: clock(600),
      heartbeatAt: clock(2),
    });
  });

  it("must be a whole number of milliseconds of at least 1", async () => {
    const id = await makeTask(test, "t");
    for (const leaseMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      for (const call of [
        () => test.store.claim({ taskId: id, leaseMs }, agent()),
        () => test.store.setStatus({ taskId: id, status: "in_progress", leaseMs }, agent()),
        () => test.store.heartbeat({ taskId: id, leaseMs }, agent()),
      ]) {
        const fault = await faultOf(call());
        expect(fault.code).toBe("input-invalid");
        expect(fault.message).toContain("lease");
      }
    }
    expect(await kindsOf(test, id)).toEqual(["task-created"]);
  });

  it("is given back by its holder, its session or a person, with the reason", async () => {
    const { store } = test;
    const ann = agent("ann", 0, { sessionId: "s" });
    for (const by of [ann, agent("coordinator", 1, { sessionId: "s", agentId: "x" }), person(1)]) {
      const id = await makeTask(test, "t");
      await setTo(test, id, "in_progress", ann);
      await store.updateWip({ taskId: id, merge: merging({ phase: "half" }) }, ann);
      const { name } = by;
      expect(await store.release({ taskId: id, reason: "too big" }, by)).toEqual({
        kind: "released",
        task: { id, title: "t", status: "todo" },
      });
      const note = `Released by ${name}: too big; go on from its WIP.`;
      expect(await store.getTask(id, clock(1))).toMatchObject({ status: "todo", note, wip: { phase: "half" } });
      expect(await kindsOf(test, id)).toEqual(["task-created", "task-claimed", "claim-released"]);
    }
  });

  it("says nothing of WIP where there is none", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await setTo(test, id, "in_progress");
    await store.release({ taskId: id }, agent());
    expect((await store.getTask(id, clock(1))).note).toBe("Released by ann.");
  });

  it("is not given back by another agent, nor when nobody holds it", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    expect(await store.release({ taskId: id }, agent())).toEqual({
      kind: "not-held",
      task: { id, title: "t", status: "todo" },
    });
    await setTo(test, id, "in_progress");
    expect(await store.release({ taskId: id }, agent("ben"))).toMatchObject({ kind: "held", by: { agent: "ann" } });
    expect((await store.getTask(id, clock(0))).claim?.agent).toBe("ann");
  });
}
