/** Task status: allowed transitions, their side effects, and blockers. */
import { expect, it } from "vitest";
import { TASK_STATUSES, type TaskStatus } from "../work/task.ts";
import {
  agent,
  clock,
  finish,
  kindsOf,
  LEASE_MS,
  makeTask,
  person,
  setTo,
  statusOf,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function statusSuite(test: UnderTest): void {
  /** Repeated here, so a change of the rule fails this test. */
  const follows: Record<TaskStatus, TaskStatus[]> = {
    todo: ["in_progress", "review", "done", "blocked", "archived"],
    in_progress: ["review", "done", "todo", "blocked", "archived"],
    review: ["done", "in_progress", "todo", "blocked", "archived"],
    blocked: ["todo", "in_progress", "archived"],
    done: ["todo", "archived"],
    archived: ["todo"],
  };
  for (const from of TASK_STATUSES) {
    it(`lets nothing follow ${from} but what may`, async () => {
      for (const to of TASK_STATUSES) {
        const id = await makeTask(test, `${from} to ${to}`);
        if (from !== "todo") await setTo(test, id, from);
        const task = { id, title: `${from} to ${to}` };
        const outcome = await setTo(test, id, to);
        if (from === to || follows[from].includes(to)) {
          expect(outcome).toMatchObject({ kind: "changed", from, task: { ...task, status: to }, boundaries: {} });
          expect(await statusOf(test, id)).toBe(to);
        } else {
          expect(outcome).toEqual({ kind: "cannot-follow", task: { ...task, status: from }, allowed: follows[from] });
          expect(await statusOf(test, id)).toBe(from);
        }
      }
    });
  }

  it("does nothing when it is that status already", async () => {
    const id = await makeTask(test, "t");
    await setTo(test, id, "review", agent("ann", 1));
    const before = await test.store.getTask(id, clock(1));
    expect(await setTo(test, id, "review", agent("ben", 2))).toMatchObject({ kind: "changed", from: "review" });
    expect(await test.store.getTask(id, clock(2))).toEqual(before);
    expect(await kindsOf(test, id)).toEqual(["task-created", "task-status"]);
  });

  it("keeps when it was started and completed, and says who reopened it", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await setTo(test, id, "in_progress", agent("ann", 1));
    await setTo(test, id, "done", agent("ann", 2));
    expect(await store.getTask(id, clock(2))).toMatchObject({
      startedAt: clock(1),
      completedAt: clock(2),
      updatedAt: clock(2),
    });
    await store.setStatus({ taskId: id, status: "todo", notes: "it broke", leaseMs: LEASE_MS }, agent("ben", 3));
    const reopened = await store.getTask(id, clock(3));
    expect(reopened).toMatchObject({ status: "todo", note: "Reopened by ben: it broke", startedAt: clock(1) });
    expect(reopened).not.toHaveProperty("completedAt");
    expect(await setTo(test, id, "in_progress", agent("cy", 4))).toMatchObject({ note: "Reopened by ben: it broke" });
    await setTo(test, id, "done", agent("cy", 5));
    expect(await store.getTask(id, clock(5))).not.toHaveProperty("note");
  });

  it("keeps when it was completed on the way to the archive", async () => {
    const id = await makeTask(test, "t");
    await finish(test, id, agent("ann", 1));
    await setTo(test, id, "archived", agent("ann", 9));
    expect((await test.store.getTask(id, clock(9))).completedAt).toEqual(clock(1));
  });

  it("writes who changed what, and why, into the activity", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await store.setStatus({ taskId: id, status: "in_progress", notes: "mine", leaseMs: LEASE_MS }, agent("ben", 1));
    await store.setStatus({ taskId: id, status: "review", notes: "please look", leaseMs: LEASE_MS }, agent("ben", 2));
    const { activity } = await store.listActivity({ limit: 10, subject: id });
    expect(activity.map(({ at, actor, kind, text }) => [at, actor, kind, text])).toEqual([
      [clock(2), "ben", "task-status", "in_progress → review: please look"],
      [clock(1), "ben", "task-note", "mine"],
      [clock(1), "ben", "task-claimed", "claimed by ben"],
      [clock(0), "ann", "task-created", "created: t"],
    ]);
  });

  it("ends the claim with every status but in_progress", async () => {
    for (const status of ["todo", "review", "done", "blocked", "archived"] as const) {
      const id = await makeTask(test, status);
      expect(await setTo(test, id, "in_progress")).toMatchObject({ claim: { agent: "ann", taskId: id } });
      await setTo(test, id, status);
      expect(await test.store.getTask(id, clock(0))).not.toHaveProperty("claim");
    }
    expect(await test.store.listClaims({ at: clock(0) })).toEqual([]);
  });

  it("lets nobody but its holder, its session or a person change a task that is held", async () => {
    const inSession = { sessionId: "s1" };
    for (const [by, isAllowed] of [
      [agent("ben"), false],
      [agent("ben", 0, { sessionId: "s2" }), false],
      [agent("ann"), true],
      [agent("ben", 0, inSession), true],
      [agent("ben", 0, { ...inSession, agentId: "sub" }), true],
      [person(), true],
    ] as const) {
      const id = await makeTask(test, "t");
      await setTo(test, id, "in_progress", agent("ann", 0, inSession));
      const outcome = await setTo(test, id, "done", by);
      expect(outcome.kind).toBe(isAllowed ? "changed" : "held");
      if (outcome.kind === "held") expect(outcome.by).toMatchObject({ agent: "ann", taskId: id, sessionId: "s1" });
      expect(await statusOf(test, id)).toBe(isAllowed ? "done" : "in_progress");
    }
  });

  it("blocks with a reason, keeps every reason once, and resolves them all", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    expect(await store.setBlocker({ taskId: id, reason: "no key" }, agent("ann", 1))).toMatchObject({
      kind: "changed",
      from: "todo",
    });
    await store.setBlocker({ taskId: id, reason: "no key" }, agent("ben", 2));
    await store.setStatus({ taskId: id, status: "blocked", notes: "no server", leaseMs: LEASE_MS }, agent("ben", 3));
    expect((await store.getTask(id, clock(3))).blockers).toMatchObject([
      { reason: "no key", actor: "ann", at: clock(1), taskId: id },
      { reason: "no server", actor: "ben", at: clock(3), taskId: id },
    ]);
    expect(await store.claim({ taskId: id, leaseMs: LEASE_MS, isForced: true }, agent("cy", 4))).toEqual({
      kind: "blocked",
      task: { id, title: "t", status: "blocked" },
      reasons: ["no key", "no server"],
    });
    expect(await store.resolveBlockers({ taskId: id, notes: "found it" }, agent("cy", 5))).toMatchObject({
      kind: "changed",
      from: "blocked",
      task: { status: "todo" },
    });
    expect((await store.getTask(id, clock(5))).blockers).toEqual([]);
    expect(
      (await store.listBlockers(id)).map(({ reason, resolvedAt, resolvedBy }) => [reason, resolvedAt, resolvedBy]),
    ).toEqual([
      ["no key", clock(5), "cy"],
      ["no server", clock(5), "cy"],
    ]);
    // The same reason later is a new blocker.
    await store.setBlocker({ taskId: id, reason: "no key" }, agent("ann", 6));
    expect(await store.listBlockers(id)).toHaveLength(3);
  });

  it("cannot block what is over, nor what another agent holds", async () => {
    const { store } = test;
    const done = await makeTask(test, "done");
    await setTo(test, done, "done");
    expect((await store.setBlocker({ taskId: done, reason: "r" }, agent())).kind).toBe("cannot-follow");
    const held = await makeTask(test, "held");
    await setTo(test, held, "in_progress");
    expect((await store.setBlocker({ taskId: held, reason: "r" }, agent("ben"))).kind).toBe("held");
    expect([...(await store.listBlockers(done)), ...(await store.listBlockers(held))]).toEqual([]);
  });

  it("has nothing to resolve on a task that is not blocked, and leaves it as it is", async () => {
    const id = await makeTask(test, "t");
    await setTo(test, id, "in_progress");
    expect(await test.store.resolveBlockers({ taskId: id }, agent("ben"))).toMatchObject({
      kind: "changed",
      from: "in_progress",
    });
    expect(await test.store.getTask(id, clock(0))).toMatchObject({ status: "in_progress", claim: { agent: "ann" } });
  });

  it("resolves a task's blockers when it is archived", async () => {
    const id = await makeTask(test, "t");
    await test.store.setBlocker({ taskId: id, reason: "r" }, agent());
    await setTo(test, id, "archived");
    await setTo(test, id, "todo");
    expect((await test.store.getTask(id, clock(0))).blockers).toEqual([]);
    expect((await setTo(test, id, "in_progress")).kind).toBe("changed");
  });
}
