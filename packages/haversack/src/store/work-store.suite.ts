/** What every driver of the work store must do. Each driver's test runs this suite on a store of its own. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorkStore } from "./work-store.ts";

export interface OpenedWorkStore {
  store: WorkStore;
  /** The same data through another connection, as another process would see it. */
  reopen: () => Promise<WorkStore>;
  close: () => Promise<void>;
}

export function workStoreSuite(driver: string, open: () => Promise<OpenedWorkStore>): void {
  describe(`work store on ${driver}`, () => {
    let opened: OpenedWorkStore;
    let store: WorkStore;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    const at = new Date("2031-05-06T07:08:09.123Z");
    const record = (text: string, more: { kind?: string; subject?: string } = {}) =>
      store.recordActivity({ at, actor: "tester", kind: "note", text, ...more });

    it("gives back what was recorded, with its time to the millisecond", async () => {
      const { id } = await store.recordActivity({
        at,
        actor: "ann",
        kind: "task-claimed",
        subject: "t1",
        text: "claimed 'é✓\n\"",
      });
      const page = await store.listActivity({ limit: 10 });
      expect(page).toEqual({
        activity: [{ id, at, actor: "ann", kind: "task-claimed", subject: "t1", text: "claimed 'é✓\n\"" }],
      });
    });

    it("leaves the subject out when there is none", async () => {
      await record("no subject");
      const [first] = (await store.listActivity({ limit: 1 })).activity;
      expect(first).toBeDefined();
      expect(first && "subject" in first).toBe(false);
    });

    it("shows an acknowledged record to another connection at once", async () => {
      const { id } = await record("seen elsewhere");
      const other = await opened.reopen();
      expect((await other.listActivity({ limit: 1 })).activity.map((item) => item.id)).toEqual([id]);
    });

    it("gives growing ids and lists newest first", async () => {
      const first = await record("first");
      const second = await record("second");
      expect(second.id).toBeGreaterThan(first.id);
      expect((await store.listActivity({ limit: 10 })).activity.map((item) => item.text)).toEqual(["second", "first"]);
    });

    it("pages through everything exactly once and says when there is more", async () => {
      for (let number = 1; number <= 7; number++) await record(`n${number}`);
      const seen: string[] = [];
      let beforeId: number | undefined;
      let pages = 0;
      do {
        const page = await store.listActivity({ limit: 3, ...(beforeId === undefined ? {} : { beforeId }) });
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
      expect(await store.listActivity({ limit: 2 })).not.toHaveProperty("nextBeforeId");
    });

    it("filters by kind, by subject and by both", async () => {
      await record("1", { kind: "a", subject: "x" });
      await record("2", { kind: "b", subject: "x" });
      await record("3", { kind: "a", subject: "y" });
      await record("4", { kind: "a" });
      const texts = async (query: { kind?: string; subject?: string }) =>
        (await store.listActivity({ limit: 10, ...query })).activity.map((item) => item.text);
      expect(await texts({ kind: "a" })).toEqual(["4", "3", "1"]);
      expect(await texts({ subject: "x" })).toEqual(["2", "1"]);
      expect(await texts({ kind: "a", subject: "x" })).toEqual(["1"]);
      expect(await texts({ kind: "A" })).toEqual([]);
    });
  });
}
