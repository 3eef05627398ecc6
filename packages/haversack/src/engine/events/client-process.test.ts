import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { clientProcess, isAlive } from "./event-project.ts";

it("takes a running process for alive, and one that was killed for dead, also while nobody has asked for its end", async () => {
  expect(isAlive(process.pid)).toBe(true);
  // The shell replaces itself with a program that never reaps its child.
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"]);
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = await once(parent.stdout, "data");
  const child = Number(String(line));
  expect(isAlive(child)).toBe(true);
  process.kill(child, "SIGKILL");
  for (let tries = 0; tries < 200 && !/\) Z/.test(readFileSync(`/proc/${child}/stat`, "latin1")); tries++)
    await wait(5);
  expect(isAlive(child)).toBe(false);
});

it("takes a process that was started at another time for another process", () => {
  const own = clientProcess(process.pid);
  expect(own?.start).toBeGreaterThan(0);
  expect(isAlive(process.pid, own?.start)).toBe(true);
  expect(isAlive(process.pid, (own?.start ?? 0) - 1)).toBe(false);
  // Unknown start time: only the process ID is compared.
  for (const start of [0, null, undefined]) expect(isAlive(process.pid, start)).toBe(true);
});
