/**
 * `npm run faults [-- --only NAME[,NAME]] [--times N] [--at-once N]`: strikes runs with faults, each at least twenty times, and prints the table.
 * Exits with 1 when something was lost, done twice or left behind.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CELLS, type Outcome, playCell } from "./fault-cells.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    times: { type: "string", default: "20" },
    "at-once": { type: "string", default: "2" },
    /** Set by this program itself: one cell, its outcomes as JSON. */
    inside: { type: "boolean" },
  },
});
const names = values.only?.split(",") ?? Object.keys(CELLS);
const [times, atOnce] = [Number(values.times), Number(values["at-once"])];
const unknown = names.filter((name) => !Object.hasOwn(CELLS, name));
if (unknown.length > 0 || !(times >= 1) || !(atOnce >= 1)) {
  console.error(`faults: --only ${Object.keys(CELLS).join(",")}; --times and --at-once are numbers`);
  process.exit(2);
}

async function play(name: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const worker = async () => {
    while (next++ < times) outcomes.push(await playCell(name));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, worker));
  return outcomes;
}

/** In a name space with a small file system. Undefined: this machine lets nobody have one. */
async function playOnSmallDisk(name: string): Promise<Outcome[] | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "haversack-faults-"));
  const mount = 'mount -t tmpfs -o size=40m none "$0"';
  try {
    if (spawnSync("unshare", ["-rm", "sh", "-ec", mount, folder]).status !== 0) return undefined;
    const own = [
      process.execPath,
      import.meta.filename,
      "--inside",
      "--only",
      name,
      "--times",
      String(times),
      "--at-once",
      "1",
    ];
    const child = spawn("unshare", ["-rm", "sh", "-ec", `${mount}; exec "$@"`, folder, ...own], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    await new Promise((resolve) => child.on("close", resolve));
    return JSON.parse(out) as Outcome[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (values.inside) {
  console.log(JSON.stringify(await play(names[0]!)));
} else {
  let isBroken = false;
  console.log(
    "| fault | what happens | runs | tasks lost, done twice, files lost, processes left | sessions | restarts by hand |",
  );
  console.log("|---|---|---|---|---|---|");
  for (const name of names) {
    const { about, isOnSmallDisk } = CELLS[name]!;
    const outcomes = isOnSmallDisk ? await playOnSmallDisk(name) : await play(name);
    if (!outcomes) {
      console.log(`| ${name} | ${about} | 0 | not tried: no small file system can be mounted here | | |`);
      continue;
    }
    const problems = outcomes.flatMap((outcome) => outcome.problems);
    const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
    console.log(
      `| ${name} | ${about} | ${outcomes.length} | ${problems.length === 0 ? "none" : problems.length} | ${sum((one) => one.sessions)} | ${sum((one) => one.restarts)} |`,
    );
    for (const problem of problems) console.error(`${name}: ${problem}`);
    isBroken ||= problems.length > 0;
  }
  process.exitCode = isBroken ? 1 : 0;
}
