/** Runs in separate processes: a process that hangs is killed, and one that works is not. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";

const WATCHDOG = pathToFileURL(join(import.meta.dirname, "watchdog.ts")).href;

function run(script: string, stuckMs = 400) {
  const code = `
    import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    import { DatabaseSync } from "node:sqlite";
    const dog = startWatchdog({ stuckMs: ${stuckMs} });
    const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${script}`;
  return spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
    timeout: 50_000,
    killSignal: "SIGTERM",
  });
}

it("ends a process whose statement never ends, with one line", () => {
  const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  const { signal, stderr } = run(
    `await pause(300); new DatabaseSync(":memory:").prepare(${JSON.stringify(endless)}).get();`,
  );
  expect(signal).toBe("SIGKILL");
  expect(stderr).toMatch(/^haversack: the server hung for 0\.4 s and was ended;[^\n]*\n$/);
});

it("leaves one alone that works or waits, and does not keep it alive", () => {
  const { status, stderr } = run("await pause(1500);");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

it("can be stopped", () => {
  const { status } = run(
    "await pause(200); dog.stop(); await pause(200); const end = Date.now() + 1500; while (Date.now() < end);",
  );
  expect(status).toBe(0);
});

it("ends with a process that is killed, and holds none of its output open", () => {
  // A leftover process that held standard error would sleep for a minute.
  const { signal, error } = run('await pause(300); process.kill(process.pid, "SIGKILL");', 480_000);
  expect({ signal, error }).toEqual({ signal: "SIGKILL", error: undefined });
});

it("leaves one alone that was stopped and goes on", () => {
  const { status, stderr } = run(
    `const { spawn } = await import("node:child_process");
    await pause(200);
    spawn("sh", ["-c", "sleep 4; kill -CONT " + process.pid], { stdio: "ignore" }).unref();
    process.kill(process.pid, "SIGSTOP");
    await pause(300);`,
    2_000,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
