/**
 * `npm run team [CLAIMERS] [TASKS] [ROUNDS] [KIND]`: many claimers on one queue, in plain rounds, in rounds in which the server crashes five
 * times, and in rounds in which connections break at random. Default: 32 claimers, 1,000 tasks, 10 rounds of each.
 */
import { claimRound, faultsOf } from "./claim-rounds.ts";
import { startServer } from "./server.ts";

const [claimers = 32, tasks = 1000, rounds = 10] = process.argv.slice(2, 5).map(Number);
const wanted = process.argv[5] ?? "";
const server = await startServer({ settings: ["fsync=on", "full_page_writes=on"] });
let failed = 0;
try {
  const kinds = [
    ["plain", {}],
    ["five crashes", { crashes: 5 }],
    // With this many waiting for the lock, a connection with a shorter life would never get it.
    ["broken connections", { cutEveryMs: 100 * claimers }],
  ] as const;
  for (const [kind, how] of kinds.filter(([name]) => name.includes(wanted))) {
    for (let round = 1; round <= rounds; round++) {
      const report = await claimRound({ server, claimers, tasks, ...how });
      const faults = faultsOf(report, tasks);
      failed += faults.length;
      const extra = [report.crashes && `${report.crashes} crashes`, report.cuts && `${report.cuts} connections cut`];
      const line = [`${tasks} tasks by ${claimers} claimers in ${(report.ms / 1000).toFixed(1)} s`, ...extra].filter(
        Boolean,
      );
      console.log(
        `${kind}, round ${round}: ${line.join(", ")}: ${faults.length === 0 ? "each once" : faults.join("; ")}`,
      );
    }
  }
} finally {
  await server.stop();
}
process.exitCode = failed === 0 ? 0 : 1;
