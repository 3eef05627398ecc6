/** Claims: the first one wins, and who may take a task over. */
import { expect, it } from "vitest";
import type { Actor, ClaimRequest } from "./work-store.ts";
import {
  agent,
  clock,
  faultOf,
  finish,
  kindsOf,
  LEASE_MS,
  makeTask,
  merging,
  person,
  setTo,
  statusOf,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function claimsSuite(test: UnderTest): void {
  const claim = (request: Partial<ClaimRequest>, by: Actor = agent()) =>
    test.store.claim({ leaseMs: LEASE_MS, ...request }, by);

  it("hands out the next ready one with all its details, and says when nothing is ready", async () => {
    await makeTask(test, "second", { priority: "P3" });
    const first = await makeTask(test, "first", { priority: "P0", description: "d", files: ["a.ts"] });
    const outcome = await claim({}, agent("ben", 1, { sessionId: "s", agentId: "a" }));
    const held = {
      taskId: first,
      agent: "ben",
      sessionId: "s",
      agentId: "a",
      claimedAt: clock(1),
      heartbeatAt: clock(1),
      leaseUntil: clock(61),
    };
    expect(outcome).toMatchObject({
      kind: "claimed",
      claim: held,
      task: { id: first, status: "in_progress", description: "d", files: ["a.ts"], startedAt: clock(1), claim: held },
    });
    expect(outcome).not.toHaveProperty("note");
    expect(await claim({}, agent("ben", 2))).toMatchObject({ kind: "claimed", task: { title: "second" } });
    expect(await claim({}, agent("ben", 2))).toEqual({ kind: "nothing-ready" });
    expect(await kindsOf(test, first)).toEqual(["task-created", "task-claimed"]);
  });

  it("gives one task to one of many who ask at the same time", async () => {
    const id = await makeTask(test, "t");
    const other = await test.reopen();
    const asked = Array.from({ length: 10 }, (_, index) =>
      (index % 2 ? other : test.store).claim({ taskId: id, leaseMs: LEASE_MS }, agent(`agent ${index}`)),
    );
    const outcomes = await Promise.all(asked);
    const claimed = outcomes.filter(({ kind }) => kind === "claimed");
    expect(claimed).toHaveLength(1);
    const winner = (await test.store.getTask(id, clock(0))).claim?.agent;
    for (const outcome of outcomes) {
      if (outcome.kind !== "claimed")
        expect(outcome).toMatchObject({ kind: "held", task: { id }, by: { agent: winner } });
    }
  });

  it("prolongs the claim of its holder, by name or by session and agent id", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await claim({ taskId: id }, agent("ann", 0, { sessionId: "s1", agentId: "a1" }));
    expect(await claim({ taskId: id }, agent("ann", 10))).toMatchObject({
      kind: "claimed",
      claim: { leaseUntil: clock(70) },
    });
    expect(
      await setTo(test, id, "in_progress", agent("renamed", 20, { sessionId: "s1", agentId: "a1" })),
    ).toMatchObject({
      kind: "changed",
      from: "in_progress",
      claim: { agent: "ann", claimedAt: clock(0), heartbeatAt: clock(20), leaseUntil: clock(80) },
    });
    expect(await store.listClaims({ at: clock(20) })).toHaveLength(1);
    expect(await kindsOf(test, id)).toEqual(["task-created", "task-claimed"]);
  });

  it("refuses a claim of another agent and of a person, and says who holds it", async () => {
    const id = await makeTask(test, "t");
    await claim({ taskId: id });
    for (const by of [agent("ben"), agent("ben", 0, { sessionId: "s" }), person()]) {
      const held = {
        kind: "held",
        task: { id, title: "t", status: "in_progress" },
        by: { agent: "ann", leaseUntil: clock(60) },
      };
      expect(await claim({ taskId: id }, by)).toMatchObject(held);
      expect(await setTo(test, id, "in_progress", by)).toMatchObject(held);
    }
    expect((await test.store.getTask(id, clock(0))).claim?.agent).toBe("ann");
  });

  it("passes from a session's main agent to its sub-agent, but not between sub-agents nor back", async () => {
    const main = agent("ann", 0, { sessionId: "s" });
    const sub = (agentId: string) => agent(agentId, 5, { sessionId: "s", agentId });
    const id = await makeTask(test, "t");
    await claim({ taskId: id }, main);
    expect(await claim({ taskId: id }, sub("one"))).toMatchObject({
      kind: "claimed",
      claim: { agent: "one", agentId: "one", claimedAt: clock(5), leaseUntil: clock(65) },
    });
    expect(await claim({ taskId: id }, sub("two"))).toMatchObject({ kind: "held", by: { agent: "one" } });
    expect(await claim({ taskId: id }, main)).toMatchObject({ kind: "held", by: { agent: "one" } });
    // If the coordinator sets the same status, that is no error and the claim stays.
    expect(await setTo(test, id, "in_progress", main)).toMatchObject({ kind: "changed", claim: { agent: "one" } });
    expect((await test.store.getTask(id, clock(5))).claim).toMatchObject({ agent: "one", agentId: "one" });
  });

  it("does not pass to a sub-agent of another session", async () => {
    const id = await makeTask(test, "t");
    await claim({ taskId: id }, agent("ann", 0, { sessionId: "s" }));
    expect((await claim({ taskId: id }, agent("x", 0, { sessionId: "other", agentId: "x" }))).kind).toBe("held");
    const unknown = await makeTask(test, "held by one without a session");
    await claim({ taskId: unknown });
    expect((await claim({ taskId: unknown }, agent("x", 0, { agentId: "x" }))).kind).toBe("held");
  });

  it("can be stolen with a reason, which stays on the task with its WIP", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await claim({ taskId: id });
    await store.updateWip({ taskId: id, merge: merging({ phase: "half" }) }, agent());
    const note = "Taken from ann by ben: it hangs";
    expect(await claim({ taskId: id, stealReason: "it hangs" }, agent("ben", 5))).toMatchObject({
      kind: "claimed",
      note,
      claim: { agent: "ben", claimedAt: clock(5) },
      task: { note, wip: { phase: "half" } },
    });
    expect(await store.heartbeat({ taskId: id, leaseMs: LEASE_MS }, agent("ann", 6))).toMatchObject({
      kind: "lost",
      by: { agent: "ben" },
    });
    const { activity } = await store.listActivity({ limit: 1, kind: "claim-stolen" });
    expect(activity).toMatchObject([{ actor: "ben", subject: id, text: note }]);
  });

  it("cannot steal what is over", async () => {
    const id = await makeTask(test, "t");
    await finish(test, id);
    const outcome = await claim({ taskId: id, stealReason: "r", isForced: true }, agent("ben"));
    expect(outcome).toEqual({
      kind: "cannot-follow",
      task: { id, title: "t", status: "done" },
      allowed: ["todo", "archived"],
    });
  });

  it("refuses a task that waits for others and names them, unless it is forced", async () => {
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b", { dependsOn: [a] });
    const waits = {
      kind: "waits",
      task: { id: b, title: "b", status: "todo" },
      for: [{ id: a, title: "a", status: "todo" }],
    };
    expect(await claim({ taskId: b })).toEqual(waits);
    expect(await setTo(test, b, "in_progress")).toEqual(waits);
    expect(await statusOf(test, b)).toBe("todo");
    expect((await claim({ taskId: b, isForced: true })).kind).toBe("claimed");
  });

  it("passes on a task that was started by force, although it still waits", async () => {
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b", { dependsOn: [a] });
    await claim({ taskId: b, isForced: true }, agent("ann", 0, { sessionId: "s" }));
    expect((await claim({ taskId: b }, agent("sub", 0, { sessionId: "s", agentId: "sub" }))).kind).toBe("claimed");
    expect((await claim({ taskId: b, stealReason: "stuck" }, agent("ben"))).kind).toBe("claimed");
  });

  it("counts the claims of one agent when there is a limit, and only then", async () => {
    const ids: string[] = [];
    for (const title of ["a", "b", "c", "d"]) ids.push(await makeTask(test, title));
    const [a = "", b = "", c = ""] = ids;
    await claim({ taskId: a });
    await claim({ taskId: b });
    expect(await claim({ taskId: c, maxClaims: 2 })).toEqual({ kind: "too-many", limit: 2, holding: [a, b] });
    expect(
      await test.store.setStatus({ taskId: c, status: "in_progress", leaseMs: LEASE_MS, maxClaims: 2 }, agent()),
    ).toMatchObject({
      kind: "too-many",
    });
    expect((await claim({ taskId: a, maxClaims: 2 })).kind).toBe("claimed");
    expect((await claim({ taskId: c, maxClaims: 2 }, agent("ben"))).kind).toBe("claimed");
    expect((await claim({})).kind).toBe("claimed");
    expect((await test.store.listClaims({ agent: "ann", at: clock(0) })).map(({ taskId }) => taskId)).toEqual([
      a,
      b,
      ids[3],
    ]);
  });

  it("claims the next ready one of an epic or a story", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: "e", priority: "P3" }, agent());
    const story = await store.createStory({ title: "s", epicId: epic.id }, agent());
    await makeTask(test, "elsewhere", { priority: "P0" });
    const inside = await makeTask(test, "inside", { storyId: story.id, priority: "P3" });
    expect(await claim({ epicId: epic.id })).toMatchObject({ kind: "claimed", task: { id: inside } });
    expect(await claim({ storyId: story.id })).toEqual({ kind: "nothing-ready" });
    expect(await claim({ epicId: epic.id })).toEqual({ kind: "nothing-ready" });
  });

  it("tells sessions and agents apart by their ids, not by names that are cut from them", async () => {
    const id = await makeTask(test, "t");
    const one = agent("codex-019a8c3e", 0, { sessionId: "019a8c3e-1111" });
    expect((await claim({ taskId: id }, one)).kind).toBe("claimed");
    expect((await claim({ taskId: id }, { ...one, sessionId: "019a8c3e-9999" })).kind).toBe("held");
    const other = await makeTask(test, "of sub-agents");
    const sub = agent("claude-code-1.a0000000", 0, { sessionId: "s", agentId: "a0000000000000001" });
    expect((await claim({ taskId: other }, sub)).kind).toBe("claimed");
    expect((await claim({ taskId: other }, { ...sub, agentId: "a0000000000000002" })).kind).toBe("held");
  });

  it("takes a given name for the agent in whichever session, and two names in one session for two", async () => {
    const id = await makeTask(test, "t");
    const ann = agent("ann", 0, { isNamed: true, sessionId: "s1" });
    await claim({ taskId: id }, ann);
    expect((await claim({ taskId: id }, { ...ann, sessionId: "s2" })).kind).toBe("claimed");
    expect((await claim({ taskId: id }, agent("bob", 0, { isNamed: true, sessionId: "s1" }))).kind).toBe("held");
  });

  it("keeps another agent from changing what is held, and tells one whose claim is over", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await claim({ taskId: id }, agent("ann"));
    const change = { taskId: id, merge: merging({ next_step: "mine" }) };
    for (const call of [
      () => store.updateWip(change, agent("ben")),
      () => store.updateTask(id, { title: "x" }, agent("ben")),
    ]) {
      expect(await faultOf(call())).toMatchObject({
        code: "refused",
        message: expect.stringMatching(/^T\d+ is held by ann until [\d-]+T[\d:]+Z$/),
        hint: "only ann may change it now",
      });
    }
    expect(await store.getTask(id, clock(0))).toMatchObject({ title: "t" });
    expect(await store.getTask(id, clock(0))).not.toHaveProperty("wip");
    await store.updateTask(id, { title: "by a person" }, person());
    await store.updateWip(change, agent("ann"));
    // Handoffs are always accepted.
    await store.setHandoff({ taskId: id, role: "reviewer", status: "FAIL", summary: "s" }, agent("ben"));
  });

  it("says of a claim that expired who holds the task since, and how to get it back", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await claim({ taskId: id }, agent("ann"));
    await claim({ taskId: id }, agent("ben", 90));
    const held = await faultOf(store.updateTask(id, { title: "x" }, agent("ann", 91)));
    expect(`${held.message}; ${held.hint}`).toMatch(
      /^T\d+ is no longer yours: your claim ended, and ben has claimed it since; ben holds it until .*Z: send ben a message, or claim it when it is free$/,
    );
    const free = await faultOf(store.updateWip({ taskId: id, merge: merging({ phase: "x" }) }, agent("ann", 300)));
    expect(free.hint).toBe("nobody holds it now: claim it again, then report");
  });

  it("lists claims, oldest first, all or of one agent", async () => {
    const a = await makeTask(test, "a");
    const b = await makeTask(test, "b");
    await claim({ taskId: b }, agent("ann", 1));
    await claim({ taskId: a }, agent("ben", 2));
    const list = async (query: { agent?: string }) =>
      (await test.store.listClaims({ at: clock(2), ...query })).map(({ taskId }) => taskId);
    expect(await list({})).toEqual([b, a]);
    expect(await list({ agent: "ben" })).toEqual([a]);
    expect(await list({ agent: "nobody" })).toEqual([]);
  });

  it("names the files of tasks in progress, in all or in a scope", async () => {
    const { store } = test;
    const story = await store.createStory({ title: "s" }, agent());
    const a = await makeTask(test, "a", { files: ["b.ts", "a.ts"], storyId: story.id });
    const b = await makeTask(test, "b", { files: ["b.ts", "c.ts"] });
    await makeTask(test, "not started", { files: ["d.ts"] });
    expect(await store.filesInProgress({}, clock(0))).toEqual([]);
    await claim({ taskId: a });
    await claim({ taskId: b });
    expect(await store.filesInProgress({}, clock(0))).toEqual(["a.ts", "b.ts", "c.ts"]);
    expect(await store.filesInProgress({ storyId: story.id }, clock(0))).toEqual(["a.ts", "b.ts"]);
    await setTo(test, b, "done");
    expect(await store.filesInProgress({}, clock(0))).toEqual(["a.ts", "b.ts"]);
    expect(await store.filesInProgress({}, clock(61))).toEqual([]);
  });
}
