/**
 * A queue for several machines, on the benchmark's own PostgreSQL server. 16 claimers are compared with a bare claim with SKIP LOCKED on the same
 * tables (and on the two tables that every queue needs), and with graphile-worker and pg-boss, one by one and in tens. Ours work in two
 * ways: all in one process, where claims that wait at the same time share a statement, and each with a connection of its own, as in 16 processes.
 * Also measures the next batch at 100,000 tasks.
 */
import { readdirSync, readFileSync } from "node:fs";
import { type Connection, connect } from "../../packages/haversack/src/store/postgres/connection.ts";
import { type Place, readPlace } from "../../packages/haversack/src/store/postgres/place.ts";
import { PostgresWorkStore } from "../../packages/haversack/src/store/postgres/postgres-work-store.ts";
import { Server } from "../../packages/haversack/src/store/postgres/server.ts";
import { startServer, whyNoServer } from "../../test/postgres/server.ts";
import { type Benchmark, type Goal, quantile } from "../harness.ts";
import { openPeers } from "../peer-queues.ts";

const CLAIMERS = 16;
const ROUNDS = 5;
const TASKS = 100_000;
/** For pg-boss, fewer than our tasks: with as many, a round took minutes. */
const PEER_JOBS = 12_000;
/** Only a part of the claims, for the same reason. */
const PEER_SHARE = 4;
const LEASE_MS = 3_600_000;
/** Claims in one round: of one task each, and of ten. */
const SIZES = [
  [1, 4000],
  [10, 2000],
] as const;

export const team: Benchmark = {
  name: "team",
  summary:
    "16 claimers on PostgreSQL against a bare SKIP LOCKED, graphile-worker and pg-boss; the next batch at 100,000 tasks",
  async run() {
    const why = whyNoServer();
    if (why !== undefined) return { table: { columns: [], rows: [] }, notes: [`not run: ${why}`] };
    // As in real use: every commit reaches the disk.
    const host = await startServer({ settings: ["fsync=on", "full_page_writes=on", "shared_buffers=256MB"] });
    const place = readPlace(host.url);
    const server = new Server(place, { connections: CLAIMERS });
    const store = new PostgresWorkStore(server);
    const db = await connect(place, { timeoutMs: 5000 });
    const closing: (() => Promise<void>)[] = [];
    const alone = Array.from({ length: CLAIMERS }, () => {
      const own = new Server(place, { connections: 1 });
      closing.push(() => own.close());
      return new PostgresWorkStore(own);
    });
    const OURS = { "one process": [store], "16 connections": alone };
    try {
      await server.prepare();
      await db.exec(`SET search_path TO ${place.schema}`);
      await fill(db);
      const opened = await openPeers(place, {
        url: host.url,
        claimers: CLAIMERS,
        jobs: PEER_JOBS,
        graphileJobs: TASKS,
      });
      const peers = typeof opened === "string" ? [] : opened;
      closing.push(...peers.map((peer) => () => peer.close()));
      const rows: (string | number)[][] = [];
      const goals: Goal[] = [];
      for (const [size, count] of SIZES) {
        const timings = new Map<string, Timing[]>();
        const note = (name: string, timing: Timing, round: number) => {
          if (round >= 0) timings.set(name, [...(timings.get(name) ?? []), timing]);
        };
        for (let round = -1; round < ROUNDS; round++) {
          await reset(db);
          for (const [name, sqlOf] of Object.entries(BARE)) {
            note(name, await bareClaims(host.pid, place, sqlOf(size), size, count), round);
            await reset(db);
          }
          // The very first claim takes the general path; the others are measured.
          await store.claim({ leaseMs: LEASE_MS }, by("first"));
          for (const [name, stores] of Object.entries(OURS)) {
            note(name, await ourClaims(host.pid, stores, size, count), round);
            if (name === "one process") {
              await reset(db);
              await store.claim({ leaseMs: LEASE_MS }, by("first"));
            }
          }
          for (const peer of peers) {
            await peer.tidy();
            note(
              peer.name,
              await timed(host.pid, count / PEER_SHARE, size, (claimer) => peer.claim(claimer, size), 1),
              round,
            );
          }
        }
        const of = (name: string, key: keyof Timing) => (timings.get(name) ?? []).map((timing) => timing[key]);
        const name = size === 1 ? "one by one" : `in ${size}s`;
        for (const ours of Object.keys(OURS)) {
          for (const other of [...Object.keys(BARE), ...peers.map((peer) => peer.name)]) {
            const what = `claims ${name}, ${ours}, to ${other}`;
            const cells = (["perSecond", "cpuMicros"] as const).map((key) => {
              const [own, others] = [of(ours, key), of(other, key)];
              // Of each round for itself: the machine may be slower in one than in another.
              const ratios = own.map((value, round) => value / (others[round] ?? Number.NaN));
              return [...[own, others].map((values) => Math.round(quantile(values, 0.5))), quantile(ratios, 0.5)];
            }) as [number[], number[]];
            rows.push([what, ...cells.flatMap(([own = 0, others = 0, ratio = 0]) => [own, others, ratio.toFixed(2)])]);
            if (other === TWO_TABLES) continue;
            const limit = other === SAME_TABLES ? 0.7 : 1;
            goals.push({ name: what, value: cells[0][2] ?? 0, limit, side: "at-least" });
          }
        }
      }
      await reset(db);
      const times: number[] = [];
      for (let round = -20; round < 300; round++) {
        const began = performance.now();
        await store.nextTasks({ limit: 3, at: new Date() });
        if (round >= 0) times.push(performance.now() - began);
      }
      const p95 = quantile(times, 0.95);
      rows.push([
        "next batch of 3 at 100,000 tasks: median and p95 ms",
        quantile(times, 0.5).toFixed(2),
        p95.toFixed(2),
        ...["", "", "", ""],
      ]);
      goals.push({ name: "next batch at 100,000 tasks, p95", value: p95, limit: 5, side: "at-most", unit: " ms" });
      return {
        table: { columns: ["16 claimers", "claims/s", "other", "ratio", "µs of processor", "other", "ratio"], rows },
        goals,
        notes: [
          typeof opened === "string"
            ? `not compared: ${opened}`
            : `pg-boss has ${PEER_JOBS} jobs to choose from, the others ${TASKS}`,
        ],
        data: { rows },
      };
    } finally {
      for (const close of closing) await close();
      await db.close();
      await server.close();
      await host.stop();
    }
  },
};

