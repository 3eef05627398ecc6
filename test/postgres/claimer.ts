/** One claimer in a process of its own: takes the next task and finishes it, until all are done. Prints the id of each task it took. */
import { setTimeout as sleep } from "node:timers/promises";
import { readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { PostgresWorkStore } from "../../packages/haversack/src/store/postgres/postgres-work-store.ts";
import { Server } from "../../packages/haversack/src/store/postgres/server.ts";

const [url = "", name = "", patienceMs = "60000"] = process.argv.slice(2);
const server = new Server(readPlace(url), { connections: 1, patienceMs: Number(patienceMs), busyMs: 60_000 });
const store = new PostgresWorkStore(server);
// The server may be down when this process starts. A program would report that at once; a test waits.
for (let tries = 1; ; tries++) {
  try {
    await server.prepare();
    break;
  } catch (error) {
    if (tries === 100) throw error;
    await sleep(500);
  }
}
const by = () => ({ name, isNamed: true, at: new Date() });
for (;;) {
  const outcome = await store.claim({ leaseMs: 3_600_000 }, by());
  if (outcome.kind === "claimed") {
    console.log(outcome.claim.taskId);
    const done = await store.setStatus({ taskId: outcome.claim.taskId, status: "done", leaseMs: 1 }, by());
    if (done.kind !== "changed") throw new Error(`${outcome.claim.taskId} could not be finished: ${done.kind}`);
    continue;
  }
  if (outcome.kind !== "nothing-ready") throw new Error(`could not claim: ${outcome.kind}`);
  const { todo, in_progress } = await store.countTasks({}, new Date());
  if (todo + in_progress === 0) break;
  await sleep(50);
}
await server.close();
