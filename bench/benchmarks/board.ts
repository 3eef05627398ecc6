/** The web board at 10,000 tasks: its requests, how soon a page has what others write, and the size of its script. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { type Benchmark, quantile } from "../harness.ts";
import { BIN, indexSyntheticSkills, makeScratch } from "../scratch.ts";
import type { Writers } from "./board-writers.ts";
import { fillWork } from "./work-queue-store.ts";

const TASKS = 10_000;
const SKILLS = 300;
const WRITERS = 20;
const UPDATES_PER_SECOND = 200;
const SECONDS = 10;
/** As the page waits between two requests for the same data. */
const PAUSE_MS = 250;

export const board: Benchmark = {
  name: "board",
  summary: "the web board at 10,000 tasks: requests, changes by 20 writers, size of the script",
  async run({ runs }) {
    const scratch = makeScratch();
    const file = join(scratch.root, ".haversack/haversack.db");
    const handle = openDatabase(file, { durability: "full" });
    const { firstId, epicId } = fillWork(handle, TASKS);
    await new SqliteWorkStore(handle).updateTask(firstId, { priority: "P0" }, { name: "bench", at: new Date() });
    handle.db.close();
    indexSyntheticSkills(scratch, SKILLS);
    const child = spawn(process.execPath, [BIN, "board", "--json"], {
      cwd: scratch.root,
      env: { ...process.env, ...scratch.env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    try {
      const [line] = (await once(createInterface(child.stdout), "line")) as [string];
      const { url } = JSON.parse(line) as { url: string };
      const { origin } = new URL(url);
      const cookie = ((await fetch(url)).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const get = async (path: string) => (await fetch(`${origin}/api/${path}`, { headers: { cookie } })).text();
      const rows: (string | number)[][] = [];
      let slowest = 0;
      const paths = ["board", `board?epic=${epicId}`, "board?limit=300", `tasks/${firstId}`, "ready", "agents", "runs"];
      for (const path of [...paths, "skills", "savings", "find?text=task%2099"]) {
        const times: number[] = [];
        for (let round = -3; round < Math.max(runs, 40); round++) {
          const from = performance.now();
          await get(path);
          if (round >= 0) times.push(performance.now() - from);
        }
        const p95 = quantile(times, 0.95);
        slowest = Math.max(slowest, p95);
        rows.push([path, quantile(times, 0.5).toFixed(1), p95.toFixed(1)]);
      }
      const delays = await follow({ origin, cookie, file, taskId: firstId });
      rows.push(["a change is on the page", quantile(delays, 0.5).toFixed(0), quantile(delays, 0.95).toFixed(0)]);
      const script = gzipSync(readFileSync(join(dirname(BIN), "board/app.js"))).length / 1000;
      rows.push(["script, gzipped, kB", script.toFixed(1), ""]);
      return {
        table: { columns: ["request", "median ms", "p95 ms"], rows },
        goals: [
          { name: "slowest request, p95", value: slowest, limit: 50, side: "at-most", unit: " ms" },
          {
            name: `${UPDATES_PER_SECOND} updates a second of ${WRITERS} writers, shown after, the longest`,
            value: Math.max(...delays),
            limit: 1000,
            side: "at-most",
            unit: " ms",
          },
          { name: "script without charts, gzipped", value: script, limit: 60, side: "at-most", unit: " kB" },
        ],
      };
    } finally {
      child.kill("SIGTERM");
      await ended;
      scratch.remove();
    }
  },
};

interface Followed {
  origin: string;
  cookie: string;
  file: string;
  taskId: string;
}

/** Others write, and this asks like the page: at a change, one request at a time, with a pause. */
async function follow({ origin, cookie, file, taskId }: Followed): Promise<number[]> {
  const updates = UPDATES_PER_SECOND * SECONDS;
  const workerData: Writers = { file, taskId, writers: WRITERS, perSecond: UPDATES_PER_SECOND, updates };
  const stop = new AbortController();
  const writtenAt: number[] = [];
  const delays: number[] = [];
  let seen = 0;
  let isChanged = true;
  const events = await fetch(`${origin}/api/events`, { headers: { cookie }, signal: stop.signal });
  const listening = (async () => {
    for await (const _ of events.body as unknown as AsyncIterable<Uint8Array>) isChanged = true;
  })().catch(() => undefined);
  const writing = new Worker(new URL("./board-writers.ts", import.meta.url), { workerData });
  writing.on("message", (at: number) => writtenAt.push(at));
  const written = once(writing, "exit");
  while (seen < updates) {
    if (!isChanged) {
      await sleep(5);
      continue;
    }
    isChanged = false;
    const text = await (await fetch(`${origin}/api/board`, { headers: { cookie } })).text();
    const number = Number(/number (\d+)"/.exec(text)?.[1] ?? -1);
    const now = Date.now();
    for (; seen <= number; seen++) delays.push(now - (writtenAt[seen] ?? now));
    await sleep(PAUSE_MS);
  }
  await written;
  stop.abort();
  await listening;
  return delays;
}
