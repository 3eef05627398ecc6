/**
 * The kill test: processes that write without pause are killed with SIGKILL at a random moment, and afterwards every write
 * that was acknowledged must be in the store. Used by the test and by the benchmark of the same name.
 */
import { spawn } from "node:child_process";
import { checkStore } from "../../packages/haversack/src/store/sqlite/maintenance/check-store.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { workerFile } from "./run-worker.ts";

export interface KillCounts {
  kills: number;
  /** Writes whose return was reported by the process before it died. */
  acknowledged: number;
  /** Of those, how many are in the store with the text they were written with. */
  found: number;
  /** Rows in the store; the surplus was committed just before its acknowledgement could be printed. */
  rows: number;
  /** Checks of the store between the kills and at the end, and what they found. */
  checks: number;
  problems: string[];
}

export interface KillLoopOptions {
  kills: number;
  /** Processes at a time. Default: 4. Every second one writes with `durability: "normal"`, which must not lose anything after a kill either. */
  parallel?: number;
  /** A check after that many kills. Default: 20. */
  checkEvery?: number;
  /** Time between the first acknowledged write and the kill, in milliseconds. Default: 5 to 60. */
  killAfterMs?: [least: number, most: number];
}

export async function killLoop(file: string, options: KillLoopOptions): Promise<KillCounts> {
  const { kills, parallel = 4, checkEvery = 20, killAfterMs = [5, 60] } = options;
  const acknowledged = new Map<number, string>();
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
      started++;
      for (const [id, text] of await writeUntilKilled(file, index % 2 ? "normal" : "full", killAfterMs)) {
        if (acknowledged.has(id)) problems.push(`id ${id} was given twice`);
        acknowledged.set(id, text);
      }
      if (++killed % checkEvery === 0) check();
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  check();

  const { db } = openDatabase(file, { durability: "full", readOnly: true });
  const rows = db.prepare("SELECT id, text FROM activity").all();
  db.close();
  const found = rows.filter(({ id, text }) => acknowledged.get(Number(id)) === text).length;
  return { kills: killed, acknowledged: acknowledged.size, found, rows: rows.length, checks, problems };
}

function writeUntilKilled(
  file: string,
  durability: string,
  [least, most]: [number, number],
): Promise<[number, string][]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [workerFile, "loop", file, JSON.stringify({ open: { durability } })], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stdout.once("data", () => setTimeout(() => child.kill("SIGKILL"), least + Math.random() * (most - least)));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (signal !== "SIGKILL")
        return reject(new Error(`The writer ended by itself (${code}): ${stdout.slice(-300)} ${stderr}`));
      // The last line may be cut: only lines that end with a line break are complete.
      const lines = stdout.slice(0, stdout.lastIndexOf("\n")).split("\n");
      resolve(lines.map((line) => [Number.parseInt(line, 10), line.slice(line.indexOf(" ") + 1)]));
    });
  });
}
