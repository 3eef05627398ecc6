/** The next batch in process, at 1,000 and at 100,000 tasks, and the cost of finishing the task that all others wait for. */
import { type NextInput, nextBatch } from "../../packages/haversack/src/engine/work/next-batch.ts";
import { type Benchmark, quantile } from "../harness.ts";
import { makeWorkPool, type WorkPool } from "./work-queue-store.ts";

const SMALL = 1000;
const LARGE = 100_000;
const ROUNDS = 1000;
const LEASE_MS = 3_600_000;

export const workQueue: Benchmark = {
  name: "work-queue",
  summary: "the next batch of 3 at 1,000 and 100,000 tasks, in process; the one done that all wait for",
  async run() {
    const rows: (string | number)[][] = [];
    const worst = { p95: 0, ratio: 0 };
    const compare = async (name: string, pools: Pools, call: (pool: WorkPool) => Promise<unknown>) => {
      const times = await timeBoth(pools, call);
      const p95 = { small: quantile(times.small, 0.95), large: quantile(times.large, 0.95) };
      const ratio = p95.large / p95.small;
      rows.push([
        name,
        quantile(times.small, 0.5).toFixed(2),
        p95.small.toFixed(2),
        quantile(times.large, 0.5).toFixed(2),
        p95.large.toFixed(2),
        ratio.toFixed(2),
      ]);
      worst.p95 = Math.max(worst.p95, p95.large);
      worst.ratio = Math.max(worst.ratio, ratio);
    };

    await withPools({}, async (pools) => {
      await compare("all ready", pools, batchOf());
      await compare("all ready, of one epic", pools, (pool) => batchOf({ epicId: pool.epicId })(pool));
      await compare("all ready, of one story", pools, (pool) => batchOf({ storyId: pool.storyId })(pool));
      // Looks up the session's earlier batches.
      await compare("all ready, as many as the session manages", pools, batchOf({ limit: undefined }, "session"));
    });
    const doneMs: Record<number, number[]> = { [SMALL]: [], [LARGE]: [] };
    await withPools({ isWaiting: true }, async (pools) => {
      await compare("all wait for one", pools, batchOf());
      for (let round = 0; round < 3; round++) {
        doneMs[SMALL]?.push(await timeDone(pools.small));
        doneMs[LARGE]?.push(await timeDone(pools.large));
      }
      await compare("all set free by it", pools, batchOf());
    });
    const most = Math.max(...(doneMs[LARGE] ?? []));
    return {
      table: {
        columns: ["next batch of 3", "1,000: median ms", "p95", "100,000: median ms", "p95", "ratio of p95"],
        rows,
      },
      goals: [
        {
          name: "next batch at 100,000 tasks, p95, the slowest row",
          value: worst.p95,
          limit: 2,
          side: "at-most",
          unit: " ms",
        },
        { name: "to the same at 1,000, ratio, the worst row", value: worst.ratio, limit: 1.5, side: "at-most" },
        { name: "done what 99,999 wait for, slowest of 3", value: most, limit: 1000, side: "at-most", unit: " ms" },
      ],
      data: { rows, doneMs },
    };
  },
};

interface Pools {
  small: WorkPool;
  large: WorkPool;
}

async function withPools(options: { isWaiting?: boolean }, action: (pools: Pools) => Promise<void>): Promise<void> {
  const small = makeWorkPool(SMALL, options);
  const large = makeWorkPool(LARGE, options);
  try {
    await action({ small, large });
  } finally {
    small.remove();
    large.remove();
  }
}

function batchOf(scope: NextInput = {}, sessionId?: string): (pool: WorkPool) => Promise<unknown> {
  return async ({ store }) => {
    const by = { name: "bench", at: new Date(), ...(sessionId !== undefined && { sessionId }) };
    const { tasks } = await nextBatch({ limit: 3, ...scope }, { store, by });
    if (tasks.length === 0) throw new Error("the batch is empty");
  };
}

/** Alternates, so other load on the machine affects both. */
async function timeBoth(
  { small, large }: Pools,
  call: (pool: WorkPool) => Promise<unknown>,
): Promise<Record<"small" | "large", number[]>> {
  const times = { small: [] as number[], large: [] as number[] };
  for (let round = -50; round < ROUNDS; round++) {
    const [smallMs, largeMs] = [await timed(() => call(small)), await timed(() => call(large))];
    if (round < 0) continue;
    times.small.push(smallMs);
    times.large.push(largeMs);
  }
  return times;
}

/** Reopens the task first if it is already done. */
async function timeDone({ store, firstId }: WorkPool): Promise<number> {
  const by = { name: "bench", at: new Date() };
  const set = (status: "todo" | "in_progress" | "done") =>
    store.setStatus({ taskId: firstId, status, leaseMs: LEASE_MS }, by);
  await set("todo");
  await set("in_progress");
  let kind = "";
  const ms = await timed(async () => {
    ({ kind } = await set("done"));
  });
  if (kind !== "changed") throw new Error(`done was refused: ${kind}`);
  return ms;
}

async function timed(action: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await action();
  return performance.now() - start;
}
