/** IDs: in full, as an alias, as a unique prefix; and the error for unknown ones. */
import { expect, it } from "vitest";
import { agent, clock, faultOf, LEASE_MS, makeTask, type UnderTest } from "./work-under-test.suite.ts";

export function idsSuite(test: UnderTest): void {
  const get = (id: string) => test.store.getTask(id, clock(0));
  /** The shortest prefix (at least three digits) that no other id has. */
  const shortest = (id: string, others: readonly string[]) => {
    for (let length = 4; length < id.length; length++) {
      const start = id.slice(0, length);
      if (!others.some((other) => other !== id && other.startsWith(start))) return start;
    }
    return id;
  };

  /** Tasks with a given id, as an import creates them. */
  const bring = async (...tasks: { id: string; title?: string; aliases?: string[]; at?: number }[]) => {
    const records = tasks.map(({ id, title = id, aliases, at = 0 }) => ({
      kind: "task" as const,
      id,
      ...(aliases && { aliases }),
      title,
      type: "chore",
      status: "todo",
      priority: "P2",
      created_at: clock(at).toISOString(),
      updated_at: clock(at).toISOString(),
    }));
    return test.store.importRecords(records, {}, agent());
  };

  it("gives a letter and four digits while the project is small, to each thing another", async () => {
    const { store } = test;
    const ids = [
      (await store.createEpic({ title: "e" }, agent())).id,
      (await store.createStory({ title: "s" }, agent())).id,
      await makeTask(test, "t"),
    ];
    ids.push((await store.setHandoff({ taskId: ids[2] ?? "", role: "r", status: "PASS", summary: "s" }, agent())).id);
    expect(ids.map((id) => id.replace(/\d/g, "0"))).toEqual([..."ESTH"].map((letter) => `${letter}0000`));
    const tasks = new Set<string>();
    for (let number = 0; number < 100; number++) tasks.add(await makeTask(test, `n${number}`));
    expect(tasks.size).toBe(100);
  });

  it("lets an exact id win over longer ones, old and new ones side by side", async () => {
    await bring({ id: "T4829" }, { id: "T48291" }, { id: "T482913577204" }, { id: "T7000" });
    for (const id of ["T4829", "T48291", "T482913577204"]) expect((await get(id)).id).toBe(id);
    expect((await get("t4829")).id).toBe("T4829");
    expect((await get("T482913")).id).toBe("T482913577204");
    expect((await faultOf(get("T482"))).message).toBe(
      '"T482" is a prefix of more than one task: T4829, T48291, T482913577204',
    );
    expect((await test.store.findId("t48291")).id).toBe("T48291");
  });

  it("takes an id without its letter: a task, or what the operation is about; else as any other id", async () => {
    const { store } = test;
    await bring({ id: "T4829" }, { id: "T48301" }, { id: "T7000", aliases: ["T1207"] });
    expect((await get("4829")).id).toBe("T4829");
    expect((await get(" 483 ")).id).toBe("T48301");
    expect((await get("1207")).id).toBe("T7000");
    expect(await store.findId("4829")).toEqual({ id: "T4829", kind: "task" });
    expect((await store.claim({ taskId: "7000", leaseMs: LEASE_MS }, agent())).kind).toBe("claimed");
    expect(await store.findLonger("4829")).toEqual([]);
    expect(await store.findLonger("48")).toEqual([
      { id: "T4829", kind: "task" },
      { id: "T48301", kind: "task" },
    ]);
    expect((await faultOf(get("48"))).code).toBe("not-found");
    const epic = (await store.createEpic({ title: "e" }, agent())).id;
    expect((await store.getEpic(epic.slice(1))).id).toBe(epic);
    await bring({ id: `T${epic.slice(1)}` });
    expect(await store.findId(epic.slice(1))).toEqual({ id: `T${epic.slice(1)}`, kind: "task" });
    expect((await store.getEpic(epic.slice(1))).id).toBe(epic);
  });

  it("finds a thing by its alias, in every operation, with a small letter too, and says so", async () => {
    const { store } = test;
    await bring({ id: "T4829", aliases: ["T1207", "T482913577204"] }, { id: "T5000" });
    for (const given of ["T1207", "t1207", " T1207 ", "T482913577204"]) {
      expect(await get(given)).toMatchObject({ id: "T4829", aliases: ["T1207", "T482913577204"] });
    }
    expect(await store.findId("t1207")).toEqual({ id: "T4829", kind: "task" });
    expect(await store.findLonger("T1207")).toEqual([]);
    await store.addDependency({ taskId: "T5000", dependsOnId: "T1207", type: "blocks" }, agent());
    expect((await get("T5000")).waitsFor.map(({ id }) => id)).toEqual(["T4829"]);
    await store.setStatus({ taskId: "T1207", status: "done", leaseMs: LEASE_MS }, agent());
    expect((await get("T4829")).status).toBe("done");
    expect((await store.setHandoff({ taskId: "T1207", role: "r", status: "PASS", summary: "s" }, agent())).taskId).toBe(
      "T4829",
    );
    await bring({ id: "T6000", aliases: ["t1"], at: 3 });
    expect((await get("t1")).id).toBe("T6000");
    // An alias must be given in full: it was not made here, so prefixes of it are not guessed.
    expect((await faultOf(get("T120"))).code).toBe("not-found");
    expect((await faultOf(store.getStory("T1207"))).message).toBe("T1207 is a task, not a story");
  });

  it("prefers a thing's own id to an alias of another, and names that other", async () => {
    await bring({ id: "T4829", title: "Mine" }, { id: "T5000", title: "Theirs", aliases: ["T4829"] });
    const mine = await get("T4829");
    expect(mine).toMatchObject({ title: "Mine", aliasOf: [{ id: "T5000", title: "Theirs", status: "todo" }] });
    expect(mine.aliases).toBeUndefined();
    expect(await get("T5000")).toMatchObject({ title: "Theirs", aliases: ["T4829"] });
  });

  it("prefers an alias to a prefix, and asks when two things have the alias", async () => {
    await bring({ id: "T12071" }, { id: "T4829", aliases: ["T1207"] });
    expect((await get("T1207")).id).toBe("T4829");
    await bring({ id: "T5000", aliases: ["T1207"], title: "Other", at: 1 });
    expect((await faultOf(get("T1207"))).message).toBe('"T1207" is an alias of more than one task: T4829, T5000');
    expect((await faultOf(test.store.findId("T1207"))).message).toContain("T4829, T5000");
  });

  it("names the ids that a shortened one may mean, and none for a whole one", async () => {
    const { store } = test;
    await bring({ id: "T4829" }, { id: "T48291" }, { id: "T7000" });
    expect(await store.findLonger("T48")).toEqual([
      { id: "T4829", kind: "task" },
      { id: "T48291", kind: "task" },
    ]);
    expect(await store.findLonger("t7")).toEqual([{ id: "T7000", kind: "task" }]);
    for (const id of ["T4829", "t4829", "T9", "", " "]) expect(await store.findLonger(id)).toEqual([]);
  });

  it("takes any unique prefix, with a small letter, and with spaces around it", async () => {
    const ids: string[] = [];
    for (let number = 0; number < 12; number++) ids.push(await makeTask(test, `n${number}`));
    for (const [number, id] of ids.entries()) {
      const start = shortest(id, ids);
      for (const given of [id, start, start.toLowerCase(), ` ${id} `]) {
        expect((await get(given)).title).toBe(`n${number}`);
      }
    }
  });

  it("names those that an ambiguous prefix fits, and changes nothing", async () => {
    // Imported ids are kept as they are, and these start alike.
    const of = ["task-alpha", "task-alps", "task-albatross"];
    await bring(...of.map((id) => ({ id })));
    const twice = "task-al";
    const fault = await faultOf(test.store.setStatus({ taskId: twice, status: "done", leaseMs: LEASE_MS }, agent()));
    expect(fault.code).toBe("not-found");
    expect(fault.message).toContain(`"${twice}" is a prefix of more than one task`);
    expect(of.filter((id) => fault.message.includes(id)).length).toBe(3);
    expect((await test.store.countTasks({}, clock(0))).todo).toBe(3);
  });

  it("does not take less than a letter and three digits for a prefix: T4 is more likely made up than meant", async () => {
    const only = await makeTask(test, "the only one");
    for (const id of ["T", "", " ", only.slice(0, 2), only.slice(0, 3)])
      expect((await faultOf(get(id))).code).toBe("not-found");
  });

  it("names the nearest of an id that nothing has", async () => {
    const id = await makeTask(test, "t");
    const last = id.endsWith("0") ? "1" : "0";
    const fault = await faultOf(get(id.slice(0, -1) + last));
    expect(fault).toEqual({
      code: "not-found",
      message: `there is no task "${id.slice(0, -1)}${last}"; did you mean ${id}?`,
    });
  });

  it("says what else has the id", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: "e" }, agent());
    expect((await faultOf(get(epic.id))).message).toBe(`${epic.id} is an epic, not a task`);
    const id = await makeTask(test, "t");
    expect((await faultOf(store.getStory(id))).message).toBe(`${id} is a task, not a story`);
  });

  it("is a not-found fault in every operation that takes an id, and nothing has changed", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    const none = "T000";
    const before = await store.listActivity({ limit: 100 });
    const calls = [
      store.getTask(none, clock(0)),
      store.updateTask(none, { title: "x" }, agent()),
      store.updateTask(id, { storyId: "S000" }, agent()),
      store.updateTask(id, { parentId: none }, agent()),
      store.createTask({ title: "x", storyId: "S000" }, agent()),
      store.createTask({ title: "x", parentId: none }, agent()),
      store.createTask({ title: "x", dependsOn: [id, none] }, agent()),
      store.setStatus({ taskId: none, status: "done", leaseMs: LEASE_MS }, agent()),
      store.addDependency({ taskId: id, dependsOnId: none, type: "blocks" }, agent()),
      store.addDependency({ taskId: none, dependsOnId: id, type: "blocks" }, agent()),
      store.removeDependency({ taskId: id, dependsOnId: none }, agent()),
      store.listDependencies(none),
      store.setBlocker({ taskId: none, reason: "r" }, agent()),
      store.resolveBlockers({ taskId: none }, agent()),
      store.listBlockers(none),
      store.recordFailure({ taskId: none, summary: "s" }, agent()),
      store.listFailures(none),
      store.claim({ taskId: none, leaseMs: LEASE_MS }, agent()),
      store.claim({ epicId: "E000", leaseMs: LEASE_MS }, agent()),
      store.heartbeat({ taskId: none, leaseMs: LEASE_MS }, agent()),
      store.release({ taskId: none }, agent()),
      store.updateWip({ taskId: none, merge: () => ({ wip: { phase: "x" }, changes: [] }) }, agent()),
      store.wipHistory({ taskId: none, limit: 1 }),
      store.setHandoff({ taskId: none, role: "r", status: "PASS", summary: "s" }, agent()),
      store.getHandoff({ taskId: none }),
      store.readHandoffDetails({ id: "H000", from: 0, maxChars: 10 }),
      store.listHandoffs({ scope: { taskId: none }, limit: 1 }),
      store.decay({ storyId: "S000" }, agent()),
      store.restore(none, agent()),
      store.getEpic("E000"),
      store.updateEpic("E000", { title: "x" }, agent()),
      store.getStory("S000"),
      store.updateStory("S000", { title: "x" }, agent()),
      store.createStory({ title: "x", epicId: "E000" }, agent()),
      store.listStories({ epicId: "E000", limit: 1 }),
      store.nextTasks({ limit: 1, storyId: "S000", at: clock(0) }),
      store.listTasks({ limit: 1, epicId: "E000", at: clock(0) }),
      store.countTasks({ epicId: "E000" }, clock(0)),
      store.filesInProgress({ storyId: "S000" }, clock(0)),
      store.findId(none),
    ];
    const codes = (await Promise.all(calls.map(faultOf))).map(({ code }) => code);
    expect(codes).toEqual(calls.map(() => "not-found"));
    expect(await store.listActivity({ limit: 100 })).toEqual(before);
    expect((await store.listTasks({ limit: 10, at: clock(0) })).total).toBe(1);
  });

  it("finds what kind of thing has an id, by a prefix too", async () => {
    const { store } = test;
    const epic = (await store.createEpic({ title: "e" }, agent())).id;
    const story = (await store.createStory({ title: "s" }, agent())).id;
    const task = await makeTask(test, "t");
    const handoff = (await store.setHandoff({ taskId: task, role: "r", status: "PASS", summary: "s" }, agent())).id;
    const kinds = { epic, story, task, handoff };
    for (const [kind, id] of Object.entries(kinds)) {
      expect(await store.findId(id)).toEqual({ id, kind });
      expect(await store.findId(id.slice(0, 4).toLowerCase())).toEqual({ id, kind });
    }
  });
}
