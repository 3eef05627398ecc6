/**
 * The time that the opencode plugin adds to a prompt in the client's own process, with 300 skills indexed. Runs the shipped bundle under
 * the client's Bun if available (HAVERSACK_BUN, else the client of the tests, which contains Bun), else under Node.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import type { DrivePlan, DriveTimes, Sample } from "../drive-opencode.ts";
import { type Benchmark, type Goal, quantile } from "../harness.ts";
import { BIN, indexSyntheticSkills, makeScratch, type Scratch } from "../scratch.ts";
import { syntheticSkills } from "../synthetic-skills.ts";

const PLUGIN = join(BIN, "../opencode-plugin.mjs");
const DRIVER = join(import.meta.dirname, "../drive-opencode.ts");
const LIMIT_MS = 5;
/** opencode itself takes a second or more between loading its plugins and the first prompt. */
const REST_MS = 300;

export const opencode: Benchmark = {
  name: "opencode",
  summary: "the opencode plugin in process with 300 skills indexed: the first prompt, later ones, a tool call",
  async run({ runs }) {
    const scratch = makeScratch();
    try {
      indexSyntheticSkills(scratch, 300);
      // Copied, so a build that runs meanwhile does not change it.
      copyFileSync(PLUGIN, pluginIn(scratch));
      const rested: DriveTimes[] = [];
      const rushed: DriveTimes[] = [];
      for (let round = -1; round < runs; round++) {
        const after = drive(scratch, planFor(scratch, REST_MS));
        const atOnce = drive(scratch, planFor(scratch, 0));
        if (round < 0) continue;
        rested.push(after);
        rushed.push(atOnce);
      }
      const rows: [string, Sample[]][] = [
        ["first prompt, skills fit", rested.map(({ first }) => first)],
        ["later prompt, nothing fits", rested.flatMap(({ silent }) => silent)],
        ["later prompt, skills fit", rested.flatMap(({ fitting }) => fitting)],
        ["first prompt of another session", rested.map(({ second }) => second)],
        ["after a tool, WIP written", rested.flatMap(({ writes }) => writes)],
        ["first prompt before the warm-up has run", rushed.map(({ first }) => first)],
        ["loading the plugin", rested.map(({ load }) => load)],
      ];
      const runtime = rested[0]?.runtime ?? "";
      return {
        table: {
          columns: ["in process", "p50 ms", "p95 ms", "processor p50 ms"],
          rows: rows.map(([name, samples]) => {
            const wall = samples.map(({ ms }) => ms);
            const cpu = samples.map(({ cpuMs }) => cpuMs);
            return [
              name,
              ...[quantile(wall, 0.5), quantile(wall, 0.95), quantile(cpu, 0.5)].map((ms) => ms.toFixed(2)),
            ];
          }),
        },
        goals: rows.slice(0, 5).map(
          ([name, samples]): Goal => ({
            name: `${name}, p50`,
            value: quantile(
              samples.map(({ ms }) => ms),
              0.5,
            ),
            limit: LIMIT_MS,
            side: "at-most",
            unit: " ms",
          }),
        ),
        notes: [
          `${runtime}; ${runs} processes of each kind; load ${(loadavg()[0] ?? 0).toFixed(1)} on ${availableParallelism()} cores.`,
          ...(runtime.startsWith("Bun") ? [] : ["No Bun to measure with: the client's own runtime is another."]),
        ],
        data: Object.fromEntries(rows),
      };
    } finally {
      scratch.remove();
    }
  },
};

/** Each fitting prompt uses the words of another skill: a window that has seen a skill does not get it again. */
function planFor({ root }: Scratch, restMs: number): DrivePlan {
  const words = syntheticSkills(60)
    .slice(40)
    .map(({ text }) => `please ${text.split("Use when ")[1]?.split(" ").slice(0, 12).join(" ")}`);
  return {
    restMs,
    first: words[0] ?? "",
    silent: Array.from({ length: 20 }, () => "continue"),
    fitting: words.slice(1),
    writes: Array.from({ length: 20 }, (_, at) => join(root, `src/file-${at}.ts`)),
  };
}

function pluginIn({ root }: Scratch): string {
  return join(root, "../opencode-plugin.mjs");
}

function drive(scratch: Scratch, plan: DrivePlan): DriveTimes {
  const { root, env } = scratch;
  const bun = findBun();
  const { status, stdout, stderr } = spawnSync(
    bun ?? process.execPath,
    [DRIVER, pluginIn(scratch), root, JSON.stringify(plan)],
    // The client is compiled with Bun. This variable makes it act as Bun itself.
    { cwd: root, env: { ...process.env, ...env, ...(bun && { BUN_BE_BUN: "1" }) }, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`${DRIVER}: exit ${status}: ${stderr}`);
  const times = JSON.parse(stdout) as DriveTimes;
  if (!times.hasText || times.texts < plan.fitting.length / 2) {
    throw new Error(`${times.texts} of ${plan.fitting.length} prompts got a text: this measures nothing`);
  }
  return times;
}

function findBun(): string | undefined {
  const clients = join(import.meta.dirname, "../../test/clients/opencode/node_modules");
  const client = join(clients, `opencode-${process.platform}-${process.arch}/bin/opencode`);
  return process.env["HAVERSACK_BUN"] || (existsSync(client) ? client : undefined);
}
