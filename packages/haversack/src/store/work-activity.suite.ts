/** Activity: append-only, newest first, in pages. */
import { expect, it } from "vitest";
import { agent, clock, faultOf, type UnderTest } from "./work-under-test.suite.ts";

export function activitySuite(test: UnderTest): void {
  const at = clock(0);
  const record = (text: string, more: { kind?: string; subject?: string } = {}) =>
    test.store.recordActivity({ at, actor: "tester", kind: "note", text, ...more });

  it("gives back what was recorded, with its time to the millisecond", async () => {
    const { id } = await test.store.recordActivity({
      at,
      actor: "ann",
      kind: "task-claimed",
      subject: "t1",
      text: "claimed 'é✓\n\"",
    });
    const page = await test.store.listActivity({ limit: 10 });
    expect(page).toEqual({
      activity: [{ id, at, actor: "ann", kind: "task-claimed", subject: "t1", text: "claimed 'é✓\n\"" }],
      total: 1,
    });
  });

  it("leaves the subject out when there is none", async () => {
    await record("no subject");
    const [first] = (await test.store.listActivity({ limit: 1 })).activity;
    expect(first).toBeDefined();
    expect(first && "subject" in first).toBe(false);
  });

  it("shows an acknowledged record to another connection at once", async () => {
    const { id } = await record("seen elsewhere");
    const other = await test.reopen();
    expect((await other.listActivity({ limit: 1 })).activity.map((item) => item.id)).toEqual([id]);
  });

  it("has another mark once another connection has written", async () => {
    await record("before");
    const marks = [await test.store.changeMark()];
    const other = await test.reopen();
    for (const title of ["one", "two"]) {
      await other.createTask({ title }, agent());
      marks.push(await test.store.changeMark());
    }
    expect(new Set(marks).size).toBe(3);
  });

  it("gives growing ids and lists newest first", async () => {
    const first = await record("first");
    const second = await record("second");
    expect(second.id).toBeGreaterThan(first.id);
    expect((await test.store.listActivity({ limit: 10 })).activity.map((item) => item.text)).toEqual([
      "second",
      "first",
    ]);
  });

  it("pages through everything exactly once and says when there is more", async () => {
    for (let number = 1; number <= 7; number++) await record(`n${number}`);
    const seen: string[] = [];
    let beforeId: number | undefined;
    let pages = 0;
    do {
      const page = await test.store.listActivity({ limit: 3, ...(beforeId === undefined ? {} : { beforeId }) });
      // Counts this page and all later ones.
      expect(page.total).toBe(7 - seen.length);
      seen.push(...page.activity.map((item) => item.text));
      beforeId = page.nextBeforeId;
      pages++;
    } while (beforeId !== undefined);
    expect(seen).toEqual(["n7", "n6", "n5", "n4", "n3", "n2", "n1"]);
    expect(pages).toBe(3);
  });

  it("says nothing of a next page when the last one is exactly full", async () => {
    await record("a");
    await record("b");
    expect(await test.store.listActivity({ limit: 2 })).not.toHaveProperty("nextBeforeId");
  });

  it("filters by kind, by subject and by both", async () => {
    await record("1", { kind: "a", subject: "x" });
    await record("2", { kind: "b", subject: "x" });
    await record("3", { kind: "a", subject: "y" });
    await record("4", { kind: "a" });
    const texts = async (query: { kind?: string; subject?: string }) =>
      (await test.store.listActivity({ limit: 10, ...query })).activity.map((item) => item.text);
    expect(await texts({ kind: "a" })).toEqual(["4", "3", "1"]);
    expect(await texts({ subject: "x" })).toEqual(["2", "1"]);
    expect(await texts({ kind: "a", subject: "x" })).toEqual(["1"]);
    expect(await texts({ kind: "A" })).toEqual([]);
  });

  it("refuses a page of less than one", async () => {
    for (const limit of [0, -1, 1.5]) {
      expect(await faultOf(test.store.listActivity({ limit }))).toMatchObject({
        code: "input-invalid",
        message: expect.stringContaining("limit"),
      });
    }
  });
}
