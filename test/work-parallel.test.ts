/** Many processes on one queue: creating tasks, claiming them, being killed meanwhile. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { checkStore } from "../packages/haversack/src/store/sqlite/maintenance/check-store.ts";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { brokenTruths } from "../packages/haversack/src/store/sqlite/work/work-truths.suite.ts";
import { DIST, scratchProject } from "./bins.ts";
import { bundleWorker } from "./store-workers/run-worker.ts";
import { workKillLoop } from "./store-workers/work-kill-loop.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "haversack-work-parallel-"));
  file = join(folder, ".haversack", "haversack.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

it("has all 800 tasks of 16 processes that run `task create` 50 times each", async () => {
  const { root, home } = scratchProject();
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
  const create = async (title: string) => {
    const ran = await run([join(DIST, "haversack.cjs"), "task", "create", title, "--json"], { cwd: root, env });
    if (ran.code !== 0 || ran.stderr !== "") throw new Error(`${title}: exit ${ran.code}: ${ran.stderr}`);
    return [(JSON.parse(ran.stdout) as { id: string }).id, title] as const;
  };
  const lanes = Array.from({ length: 16 }, async (_, lane) => {
    const made: (readonly [string, string])[] = [];
    for (let number = 0; number < 50; number++) made.push(await create(`lane ${lane}, number ${number}`));
    return made;
  });
  const told = new Map((await Promise.all(lanes)).flat());
  expect(told.size).toBe(800);
  const handle = openDatabase(join(root, ".haversack", "haversack.db"), { durability: "full" });
  const { items, total } = await new SqliteWorkStore(handle).listTasks({ limit: 1000, at: new Date() });
  const broken = brokenTruths(handle.db, new Date());
  handle.db.close();
  console.log(`task create: ${JSON.stringify({ processes: 16, acknowledged: told.size, tasks: total })}`);
  expect(total).toBe(800);
  expect(new Map(items.map(({ id, title }) => [id, title]))).toEqual(told);
  expect(broken).toEqual([]);
}, 240_000);

it("gives each of 1,000 tasks to exactly one of 32 processes that claim until nothing is left", async () => {
  const ids = await makeTasks(1000);
  const worker = bundleWorker("work-worker.mjs");
  const starts = Array.from({ length: 32 }, (_, number) => startTogether([worker, "drain", file, `agent-${number}`]));
  await Promise.all(starts.map(({ ready }) => ready));
  for (const { go } of starts) go();
  const results = await Promise.all(starts.map(({ done }) => done));
  expect(results.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([]);
  const claims = results.map(({ stdout }) =>
    stdout.split("\n").flatMap((line) => (line.includes('"claimed"') ? JSON.parse(line).claimed : [])),
  );
  const claimed = claims.flat();
  const least = Math.min(...claims.map((list) => list.length));
  console.log(
    `claims: ${JSON.stringify({ processes: 32, claims: claimed.length, distinct: new Set(claimed).size, least })}`,
  );
  expect(claimed.length).toBe(1000);
  expect([...claimed].sort()).toEqual([...ids].sort());

  const handle = openDatabase(file, { durability: "full" });
  const held = await new SqliteWorkStore(handle).listClaims({ at: new Date() });
  const holders = new Map(claims.flatMap((list, number) => list.map((id) => [id, `agent-${number}`])));
  expect(new Map(held.map(({ taskId, agent }) => [taskId, agent]))).toEqual(holders);
  expect(brokenTruths(handle.db, new Date())).toEqual([]);
  handle.db.close();
  expect(checkStore(file)).toMatchObject({ ok: true });
}, 120_000);

it("keeps all that was acknowledged through 500 kills, and holds nothing for ever", async () => {
  await makeTasks(3000);
  const counts = await workKillLoop(file, { kills: 500 });
  console.log(`work kill test: ${JSON.stringify(counts)}`);
  expect(counts).toMatchObject({
    kills: 500,
    missing: [],
    claimedTwice: [],
    heldAfterLease: 0,
    checks: 11,
    problems: [],
  });
  for (const kind of ["created", "review", "claimed", "wip", "handoff", "done"]) {
    expect(counts.acknowledged[kind]).toBeGreaterThan(100);
  }
  // If no kill left a claim behind, the test would prove nothing.
  expect(counts.leftClaims).toBeGreaterThan(50);
}, 240_000);

async function makeTasks(count: number): Promise<string[]> {
  const handle = openDatabase(file, { durability: "normal" });
  const store = new SqliteWorkStore(handle);
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    ids.push((await store.createTask({ title: `n${number}` }, { name: "test", at: new Date() })).id);
  }
  handle.db.close();
  return ids;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(args: string[], options: { cwd: string; env: Record<string, string> }): Promise<Ended> {
  return ended(spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], ...options }));
}

/** `ready`: the process is loaded. It continues when `go` is called. */
function startTogether(args: string[]): { ready: Promise<void>; go: () => void; done: Promise<Ended> } {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
  const ready = new Promise<void>((resolve) => {
    child.stdout.once("data", () => resolve());
    child.once("close", () => resolve());
  });
  return { ready, go: () => child.stdin.end(), done: ended(child) };
}

function ended(child: ReturnType<typeof spawn>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk) => (stdout += chunk));
    child.stderr?.on("data", (chunk) => (stderr += chunk));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
