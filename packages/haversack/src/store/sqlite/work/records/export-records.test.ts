import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VERDICTS } from "../../../../work/handoff.ts";
import { DEPENDENCY_TYPES, PRIORITIES, TASK_STATUSES, TASK_TYPES } from "../../../../work/task.ts";
import { mergeWip } from "../../../../work/wip/merge-wip.ts";
import { FIRST_LINE, formatRecord, parseRecords, RECORD_KINDS } from "../../../record-fields.ts";
import type { Actor, WorkStore } from "../../../work-store.ts";
import { openMemoryStore } from "../../open.ts";
import { computeQueue } from "../queue.ts";
import { SqliteWorkStore } from "../sqlite-work-store.ts";

const START = new Date("2026-11-16T09:00:00.000Z");

async function exported(store: WorkStore): Promise<string> {
  const lines = [FIRST_LINE];
  for await (const record of store.exportRecords()) lines.push(formatRecord(record));
  return `${lines.join("\n")}\n`;
}

/** Any text: lone surrogates, control characters, line breaks; sometimes a large one. */
const text = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 12 }) },
  {
    weight: 10,
    arbitrary: fc.constantFrom('say "hi"\n\r\n\t', "👩‍🚀\ud83d", "\u2028\\u0000\0", "\udc00x", "__proto__", " "),
  },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 5 }).map((part) => part.repeat(20_000)) },
);
const title = text.map((given) => given.replace(/[\r\n]/g, " ").trim() || "t");
const reason = text.map((given) => (given.trim() === "" ? "r" : given));
const wip = fc.dictionary(text, fc.jsonValue(), { maxKeys: 4 });
/** A small range, so each thing is used often. */
const pick = fc.nat(5);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

interface Place {
  store: SqliteWorkStore;
  by: Actor;
  epics: string[];
  stories: string[];
  tasks: string[];
  agents: string[];
}
type Step = (place: Place) => Promise<unknown>;

/** A step that shows its values when a run fails. */
function doing<T extends object>(
  values: { [Name in keyof T]: fc.Arbitrary<T[Name]> },
  act: (given: T, place: Place) => Promise<unknown>,
): fc.Arbitrary<Step> {
  return fc.record(values).map((given) =>
    Object.assign((place: Place) => act(given as T, place), {
      [fc.toStringMethod]: () => `${act.toString().match(/store\.\w+/)?.[0]} ${JSON.stringify(given).slice(0, 300)}`,
    }),
  );
}

const one = (ids: readonly string[], number: number): string | undefined => ids[number % Math.max(1, ids.length)];

/** Without what is undefined. */
function set<T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

