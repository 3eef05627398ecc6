/** `haversack audit`: bytes per second on one core, and memory, on made-up transcripts of each client. */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
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
      const sizes = [SMALL_BYTES, LARGE_BYTES];
      const [small, large] = sizes.map((bytes) => measure([client], bytes)) as [Measured, Measured];
      speeds.push(speedOf(large));
      growths.push(large.maxRssMb - small.maxRssMb);
      rows.push([client, ...figuresOf(large), small.maxRssMb.toFixed(0), large.maxRssMb.toFixed(0)]);
    }
    // Ten gigabytes take minutes and disk space, so they need a variable.
    const gigabytes = Number(process.env["HAVERSACK_AUDIT_GB"] ?? 0);
    const huge = gigabytes > 0 ? measure([...CLIENTS], gigabytes * 1e9) : undefined;
    if (huge) rows.push(["all four together", ...figuresOf(huge), "", huge.maxRssMb.toFixed(0)]);
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
        ...(huge
          ? [
              { name: `${gigabytes} GB`, value: speedOf(huge), limit: 50, side: "at-least" as const, unit: " MB/s" },
              {
                name: `memory for ${gigabytes} GB`,
                value: huge.maxRssMb,
                limit: 400,
                side: "at-most" as const,
                unit: " MB",
              },
            ]
          : []),
      ],
    };
  },
};

/** Bytes per second of processor time, in MB. */
const speedOf = ({ bytes, cpuMs }: Measured) => bytes / 1000 / cpuMs;

function figuresOf(measured: Measured): (string | number)[] {
  const { bytes, ms, sessions } = measured;
  return [(bytes / 1e6).toFixed(0), sessions, speedOf(measured).toFixed(0), (bytes / 1000 / ms).toFixed(0)];
}

/** Each client has an equal share of the bytes. */
function measure(clients: readonly MadeClient[], bytes: number): Measured {
  const folder = makeScratch(join(tmpdir(), "haversack-bench-audit-"));
  try {
    for (const client of clients) writeTranscripts(client, join(folder, client), bytes / clients.length);
    const child = join(import.meta.dirname, "../audit-child.ts");
    const { status, stdout, stderr } = spawnSync(process.execPath, [child, folder], { encoding: "utf8" });
    if (status !== 0) throw new Error(`audit of ${clients}: exit ${status}: ${stderr}`);
    const measured = JSON.parse(stdout) as Measured;
    if (measured.broken > 0 || measured.sessions === 0) throw new Error(`audit of ${clients}: ${stdout}`);
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
