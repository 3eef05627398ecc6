/**
 * Three simulated workloads of 200 tasks, worked on in fixed batches of six and in adaptive ones (2 to 4, by success), with the rules of the runner:
 * a session is asked to end at 70% of its window, unfinished work continues in the next one from its WIP, and one task in ten fails. A task's share
 * of the window is log-normal, its 95th percentile three times the median. Against the targets: 8 tasks per session and 95% of batches completed.
 */
import { batchOutcome } from "../../packages/haversack/src/runs/brakes.ts";
import { batchSize } from "../../packages/haversack/src/runs/window-room.ts";
import { sizeAfter } from "../../packages/haversack/src/work/batch.ts";
import type { Benchmark } from "../harness.ts";

const TASKS = 200;
const ROUNDS = 200;
const LIMIT = 0.7;
/** The share of the window that a session begins with: the client's own prompt, and the packets. */
const START = 0.05;
const FAILURE = 0.1;
/** An unfinished task is read in again from its WIP. */
const AGAIN = 0.15;
/** ln 3 / 1.645: the 95th percentile is three times the median. */
const SIGMA = Math.log(3) / 1.645;

/** one: a session ends with its batch. many: it gets another batch while there is room, judged by what its tasks have used so far. */
type Sessions = "one" | "many";

export const batches: Benchmark = {
  name: "batches",
  summary:
    "200 tasks in fixed batches of six and in adaptive ones: tasks per session, batches completed, interruptions",
  async run() {
    const rows: (string | number)[][] = [];
    for (const median of [0.05, 0.15, 0.3]) {
      for (const sessions of ["one", "many"] as const) {
        for (const way of ["fixed 6", "adaptive"] as const) {
          const { perSession, completed, whole, interruptions } = average(median, way, sessions);
          rows.push([
            `${median * 100}%`,
            sessions === "one" ? "one batch" : "several",
            way,
            perSession.toFixed(1),
            `${(100 * completed).toFixed(0)}%`,
            `${(100 * whole).toFixed(0)}%`,
            interruptions.toFixed(0),
            perSession >= 8 ? "yes" : "no",
            completed >= 0.95 ? "yes" : "no",
          ]);
        }
      }
    }
    return {
      table: {
        columns: [
          "task, median",
          "session",
          "batches",
          "tasks/session",
          "completed",
          "not cut off",
          "interruptions",
          "8+ tasks",
          "95%+",
        ],
        rows,
      },
      notes: [
        "completed: every task of the batch passed; not cut off: the window did not end it, whatever its tasks came to",
        `means of ${ROUNDS} rounds; interruptions: batches cut off by the window, of 200 tasks`,
        "the share of batches that complete cannot reach 95% with 10% failures: of two tasks 19% fail one, of four 34%",
      ],
    };
  },
};

function average(median: number, way: "fixed 6" | "adaptive", sessions: Sessions) {
  const random = mulberry32(7);
  const sums = { perSession: 0, completed: 0, whole: 0, interruptions: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    const { sessionCount, batchCount, completed, interruptions } = simulate(median, way, sessions, random);
    sums.perSession += TASKS / sessionCount / ROUNDS;
    sums.completed += completed / batchCount / ROUNDS;
    sums.whole += (batchCount - interruptions) / batchCount / ROUNDS;
    sums.interruptions += interruptions / ROUNDS;
  }
  return sums;
}

function simulate(median: number, way: "fixed 6" | "adaptive", sessions: Sessions, random: () => number) {
  const waiting = Array.from({ length: TASKS }, () => ({
    left: median * Math.exp(SIGMA * normal(random)),
    isAgain: false,
  }));
  let [size, sessionCount, batchCount, completed, interruptions] = [way === "adaptive" ? 2 : 6, 0, 0, 0, 0];
  const wish = { size: way === "adaptive" ? ("auto" as const) : size, isIsolated: false };
  const use = { used: 0, tasks: 0 };
  const given = (usedTokens: number) =>
    batchSize(wish, { size, window: { usedTokens, windowTokens: 1 }, limit: { windowShare: LIMIT }, use });
  while (waiting.length > 0) {
    sessionCount++;
    let fill = START;
    for (let next = given(0); next > 0 && waiting.length > 0; ) {
      const [batch, before] = [waiting.splice(0, next), fill];
      batchCount++;
      let [done, failed] = [0, 0];
      const open: typeof batch = [];
      for (const task of batch) {
        const need = task.left + (task.isAgain ? Math.min(AGAIN, median) : 0);
        const room = LIMIT - fill;
        if (room <= 0) open.push(task);
        else if (need > room) {
          // Cut off in the middle: finished work is in the WIP.
          open.push({ left: Math.max(0.01, task.left - room), isAgain: true });
          fill = LIMIT;
        } else {
          fill += need;
          if (random() < FAILURE) failed++;
          else done++;
        }
      }
      waiting.unshift(...open);
      const outcome = batchOutcome(
        { kind: open.length > 0 ? "window-full" : "completed" },
        { done, failed, blocked: 0, open: open.length },
      );
      if (outcome === "completed") completed++;
      if (open.length > 0) interruptions++;
      if (way === "adaptive") size = sizeAfter(size, outcome === "completed" ? "completed" : "unfinished");
      // As the runner knows it: with what the session began with.
      use.used += before === START ? fill : fill - before;
      use.tasks += done + failed;
      next = sessions === "many" && open.length === 0 ? given(fill) : 0;
    }
  }
  return { sessionCount, batchCount, completed, interruptions };
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
