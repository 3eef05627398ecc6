/**
 * Defines a benchmark, and times whole processes: interleaved with a bare start of the same runtime in the same run, as medians
 * and ratios. Absolute times differ between machines; ratios are stable.
 */
import { spawnSync } from "node:child_process";

export interface Goal {
  name: string;
  value: number;
  /** The goal, and on which side of it the value must be. */
  limit: number;
  side: "at-most" | "at-least";
  unit?: string;
}

export interface BenchResult {
  table: { columns: string[]; rows: (string | number)[][] };
  goals?: Goal[];
  notes?: string[];
  /** Printed by `--json` in addition to the table. */
  data?: unknown;
}

export interface BenchInput {
  /** The folder with public data (HAVERSACK_CORPUS), when it is set. */
  corpus: string | undefined;
  /** Repetitions for whole processes. */
  runs: number;
  /** The total number of events to send to a server. */
  events: number | undefined;
}

export interface Benchmark {
  name: string;
  summary: string;
  run(input: BenchInput): Promise<BenchResult>;
}

export interface Candidate {
  name: string;
  /** Arguments of the runtime: a file and its own arguments. */
  args: string[];
  stdin?: string;
  cwd?: string;
  env?: Record<string, string>;
  runtime?: string;
  /** Exit codes that count as success. */
  exits?: number[];
}

export interface Timed {
  name: string;
  medianMs: number;
  p90Ms: number;
  ratio: number;
}

/** Times whole processes; the first row is the bare start that the ratios refer to. */
export function timeProcesses(candidates: readonly Candidate[], { runs }: { runs: number }): Timed[] {
  const bare: Candidate = { name: "bare start (node -e 0)", args: ["-e", "0"] };
  const all = [bare, ...candidates];
  const times = new Map(all.map(({ name }) => [name, [] as number[]]));
  for (let round = -2; round < runs; round++) {
    // The order rotates with every round, so none always runs after the same neighbour.
    const turned = all.map((_, at) => all[(at + Math.max(0, round)) % all.length] as Candidate);
    for (const candidate of turned) {
      const ms = timeOnce(candidate);
      if (round >= 0) times.get(candidate.name)?.push(ms);
    }
  }
  const bareMs = quantile(times.get(bare.name) ?? [], 0.5);
  return all.map(({ name }) => {
    const found = times.get(name) ?? [];
    const medianMs = quantile(found, 0.5);
    return { name, medianMs, p90Ms: quantile(found, 0.9), ratio: medianMs / bareMs };
  });
}

/** The second candidate's time as a share of the first's: the median over pairs that run one right after the other. */
export function timePairs(pairs: readonly [Candidate, Candidate][], { runs }: { runs: number }): Pair[] {
  const times = pairs.map(() => ({ old: [] as number[], new: [] as number[] }));
  for (let round = -2; round < runs; round++) {
    pairs.forEach(([first, second], at) => {
      // Each goes first in every other round.
      const isTurned = round % 2 !== 0;
      const a = timeOnce(isTurned ? second : first);
      const b = timeOnce(isTurned ? first : second);
      if (round < 0) return;
      times[at]?.old.push(isTurned ? b : a);
      times[at]?.new.push(isTurned ? a : b);
    });
  }
  return pairs.map(([{ name }], at) => {
    const { old, new: later } = times[at] ?? { old: [], new: [] };
    const ratios = old.map((ms, round) => (later[round] ?? Number.NaN) / ms);
    return { name, oldMs: quantile(old, 0.5), newMs: quantile(later, 0.5), ratio: quantile(ratios, 0.5) };
  });
}

export interface Pair {
  name: string;
  oldMs: number;
  newMs: number;
  ratio: number;
}

function timeOnce({ name, args, stdin = "", cwd, env, runtime = process.execPath, exits = [0] }: Candidate): number {
  const start = process.hrtime.bigint();
  const result = spawnSync(runtime, args, { input: stdin, cwd, env: { ...process.env, ...env }, encoding: "utf8" });
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (!exits.includes(result.status ?? -1)) {
    throw new Error(`${name}: exit ${result.status ?? result.signal}: ${result.stderr}`);
  }
  return ms;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function timedTable(timed: readonly Timed[]): BenchResult["table"] {
  return {
    columns: ["process", "median ms", "p90 ms", "ratio"],
    rows: timed.map(({ name, medianMs, p90Ms, ratio }) => [
      name,
      medianMs.toFixed(1),
      p90Ms.toFixed(1),
      ratio.toFixed(2),
    ]),
  };
}
