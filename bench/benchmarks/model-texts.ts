/**
 * The tokens of every text that a model reads, now and in an older commit (HAVERSACK_BASE): the answers stored in test/freeze, per
 * client and state, and the listing of the MCP tools. A rewritten text must not cost more than the old one.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadCounter } from "../../packages/haversack/src/tokens/count.ts";
import type { Benchmark } from "../harness.ts";
import { makeScratch } from "../scratch.ts";
import { buildBase } from "./compare.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
const GOLDEN = "test/freeze/golden";

export const modelTexts: Benchmark = {
  name: "model-texts",
  summary:
    "tokens of what a model reads: frozen answers and the tools' listing, against an older commit (HAVERSACK_BASE)",
  async run() {
    const count = await loadCounter();
    const commit = process.env["HAVERSACK_BASE"];
    const now = goldenTexts((path) => readFileSync(join(REPOSITORY, path), "utf8"));
    const was = commit
      ? goldenTexts((path) =>
          execFileSync("git", ["show", `${commit}:${path}`], { cwd: REPOSITORY, encoding: "utf8", stdio: "pipe" }),
        )
      : new Map<string, string[]>();
    now.set("MCP tools/list", [toolListing()]);
    if (commit) {
      const base = buildBase(commit);
      try {
        was.set("MCP tools/list", [toolListing(base.dist)]);
      } finally {
        base.remove();
      }
    }
    const rows = [...now].map(([name, texts]) => {
      const tokens = sum(texts, count);
      const before = was.get(name);
      return { name, answers: texts.length, tokens, before: before && sum(before, count) };
    });
    const known = rows.filter(({ before }) => before !== undefined);
    return {
      table: {
        columns: ["text", "answers", "before", "now"],
        rows: rows.map(({ name, answers, tokens, before }) => [name, answers, before ?? "-", tokens]),
      },
      goals:
        known.length > 0
          ? [
              {
                name: "longest growth of one row",
                value: Math.max(...known.map(({ tokens, before = 0 }) => tokens - before)),
                limit: 0,
                side: "at-most",
                unit: " tokens",
              },
            ]
          : [],
      notes: commit ? [] : ["HAVERSACK_BASE names no commit to compare with."],
    };
  },
};

function sum(texts: readonly string[], count: (text: string) => number): number {
  return texts.reduce((total, text) => total + count(text), 0);
}

/** `CLIENT/STATE` → the answers of its steps. Files that `read` does not find are left out. */
function goldenTexts(read: (path: string) => string): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  for (const file of readdirSync(join(REPOSITORY, GOLDEN), { recursive: true, encoding: "utf8" }).sort()) {
    if (!file.endsWith(".json")) continue;
    try {
      const { steps } = JSON.parse(read(`${GOLDEN}/${file}`)) as { steps: { answer?: unknown }[] };
      const answers = steps.flatMap(({ answer }) =>
        answer ? [typeof answer === "string" ? answer : JSON.stringify(answer)] : [],
      );
      if (answers.length > 0) texts.set(file.replace(/\.json$/, ""), answers);
    } catch {
      // The older commit has no such state.
    }
  }
  return texts;
}

function toolListing(dist?: string): string {
  const { root, bin, env, remove } = makeScratch(dist);
  try {
    const lines = [
      request(1, "initialize", {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "bench", version: "1" },
      }),
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
      request(2, "tools/list", {}),
    ];
    const { stdout } = spawnSync(process.execPath, [bin, "mcp"], {
      cwd: root,
      env: { ...process.env, ...env },
      input: `${lines.join("\n")}\n`,
      encoding: "utf8",
      timeout: 20_000,
    });
    const answer = stdout.split("\n").find((line) => line.includes('"id":2'));
    if (!answer) throw new Error("the server did not list its tools");
    return JSON.stringify((JSON.parse(answer) as { result: { tools: unknown } }).result.tools);
  } finally {
    remove();
  }
}

function request(id: number, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}
