/** Several machines with `haversack work` on one queue. `npm run fleet` does it with 200 tasks and four machines. */
import { describe, expect, inject, it } from "vitest";
import { runFleet } from "./fleet.ts";
import { sharedServer } from "./server.ts";

const server = await sharedServer(inject("postgresFolder"));
let count = 0;
const url = () => `${server?.socketUrl}&project=fleet${process.pid}_${++count}`;

describe.skipIf(!server)("a fleet on one queue", () => {
  it("does each task once, also those of a machine that vanishes", { timeout: 300_000 }, async () => {
    const { done, statuses, ended, runs, expired, leftovers } = await runFleet({
      ...{ url: url(), tasks: 12, machines: 3, killAfter: 3, taskMs: 300 },
    });
    expect(statuses).toEqual(Array.from({ length: 12 }, () => "done"));
    expect([...done.values()].filter((who) => who.length > 1)).toEqual([]);
    expect(Object.values(ended).map(({ code }) => code)).toEqual([0, null, 0]);
    expect(runs.map(({ machine, state }) => `${machine} ${state}`).sort()).toEqual([
      "machine-1 ended",
      "machine-2 interrupted",
      "machine-3 ended",
    ]);
    expect(expired).toBeGreaterThan(0);
    expect(leftovers).toBe(0);
  });

  it("lets a drained machine finish what it has, and gives it nothing new", { timeout: 300_000 }, async () => {
    const { done, statuses, ended, runs, pushed } = await runFleet({
      ...{ url: url(), tasks: 16, machines: 2, drainAfter: 2 },
    });
    expect(statuses).toEqual(Array.from({ length: 16 }, () => "done"));
    expect([...done.values()].filter((who) => who.length > 1)).toEqual([]);
    expect(ended["machine-1"]?.code).toBe(0);
    expect(runs.find(({ machine }) => machine === "machine-2")).toMatchObject({
      state: "ended",
      stopped: expect.stringMatching(/^drained: /),
    });
    // One batch of four, or two if the second had begun.
    expect([...done.values()].flat().filter((machine) => machine === "machine-2").length).toBeLessThanOrEqual(8);
    expect(pushed.size).toBe(16);
  });
});
