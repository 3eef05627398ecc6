/**
 * Hooks of a project that a team shares against those of one that shares nothing, in pairs: the same events on the same work. What hooks write about
 * shared work goes into the outbox. No server runs, because hooks never contact one.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { writeSharedMark } from "../../packages/haversack/src/store/sqlite/meta.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { readSnapshotState } from "../../packages/haversack/src/store/sqlite/outbox/outbox.ts";
import { type Benchmark, type Candidate, quantile, timePairs } from "../harness.ts";
import { indexSyntheticSkills, makeScratch, type Scratch } from "../scratch.ts";
import { hookEvents } from "./hook.ts";

const PAIRS_AT_LEAST = 40;

export const teamHook: Benchmark = {
  name: "team-hook",
  summary: "hooks of a project that a team shares against those of one that shares nothing, in pairs",
  async run({ runs }) {
    const [alone, shared] = [makeScratch(), makeScratch()];
    try {
      for (const scratch of [alone, shared]) prepare(scratch);
      const store = join(shared.root, ".haversack/haversack.db");
      const handle = openDatabase(store, { durability: "full" });
      writeSharedMark(handle.db, { id: "bench", shown: "postgres://bench@127.0.0.1:1/none" });
      handle.db.close();
      const [was, is] = [events(alone), events(shared)];
      const pairs = was.map((one, at): [Candidate, Candidate] => [one, is[at] as Candidate]);
      const timed = timePairs(pairs, { runs: Math.max(runs, PAIRS_AT_LEAST) });
      const after = openDatabase(store, { durability: "full" });
      const { count } = readSnapshotState(after).backlog;
      after.db.close();
      if (count === 0) throw new Error("the outbox is empty, so nothing was measured");
      const median = quantile(
        timed.map(({ ratio }) => ratio),
        0.5,
      );
      return {
        table: {
          columns: ["event", "alone ms", "shared ms", "ratio"],
          rows: timed.map(({ name, oldMs, newMs, ratio }) => [
            name,
            oldMs.toFixed(1),
            newMs.toFixed(1),
            ratio.toFixed(3),
          ]),
        },
        goals: [
          {
            name: "hooks with shared work, median of all events",
            value: median,
            limit: 1.02,
            side: "at-most",
            unit: " x",
          },
        ],
        notes: [`${count} entries in the outbox at the end.`],
        data: timed,
      };
    } finally {
      alone.remove();
      shared.remove();
    }
  },
};

/** A session that holds a task, so that its tool calls change work. */
function prepare(scratch: Scratch): void {
  const { root, env, bin } = scratch;
  indexSyntheticSkills(scratch, 300);
  const run = (...words: string[]) => {
    const all = {
      cwd: root,
      env: { ...process.env, ...env, CLAUDE_CODE_SESSION_ID: "bench" },
      encoding: "utf8" as const,
    };
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], all);
    if (status !== 0) throw new Error(`${words.join(" ")}: ${stderr}`);
    return stdout;
  };
  const { id } = JSON.parse(run("task", "create", "Build it", "--json")) as { id: string };
  run("claim", id, "--lease", "600");
}

function events(scratch: Scratch): Candidate[] {
  let call = 0;
  return hookEvents(scratch)
    .filter(({ name }) => !/^(codex|gemini)/.test(name))
    .map((candidate) => {
      if (!candidate.name.startsWith("after a tool")) return candidate;
      // Another file each time: a call that changes nothing writes nothing.
      const payload = JSON.parse(candidate.stdin ?? "{}");
      const stdin = () =>
        JSON.stringify({
          ...payload,
          tool_input: { ...payload.tool_input, file_path: join(scratch.root, `src/${call++}.ts`) },
        });
      return Object.defineProperty({ ...candidate }, "stdin", { get: stdin, enumerable: true });
    });
}
