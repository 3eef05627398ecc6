/**
 * One process of the tests of work: `node work-worker.mjs VERB FILE AGENT`. Prints a JSON line for each thing that the store has
 * acknowledged, after the promise was fulfilled and never before.
 */
import { readFileSync, writeSync } from "node:fs";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { mergeWip } from "../../packages/haversack/src/work/wip/merge-wip.ts";

const [verb, file, agent] = process.argv.slice(2);
const LEASE_MS = 60 * 60_000;
const told = (what) => writeSync(1, `${JSON.stringify(what)}\n`);
const by = () => ({ name: agent, at: new Date() });
const store = new SqliteWorkStore(openDatabase(file, { durability: "full" }));

const verbs = {
  /** Waits until all others are loaded too, then claims until no task is left. */
  async drain() {
    told({ ready: true });
    readFileSync(0);
    for (;;) {
      const outcome = await store.claim({ leaseMs: LEASE_MS }, by());
      if (outcome.kind === "nothing-ready") return told({ nothingLeft: true });
      told({ claimed: outcome.task.id });
    }
  },

  /** Claims a task and does all of its work, again and again, until it is killed. */
  async work() {
    for (;;) {
      const outcome = await store.claim({ leaseMs: LEASE_MS }, by());
      if (outcome.kind !== "claimed") return told({ nothingLeft: true });
      const { id } = outcome.task;
      told({ claimed: id });
      for (const phase of ["one", "two"]) {
        const patch = { phase, files_modified: [`${agent}-${phase}.ts`] };
        await store.updateWip({ taskId: id, merge: (current) => mergeWip(current, patch, { at: new Date() }) }, by());
        told({ wip: id, file: `${agent}-${phase}.ts` });
      }
      const details = `${agent} ${id} `.repeat(200);
      const handoff = await store.setHandoff(
        { taskId: id, role: "implementer", status: "PASS", summary: agent, details },
        by(),
      );
      told({ handoff: handoff.id, of: id, details });
      await store.setStatus({ taskId: id, status: "done", leaseMs: LEASE_MS }, by());
      told({ done: id });
    }
  },

  /** Makes tasks that wait for one another, and puts every third aside for review. */
  async write() {
    let before;
    for (let number = 0; ; number++) {
      const title = `${agent}-${number}`;
      const { id } = await store.createTask({ title, ...(before && { dependsOn: [before] }) }, by());
      told({ created: id, title });
      before = number % 4 === 3 ? undefined : id;
      if (number % 3 !== 2) continue;
      const outcome = await store.setStatus({ taskId: id, status: "review", leaseMs: LEASE_MS }, by());
      // Another process may have claimed it in between.
      if (outcome.kind === "changed") told({ review: id });
    }
  },
};

await verbs[verb]();
