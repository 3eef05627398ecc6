/**
 * After every operation, in any order: the queue equals one computed from scratch, stories and epics match their tasks, and claims and
 * tasks agree. There is no model of the store: the invariants are read from the tables themselves.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { isFault } from "../../../base/errors.ts";
import { DEPENDENCY_TYPES, PRIORITIES, TASK_STATUSES } from "../../../work/task.ts";
import type { Actor, WorkStore } from "../../work-store.ts";
import type { StoreHandle } from "../access.ts";
import { openMemoryStore } from "../open.ts";
import { computeQueue } from "./queue.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";
import { brokenTruths } from "./work-truths.suite.ts";

const LEASE_MS = 60_000;

/** Picks among existing things: the number modulo their count, so every sequence is valid. */
const pick = fc.nat(11);
const actor = fc.record({
  name: fc.constantFrom("ann", "ben", "cy"),
  isPerson: fc.boolean(),
  sessionId: fc.option(fc.constantFrom("s1", "s2"), { nil: undefined }),
  agentId: fc.option(fc.constantFrom("a1", "a2"), { nil: undefined }),
});
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("create-task"),
      story: fc.option(pick),
      parent: fc.option(pick),
      title: fc.constantFrom("t", "Implement it", "Spec review"),
      priority: fc.constantFrom(...PRIORITIES),
      dependsOn: fc.array(pick, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("create-story"), epic: fc.option(pick) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("create-epic"), priority: fc.constantFrom(...PRIORITIES) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("task-priority"), task: pick, priority: fc.constantFrom(...PRIORITIES) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("task-parent"), task: pick, parent: fc.option(pick) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("task-story"), task: pick, story: fc.option(pick) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("epic-priority"), epic: pick, priority: fc.constantFrom(...PRIORITIES) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("story-epic"), story: pick, epic: fc.option(pick) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("story-status"),
      story: pick,
      status: fc.constantFrom("archived", "todo"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("epic-status"), epic: pick, status: fc.constantFrom("archived", "todo") }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("status"),
      task: pick,
      status: fc.constantFrom(...TASK_STATUSES),
      isForced: fc.boolean(),
      notes: fc.option(fc.constant("why")),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("claim"),
      task: fc.option(pick),
      steal: fc.boolean(),
      isForced: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("release"), task: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("heartbeat"), task: fc.option(pick) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.constantFrom(1, LEASE_MS / 2, LEASE_MS, LEASE_MS * 3) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("block"), task: pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("unblock"), task: pick }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("depend"),
      task: pick,
      on: pick,
      type: fc.constantFrom(...DEPENDENCY_TYPES),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("undepend"), task: pick, on: pick }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
const step = fc.record({ operation, actor });

it("keeps queue, stories, epics and claims true through any sequence of operations", async () => {
  const done = { operations: 0, refused: 0, faults: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: "max" }), async (steps) => {
      const world = new World();
      try {
        await world.begin();
        for (const { operation: asked, actor: who } of steps) {
          const told = await world.perform(asked, who);
          done.operations++;
          if (told === "fault") done.faults++;
          if (told === "refused") done.refused++;
          // Reading returns expired claims.
          const { tasks } = await world.store.nextTasks({ limit: 1000, at: world.at });
          expect(brokenTruths(world.handle.db, world.at)).toEqual([]);
          expect(tasks.map(({ id }) => id)).toEqual(world.readyFromScratch());
        }
      } finally {
        world.handle.db.close();
      }
    }),
    { numRuns: 150 },
  );
  // A generator whose operations are all refused would prove nothing.
  expect(done.operations - done.refused - done.faults).toBeGreaterThan(done.operations / 3);
  expect(done.refused).toBeGreaterThan(100);
}, 240_000);

class World {
  readonly handle: StoreHandle = openMemoryStore();
  readonly store: WorkStore = new SqliteWorkStore(this.handle);
  readonly epics: string[] = [];
  readonly stories: string[] = [];
  readonly tasks: string[] = [];
  at = new Date("2031-01-01T00:00:00.000Z");

  /** Creates something to pick from, so few operations miss. */
  async begin(): Promise<void> {
    const by = { name: "ann", at: this.at };
    for (const priority of ["P1", "P3"] as const) {
      const { id: epicId } = await this.store.createEpic({ title: "e", priority }, by);
      const { id: storyId } = await this.store.createStory({ title: "s", epicId }, by);
      this.epics.push(epicId);
      this.stories.push(storyId);
      for (let number = 0; number < 3; number++) {
        this.tasks.push((await this.store.createTask({ title: "t", storyId }, by)).id);
      }
    }
  }

