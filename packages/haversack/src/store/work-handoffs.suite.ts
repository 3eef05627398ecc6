/** Handoffs: per task, role and attempt; stored in full, short in lists, details in pages. */
import { expect, it } from "vitest";
import type { NewHandoff } from "./work-store.ts";
import { agent, clock, faultOf, kindsOf, makeTask, type UnderTest } from "./work-under-test.suite.ts";

export function handoffsSuite(test: UnderTest): void {
  const set = (taskId: string, more: Partial<NewHandoff> = {}, by = agent()) =>
    test.store.setHandoff({ taskId, role: "implementer", status: "PASS", summary: "done", ...more }, by);

  it("keeps every field and gives it back, here and elsewhere", async () => {
    const id = await makeTask(test, "t");
    const stored = await set(
      id,
      { summary: "é🎒", filesChanged: ["b.ts", "a.ts"], details: "whole\ntext" },
      agent("ben", 3),
    );
    expect(stored).toEqual({
      id: stored.id,
      taskId: id,
      role: "implementer",
      attempt: 1,
      status: "PASS",
      summary: "é🎒",
      filesChanged: ["b.ts", "a.ts"],
      detailsChars: 10,
      actor: "ben",
      createdAt: clock(3),
      state: "whole",
    });
    const other = await test.reopen();
    expect(await other.getHandoff({ taskId: id })).toEqual(stored);
    expect(await set(await makeTask(test, "u"))).toMatchObject({ filesChanged: [], detailsChars: 0 });
    expect(await kindsOf(test, id)).toEqual(["task-created", "handoff-stored"]);
  });

  it("counts attempts per role", async () => {
    const id = await makeTask(test, "t");
    expect((await set(id, { status: "FAIL" })).attempt).toBe(1);
    expect((await set(id, { role: "reviewer" })).attempt).toBe(1);
    expect((await set(id)).attempt).toBe(2);
    expect((await set(id, { attempt: 7, summary: "seventh" })).attempt).toBe(7);
    expect((await set(id, { summary: "next" })).attempt).toBe(8);
  });

  it("is the same handoff when it is sent again, with or without its attempt", async () => {
    const id = await makeTask(test, "t");
    const first = await set(id, { details: "d", filesChanged: ["a"] }, agent("ann", 1));
    expect(await set(id, { details: "d", filesChanged: ["a"] }, agent("ann", 1.5))).toEqual(first);
    expect(await set(id, { details: "d", filesChanged: ["a"], attempt: 1 }, agent("ann", 3))).toEqual(first);
    expect((await test.store.listHandoffs({ scope: { taskId: id }, limit: 9 })).total).toBe(1);
    expect((await set(id, { details: "other", filesChanged: ["a"] }, agent("ann", 4))).attempt).toBe(2);
  });

  it("is another attempt when the same words come later, or from another", async () => {
    const id = await makeTask(test, "t");
    await set(id, { status: "FAIL" }, agent("ann", 1));
    expect((await set(id, { status: "FAIL" }, agent("ann", 10))).attempt).toBe(2);
    expect((await set(id, { status: "FAIL" }, agent("ben", 10))).attempt).toBe(3);
  });

  it("finds the latest of a verdict", async () => {
    const id = await makeTask(test, "t");
    const failed = await set(id, { role: "spec-reviewer", status: "FAIL" }, agent("ann", 1));
    await set(id, { role: "quality-reviewer", status: "PASS" }, agent("ben", 2));
    expect(await test.store.getHandoff({ taskId: id, status: "FAIL" })).toEqual(failed);
    expect(await test.store.getHandoff({ taskId: id, status: "BLOCKED" })).toBeUndefined();
  });

  it("refuses another text for an attempt that is stored", async () => {
    const id = await makeTask(test, "t");
    const first = await set(id);
    for (const more of [{ summary: "x" }, { status: "FAIL" }, { details: "x" }, { filesChanged: ["x"] }] as const) {
      const fault = await faultOf(set(id, { attempt: 1, ...more }));
      expect(fault).toEqual({
        code: "input-invalid",
        message: "attempt 1 of implementer is stored already; leave attempt out and it becomes 2",
      });
    }
    expect(await test.store.getHandoff({ taskId: id })).toEqual(first);
  });

  it("refuses wrong fields by name, and stores nothing", async () => {
    const id = await makeTask(test, "t");
    const wrong: [string, Partial<NewHandoff>][] = [
      ["status", { status: "OK" as never }],
      ["status", { status: "pass" as never }],
      ["summary", { summary: " " }],
      ["role", { role: "" }],
      ["attempt", { attempt: 0 }],
      ["attempt", { attempt: 1.5 }],
    ];
    for (const [field, more] of wrong) {
      const { code, message } = await faultOf(set(id, more));
      expect(`${code} ${message}`).toMatch(new RegExp(`^input-invalid ${field} `));
    }
    expect(await test.store.getHandoff({ taskId: id })).toBeUndefined();
  });

  it("gives the latest, of all or of a role or attempt", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    await set(id, { summary: "i1" }, agent("ann", 1));
    await set(id, { summary: "i2" }, agent("ann", 2));
    await set(id, { role: "reviewer", summary: "r1" }, agent("ann", 3));
    const summary = async (query: { role?: string; attempt?: number }) =>
      (await store.getHandoff({ taskId: id, ...query }))?.summary;
    expect(await summary({})).toBe("r1");
    expect(await summary({ role: "implementer" })).toBe("i2");
    expect(await summary({ role: "implementer", attempt: 1 })).toBe("i1");
    expect(await summary({ attempt: 1 })).toBe("r1");
    expect(await summary({ role: "fixer" })).toBeUndefined();
    expect(await summary({ attempt: 9 })).toBeUndefined();
  });

  it("stores 10 MB of details and reads them in pages, to the last character", async () => {
    const { store } = test;
    const id = await makeTask(test, "t");
    const block = Array.from({ length: 1024 }, (_, index) => String.fromCharCode(33 + (index % 90))).join("");
    const details = `${block.repeat(10 * 1024)}\u0000é🎒 end`;
    const { id: handoff, detailsChars } = await set(id, { details });
    expect(detailsChars).toBe(details.length);
    const read = (from: number, maxChars: number) => store.readHandoffDetails({ id: handoff, from, maxChars });
    expect(await read(0, 20)).toEqual({ text: details.slice(0, 20), total: details.length });
    expect(await read(5_000_000, 1000)).toEqual({ text: details.slice(5_000_000, 5_001_000), total: details.length });
    expect(await read(details.length - 9, 1000)).toEqual({ text: details.slice(-9), total: details.length });
    expect(await read(details.length, 10)).toEqual({ text: "", total: details.length });
    expect((await read(0, details.length)).text === details).toBe(true);
    expect((await faultOf(read(-1, 10))).message).toContain("from");
    expect((await faultOf(read(0, 0))).message).toContain("max_chars");
    expect((await faultOf(read(0, -5))).message).toContain("max_chars");
  });

  it("has empty details when none were given", async () => {
    const { id } = await set(await makeTask(test, "t"));
    expect(await test.store.readHandoffDetails({ id, from: 0, maxChars: 10 })).toEqual({ text: "", total: 0 });
  });

  it("lists newest first, of a task, a story or an epic, and counts them all", async () => {
    const { store } = test;
    const epic = await store.createEpic({ title: "e" }, agent());
    const story = await store.createStory({ title: "s", epicId: epic.id }, agent());
    const a = await makeTask(test, "a", { storyId: story.id });
    const b = await makeTask(test, "b");
    await set(a, { summary: "a1" }, agent("ann", 1));
    await set(b, { summary: "b1" }, agent("ann", 2));
    await set(a, { summary: "a2" }, agent("ann", 3));
    const list = async (scope: object, limit = 10) => {
      const { items, total } = await store.listHandoffs({ scope, limit });
      return [items.map(({ summary }) => summary).join(" "), total];
    };
    expect(await list({})).toEqual(["a2 b1 a1", 3]);
    expect(await list({}, 2)).toEqual(["a2 b1", 3]);
    expect(await list({ taskId: a })).toEqual(["a2 a1", 2]);
    expect(await list({ storyId: story.id })).toEqual(["a2 a1", 2]);
    expect(await list({ epicId: epic.id })).toEqual(["a2 a1", 2]);
    expect((await faultOf(store.listHandoffs({ scope: {}, limit: -1 }))).message).toContain("limit");
  });
}
