import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { isAlive } from "./client-process.ts";

it("takes a running process for alive, and one that was killed for dead, also while nobody has asked for its end", async () => {
  expect(isAlive(process.pid)).toBe(true);
  // The shell gives its place to a program that never asks for the end of its child.
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
