/**
 * The kill test of work: processes that make tasks, and processes that claim and do them, are killed with SIGKILL at a random
 * moment. Afterwards all that was acknowledged must be in the store, and once the leases are over nothing is held.
 */
import { spawn } from "node:child_process";
import { checkStore } from "../../packages/haversack/src/store/sqlite/maintenance/check-store.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import { brokenTruths } from "../../packages/haversack/src/store/sqlite/work/work-truths.suite.ts";
import { bundleWorker } from "./run-worker.ts";

export interface WorkKillCounts {
  kills: number;
  /** Acknowledged writes of processes that were killed, by kind. */
  acknowledged: Record<string, number>;
  /** Acknowledged, but not in the store. */
  missing: string[];
  /** Tasks that were claimed by more than one. */
  claimedTwice: string[];
  /** Claims that the killed left behind, and what is still held once their leases are over. */
  leftClaims: number;
  heldAfterLease: number;
  tasks: number;
  checks: number;
  problems: string[];
}

type Told = Record<string, string>;

export async function workKillLoop(
  file: string,
  { kills, parallel = 4, checkEvery = 50 }: { kills: number; parallel?: number; checkEvery?: number },
): Promise<WorkKillCounts> {
  const worker = bundleWorker("work-worker.mjs");
  const told: Told[] = [];
  const problems: string[] = [];
  let started = 0;
  let killed = 0;
  let checks = 0;
  const check = () => {
    checks++;
    problems.push(...checkStore(file).problems);
  };
  const lane = async (_: unknown, index: number) => {
    while (started < kills) {
      const agent = `${index % 2 ? "worker" : "writer"}-${started++}`;
      for (const one of await runUntilKilled([worker, index % 2 ? "work" : "write", file, agent])) {
        told.push({ ...one, agent });
      }
      if (++killed % checkEvery === 0) check();
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  check();
  return { kills: killed, ...(await compare(file, told, problems)), checks, problems };
}

async function compare(
  file: string,
  told: readonly Told[],
  problems: string[],
): Promise<Omit<WorkKillCounts, "kills" | "checks" | "problems">> {
  const handle = openDatabase(file, { durability: "full" });
  const store = new SqliteWorkStore(handle);
  const now = new Date();
  problems.push(...brokenTruths(handle.db, now));
  const missing: string[] = [];
  const acknowledged: Record<string, number> = {};
  for (const one of told) {
    const [kind = "", id = ""] = Object.entries(one)[0] ?? [];
    acknowledged[kind] = (acknowledged[kind] ?? 0) + 1;
    if (!(await isThere(store, one, now))) missing.push(`${kind} ${id}`);
  }
  const claimed = told.flatMap(({ claimed: id }) => id ?? []);
  const leftClaims = (await store.listClaims({ at: now })).length;

  const afterLease = new Date(now.getTime() + 2 * 60 * 60_000);
  const heldAfterLease =
    (await store.listClaims({ at: afterLease })).length + (await store.countTasks({}, afterLease)).in_progress;
  problems.push(...brokenTruths(handle.db, afterLease));
  const { total } = await store.listTasks({ limit: 1, at: afterLease });
  handle.db.close();
  return {
    acknowledged,
    missing,
    claimedTwice: claimed.filter((id, index) => claimed.indexOf(id) !== index),
    leftClaims,
    heldAfterLease,
    tasks: total,
  };
}

async function isThere(store: SqliteWorkStore, one: Told, now: Date): Promise<boolean> {
  const task = (id: string) => store.getTask(id, now);
  if (one["created"]) return (await task(one["created"])).title === one["title"];
  if (one["review"]) return (await task(one["review"])).status === "review";
  if (one["done"]) return (await task(one["done"])).status === "done";
  if (one["wip"]) return ((await task(one["wip"])).wip?.files_modified ?? []).includes(one["file"] ?? "");
  if (one["handoff"]) {
    const { text } = await store.readHandoffDetails({ id: one["handoff"], from: 0, maxChars: 1_000_000 });
    return text === one["details"];
  }
  // The task is held or finished by the process that was told so.
  const { status, claim } = await task(one["claimed"] ?? "");
  return status === "done" || (status === "in_progress" && claim?.agent === one["agent"]);
}

function runUntilKilled(args: string[]): Promise<Told[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), Math.random() * 30));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (signal !== "SIGKILL")
        return reject(new Error(`It ended by itself (${code}): ${stdout.slice(-300)} ${stderr}`));
      // The last line may be cut: only lines that end with a line break are complete.
      const lines = stdout.slice(0, stdout.lastIndexOf("\n") + 1).split("\n");
      resolve(lines.filter(Boolean).map((line) => JSON.parse(line) as Told));
    });
  });
}
