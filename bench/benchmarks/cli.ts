import { type Benchmark, timedTable, timeProcesses } from "../harness.ts";
import { BIN, makeScratch } from "../scratch.ts";

export const cli: Benchmark = {
  name: "cli",
  summary: "cold commands, as ratios to a bare start of the same Node",
  async run({ runs }) {
    const scratch = makeScratch();
    try {
      const inside = { cwd: scratch.root, env: scratch.env };
      const timed = timeProcesses(
        [
          { name: "haversack --version", args: [BIN, "--version"], ...inside },
          { name: "haversack session list --json", args: [BIN, "session", "list", "--json"], ...inside },
          { name: "haversack --help", args: [BIN, "--help"], ...inside },
        ],
        { runs },
      );
      const ratio = (name: string) => timed.find((row) => row.name === name)?.ratio ?? Number.NaN;
      return {
        table: timedTable(timed),
        goals: [
          { name: "--version, ratio", value: ratio("haversack --version"), limit: 1.3, side: "at-most" },
          {
            name: "a command that reads the store, ratio",
            value: ratio("haversack session list --json"),
            limit: 1.5,
            side: "at-most",
          },
        ],
        data: timed,
      };
    } finally {
      scratch.remove();
    }
  },
};
