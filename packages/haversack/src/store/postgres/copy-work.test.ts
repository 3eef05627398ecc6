import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunStore } from "../run-store.ts";
import { newRun } from "../runs.suite.ts";
import type { StoreHandle } from "../sqlite/access.ts";
import { openDatabase } from "../sqlite/open.ts";
import { SqliteRunStore } from "../sqlite/work/sqlite-run-store.ts";
import { SqliteWorkStore } from "../sqlite/work/sqlite-work-store.ts";
import type { WorkStore } from "../work-store.ts";
import { agent, clock, faultOf, LEASE_MS, merging, person } from "../work-under-test.suite.ts";
import { copyToPostgres, copyToSqlite } from "./copy-work.ts";
import { type Scratch, scratch, server } from "./scratch-postgres.suite.ts";

describe.skipIf(!server)("work that moves between SQLite and PostgreSQL", () => {
  let folder: string;
  let place: Scratch;
  const handles: StoreHandle[] = [];
  const file = (name: string) => {
    const handle = openDatabase(join(folder, name), { durability: "full" });
    handles.push(handle);
    return { handle, store: new SqliteWorkStore(handle) };
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "haversack-copy-"));
    place = scratch();
  });
  afterEach(async () => {
    for (const { db } of handles.splice(0)) db.close();
    rmSync(folder, { recursive: true });
    await place.close();
  });

  it("is there and back the same, byte for byte", async () => {
    const before = file("before.db");
    await fill(before.store);
    await fillRuns(new SqliteRunStore(before.handle));
    const { store: shared, server: there } = place.open();
    const copied = await copyToPostgres(before.handle, there);
    expect(copied).toMatchObject({
      epics: 1,
      tasks: 5,
      handoffs: 2,
      lost_claims: 1,
      aliases: 1,
      runs: 1,
      run_tests: 2,
    });
    expect(await exported(shared)).toBe(await exported(before.store));

    const after = file("after.db");
    expect(await copyToSqlite(there, after.handle, { includeRuns: true })).toEqual(copied);
    expect(await exported(after.store)).toBe(await exported(before.store));
    expect(tables(after.handle)).toEqual(tables(before.handle));
  });

  it("goes on where it was: numbers, the queue and claims are those of before", async () => {
    const before = file("before.db");
    await fill(before.store);
    const { store: shared, server: there } = place.open();
    await copyToPostgres(before.handle, there);
    for (const store of [before.store, shared]) {
      const outcome = await store.claim({ leaseMs: LEASE_MS }, agent("zoe", 30));
      expect(outcome).toMatchObject({ kind: "claimed", task: { title: "first" } });
      await store.setStatus({ taskId: "first-id", status: "done", leaseMs: 1 }, agent("zoe", 31));
      await store.setHandoff({ taskId: "part-id", role: "tester", status: "FAIL", summary: "s" }, agent("zoe", 32));
    }
    // The new handoff has another id in each, and so another place in the order.
    const withoutIds = (text: string) =>
      text
        .replace(/"id":"H\d+"/g, '"id":"H"')
        .split("\n")
        .sort()
        .join("\n");
    expect(withoutIds(await exported(shared))).toBe(withoutIds(await exported(before.store)));
    const after = file("after.db");
    await copyToSqlite(there, after.handle);
    expect(await exported(after.store)).toBe(await exported(shared));
  });

  it("is not copied over work that is there, and nothing has changed", async () => {
    const before = file("before.db");
    await fill(before.store);
    const { store: shared, server: there } = place.open();
    await shared.createTask({ title: "mine" }, agent());
    const old = await exported(shared);
    expect(await faultOf(copyToPostgres(before.handle, there))).toMatchObject({ code: "refused" });
    expect(await exported(shared)).toBe(old);
  });

  it("gives the same export when it is imported as when it is copied", async () => {
    const before = file("before.db");
    await fill(before.store);
    const { store: shared } = place.open();
    await shared.importRecords(before.store.exportRecords(), {}, person(20));
    expect(await exported(shared)).toBe(await exported(before.store));
    const again = await shared.importRecords(before.store.exportRecords(), {}, person(21));
    expect(again).toMatchObject({ updated: [], kept: [], problems: [] });
  });
});

