import { expect, it } from "vitest";
import { memoryWork, NOW } from "../engine/work/memory-work.suite.ts";
import type { Run } from "../store/run-store.ts";
import { OtherMachines } from "./other-runs.ts";
import type { RunParts } from "./run-parts.ts";

/** Ten minutes of heartbeats. */
const LOOKS = 20;

async function fleet() {
  const memory = memoryWork({ name: "run-r1" });
  const { id } = await memory.store.createTask({ title: "t" }, memory.by);
  await memory.store.claim({ taskId: id, leaseMs: 3_600_000 }, memory.by);
  const run = { id: "R1", state: "running", machine: "far", process: { id: 1, space: "far" }, seenAt: NOW } as Run;
  const parts = {
    runs: { listRuns: async () => [{ ...run }] } as unknown as RunParts["runs"],
    work: (by) => memory.as(by),
    isAlive: () => undefined as boolean | undefined,
    now: () => NOW,
  } satisfies Pick<RunParts, "runs" | "work" | "isAlive" | "now">;
  const isHeld = async () => (await memory.store.getTask(id, NOW)).claim !== undefined;
  const look = async (machines: OtherMachines, times: number, ownId = "R2") => {
    for (let time = 0; time < times; time++) await machines.look(ownId, parts);
  };
  return { run, parts, isHeld, look };
}

it("frees the tasks of a machine that sends no heartbeat for ten minutes", async () => {
  const { isHeld, look } = await fleet();
  const machines = new OtherMachines();
  await look(machines, LOOKS);
  expect(await isHeld()).toBe(true);
  await look(machines, 1);
  expect(await isHeld()).toBe(false);
});

it("does so although a shared store tells the time of its last heartbeat a little differently each time", async () => {
  const { run, isHeld, look } = await fleet();
  const machines = new OtherMachines();
  for (let time = 0; time <= LOOKS; time++) {
    run.seenAt = new Date(NOW.getTime() + ((time * 7) % 50));
    await look(machines, 1);
  }
  expect(await isHeld()).toBe(false);
});

it("frees nothing of one that sends them, of its own run, or of a living one on this machine", async () => {
  const { run, parts, isHeld, look } = await fleet();
  const machines = new OtherMachines();
  await look(machines, LOOKS);
  run.seenAt = new Date(NOW.getTime() + 30_000);
  await look(machines, LOOKS);
  await look(new OtherMachines(), 2 * LOOKS, "R1");
  parts.isAlive = () => true;
  await look(new OtherMachines(), 2 * LOOKS);
  expect(await isHeld()).toBe(true);
});

it("does not take an outage of the server for silence of the machines", async () => {
  const { parts, isHeld, look } = await fleet();
  const machines = new OtherMachines();
  await look(machines, 1);
  const { listRuns } = parts.runs;
  parts.runs.listRuns = () => Promise.reject(new Error("the server is away"));
  for (let time = 0; time < 3 * LOOKS; time++) await machines.look("R2", parts).catch(() => undefined);
  parts.runs.listRuns = listRuns;
  await look(machines, LOOKS - 1);
  expect(await isHeld()).toBe(true);
});
