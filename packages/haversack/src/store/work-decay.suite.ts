/** Decay: handoffs shrink as their story and epic complete. Failed ones need a request. All of it can be undone. */
import { expect, it } from "vitest";
import type { Verdict } from "../work/handoff.ts";
import { agent, finish, kindsOf, makeTask, setTo, type UnderTest } from "./work-under-test.suite.ts";

export function decaySuite(test: UnderTest): void {
  /** An epic with two stories of one task each. The first task has a handoff of every verdict, the second has one that passed. */
  const build = async () => {
    const { store } = test;
    const epic = (await store.createEpic({ title: "e" }, agent())).id;
    const made: { story: string; task: string }[] = [];
    for (const title of ["a", "b"]) {
      const story = (await store.createStory({ title, epicId: epic }, agent())).id;
      made.push({ story, task: await makeTask(test, title, { storyId: story }) });
    }
    const [a, b] = made as [(typeof made)[0], (typeof made)[0]];
    const set = async (taskId: string, status: Verdict) =>
      (
        await store.setHandoff(
          { taskId, role: status.toLowerCase(), status, summary: status, details: `${status} details` },
          agent(),
        )
      ).id;
    return {
      epic,
      a,
      b,
      pass: await set(a.task, "PASS"),
      fail: await set(a.task, "FAIL"),
      blocked: await set(a.task, "BLOCKED"),
      other: await set(b.task, "PASS"),
    };
  };
  const states = async (epicId: string) => {
    const { items } = await test.store.listHandoffs({ scope: { epicId }, limit: 100, includeArchived: true });
    return Object.fromEntries(items.map(({ id, state }) => [id, state]));
  };
  const details = async (id: string) => (await test.store.readHandoffDetails({ id, from: 0, maxChars: 100 })).text;

  it("compacts what passed when the story completes, and archives it when the epic does", async () => {
    const { store } = test;
    const { epic, a, b, pass, fail, blocked, other } = await build();
    await finish(test, a.task);
    expect(await states(epic)).toEqual({ [pass]: "compacted", [fail]: "whole", [blocked]: "whole", [other]: "whole" });
    await finish(test, b.task);
    expect(await states(epic)).toEqual({
      [pass]: "archived",
      [fail]: "whole",
      [blocked]: "whole",
      [other]: "archived",
    });
    expect((await store.listHandoffs({ scope: { epicId: epic }, limit: 9 })).items.map(({ id }) => id).sort()).toEqual(
      [fail, blocked].sort(),
    );
    // Nothing is lost: the archive still has everything.
    expect(await store.getHandoff({ taskId: b.task })).toMatchObject({ id: other, state: "archived", summary: "PASS" });
    expect(await details(pass)).toBe("PASS details");
    expect(await kindsOf(test, a.story)).toContain("handoffs-archived");
    expect(await kindsOf(test, epic)).toContain("handoffs-archived");
  });

  it("leaves tasks without a story, and stories that are not complete, alone", async () => {
    const { epic, a, pass } = await build();
    const open = await makeTask(test, "open", { storyId: a.story });
    await finish(test, a.task);
    expect((await states(epic))[pass]).toBe("whole");
    await setTo(test, open, "archived");
    expect((await states(epic))[pass]).toBe("compacted");
    const alone = await makeTask(test, "alone");
    await test.store.setHandoff({ taskId: alone, role: "r", status: "PASS", summary: "s", details: "d" }, agent());
    await finish(test, alone);
    expect(await test.store.getHandoff({ taskId: alone })).toMatchObject({ state: "whole" });
  });

  it("is taken back by handoff, task, story or epic, and counts what it restored", async () => {
    const { store } = test;
    const { epic, a, b, pass, other } = await build();
    await finish(test, a.task);
    await finish(test, b.task);
    const again = () => store.decay({ epicId: epic }, agent());
    for (const [id, restored] of [
      [pass, 1],
      [a.task, 1],
      [b.story, 1],
      [epic, 2],
    ] as const) {
      expect(await store.restore(id, agent())).toEqual({ restored });
      expect(await store.restore(id, agent())).toEqual({ restored: 0 });
      const now = await states(epic);
      expect([pass, other].filter((handoff) => now[handoff] === "whole")).toHaveLength(restored);
      expect(await again()).toEqual({ compacted: restored, archived: restored });
    }
    expect(await details(other)).toBe("PASS details");
    expect(await kindsOf(test, pass)).toEqual(["handoffs-restored"]);
  });

  it("does by request only what completed stories and epics allow", async () => {
    const { store } = test;
    const { epic, a, pass } = await build();
    expect(await store.decay({}, agent())).toEqual({ compacted: 0, archived: 0 });
    await finish(test, a.task);
    await store.restore(pass, agent());
    expect(await store.decay({ storyId: a.story }, agent())).toEqual({ compacted: 1, archived: 0 });
    expect(await store.decay({ epicId: epic }, agent())).toEqual({ compacted: 0, archived: 0 });
    expect((await states(epic))[pass]).toBe("compacted");
  });

  it("takes an open scope when it is forced, failed ones only when they are named too", async () => {
    const { store } = test;
    const { epic, a, pass, fail, blocked, other } = await build();
    expect(await store.decay({ storyId: a.story, isForced: true }, agent())).toEqual({ compacted: 1, archived: 0 });
    expect(await states(epic)).toEqual({ [pass]: "compacted", [fail]: "whole", [blocked]: "whole", [other]: "whole" });
    expect(await store.decay({ storyId: a.story, isForced: true, includeFailed: true }, agent())).toEqual({
      compacted: 2,
      archived: 0,
    });
    expect(await store.decay({ epicId: epic, isForced: true, includeFailed: true }, agent())).toEqual({
      compacted: 1,
      archived: 4,
    });
    expect(new Set(Object.values(await states(epic)))).toEqual(new Set(["archived"]));
    expect(await details(fail)).toBe("FAIL details");
    expect(await store.restore(epic, agent())).toEqual({ restored: 4 });
  });

  it("keeps to the story when an epic is named beside it", async () => {
    const { store } = test;
    const { epic, a, pass, other } = await build();
    expect(await store.decay({ storyId: a.story, epicId: epic, isForced: true }, agent())).toEqual({
      compacted: 1,
      archived: 0,
    });
    expect(await states(epic)).toMatchObject({ [pass]: "compacted", [other]: "whole" });
  });

  it("knows a handoff again whose details are in the archive", async () => {
    const { store } = test;
    const { a, pass } = await build();
    await finish(test, a.task);
    const again = await store.setHandoff(
      { taskId: a.task, role: "pass", status: "PASS", summary: "PASS", details: "PASS details" },
      agent(),
    );
    expect(again).toMatchObject({ id: pass, attempt: 1, state: "compacted" });
  });
}