function by(name: string) {
  return { name, isNamed: true, at: new Date() };
}

async function fill(db: Connection): Promise<void> {
  await db.exec(`INSERT INTO tasks (id, title, type, status, priority, created_at, updated_at)
    SELECT 'T' || (100000 + n), 'Task ' || n, 'feature', 'todo', 2, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM generate_series(1, ${TASKS}) n;
    INSERT INTO queue SELECT seq, NULL, NULL, 1000000 - seq, 0, 0, 1, 1 FROM tasks`);
}

async function reset(db: Connection): Promise<void> {
  await db.exec(`DELETE FROM claims; DELETE FROM last_holders; DELETE FROM activity; DELETE FROM operations; DELETE FROM changes;
    UPDATE tasks SET status = 'todo', started_at = NULL WHERE status <> 'todo'; UPDATE queue SET is_todo = 1, is_ready = 1 WHERE is_ready = 0`);
  for (const table of ["claims", "last_holders", "activity", "operations", "changes", "tasks", "queue"])
    await db.exec(`VACUUM ANALYZE ${table}`);
}

/** A connection plans its statements at its first claims, and again after each `reset`. The server keeps a plan after five. */
const WARM_UP = 6;

interface Timing {
  perSecond: number;
  /** Processor time for each task, of the server's processes and this one. Other programs on the machine change it less than the rate. */
  cpuMicros: number;
}

