import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Verdict } from "../../../work/handoff.ts";
import { mergeWip } from "../../../work/merge-wip.ts";
import { DEPENDENCY_TYPES, PRIORITIES, TASK_STATUSES, TASK_TYPES } from "../../../work/task.ts";
import { FIRST_LINE, formatRecord, parseRecords } from "../../record-lines.ts";
import type { WorkStore } from "../../work-store.ts";
import { openMemoryStore } from "../memory.ts";
import { SqliteWorkStore } from "../sqlite-work-store.ts";
import { computeQueue } from "./queue.ts";

async function exported(store: WorkStore): Promise<string> {
  const lines = [FIRST_LINE];
  for await (const record of store.exportRecords()) lines.push(formatRecord(record));
  return `${lines.join("\n")}\n`;
}

/** Any text at all: halves of characters, controls, line breaks; now and then a large one. */
const text = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 20 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom('say "hi"\n\r\n\t', "👩‍🚀\ud83d", "\u2028\\u0000\0", "\udc00x", "__proto__", " "),
  },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 5 }).map((part) => part.repeat(40_000)) },
);
const title = text.map((given) => given.replace(/[\r\n]/g, " ").trim() || "t");
const reason = text.map((given) => (given.trim() === "" ? "r" : given));
const wip = fc.dictionary(text, fc.jsonValue(), { maxKeys: 4 });
/** Few, so that much happens to each. */
const pick = fc.nat(5);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

type Step = (place: Place) => Promise<unknown>;

interface Place {
  store: SqliteWorkStore;
  at: Date;
  epics: string[];
  stories: string[];
  tasks: string[];
  handoffs: string[];
}

const one = (ids: readonly string[], number: number): string | undefined => ids[number % Math.max(1, ids.length)];
const given = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>;
  };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ title, description: maybe(text), priority: fc.constantFrom(...PRIORITIES), source: maybe(text) }).map(
    (epic): Step =>
      async ({ store, at, epics }) =>
        epics.push((await store.createEpic(given(epic) as never, { name: "ann", at })).id),
  ),
  fc.record({ title, acceptanceCriteria: maybe(text), in: pick }).map(
    ({ in: number, ...story }): Step =>
      async ({ store, at, epics, stories }) => {
        const epicId = number % 3 === 0 ? undefined : one(epics, number);
        stories.push((await store.createStory(given({ ...story, epicId }) as never, { name: "ann", at })).id);
      },
  ),
  fc
    .record({
      title,
      type: fc.constantFrom(...TASK_TYPES),
      priority: fc.constantFrom(...PRIORITIES),
      description: maybe(text),
      files: fc.array(text, { maxLength: 3 }),
      steps: fc.array(fc.record({ text, done: fc.boolean() }), { maxLength: 3 }),
      estimateHours: maybe(fc.double({ min: 0, max: 1e6, noNaN: true })),
      skill: maybe(text),
      planFile: maybe(text),
      contextSummary: maybe(text),
      assignee: maybe(text),
      in: pick,
      below: pick,
    })
    .map(
      ({ in: inside, below, ...task }): Step =>
        async ({ store, at, stories, tasks }) => {
          const storyId = inside % 3 === 0 ? undefined : one(stories, inside);
          const parentId = below % 3 === 0 ? one(tasks, below) : undefined;
          tasks.push((await store.createTask(given({ ...task, storyId, parentId }) as never, { name: "ann", at })).id);
        },
    ),
  fc.record({ task: pick, status: fc.constantFrom(...TASK_STATUSES), notes: maybe(reason), by: title }).map(
    ({ task, by, ...change }): Step =>
      async ({ store, at, tasks }) => {
        const taskId = one(tasks, task);
        if (!taskId) return;
        await store.setStatus({ taskId, leaseMs: 3_600_000, ...given(change) } as never, {
          name: by,
          at,
          isPerson: true,
          sessionId: "s1",
        });
      },
  ),
  fc.record({ a: pick, b: pick, type: fc.constantFrom(...DEPENDENCY_TYPES) }).map(
    ({ a, b, type }): Step =>
      async ({ store, at, tasks }) => {
        const [taskId, dependsOnId] = [one(tasks, a), one(tasks, b)];
        if (taskId && dependsOnId && taskId !== dependsOnId) {
          await store.addDependency({ taskId, dependsOnId, type }, { name: "ann", at });
        }
      },
  ),
  fc.record({ task: pick, patch: wip }).map(
    ({ task, patch }): Step =>
      async ({ store, at, tasks }) => {
        const taskId = one(tasks, task);
        if (!taskId) return;
        await store.updateWip({ taskId, merge: (current) => mergeWip(current, patch, { at }) }, { name: "ann", at });
      },
  ),
  fc
    .record({
      task: pick,
      role: reason,
      status: fc.constantFrom<Verdict>("PASS", "FAIL", "BLOCKED"),
      summary: reason,
      filesChanged: fc.array(text, { maxLength: 2 }),
      details: maybe(text),
    })
    .map(
      ({ task, ...handoff }): Step =>
        async ({ store, at, tasks }) => {
          const taskId = one(tasks, task);
          if (taskId) await store.setHandoff({ taskId, ...given(handoff) } as never, { name: "ann", at });
        },
    ),
  fc.record({ task: pick, summary: reason, details: maybe(text) }).map(
    ({ task, ...failure }): Step =>
      async ({ store, at, tasks }) => {
        const taskId = one(tasks, task);
        if (taskId) await store.recordFailure({ taskId, ...given(failure) } as never, { name: "ann", at });
      },
  ),
  fc.record({ kind: title, text, subject: maybe(text) }).map(
    (activity): Step =>
      async ({ store, at }) => {
        // Twice: two things that are alike are two things.
        await store.recordActivity({ at, actor: "bob", ...given(activity) } as never);
        await store.recordActivity({ at, actor: "bob", ...given(activity) } as never);
      },
  ),
  fc.record({ task: pick, why: reason }).map(
    ({ task, why }): Step =>
      async ({ store, at, tasks }) => {
        const taskId = one(tasks, task);
        const by = { name: "eve", at, sessionId: "s2", agentId: "a1" };
        if (taskId) await store.claim({ taskId, leaseMs: 60_000, stealReason: why, isForced: true }, by);
      },
  ),
  fc.record({ story: pick, epic: pick, status: fc.constantFrom("archived" as const, "todo" as const) }).map(
    ({ story, epic, status }): Step =>
      async ({ store, at, stories, epics }) => {
        const [storyId, epicId] = [one(stories, story), one(epics, epic)];
        if (storyId && epicId) await store.updateStory(storyId, { status, epicId }, { name: "ann", at });
      },
  ),
  fc.constant<Step>(async ({ store, at }) => store.decay({ isForced: true, includeFailed: true }, { name: "ann", at })),
);

