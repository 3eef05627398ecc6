/** `haversack audit`: bytes per second on one core, and memory, on made-up transcripts of each client. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeScratch } from "../../packages/haversack/src/base/safe-write.ts";
import type { Benchmark } from "../harness.ts";
import { type MadeClient, writeTranscripts } from "../transcripts.ts";

const CLIENTS: readonly MadeClient[] = ["claude-code", "codex", "gemini", "opencode"];
const SMALL_BYTES = 48_000_000;
const LARGE_BYTES = 4 * SMALL_BYTES;

interface Measured {
  bytes: number;
  ms: number;
  cpuMs: number;
  maxRssMb: number;
  tokens: number;
  sessions: number;
  broken: number;
}

export const audit: Benchmark = {
  name: "audit",
  summary: "audit of made-up transcripts: MB per second of processor time, and the largest memory",
  async run() {
    const rows: (string | number)[][] = [];
    const speeds: number[] = [];
    const growths: number[] = [];
    for (const client of CLIENTS) {
      const [small, large] = [SMALL_BYTES, LARGE_BYTES].map((bytes) => measure(client, bytes)) as [Measured, Measured];
      const speed = large.bytes / 1000 / large.cpuMs;
      speeds.push(speed);
      growths.push(large.maxRssMb - small.maxRssMb);
      rows.push([
        client,
        (large.bytes / 1e6).toFixed(0),
        large.sessions,
        speed.toFixed(0),
        (large.bytes / 1000 / large.ms).toFixed(0),
        small.maxRssMb.toFixed(0),
        large.maxRssMb.toFixed(0),
      ]);
    }
    return {
      table: {
        columns: ["client", "MB", "sessions", "MB/s of CPU", "MB/s of wall", "RSS MB, a quarter", "RSS MB"],
        rows,
      },
      goals: [
        { name: "slowest client", value: Math.min(...speeds), limit: 50, side: "at-least", unit: " MB/s" },
        {
          name: "more memory for four times the bytes",
          value: Math.max(...growths),
          limit: 40,
          side: "at-most",
          unit: " MB",
        },
      ],
    };
  },
};

function measure(client: MadeClient, bytes: number): Measured {
  const folder = makeScratch("haversack-bench-audit-");
  try {
    writeTranscripts(client, folder, bytes);
    const child = join(import.meta.dirname, "../audit-child.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, [child, folder], { encoding: "utf8" });
    if (status !== 0) throw new Error(`audit of ${client}: exit ${status}: ${stderr}`);
    const measured = JSON.parse(stdout) as Measured;
    if (measured.broken > 0 || measured.sessions === 0) throw new Error(`audit of ${client}: ${stdout}`);
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