async function timed(
  server: number,
  count: number,
  size: number,
  claim: (claimer: number) => Promise<number>,
  warmUp = WARM_UP,
): Promise<Timing> {
  const all = Array.from({ length: CLAIMERS }, (_, claimer) => claimer);
  for (let round = 0; round < warmUp; round++) await Promise.all(all.map(claim));
  let left = count;
  const before = cpuOf(server);
  const own = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    all.map(async (claimer) => {
      while (left > 0) {
        left -= size;
        const got = await claim(claimer);
        if (got !== size) throw new Error(`${got} of ${size} tasks were claimed`);
      }
    }),
  );
  const perSecond = (count / (performance.now() - began)) * 1000;
  const { user, system } = process.cpuUsage(own);
  let micros = user + system;
  for (const [pid, used] of cpuOf(server)) micros += used - (before.get(pid) ?? 0);
  return { perSecond, cpuMicros: micros / count };
}

/** Microseconds used by each process of the server. Only Linux tells them. */
function cpuOf(server: number): Map<string, number> {
  const used = new Map<string, number>();
  for (const pid of process.platform === "linux" ? readdirSync("/proc") : []) {
    try {
      const parent = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1];
      if (Number(parent) !== server) continue;
      used.set(pid, Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1000);
    } catch {
      // No process, or it has just ended.
    }
  }
  return used;
}

function ourClaims(server: number, stores: readonly PostgresWorkStore[], size: number, count: number): Promise<Timing> {
  return timed(server, count, size, async (claimer) => {
    const store = stores[claimer % stores.length] as PostgresWorkStore;
    const actor = by(`claimer-${claimer}`);
    if (size > 1) return (await store.claimSeveral({ leaseMs: LEASE_MS }, size, actor)).length;
    return (await store.claim({ leaseMs: LEASE_MS }, actor)).kind === "claimed" ? 1 : 0;
  });
}

const SAME_TABLES = "a bare claim on the same tables";
const TWO_TABLES = "one that writes two of them";

/** The limit is a constant: the server would plan a statement with an unknown one anew for each claim. */
const picked = (size: number) => `WITH picked AS (
    SELECT task FROM queue WHERE is_ready = 1 ORDER BY order_key DESC, task LIMIT ${size} FOR UPDATE SKIP LOCKED
  ), queued AS (
    UPDATE queue q SET is_todo = 0, is_ready = 0 FROM picked WHERE q.task = picked.task
  )`;
const held = "INSERT INTO claims SELECT task, $1, NULL, '', $2, $2, $3 FROM picked";

/** One statement each. The first writes all rows that a claim has to write; the second only marks the task as taken, and by whom. */
const BARE: Readonly<Record<string, (size: number) => string>> = {
  [SAME_TABLES]: (size) => `${picked(size)}, claim AS (${held}), holder AS (
    INSERT INTO last_holders (task, agent, claimed_at, last_seen_at) SELECT task, $1, $2, $2 FROM picked
  ), taken AS (
    UPDATE tasks t SET status = 'in_progress', started_at = $2, updated_at = $2 FROM picked WHERE t.seq = picked.task RETURNING t.*
  ), told AS (
    INSERT INTO activity (at, actor, kind, subject, text) SELECT $2, $1, 'task-claimed', id, 'claimed by ' || $1 FROM taken
  ) SELECT * FROM taken`,
  [TWO_TABLES]: (size) => `${picked(size)} ${held} RETURNING task`,
};

async function bareClaims(server: number, place: Place, sql: string, size: number, count: number): Promise<Timing> {
  const connections = await Promise.all(Array.from({ length: CLAIMERS }, () => connect(place, { timeoutMs: 5000 })));
  try {
    // Without the log of changes, which a bare queue does not have.
    for (const connection of connections)
      await connection.exec(`SET search_path TO ${place.schema}; SET haversack.is_claiming TO 'on'`);
    return await timed(server, count, size, async (claimer) => {
      const now = new Date();
      const values = [`claimer-${claimer}`, now.toISOString(), now.getTime() + LEASE_MS];
      return (await connections[claimer]?.query(sql, ...values))?.length ?? 0;
    });
  } finally {
    for (const connection of connections) await connection.close();
  }
}
