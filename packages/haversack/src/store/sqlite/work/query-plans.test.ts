/**
 * Frequent operations must not scan all tasks. Checks SQLite's query plans for all their statements. SQLite does not know how full a
 * table is, so an empty store has the same plans as one with 100,000 tasks.
 */
import { expect, it } from "vitest";
import { mergeWip } from "../../../work/wip/merge-wip.ts";
import { openMemoryStore } from "../open.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";

/** As many rows as there are agents, or as the statement itself created. */
const SMALL = /^SCAN (c|claims|n|json_each|CONSTANT ROW)\b/;
/** Scans in index order and stops at the limit. */
const LIMITED = /^SCAN (q|queue) USING (COVERING )?INDEX queue_ready\b/;

it("never looks at all rows of a large table to hand out, claim, finish or change a task", async () => {
  const handle = openMemoryStore();
  const asked = new Set<string>();
  const prepare = handle.db.prepare.bind(handle.db);
  handle.db.prepare = (sql) => {
    asked.add(sql);
    return prepare(sql);
  };
  const store = new SqliteWorkStore(handle);
  const at = new Date("2031-01-01T00:00:00Z");
  const by = { name: "ann", sessionId: "s", at };
  const leaseMs = 1000;

  const { id: epicId } = await store.createEpic({ title: "e" }, by);
  const { id: storyId } = await store.createStory({ title: "s", epicId }, by);
  const { id } = await store.createTask({ title: "a", storyId, files: ["a.ts"] }, by);
  const { id: other } = await store.createTask({ title: "b", dependsOn: [id] }, by);
  for (const scope of [{}, { epicId }, { storyId }]) {
    await store.nextTasks({ limit: 3, at, ...scope });
    await store.filesInProgress(scope, at);
  }
  await store.recordBatch({ receiver: "s", size: 2, taskIds: [id] }, by);
  await store.lastBatch("s");
  await store.claim({ leaseMs, maxClaims: 3 }, by);
  await store.heartbeat({ leaseMs }, by);
  await store.updateWip({ taskId: id, merge: (wip) => mergeWip(wip, { phase: "x" }, { at }) }, by);
  await store.getTask(id, at);
  await store.release({ taskId: id }, by);
  await store.setStatus({ taskId: id, status: "in_progress", leaseMs }, by);
  await store.setHandoff({ taskId: id, role: "r", status: "PASS", summary: "s", details: "d" }, by);
  await store.getHandoff({ taskId: id });
  await store.setStatus({ taskId: id, status: "done", leaseMs }, by);
  await store.updateEpic(epicId, { priority: "P0" }, by);
  await store.updateTask(other, { storyId, priority: "P0" }, by);
  await store.removeDependency({ taskId: other, dependsOnId: id }, by);
  await store.setBlocker({ taskId: other, reason: "r" }, by);
  await store.resolveBlockers({ taskId: other }, by);
  await store.claim({ taskId: other, leaseMs }, by);
  // Its lease is over by then.
  await store.listClaims({ at: new Date(at.getTime() + 2 * leaseMs) });

  const statements = [...asked].filter((sql) => /^\s*(SELECT|UPDATE|DELETE|INSERT)/.test(sql));
  expect(statements.length).toBeGreaterThan(40);
  const scans = statements.flatMap((sql) =>
    prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
      .filter((detail) => detail.startsWith("SCAN") && !SMALL.test(detail) && !LIMITED.test(detail))
      .map((detail) => `${detail}: ${sql}`),
  );
  expect(scans).toEqual([]);
  handle.db.close();
});

it("sorts no task to list the first of each status", async () => {
  const handle = openMemoryStore();
  const asked = new Set<string>();
  const prepare = handle.db.prepare.bind(handle.db);
  handle.db.prepare = (sql) => {
    asked.add(sql);
    return prepare(sql);
  };
  const store = new SqliteWorkStore(handle);
  const at = new Date("2031-01-01T00:00:00Z");
  const { id } = await store.createTask({ title: "a" }, { name: "ann", at });
  await store.createTask({ title: "b", dependsOn: [id] }, { name: "ann", at });
  asked.clear();
  await store.listTasks({ limit: 5, at });
  const plans = [...asked]
    .filter((sql) => sql.includes("LIMIT"))
    .map((sql) =>
      prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .join("\n"),
    );
  expect(plans).toHaveLength(2);
  expect(plans.join("\n")).not.toContain("TEMP B-TREE");
  handle.db.close();
});
