/** `npm run bench [NAME…] [-- --json] [--runs N] [--events N] [--list]`: runs the named benchmarks and reports which goals are met. */
import { parseArgs } from "node:util";
import type { Benchmark, BenchResult, Goal } from "./harness.ts";

const BENCHMARKS: Record<string, () => Promise<Benchmark>> = {
  cli: async () => (await import("./benchmarks/cli.ts")).cli,
  hook: async () => (await import("./benchmarks/hook.ts")).hook,
  compare: async () => (await import("./benchmarks/compare.ts")).compare,
  opencode: async () => (await import("./benchmarks/opencode.ts")).opencode,
  prompt: async () => (await import("./benchmarks/prompt.ts")).prompt,
  matching: async () => (await import("./benchmarks/matching.ts")).matching,
  context: async () => (await import("./benchmarks/context.ts")).context,
  learning: async () => (await import("./benchmarks/context.ts")).learning,
  listing: async () => (await import("./benchmarks/listing.ts")).listing,
  session: async () => (await import("./benchmarks/session.ts")).session,
  savings: async () => (await import("./benchmarks/savings.ts")).savings,
  "work-queue": async () => (await import("./benchmarks/work-queue.ts")).workQueue,
  "work-tokens": async () => (await import("./benchmarks/work-tokens.ts")).workTokens,
  "work-coordinator": async () => (await import("./benchmarks/work-coordinator.ts")).workCoordinator,
  "work-cold": async () => (await import("./benchmarks/work-cold.ts")).workCold,
  artifacts: async () => (await import("./benchmarks/artifacts.ts")).artifacts,
  "model-texts": async () => (await import("./benchmarks/model-texts.ts")).modelTexts,
  estimator: async () => (await import("./benchmarks/estimator.ts")).estimator,
  wake: async () => (await import("./benchmarks/wake.ts")).wake,
  "index-skills": async () => (await import("./benchmarks/index-skills.ts")).indexSkills,
  "server-start": async () => (await import("./benchmarks/server-start.ts")).serverStart,
  "server-events": async () => (await import("./benchmarks/server-events.ts")).serverEvents,
  "client-latency": async () => (await import("./benchmarks/client-latency.ts")).clientLatency,
  secrets: async () => (await import("./benchmarks/secrets.ts")).secrets,
  runs: async () => (await import("./benchmarks/runs.ts")).runs,
  batches: async () => (await import("./benchmarks/batches.ts")).batches,
  board: async () => (await import("./benchmarks/board.ts")).board,
  audit: async () => (await import("./benchmarks/audit.ts")).audit,
  retention: async () => (await import("./benchmarks/retention.ts")).retention,
  agents: async () => (await import("./benchmarks/agents.ts")).agents,
  team: async () => (await import("./benchmarks/team.ts")).team,
  "team-hook": async () => (await import("./benchmarks/team-hook.ts")).teamHook,
};

const { values, positionals } = parseArgs({
  options: {
    json: { type: "boolean" },
    runs: { type: "string" },
    events: { type: "string" },
    list: { type: "boolean" },
  },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !Object.hasOwn(BENCHMARKS, name));
if (unknown.length > 0) {
  console.error(`bench: no benchmark ${unknown.join(", ")}; there are ${Object.keys(BENCHMARKS).join(", ")}`);
  process.exit(2);
}
const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
const corpus = process.env["HAVERSACK_CORPUS"] || undefined;
const runs = Number(values.runs ?? 25);
const events = Number(values.events ?? 0) || undefined;
const results: Record<string, BenchResult> = {};

for (const name of names) {
  const benchmark = await BENCHMARKS[name]?.();
  if (!benchmark) continue;
  if (values.list) {
    console.log(`${name.padEnd(12)} ${benchmark.summary}`);
    continue;
  }
  const result = await benchmark.run({ corpus, runs, events });
  results[name] = result;
  if (!values.json) console.log(formatResult(benchmark, result));
}
if (values.json) console.log(JSON.stringify({ node: process.version, runs, results }));

function formatResult({ name, summary }: Benchmark, { table, goals = [], notes = [] }: BenchResult): string {
  const rows = [table.columns, ...table.rows.map((row) => row.map(String))];
  const widths = table.columns.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  const lines = rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
  );
  return [`\n## ${name}: ${summary}`, ...lines, ...goals.map(formatGoal), ...notes].join("\n");
}

function formatGoal({ name, value, limit, side, unit = "" }: Goal): string {
  const isMet = side === "at-most" ? value <= limit : value >= limit;
  const shown = Number.isInteger(value) ? String(value) : value.toFixed(2);
  return `${isMet ? "met   " : "MISSED"}  ${name}: ${shown}${unit} (${side === "at-most" ? "at most" : "at least"} ${limit}${unit})`;
}
