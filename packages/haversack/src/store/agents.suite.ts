/** What every driver must do for agents: names, messages between them, and the skill versions they work with. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  agent,
  clock,
  faultOf,
  kindsOf,
  LEASE_MS,
  makeTask,
  type OpenedWorkStore,
  person,
  type UnderTest,
} from "./work-under-test.suite.ts";

export function agentStoreSuite(driver: string, open: () => Promise<OpenedWorkStore>): void {
  describe(`agents and messages on ${driver}`, () => {
    let opened: OpenedWorkStore;
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());
    agentsSuite({
      get store() {
        return opened.store;
      },
      reopen: () => opened.reopen(),
    });
  });
}

function agentsSuite(test: UnderTest): void {
  const add = (name: string, more: { branch?: string; role?: string; client?: string; worktree?: string } = {}) =>
    test.store.addAgent({ name, role: "implementer", ...more }, person());

  it("gives an agent back as it was added, absent fields absent", async () => {
    await add("backend", { branch: "auth", role: "spec-reviewer", client: "claude-code", worktree: "/w/auth" });
    expect(await add("june")).toEqual({ name: "june", role: "implementer", createdAt: clock(0) });
    expect(await (await test.reopen()).getAgent({ name: "backend" })).toEqual({
      name: "backend",
      branch: "auth",
      role: "spec-reviewer",
      client: "claude-code",
      worktree: "/w/auth",
      createdAt: clock(0),
    });
    expect(await kindsOf(test, "june")).toEqual(["agent-added"]);
  });

  it("takes a name with or without its @, and refuses what is none", async () => {
    await add("@backend-2.x_y");
    expect((await test.store.getAgent({ name: "@backend-2.x_y" })).name).toBe("backend-2.x_y");
    for (const name of ["", "@", "-x", "a b", "a@b", "ünder", "x".repeat(65), "a\nb", "../x"]) {
      expect(await faultOf(add(name))).toMatchObject({
        code: "input-invalid",
        message: expect.stringContaining("name must be"),
      });
    }
    for (const role of ["", " ", "a\nb"]) {
      expect(await faultOf(add("a", { role }))).toMatchObject({
        code: "input-invalid",
        message: expect.stringContaining("role must"),
      });
    }
    expect((await test.store.listAgents()).map(({ name }) => name)).toEqual(["backend-2.x_y"]);
  });

  it("replaces by a second add what is given, and keeps the rest", async () => {
    await add("june", { client: "codex", worktree: "/w" });
    await test.store.seeAgent({ name: "june", sessionId: "s1" }, clock(1));
    const again = await test.store.addAgent({ name: "june", role: "orchestrator" }, person(5));
    expect(again).toEqual({
      name: "june",
      role: "orchestrator",
      client: "codex",
      worktree: "/w",
      sessionId: "s1",
      createdAt: clock(0),
      lastSeenAt: clock(1),
    });
    expect(await test.store.listAgents()).toHaveLength(1);
  });

  it("has one agent per name and branch, and finds the one that is meant", async () => {
    await add("backend", { branch: "auth", role: "fixer" });
    const roleOf = async (branch?: string) =>
      (await test.store.getAgent({ name: "backend", ...(branch !== undefined && { branch }) })).role;
    // The only agent of that name is found on every branch.
    expect([await roleOf(), await roleOf("pay")]).toEqual(["fixer", "fixer"]);

    await add("backend", { branch: "pay", role: "implementer" });
    expect([await roleOf("auth"), await roleOf("pay")]).toEqual(["fixer", "implementer"]);
    for (const branch of [undefined, "main"]) {
      expect(await faultOf(roleOf(branch))).toMatchObject({
        code: "not-found",
        message: "@backend works on several branches: auth, pay",
      });
    }

    await add("backend", { role: "orchestrator" });
    expect([await roleOf(), await roleOf("main"), await roleOf("pay")]).toEqual([
      "orchestrator",
      "orchestrator",
      "implementer",
    ]);
    expect((await test.store.listAgents()).map(({ branch }) => branch)).toEqual([undefined, "auth", "pay"]);
  });

  it("says who is nearest to a name that nobody has", async () => {
    expect(await faultOf(test.store.getAgent({ name: "backend" }))).toMatchObject({
      code: "not-found",
      message: 'there is no agent "backend"',
    });
    await add("backend");
    const unknown = { code: "not-found", message: 'there is no agent "bakcend"; did you mean @backend?' };
    expect(await faultOf(test.store.getAgent({ name: "@bakcend" }))).toEqual(unknown);
    expect(await faultOf(test.store.inbox({ agent: "bakcend", limit: 5 }))).toEqual(unknown);
    expect(await faultOf(test.store.markRead({ name: "bakcend" }, clock(0)))).toEqual(unknown);
  });

  it("knows the session in which an agent was seen last, whichever is reported last", async () => {
    await add("june", { role: "orchestrator" });
    await test.store.seeAgent({ name: "june", sessionId: "s1", client: "claude-code", worktree: "/a" }, clock(1));
    await test.store.seeAgent({ name: "june", sessionId: "s2" }, clock(3));
    // A late event of the first session.
    await test.store.seeAgent({ name: "june", sessionId: "s1" }, clock(2));
    expect(await test.store.getAgent({ name: "june" })).toMatchObject({
      role: "orchestrator",
      sessionId: "s2",
      client: "claude-code",
      worktree: "/a",
      lastSeenAt: clock(3),
    });
    await test.store.seeAgent({ name: "june", sessionId: "s1" }, clock(4));
    expect(await test.store.getAgent({ name: "june" })).toMatchObject({ sessionId: "s1" });
  });

  it("adds an agent that nobody added when it is seen", async () => {
    expect(await test.store.seeAgent({ name: "new", sessionId: "s1", branch: "auth" }, clock(0))).toEqual({
      name: "new",
      sessionId: "s1",
      createdAt: clock(0),
      lastSeenAt: clock(0),
    });
    expect(await test.store.seeAgent({ name: "other", role: "fixer" }, clock(0))).toMatchObject({ role: "fixer" });
    expect(await faultOf(test.store.seeAgent({ name: "no name" }, clock(0)))).toMatchObject({ code: "input-invalid" });
  });

  it("has a role that nobody gave only while it holds a task", async () => {
    await test.store.seeAgent({ name: "june", sessionId: "s1" }, clock(0));
    await add("ann", { role: "fixer" });
    const roles = async () => (await test.store.listAgents()).map(({ name, role }) => [name, role]);
    expect(await roles()).toEqual([
      ["ann", "fixer"],
      ["june", undefined],
    ]);
    const { id } = await test.store.createTask({ title: "Limit logins" }, person(0));
    for (const name of ["june", "ann"]) {
      const by = { ...agent(name), at: clock(1) };
      const claimed = await test.store.claim({ taskId: id, leaseMs: 60_000, stealReason: "x" }, by);
      expect(claimed.kind).toBe("claimed");
      // The holder is the implementer, unless it was given another role.
      expect(await roles()).toEqual([
        ["ann", "fixer"],
        ["june", name === "june" ? "implementer" : undefined],
      ]);
    }
  });

  it("sees the agent of the branch where there is one", async () => {
    await add("backend");
    await add("backend", { branch: "auth" });
    await test.store.seeAgent({ name: "backend", branch: "auth", sessionId: "s1" }, clock(1));
    await test.store.seeAgent({ name: "backend", branch: "main", sessionId: "s2" }, clock(1));
    expect((await test.store.listAgents()).map(({ sessionId }) => sessionId)).toEqual(["s2", "s1"]);
  });

  const send = (to: string[], text: string, more: { mentions?: string[]; from?: string; branch?: string } = {}) => {
    const { from = "june", ...rest } = more;
    return test.store.sendMessage({ to, text, ...rest }, agent(from));
  };
  const texts = async (name: string, more: { includeRead?: boolean; limit?: number; branch?: string } = {}) =>
    (await test.store.inbox({ agent: name, limit: 50, ...more })).items.map(({ text }) => text);

  it("brings one message to several, each with a read mark of its own", async () => {
    await add("ann");
    await add("bob");
    const sent = await send(["@ann", "bob", "ann"], "please look");
    expect(sent).toEqual({ id: expect.stringMatching(/^M\d{4,12}$/), to: ["ann", "bob"] });
    const message = { id: sent.id, from: "june", text: "please look", at: clock(0), isMention: true };
    expect(await test.store.inbox({ agent: "ann", limit: 9 })).toEqual({ items: [message], total: 1 });

    expect(await test.store.markRead({ name: "ann", ids: [sent.id, "M1"] }, clock(7))).toBe(1);
    expect(await test.store.markRead({ name: "ann" }, clock(8))).toBe(0);
    expect(await test.store.inbox({ agent: "ann", limit: 9 })).toEqual({ items: [], total: 0 });
    expect(await test.store.inbox({ agent: "ann", limit: 9, includeRead: true })).toEqual({
      items: [{ ...message, readAt: clock(7) }],
      total: 1,
    });
    expect(await texts("@bob")).toEqual(["please look"]);
  });

  it("sends to nobody when one of them is unknown, and says who is nearest", async () => {
    await add("ann");
    await add("bob");
    expect(await faultOf(send(["ann", "bobb"], "x"))).toEqual({
      code: "not-found",
      message: 'there is no agent "bobb"; did you mean @bob?',
    });
    expect(await faultOf(send([], "x", { mentions: ["nobody"] }))).toMatchObject({
      code: "input-invalid",
      message: expect.stringContaining("to must name"),
    });
    expect(await faultOf(send(["ann"], " \n"))).toMatchObject({ code: "input-invalid" });
    expect(await texts("ann")).toEqual([]);
  });

  it("brings it to those that the text names, as far as they exist, and not to the sender", async () => {
    for (const name of ["ann", "bob", "june"]) await add(name);
    const sent = await send(["ann"], "x", { mentions: ["media", "Bob", "june", "ann"] });
    expect(sent.to).toEqual(["ann", "bob"]);
    expect((await send([], "y", { mentions: ["bob"] })).to).toEqual(["bob"]);
    expect(await texts("june")).toEqual([]);
    // An agent can send itself a reminder that outlasts its window: by name.
    expect((await send(["june"], "remember")).to).toEqual(["june"]);
  });

  it("means by a name the agent on the sender's branch, and by a mention all that can be meant", async () => {
    await add("backend", { branch: "auth" });
    await add("backend", { branch: "pay" });
    expect((await send(["backend"], "one", { branch: "pay" })).to).toEqual(["backend"]);
    expect(await faultOf(send(["backend"], "which", { branch: "main" }))).toMatchObject({ code: "not-found" });
    await send([], "two", { mentions: ["backend"], branch: "auth" });
    expect((await send([], "both", { mentions: ["backend"] })).to).toEqual(["backend"]);
    expect(await texts("backend", { branch: "auth" })).toEqual(["two", "both"]);
    expect(await texts("backend", { branch: "pay" })).toEqual(["one", "both"]);
  });

  it("lists unread ones oldest first and all of them newest first, with their number", async () => {
    await add("ann");
    const ids: string[] = [];
    for (const text of ["one", "two", "three"]) ids.push((await send(["ann"], text)).id);
    expect(await texts("ann")).toEqual(["one", "two", "three"]);
    await test.store.markRead({ name: "ann", ids: [ids[1] as string] }, clock(1));
    expect(await texts("ann")).toEqual(["one", "three"]);
    expect(await texts("ann", { includeRead: true })).toEqual(["three", "two", "one"]);
    expect(await test.store.inbox({ agent: "ann", limit: 1 })).toMatchObject({ items: [{ text: "one" }], total: 2 });
    expect(await faultOf(test.store.inbox({ agent: "ann", limit: 0 }))).toMatchObject({ code: "input-invalid" });
    expect(await test.store.markRead({ name: "ann" }, clock(2))).toBe(2);
  });

  it("keeps what a message came with, and its text whatever it holds", async () => {
    await add("ann");
    const text = 'é✓\n"\u2028 @ann';
    await test.store.sendMessage({ to: ["ann"], text, subject: "T1" }, agent("june", 3));
    const { items } = await (await test.reopen()).inbox({ agent: "ann", limit: 1 });
    expect(items[0]).toMatchObject({ text, subject: "T1", at: clock(3) });
  });

  const use = (skill: string, hash: string, more: { agent?: string; taskId?: string } = {}, minutes = 0) =>
    test.store.recordSkill({ agent: "ann", skill, hash, because: "named by the task", ...more }, clock(minutes));

  it("keeps which version of a skill a task is worked on with, and does not repeat itself", async () => {
    const taskId = await makeTask(test, "T");
    await use("tdd", "v1", { taskId });
    await use("tdd", "v1", { taskId }, 1);
    await use("debugging", "d1", { taskId: taskId.slice(0, -1) }, 2);
    await use("tdd", "v2", { taskId }, 3);
    const history = await test.store.skillHistory({ taskId, limit: 10 });
    expect(history.map(({ skill, hash, at }) => [skill, hash, at])).toEqual([
      ["tdd", "v2", clock(3)],
      ["debugging", "d1", clock(2)],
      ["tdd", "v1", clock(0)],
    ]);
    expect(history[0]).toEqual({
      agent: "ann",
      taskId,
      skill: "tdd",
      hash: "v2",
      because: "named by the task",
      at: clock(3),
    });
    // Going back to the older version counts as a change.
    await use("tdd", "v1", { taskId }, 4);
    expect(await test.store.skillHistory({ taskId, limit: 1 })).toMatchObject([{ hash: "v1", at: clock(4) }]);
  });

  it("has a history of skills per agent, with and without a task", async () => {
    const taskId = await makeTask(test, "T");
    await use("tdd", "v1", { taskId });
    await use("tdd", "v1", { taskId, agent: "bob" }, 1);
    await use("tdd", "v1", {}, 2);
    await use("tdd", "v1", {}, 3);
    const of = async (name: string) =>
      (await test.store.skillHistory({ agent: name, limit: 10 })).map(({ at, taskId: about }) => [at, about]);
    expect(await of("ann")).toEqual([
      [clock(2), undefined],
      [clock(0), taskId],
    ]);
    expect(await of("bob")).toEqual([[clock(1), taskId]]);
    expect(await of("eve")).toEqual([]);
    expect(await faultOf(use("tdd", "v1", { taskId: "T000000000001" }))).toMatchObject({ code: "not-found" });
  });

  it("is the same agent that holds a task under that name", async () => {
    await add("ann");
    const taskId = await makeTask(test, "T");
    await test.store.claim({ taskId, leaseMs: LEASE_MS }, agent("ann", 1, { sessionId: "s1" }));
    expect(await test.store.listClaims({ agent: "ann", at: clock(2) })).toMatchObject([{ taskId, sessionId: "s1" }]);
  });
}
