/** The web board at 10,000 tasks: its requests, its first paint, the time until a page shows what others write, and the size of its script. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { chromium, type Page } from "playwright-core";
import { COLUMNS } from "../../packages/haversack/src/board-server/board-types.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { type Benchmark, quantile } from "../harness.ts";
import { BIN, indexSyntheticSkills, makeScratch } from "../scratch.ts";
import { syntheticSkills } from "../synthetic-skills.ts";
import { fillBoard } from "./board-project.ts";
import type { Writers } from "./board-writers.ts";

const TASKS = 10_000;
const SKILLS = 300;
const WRITERS = 20;
const UPDATES_PER_SECOND = 200;
const SECONDS = 10;
/** The pause of the page between two requests for the same data. */
const PAUSE_MS = 250;

export const board: Benchmark = {
  name: "board",
  summary: "the web board at 10,000 tasks: requests, first paint, changes by 20 writers, size of the script",
  async run({ runs }) {
    const scratch = makeScratch();
    const file = join(scratch.root, ".haversack/haversack.db");
    const handle = openDatabase(file, { durability: "full" });
    const skills = syntheticSkills(SKILLS).map(({ name }) => name);
    const { firstId, epicId } = fillBoard(handle, TASKS, skills);
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
      const authorization = `Bearer ${new URL(url).searchParams.get("token")}`;
      const get = async (path: string) => (await fetch(`${origin}/api/${path}`, { headers: { authorization } })).text();
      const rows: (string | number)[][] = [];
      let slowest = 0;
      const paths = [
        "board",
        `board?epic=${epicId}`,
        "board?done=300",
        `board?${COLUMNS.map((status) => `${status}=300`).join("&")}`,
        `tasks/${firstId}`,
        "ready",
        "agents",
        "runs",
        "groups",
      ];
      for (const path of [...paths, "skills", "savings", "find?text=task%2099"]) {
        const times: number[] = [];
        const rounds = Math.max(runs, 40);
        let cpuBefore: number | undefined;
        for (let round = -3; round < rounds; round++) {
          if (round === 0) cpuBefore = cpuMsOf(child.pid);
          const from = performance.now();
          await get(path);
          if (round >= 0) times.push(performance.now() - from);
        }
        const p95 = quantile(times, 0.95);
        slowest = Math.max(slowest, p95);
        const cpuAfter = cpuMsOf(child.pid);
        const cpu =
          cpuBefore === undefined || cpuAfter === undefined ? "" : ((cpuAfter - cpuBefore) / rounds).toFixed(1);
        const name = path.length > 30 ? "board, 300 of each column" : path;
        rows.push([name, quantile(times, 0.5).toFixed(1), p95.toFixed(1), cpu]);
      }
      const delays = await follow({ origin, authorization, file, taskId: firstId });
      rows.push(["a change is on the page", quantile(delays, 0.5).toFixed(0), quantile(delays, 0.95).toFixed(0)]);
      const seen = await inBrowser({ url, file, taskId: firstId });
      if (seen) {
        const { paints, cards, delays: shown } = seen;
        rows.push(["first paint", quantile(paints, 0.5).toFixed(0), quantile(paints, 0.95).toFixed(0)]);
        rows.push(["first cards", quantile(cards, 0.5).toFixed(0), quantile(cards, 0.95).toFixed(0)]);
        rows.push(["a change is in the document", quantile(shown, 0.5).toFixed(0), quantile(shown, 0.95).toFixed(0)]);
      }
      const script = gzipSync(readFileSync(join(dirname(BIN), "board/app.js"))).length / 1000;
      rows.push(["script, gzipped, kB", script.toFixed(1), ""]);
      return {
        table: { columns: ["request", "median ms", "p95 ms", "CPU ms, mean"], rows },
        ...(!seen && { notes: [`no Chromium at ${CHROMIUM}: first paint and what the page shows were not measured`] }),
        goals: [
          ...(seen
            ? [
                { name: "cards of the first page, the longest", value: Math.max(...seen.cards), ...SECOND },
                { name: "the same updates in the document, the longest", value: Math.max(...seen.delays), ...SECOND },
              ]
            : []),
          { name: "slowest request, p95", value: slowest, limit: 50, side: "at-most", unit: " ms" },
          {
            name: `${UPDATES_PER_SECOND} updates a second of ${WRITERS} writers, shown after, the longest`,
            value: Math.max(...delays),
            ...SECOND,
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

/** Of the process's main thread, on systems that report it (Linux). Other programs on the machine do not count. */
function cpuMsOf(pid: number | undefined): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    // The column stays empty.
    return undefined;
  }
}

const SECOND = { limit: 1000, side: "at-most", unit: " ms" } as const;
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
const LOADS = 10;

/** The page itself, in Chromium. Undefined: Chromium is not installed. */
async function inBrowser({ url, file, taskId }: { url: string; file: string; taskId: string }) {
  if (!existsSync(CHROMIUM)) return undefined;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const [paints, cards]: [number[], number[]] = [[], []];
    for (let load = 0; load < LOADS; load++) {
      // A new context has an empty cache.
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.addInitScript(`new MutationObserver((_, observer) => {
        if (!document.querySelector(".card")) return;
        observer.disconnect();
        requestAnimationFrame(() => { globalThis.cardsAt = performance.now(); });
      }).observe(document, { childList: true, subtree: true });`);
      await page.goto(url);
      await until(page, "globalThis.cardsAt !== undefined");
      paints.push(await page.evaluate('performance.getEntriesByName("first-contentful-paint")[0].startTime'));
      cards.push(await page.evaluate("globalThis.cardsAt"));
      await context.close();
    }
    const page = await browser.newPage();
    await page.goto(url);
    await page.locator(`[data-task="${taskId}"]`).waitFor();
    await page.evaluate(`globalThis.shown = []; new MutationObserver(() => {
      const [, number] = /number (\\d+)/.exec(document.querySelector('[data-task="${taskId}"]')?.textContent ?? "") ?? [];
      if (number === undefined || globalThis.shown.at(-1)?.number === Number(number)) return;
      globalThis.shown.push({ number: Number(number), at: Date.now() });
    }).observe(document, { childList: true, subtree: true, characterData: true });`);
    const { writtenAt, written } = write({ file, taskId });
    await written;
    await until(page, `globalThis.shown.at(-1)?.number === ${UPDATES - 1}`);
    const shown = await page.evaluate<{ number: number; at: number }[]>("globalThis.shown");
    // An update is shown when the page first has a state that is at least as new.
    const delays = writtenAt.map((at, number) => {
      const first = shown.find((state) => state.number >= number && state.at >= writtenAt[0]!);
      return Math.max(0, (first?.at ?? Number.POSITIVE_INFINITY) - at);
    });
    return { paints, cards, delays };
  } finally {
    await browser.close();
  }
}

/** The page's policy forbids what playwright's own wait does. */
async function until(page: Page, truth: string): Promise<void> {
  for (let round = 0; round < 3_000; round++) {
    if (await page.evaluate<boolean>(truth)) return;
    await sleep(10);
  }
  throw new Error(`the page never came to ${truth}`);
}

const UPDATES = UPDATES_PER_SECOND * SECONDS;

/** Begins to write; `writtenAt` fills meanwhile. */
function write({ file, taskId }: { file: string; taskId: string }) {
  const workerData: Writers = { file, taskId, writers: WRITERS, perSecond: UPDATES_PER_SECOND, updates: UPDATES };
  const writtenAt: number[] = [];
  const writing = new Worker(new URL("./board-writers.ts", import.meta.url), { workerData });
  writing.on("message", (at: number) => writtenAt.push(at));
  return { writtenAt, written: once(writing, "exit") };
}

interface Followed {
  origin: string;
  authorization: string;
  file: string;
  taskId: string;
}

/** While others write, this sends requests like the page: after a change, one at a time, with a pause. */
async function follow({ origin, authorization, file, taskId }: Followed): Promise<number[]> {
  const stop = new AbortController();
  const delays: number[] = [];
  let seen = 0;
  let isChanged = true;
  const events = await fetch(`${origin}/api/events`, { headers: { authorization }, signal: stop.signal });
  const listening = (async () => {
    for await (const _ of events.body as unknown as AsyncIterable<Uint8Array>) isChanged = true;
  })().catch(() => undefined);
  const { writtenAt, written } = write({ file, taskId });
  while (seen < UPDATES) {
    if (!isChanged) {
      await sleep(5);
      continue;
    }
    isChanged = false;
    const text = await (await fetch(`${origin}/api/board`, { headers: { authorization } })).text();
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
