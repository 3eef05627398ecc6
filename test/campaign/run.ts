/**
 * `npm run campaign -- [--only NAME[,NAME]] [--seed N] [--scale N] [--cases N]`: mutated payloads, kills, races, damage and full disks on the built
 * programs. Prints one row for each part, and exits with 1 when a promise is broken. The same seed repeats payloads and damage, but not the timing of
 * parallel processes.
 */
import { parseArgs } from "node:util";
import { claims, damagedCache, damagedStore, fullDisk, killedMigrations, kills } from "./faults.ts";
import { fuzzInProcess, fuzzOpencode, fuzzProcesses } from "./fuzz.ts";
import { type Random, seeded } from "./random.ts";
import type { Tally } from "./tally.ts";

interface Part {
  about: string;
  /** Cases or rounds at scale 1; all together take about a minute on two cores. */
  count: number;
  run(random: Random, count: number, progress: (done: number) => void): Promise<Tally>;
}

const PARTS: Record<string, Part> = {
  "in-process": { about: "payloads, hook.cjs in this process", count: 6000, run: fuzzInProcess },
  opencode: { about: "calls of the opencode plugin", count: 3000, run: fuzzOpencode },
  processes: { about: "payloads, one process each", count: 150, run: fuzzProcesses },
  kills: { about: "writers killed with SIGKILL", count: 60, run: kills },
  claims: { about: "claimers at one moment", count: 1, run: claims },
  migrations: { about: "upgrades killed with SIGKILL", count: 15, run: killedMigrations },
  cache: { about: "damaged code cache", count: 12, run: damagedCache },
  store: { about: "damaged store, log, shared memory", count: 12, run: damagedStore },
  "full-disk": { about: "no room on the disk", count: 4, run: fullDisk },
};

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seed: { type: "string" },
    scale: { type: "string", default: "1" },
    cases: { type: "string" },
  },
});
const names = values.only?.split(",") ?? Object.keys(PARTS);
const unknown = names.filter((name) => !Object.hasOwn(PARTS, name));
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const scale = Number(values.scale);
if (unknown.length > 0 || !Number.isInteger(seed) || !(scale > 0)) {
  console.error(`campaign: --only ${Object.keys(PARTS).join(",")}; --seed is a whole number; --scale is above 0`);
  process.exit(2);
}

// An unhandled rejection must not go unnoticed.
const stray: string[] = [];
process.on("unhandledRejection", (fault) => void stray.push(String(fault instanceof Error ? fault.stack : fault)));

console.log(`campaign: seed ${seed}, scale ${scale}, Node ${process.version}`);
const HEAD = ["part", "cases", "answers", "bad exits", "over cap", "bad JSON", "noise", "longest ms", "took s", ""];
const rows: string[][] = [HEAD];
const lines: string[] = [];
let isBroken = false;
for (const name of names) {
  const { about, count, run } = PARTS[name]!;
  const startedAt = performance.now();
  const cases = Math.max(1, Math.round(values.cases === undefined ? count * scale : Number(values.cases)));
  // Each part has its own random numbers, so `--only` repeats what it did in a whole run.
  const random = seeded(seed + Object.keys(PARTS).indexOf(name));
  const tally = await run(random, cases, (done) => {
    if (done % 50_000 === 0)
      console.error(`${name}: ${done} of ${cases}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  });
  for (const fault of stray.splice(0)) tally.broken.push(`unhandled rejection: ${fault}`);
  const { badExits, overCap, invalidJson, noise, longestMs, broken, notes } = tally;
  const isGood = badExits + overCap + invalidJson + noise + broken.length === 0;
  isBroken ||= !isGood;
  const tookS = ((performance.now() - startedAt) / 1000).toFixed(1);
  rows.push(
    [
      name,
      tally.cases,
      tally.answers,
      badExits,
      overCap,
      invalidJson,
      noise,
      Math.round(longestMs),
      tookS,
      isGood ? "ok" : "BROKEN",
    ].map(String),
  );
  lines.push(...[...notes, ...broken.map((text) => `BROKEN ${text}`)].map((text) => `${name} (${about}): ${text}`));
}
const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
for (const row of rows)
  console.log(
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
  );
for (const line of lines) console.log(line);
process.exit(isBroken ? 1 : 0);
