import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { findProcesses, signal } from "./process-tree.ts";

it("signals a shell before its command, so it does not print how the command ended", async () => {
  const shell = spawn("sh", ["-c", "echo started; sleep 600; true"], { detached: true });
  let errors = "";
  shell.stderr.on("data", (chunk) => (errors += chunk));
  await once(shell.stdout, "data");
  const roots = [shell.pid as number];
  const find = () => findProcesses({ roots, mark: "HAVERSACK_RUN=none" });
  let found = find();
  while (found.length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    found = find();
  }
  expect(found[0]?.id).toBe(shell.pid);
  signal(found, "SIGTERM");
  await once(shell, "close");
  expect(errors).toBe("");
});