describe("an export", () => {
  it("gives, imported into an empty store, the same bytes again, whatever was done before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: "max" }), async (steps) => {
        const store = new SqliteWorkStore(openMemoryStore());
        const place: Place = {
          store,
          at: new Date("2026-11-16T09:00:00.000Z"),
          epics: [],
          stories: [],
          tasks: [],
          handoffs: [],
        };
        for (const [index, run] of steps.entries()) {
          // Some things happen at the same time.
          place.at = new Date(Date.parse("2026-11-16T09:00:00.000Z") + Math.floor(index / 2) * 1000);
          await run(place);
        }
        const bytes = await exported(store);

        const handle = openMemoryStore();
        const copy = new SqliteWorkStore(handle);
        const { records, problems } = parseRecords(bytes);
        expect(problems).toEqual([]);
        const by = { name: "ann", at: place.at };
        const report = await copy.importRecords(records, {}, by);
        expect([report.problems, report.renamed, report.updated, report.kept, report.same]).toEqual([
          [],
          [],
          [],
          [],
          0,
        ]);
        expect(await exported(copy)).toBe(bytes);

        const rows = handle.db.prepare("SELECT * FROM queue ORDER BY task").all();
        expect(rows.map((row) => Object.values(row))).toEqual(computeQueue(handle.db));
        const again = await copy.importRecords(records, {}, by);
        expect(again.same).toBe(records.length);
        expect(await exported(copy)).toBe(bytes);
      }),
      { numRuns: 100 },
    );
  }, 120_000);

  it("changes one line when one task changes", async () => {
    const store = new SqliteWorkStore(openMemoryStore());
    const by = { name: "ann", at: new Date("2026-11-16T09:00:00.000Z") };
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push((await store.createTask({ title: `Task ${count}` }, by)).id);
    const lines = async () => (await exported(store)).split("\n").filter((line) => !line.includes('"activity"'));
    const before = await lines();
    await store.updateTask(
      ids[2] as string,
      { description: "one\ntwo" },
      { ...by, at: new Date("2026-11-16T10:00:00.000Z") },
    );
    const after = await lines();
    expect(after.filter((line) => !before.includes(line))).toHaveLength(1);
    expect(after).toHaveLength(before.length);
  });

  it("holds details of any size whole", async () => {
    const store = new SqliteWorkStore(openMemoryStore());
    const by = { name: "ann", at: new Date("2026-11-16T09:00:00.000Z") };
    const { id } = await store.createTask({ title: "T" }, by);
    const details = "é\n".repeat(3_000_000);
    await store.setHandoff({ taskId: id, role: "implementer", status: "PASS", summary: "s", details }, by);
    const { records } = parseRecords(await exported(store));
    expect(records.find((record) => record.kind === "handoff")).toMatchObject({ details });
  });
});