/** One of everything that a store can hold. */
async function fill(store: WorkStore): Promise<void> {
  const by = agent("ann", 0, { sessionId: "s1", place: { client: "c", worktree: "/w", branch: "b" } });
  const given = (id: string, title: string, more: object = {}) => ({
    ...{ kind: "task", id, title, type: "feature", status: "todo", priority: "P1" },
    ...{ created_at: clock(0).toISOString(), updated_at: clock(0).toISOString(), ...more },
  });
  const tasks = [
    given("first-id", "first", { aliases: ["T999"], description: "with a NUL \0, a mark \x01 and an emoji 😀" }),
    given("second-id", "second", { files: ["b.ts", "a.ts"], estimate_hours: 0.1 }),
    // Its number is lower than its parent's.
    given("part-id", "a part", { parent_id: "whole-id", created_at: clock(-1).toISOString() }),
    given("whole-id", "whole", { steps: [{ text: "one", done: true }] }),
  ];
  await store.importRecords(tasks as never, {}, by);
  const epic = await store.createEpic({ title: "epic", priority: "P0" }, by);
  const story = await store.createStory({ title: "story", epicId: epic.id }, by);
  const { id } = await store.createTask({ title: "told", storyId: story.id }, by);
  await store.addDependency({ taskId: "part-id", dependsOnId: "first-id", type: "blocks" }, by);
  await store.addDependency({ taskId: id, dependsOnId: "second-id", type: "relates_to" }, by);
  await store.claim({ taskId: "first-id", leaseMs: LEASE_MS }, by);
  await store.updateWip({ taskId: "first-id", merge: merging({ phase: "half" }) }, by);
  await store.updateWip({ taskId: "first-id", merge: merging({ phase: "most" }, 1) }, agent("ann", 1));
  await store.claim({ taskId: "first-id", leaseMs: LEASE_MS, stealReason: "gone" }, agent("ben", 2));
  await store.recordFailure({ taskId: "first-id", summary: "red", details: "log" }, agent("ben", 3));
  await store.setBlocker({ taskId: "first-id", reason: "no key" }, agent("ben", 4));
  await store.resolveBlockers({ taskId: "first-id" }, person(5));
  await store.setHandoff({ taskId: id, role: "dev", status: "PASS", summary: "done", details: "long".repeat(99) }, by);
  await store.setStatus({ taskId: id, status: "in_progress", leaseMs: LEASE_MS }, agent("ann", 6));
  // Completes the story and the epic: the handoff goes to the archive.
  await store.setStatus({ taskId: id, status: "done", leaseMs: 1 }, agent("ann", 7));
  await store.setHandoff({ taskId: "whole-id", role: "dev", status: "BLOCKED", summary: "stuck" }, agent("ann", 8));
  await store.addAgent({ name: "ben", role: "reviewer", branch: "main" }, by);
  await store.sendMessage({ to: ["ben"], text: "look", branch: "main" }, person(9));
  await store.markRead({ name: "ben", branch: "main" }, clock(10));
  await store.recordSkill({ agent: "ann", taskId: "first-id", skill: "s", hash: "h", because: "asked" }, clock(11));
  await store.recordBatch({ receiver: "s1", size: 2, taskIds: ["first-id"] }, by);
}

async function fillRuns(runs: RunStore): Promise<void> {
  const { id: runId } = await runs.createRun(newRun("one"));
  await runs.addSession({ runId, purpose: "batch", taskIds: ["first-id"], startedAt: clock(1) });
  const task = { runId, taskId: "first-id", state: "done" as const, fixes: 0, reviewFailures: 0, title: "first" };
  await runs.setTask({ ...task, tokens: 1, sessions: 1, at: clock(2) });
  for (const exitCode of [1, 0]) {
    const test = { runId, session: 1, taskIds: ["first-id"], command: "t", isGreen: exitCode === 0, exitCode };
    await runs.addTest({ ...test, tookMs: 1, fingerprint: "f", output: "o\0", at: clock(3) });
  }
  const batch = { batchesCompleted: 1, lastBatchSize: 1, lastBatchOutcome: "completed" as const };
  await runs.addMetrics({ sessionId: "s", runId, ...batch, createdAt: clock(4) });
}

async function exported(store: WorkStore): Promise<string> {
  const lines: string[] = [];
  for await (const record of store.exportRecords()) lines.push(JSON.stringify(record));
  return lines.join("\n");
}

function tables({ db }: StoreHandle): Record<string, unknown[]> {
  const names =
    "queue claims last_holders lost_claims batches messages message_recipients aliases task_wip_changes tasks runs run_sessions run_tasks run_tests session_metrics";
  return Object.fromEntries(names.split(" ").map((name) => [name, db.prepare(`SELECT * FROM ${name}`).all()]));
}