  /** Undefined: the operation succeeded. */
  async perform(
    asked: Operation,
    who: { [Field in "name" | "isPerson" | "sessionId" | "agentId"]: Actor[Field] | undefined },
  ): Promise<"refused" | "fault" | undefined> {
    const defined = Object.fromEntries(Object.entries(who).filter(([, value]) => value !== undefined));
    const by = { ...defined, at: this.at } as Actor;
    try {
      const outcome = await this.#run(asked, by);
      const kind = (outcome as { kind?: string } | undefined)?.kind;
      const isFine = kind === undefined || ["changed", "claimed", "released", "prolonged", "added"].includes(kind);
      return isFine ? undefined : "refused";
    } catch (error) {
      // The operation picked nothing, or relates a task to itself.
      if (isFault(error, "refused")) return "refused";
      if (isFault(error, "not-found") || isFault(error, "input-invalid")) return "fault";
      throw error;
    }
  }

  readyFromScratch(): string[] {
    const ids = new Map(
      this.handle.db
        .prepare("SELECT seq, id FROM tasks")
        .all()
        .map(({ seq, id }) => [seq, id as string]),
    );
    return computeQueue(this.handle.db)
      .filter((row) => row[7] === 1)
      .sort((a, b) => b[3] - a[3] || a[0] - b[0])
      .map(([seq]) => ids.get(seq) as string);
  }

  async #run(asked: Operation, by: Actor): Promise<unknown> {
    const { store } = this;
    switch (asked.kind) {
      case "create-task": {
        const storyId = this.#of(this.stories, asked.story);
        const dependsOn = this.tasks.length === 0 ? [] : asked.dependsOn.map((number) => this.#task(number));
        const { title, priority } = asked;
        const parentId = this.#of(this.tasks, asked.parent);
        const task = {
          title,
          priority,
          dependsOn,
          ...(storyId !== undefined && { storyId }),
          ...(parentId !== undefined && { parentId }),
        };
        this.tasks.push((await store.createTask(task, by)).id);
        return;
      }
      case "create-story": {
        const epicId = this.#of(this.epics, asked.epic);
        this.stories.push((await store.createStory({ title: "s", ...(epicId !== undefined && { epicId }) }, by)).id);
        return;
      }
      case "create-epic":
        this.epics.push((await store.createEpic({ title: "e", priority: asked.priority }, by)).id);
        return;
      case "task-priority":
        return void (await store.updateTask(this.#task(asked.task), { priority: asked.priority }, by));
      case "task-parent":
        return void (await store.updateTask(
          this.#task(asked.task),
          { parentId: this.#of(this.tasks, asked.parent) ?? null },
          by,
        ));
      case "task-story":
        return void (await store.updateTask(
          this.#task(asked.task),
          { storyId: this.#of(this.stories, asked.story) ?? null },
          by,
        ));
      case "epic-priority":
        return void (await store.updateEpic(this.#of(this.epics, asked.epic) ?? "E", { priority: asked.priority }, by));
      case "story-epic":
        return void (await store.updateStory(
          this.#of(this.stories, asked.story) ?? "S",
          { epicId: this.#of(this.epics, asked.epic) ?? null },
          by,
        ));
      case "story-status":
        return void (await store.updateStory(this.#of(this.stories, asked.story) ?? "S", { status: asked.status }, by));
      case "epic-status":
        return void (await store.updateEpic(this.#of(this.epics, asked.epic) ?? "E", { status: asked.status }, by));
      case "status":
        return store.setStatus(
          {
            taskId: this.#task(asked.task),
            status: asked.status,
            isForced: asked.isForced,
            leaseMs: LEASE_MS,
            ...(asked.notes !== null && { notes: asked.notes }),
          },
          by,
        );
      case "claim":
        return store.claim(
          {
            leaseMs: LEASE_MS,
            isForced: asked.isForced,
            ...(asked.task !== null && { taskId: this.#task(asked.task) }),
            ...(asked.steal && { stealReason: "stuck" }),
          },
          by,
        );
      case "release":
        return store.release({ taskId: this.#task(asked.task) }, by);
      case "heartbeat":
        return store.heartbeat(
          { leaseMs: LEASE_MS, ...(asked.task !== null && { taskId: this.#task(asked.task) }) },
          by,
        );
      case "time":
        this.at = new Date(this.at.getTime() + asked.ms);
        return;
      case "block":
        return store.setBlocker({ taskId: this.#task(asked.task), reason: "no key" }, by);
      case "unblock":
        return store.resolveBlockers({ taskId: this.#task(asked.task) }, by);
      case "depend":
        return store.addDependency(
          { taskId: this.#task(asked.task), dependsOnId: this.#task(asked.on), type: asked.type },
          by,
        );
      case "undepend":
        return void (await store.removeDependency(
          { taskId: this.#task(asked.task), dependsOnId: this.#task(asked.on) },
          by,
        ));
    }
  }

  #task(number: number): string {
    return this.#of(this.tasks, number) ?? "T-none";
  }

  #of(ids: readonly string[], number: number | null): string | undefined {
    return number === null || ids.length === 0 ? undefined : ids[number % ids.length];
  }
}
