/**
 * The size of a coordinator's window after `/work` on six tasks with three roles each, in the real Claude Code with a scripted
 * model. Compares results of about 1,500 tokens returned in full, stored as handoffs, and returned in full but replaced by the hook.
 * Counts exact tokens (o200k) of the client's requests. Uses the client of the client tests and our model server.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import { haversack } from "../../test/clients/claude-code/haversack-repo.ts";
import install from "../../test/clients/claude-code/install.ts";
import { runClaude } from "../../test/clients/claude-code/run-claude.ts";
import { makeScratchRepo } from "../../test/clients/claude-code/scratch-repo.ts";
import { ROLES, type WorkScenario, workScript } from "../../test/clients/claude-code/work-scenario.ts";
import { textOf } from "../../test/clients/request-text.ts";
import { startScriptedServer } from "../../test/clients/scripted-server.ts";
import type { Benchmark } from "../harness.ts";

const TASKS = 6;
const DETAIL_TOKENS = 1_500;
/** A few lines, as the agents' texts ask for. */
const SUMMARY =
  "The login handler now counts tries per address and answers the sixth within a minute with 429 and Retry-After. Eleven tests cover the window, IPv6 and the proxy header; all 212 are green. The counter lives in memory, so two processes count apart: a later task must move it into the store.";

interface Way {
  name: string;
  details: WorkScenario["details"];
  isReplaced: boolean;
}

const WAYS: Way[] = [
  { name: "told in full", details: "told", isReplaced: false },
  { name: "stored, summary told", details: "stored", isReplaced: false },
  { name: "told in full, replaced by the hook", details: "both", isReplaced: true },
];

export const workCoordinator: Benchmark = {
  name: "work-coordinator",
  summary: `real Claude Code: the coordinator's tokens for ${TASKS} tasks x ${ROLES.length} roles, with and without handoffs`,
  async run() {
    install();
    const count = await loadCounter();
    const details = detailsText(count);
    const rows: (Way & { requests: number; first: number; last: number; sum: number })[] = [];
    for (const way of WAYS) {
      const sizes = (await coordinatorTexts(way, details)).map(count);
      const [first = 0, last = 0] = [sizes[0], sizes.at(-1)];
      rows.push({ ...way, requests: sizes.length, first, last, sum: sizes.reduce((sum, size) => sum + size, 0) });
    }
    const [told, stored, replaced] = rows;
    const share = (row: (typeof rows)[number] | undefined) =>
      (100 * ((row?.last ?? 0) - (row?.first ?? 0))) / ((told?.last ?? 0) - (told?.first ?? 0));
    return {
      table: {
        columns: ["results", "requests", "first request", "last request", "growth", "of the first", "all requests"],
        rows: rows.map((row) => [
          row.name,
          row.requests,
          row.first,
          row.last,
          row.last - row.first,
          `${share(row).toFixed(1)}%`,
          row.sum,
        ]),
      },
      goals: [
        { name: "growth with handoffs", value: share(stored), limit: 25, side: "at-most", unit: "%" },
        { name: "growth with replaced results", value: share(replaced), limit: 25, side: "at-most", unit: "%" },
      ],
      notes: [
        `Each of the ${TASKS * ROLES.length} results has ${count(details)} tokens of details, its summary ${count(SUMMARY)}. What is left of the growth: the calls themselves, and what the client writes around each result (about 170 tokens).`,
        "All requests: what the coordinator sends over the whole run, of which a prompt cache serves all but the new end.",
      ],
      data: rows,
    };
  },
};

/** The texts of the coordinator's requests, in order. */
async function coordinatorTexts({ details, isReplaced }: Way, text: string): Promise<string[]> {
  const repo = makeScratchRepo();
  const detailsOf = () => text;
  const server = await startScriptedServer(
    workScript({ root: repo.root, batchSize: 3, details, detailsOf, summary: SUMMARY }),
  );
  try {
    haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
    if (isReplaced) repo.write(".haversack/config.json", '{"work": {"replaceResults": true}}');
    for (let at = 1; at <= TASKS; at++) haversack(repo, "task", "create", `Part ${at} of the work`);
    const run = await runClaude({ repo, server, prompt: "/work -n 3", timeLimitMs: 180_000 });
    if (run.results.at(-1) !== "ALL-DONE")
      throw new Error(`the run ended with ${run.results.join(", ")} ${run.stderr}`);
    return server.of("main").map(textOf);
  } finally {
    await server.close();
    repo.remove();
  }
}

/** The report of a thorough sub-agent: prose, a test run, code. */
function detailsText(count: (text: string) => number): string {
  const folder = join(import.meta.dirname, "../data/texts");
  const files = ["markdown/queue.txt", "shell/test-run.txt", "typescript/lease.txt", "english-prose/review.txt"];
  const words = files
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n\n")
    .split(/(?<=\s)/);
  // Search for the exact word: the count is for the whole text, not the sum of its pieces.
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (count(words.slice(0, middle).join("")) <= DETAIL_TOKENS) low = middle;
    else high = middle - 1;
  }
  return words.slice(0, low).join("");
}
