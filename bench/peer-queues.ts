/**
 * How other queues on PostgreSQL take the next job, for comparison: graphile-worker and pg-boss. The benchmark installs them into its own
 * cache when it runs; nothing else uses them.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Connection, connect } from "../packages/haversack/src/store/postgres/connection.ts";
import type { Place } from "../packages/haversack/src/store/postgres/place.ts";

const VERSIONS = { "graphile-worker": "0.18.0", "pg-boss": "12.0.0" };
const CACHE = join(import.meta.dirname, "../node_modules/.cache/bench-peers");

export interface PeerQueue {
  name: string;
  /** Claims this many jobs for this claimer, and returns how many it got. */
  claim(claimer: number, size: number): Promise<number>;
  /** Between rounds. */
  tidy(): Promise<void>;
  close(): Promise<void>;
}

/** The queues, each with this many ready jobs; or a text that says why there are none. */
export async function openPeers(
  place: Place,
  { url, claimers, jobs, graphileJobs }: { url: string; claimers: number; jobs: number; graphileJobs: number },
): Promise<PeerQueue[] | string> {
  const problem = install();
  if (problem !== undefined) return problem;
  const connections = await Promise.all(Array.from({ length: claimers }, () => connect(place, { timeoutMs: 5000 })));
  const query = async (text: string) => {
    await connections[0]?.exec(text);
  };
  return [
    await openGraphile({ url, jobs: graphileJobs, connections, query }),
    await openBoss({ url, claimers, jobs, query }),
  ];
}

function install(): string | undefined {
  const isThere = Object.keys(VERSIONS).every((name) => existsSync(join(CACHE, "node_modules", name, "package.json")));
  if (isThere) return undefined;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, "package.json"), JSON.stringify({ private: true, dependencies: VERSIONS }));
  const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  const { status, stderr } = spawnSync("npm", words, { cwd: CACHE, encoding: "utf8", timeout: 120_000 });
  if (status === 0) return undefined;
  return `graphile-worker and pg-boss could not be installed: ${stderr.split("\n").find((line) => line.includes("error")) ?? status}`;
}

const load = (path: string) => import(pathToFileURL(join(CACHE, "node_modules", path)).href);

interface Parts {
  url: string;
  jobs: number;
  query(text: string): Promise<void>;
}

async function openGraphile({
  url,
  jobs,
  connections,
  query,
}: Parts & { connections: Connection[] }): Promise<PeerQueue> {
  const { runMigrations } = await load("graphile-worker/dist/index.js");
  // Its own statement, without the rest of the worker.
  const { batchGetJobs } = await load("graphile-worker/dist/sql/getJobs.js");
  await runMigrations({ connectionString: url });
  await query("INSERT INTO graphile_worker._private_tasks (identifier) VALUES ('work')");
  await query(`INSERT INTO graphile_worker._private_jobs (task_id, payload)
    SELECT t.id, '{}'::json FROM graphile_worker._private_tasks t, generate_series(1, ${jobs})`);
  const options = {
    escapedWorkerSchema: '"graphile_worker"',
    workerSchema: "graphile_worker",
    resolvedPreset: { worker: { preparedStatements: true, useNodeTime: false } },
    logger: console,
  };
  const tasks = { work: () => undefined };
  const tidy = () => query("VACUUM ANALYZE graphile_worker._private_jobs");
  await tidy();
  return {
    name: "graphile-worker",
    claim: async (claimer, size) => {
      const client = connections[claimer]?.client;
      const withClient = { withRetries: (use: (client: Connection["client"] | undefined) => unknown) => use(client) };
      return (await batchGetJobs(options, withClient, tasks, `worker-${claimer}`, null, size)).length;
    },
    tidy,
    close: async () => {
      for (const connection of connections) await connection.close();
    },
  };
}

async function openBoss({ url, jobs, claimers, query }: Parts & { claimers: number }): Promise<PeerQueue> {
  const loaded = await load("pg-boss/dist/index.mjs");
  const Boss = loaded.PgBoss ?? loaded.default;
  const boss = new Boss({ connectionString: url, max: claimers, supervise: false, schedule: false });
  let isClosing = false;
  boss.on("error", (error: unknown) => {
    if (!isClosing) console.error(error);
  });
  await boss.start();
  await boss.createQueue("work");
  for (let at = 0; at < jobs; at += 5000)
    await boss.insert(
      "work",
      Array.from({ length: Math.min(5000, jobs - at) }, () => ({ data: {} })),
    );
  const tidy = () => query("VACUUM ANALYZE pgboss.job");
  await tidy();
  return {
    name: "pg-boss",
    claim: async (_, size) => (await boss.fetch("work", { batchSize: size })).length,
    tidy,
    close: async () => {
      isClosing = true;
      await boss.stop({ graceful: false, close: true });
    },
  };
}
