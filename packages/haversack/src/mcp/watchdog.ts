/**
 * Ends the server when its thread hangs. The driver cannot interrupt a statement, so a store that keeps SQLite busy for ever would leave
 * a server that answers nobody until its client ends; a client can start a dead server again. A second thread watches: it sleeps
 * in the kernel, wakes once a second, and ends the process when the main thread has not run for too long.
 */
import { Worker } from "node:worker_threads";

export interface WatchdogOptions {
  /** How long the main thread may be busy without a pause, in milliseconds. */
  stuckMs: number;
}

/** A cold index of hundreds of skills takes 20 s on a slow machine, a locked store 15 s. */
export const STUCK_MS = 120_000;

export function startWatchdog({ stuckMs }: WatchdogOptions): { stop(): void } {
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const timer = setInterval(() => void Atomics.add(beats, 0, 1), Math.min(1000, stuckMs / 4));
  timer.unref();
  const watcher = new Worker(WATCH, {
    eval: true,
    workerData: { beats, stuckMs },
    execArgv: [],
    env: {},
  });
  watcher.unref();
  // No second thread may be had here: then there is nobody who watches, and the server works all the same.
  watcher.on("error", () => clearInterval(timer));
  return {
    stop() {
      clearInterval(timer);
      void watcher.terminate();
    },
  };
}

/**
 * Counts slices of its own time, not the clock: a laptop that slept, or a process that was stopped, is not stuck. SIGKILL, because a
 * signal that Node handles would wait for the main thread.
 */
const WATCH = `
const { beats, stuckMs } = require("node:worker_threads").workerData;
const sliceMs = Math.min(1000, stuckMs / 2);
const still = new Int32Array(new SharedArrayBuffer(4));
for (let seen = -1, idleMs = 0; ; ) {
  Atomics.wait(still, 0, 0, sliceMs);
  const now = Atomics.load(beats, 0);
  idleMs = now === seen ? idleMs + sliceMs : 0;
  seen = now;
  if (idleMs < stuckMs) continue;
  const { writeSync } = require("node:fs");
  writeSync(2, "haversack: the server hung for " + stuckMs / 1000 + " s and was ended; \`haversack store check\` looks at the store\\n");
  process.kill(process.pid, "SIGKILL");
}
`;