const step: fc.Arbitrary<Step> = fc.oneof(
  doing(
    { title, description: maybe(text), priority: fc.constantFrom(...PRIORITIES), source: maybe(text) },
    async (epic, { store, by, epics }) => epics.push((await store.createEpic(set(epic), by)).id),
  ),
  doing({ title, acceptanceCriteria: maybe(text), epic: pick }, async ({ epic, ...story }, { store, by, ...place }) => {
    const epicId = epic === 0 ? undefined : one(place.epics, epic);
    place.stories.push((await store.createStory(set({ ...story, epicId }), by)).id);
  }),
  doing(
    {
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
      story: pick,
      parent: pick,
    },
    async ({ story, parent, ...task }, { store, by, ...place }) => {
      const storyId = story === 0 ? undefined : one(place.stories, story);
      const parentId = parent < 3 ? undefined : one(place.tasks, parent);
      place.tasks.push((await store.createTask(set({ ...task, storyId, parentId }), by)).id);
    },
  ),
  doing(
    { task: pick, status: fc.constantFrom(...TASK_STATUSES), notes: maybe(reason), name: title },
    async ({ task, name, status, notes }, { store, by, tasks }) => {
      const taskId = one(tasks, task);
      const change = set({ taskId: taskId ?? "", status, notes, leaseMs: 3_600_000 });
      if (taskId) await store.setStatus(change, { ...by, name, isPerson: true, sessionId: "s1" });
    },
  ),
  doing({ task: pick, why: reason }, async ({ task, why }, { store, by, tasks }) => {
    const taskId = one(tasks, task);
    const actor = { ...by, name: "eve", sessionId: "s2", agentId: "a1" };
    if (taskId) await store.claim({ taskId, leaseMs: 3_600_000, stealReason: why, isForced: true }, actor);
  }),
  doing(
    { a: pick, b: pick, type: fc.constantFrom(...DEPENDENCY_TYPES) },
    async ({ a, b, type }, { store, by, tasks }) => {
      const [taskId, dependsOnId] = [one(tasks, a), one(tasks, b)];
      if (taskId && dependsOnId && taskId !== dependsOnId) await store.addDependency({ taskId, dependsOnId, type }, by);
    },
  ),
  doing({ task: pick, patch: wip }, async ({ task, patch }, { store, by, tasks }) => {
    const taskId = one(tasks, task);
    const person = { ...by, isPerson: true };
    if (taskId) await store.updateWip({ taskId, merge: (current) => mergeWip(current, patch, by) }, person);
  }),
  doing(
    {
      task: pick,
      role: reason,
      status: fc.constantFrom(...VERDICTS),
      summary: reason,
      filesChanged: fc.array(text, { maxLength: 2 }),
      details: maybe(text),
    },
    async ({ task, ...handoff }, { store, by, tasks }) => {
      const taskId = one(tasks, task);
      if (taskId) await store.setHandoff(set({ taskId, ...handoff }), by);
    },
  ),
  doing({ task: pick, summary: reason, details: maybe(text) }, async ({ task, ...failure }, { store, by, tasks }) => {
    const taskId = one(tasks, task);
    if (taskId) await store.recordFailure(set({ taskId, ...failure }), by);
  }),
  doing({ kind: title, text, subject: maybe(text) }, async (activity, { store, by }) => {
    // Twice: equal entries must both be kept.
    for (let times = 0; times < 2; times++) await store.recordActivity(set({ at: by.at, actor: by.name, ...activity }));
  }),
  doing(
    { story: pick, epic: pick, status: fc.constantFrom("archived" as const, "todo" as const) },
    async ({ story, epic, status }, { store, by, stories, epics }) => {
      const [storyId, epicId] = [one(stories, story), one(epics, epic)];
      if (storyId && epicId) await store.updateStory(storyId, { status, epicId }, { ...by, isPerson: true });
    },
  ),
  doing(
    {
      name: fc.constantFrom("ann", "bob", "Ann", "x.y-z_1"),
      role: title,
      branch: maybe(fc.constantFrom("main", "auth/é", " ", "\u2028")),
      client: maybe(text),
      worktree: maybe(text),
    },
    async (agent, { store, by, agents }) => {
      await store.addAgent(set(agent), by);
      agents.push(agent.name);
    },
  ),
  doing(
    { agent: pick, sessionId: maybe(text), branch: maybe(fc.constantFrom("main", "auth/é")) },
    async ({ agent, ...seen }, { store, by, agents }) => {
      const name = one(agents, agent);
      if (name) await store.seeAgent(set({ name, ...seen }), by.at);
    },
  ),
  doing(
    { to: fc.array(pick, { maxLength: 3 }), text: reason, subject: maybe(text), isRead: fc.boolean() },
    async ({ to, text: said, subject, isRead }, { store, by, agents }) => {
      const mentions = to.flatMap((number) => one(agents, number) ?? []);
      if (mentions.length === 0) return;
      await store.sendMessage(set({ to: [], mentions, text: said, subject }), { ...by, name: "eve" });
      // Several agents may share a name, so the branch says which one has read the message.
      const { branch } = (await store.listAgents()).find(({ name }) => name === mentions[0]) as { branch?: string };
      if (isRead) await store.markRead({ name: mentions[0] as string, branch: branch ?? "" }, by.at);
    },
  ),
  doing(
    { task: maybe(pick), skill: title, hash: fc.constantFrom("a1", "b2"), because: text },
    async ({ task, ...use }, { store, by, tasks }) => {
      const taskId = task === undefined ? undefined : one(tasks, task);
      await store.recordSkill({ agent: by.name, ...use, ...(taskId !== undefined && { taskId }) }, by.at);
    },
  ),
  doing({ isForced: fc.constant(true), includeFailed: fc.boolean() }, async (request, { store, by }) =>
    store.decay(request, by),
  ),
);

describe("an export", () => {
  it("gives, imported into an empty store, the same bytes again, whatever was done before", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50, size: "max" }), async (steps) => {
        const store = new SqliteWorkStore(openMemoryStore());
        const place: Place = { store, by: { name: "ann", at: START }, epics: [], stories: [], tasks: [], agents: [] };
        place.epics.push((await store.createEpic({ title: "E" }, place.by)).id);
        place.stories.push((await store.createStory({ title: "S", epicId: place.epics[0] as string }, place.by)).id);
        for (const [index, run] of steps.entries()) {
          // Some things happen at the same time.
          place.by.at = new Date(START.getTime() + Math.floor(index / 2) * 1000);
          await run(place);
        }
        const bytes = await exported(store);
        for (const line of bytes.split("\n")) seen.add(/"kind":"(\w+)"/.exec(line)?.[1] ?? "");

        const handle = openMemoryStore();
        const copy = new SqliteWorkStore(handle);
        const { records, problems } = parseRecords(bytes);
        expect(problems).toEqual([]);
        const report = await copy.importRecords(records, {}, place.by);
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
        const again = await copy.importRecords(records, {}, place.by);
        expect(again.same).toBe(records.length);
        expect(await exported(copy)).toBe(bytes);
      }),
      { numRuns: 240, interruptAfterTimeLimit: 60_000 },
    );
    expect([...seen]).toEqual(expect.arrayContaining([...RECORD_KINDS]));
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
