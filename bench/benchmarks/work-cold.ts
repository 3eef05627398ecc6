/** `haversack next` as a user or an agent starts it, with 10,000 tasks in the store. */
import { join } from "node:path";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { type Benchmark, timedTable, timeProcesses } from "../harness.ts";
import { BIN, makeScratch } from "../scratch.ts";
import { fillWork } from "./work-queue-store.ts";

const TASKS = 10_000;

export const workCold: Benchmark = {
  name: "work-cold",
  summary: "cold commands at 10,000 tasks, as ratios to a bare start of the same Node",
  async run({ runs }) {
    const scratch = makeScratch();
    try {
      const handle = openDatabase(join(scratch.root, ".haversack/haversack.db"), { durability: "full" });
      const { firstId } = fillWork(handle, TASKS);
      handle.db.close();
      const command = (...words: string[]) => ({
        name: `haversack ${words.join(" ")}`,
        args: [BIN, ...words],
        cwd: scratch.root,
        env: scratch.env,
      });
      const next = command("next");
      const nextJson = command("next", "--limit", "3", "--json");
      const show = { ...command("task", "show", firstId), name: "haversack task show ID" };
      const timed = timeProcesses([next, nextJson, command("task", "list"), show, command("status")], { runs });
      const ratio = (name: string) => timed.find((row) => row.name === name)?.ratio ?? Number.NaN;
      return {
        table: timedTable(timed),
        goals: [
          {
            name: `haversack next at ${TASKS.toLocaleString("en")} tasks, ratio`,
            value: Math.max(ratio(next.name), ratio(nextJson.name)),
            limit: 1.6,
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
