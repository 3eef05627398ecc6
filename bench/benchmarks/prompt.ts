/** One prompt in process, from text to recorded answer, for several pool sizes; re-reading one changed skill; a hostile pattern. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../packages/haversack/src/base/config.ts";
import { diskFileSystem } from "../../packages/haversack/src/base/file-system.ts";
import { discover } from "../../packages/haversack/src/engine/discover.ts";
import { discoverSettings } from "../../packages/haversack/src/engine/project.ts";
import { refreshIndex } from "../../packages/haversack/src/engine/refresh-index.ts";
import { profileOf } from "../../packages/haversack/src/skills/showing/activation.ts";
import type { StoreHandle } from "../../packages/haversack/src/store/sqlite/access.ts";
import { openDatabase } from "../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteSkillIndex } from "../../packages/haversack/src/store/sqlite/skills/skill-index.ts";
import { SkillLedger } from "../../packages/haversack/src/store/sqlite/skills/skill-ledger.ts";
import { type Benchmark, quantile } from "../harness.ts";
import { syntheticPrompts, syntheticSkills } from "../synthetic-skills.ts";

export const prompt: Benchmark = {
  name: "prompt",
  summary: "one prompt with the index ready, one changed skill, one hostile pattern, in process",
  async run() {
    const rows: (string | number)[][] = [];
    const p95: Record<number, number> = {};
    let reindexMs = 0;
    for (const size of [30, 300, 1000, 10_000]) {
      const pool = makePool(size);
      try {
        const times = promptTimes(pool);
        p95[size] = quantile(times, 0.95);
        rows.push([`prompt, ${size} skills`, quantile(times, 0.5).toFixed(2), p95[size].toFixed(2)]);
        if (size === 1000) {
          const changes = changeTimes(pool);
          reindexMs = quantile(changes, 0.5);
          rows.push(["one changed skill of 1000 re-read", reindexMs.toFixed(2), quantile(changes, 0.95).toFixed(2)]);
        }
        if (size === 10_000) rows.push(["building the index of 10,000", Math.round(pool.buildMs), ""]);
      } finally {
        pool.remove();
      }
    }
    const hostile = hostileTimes();
    rows.push(
      ["pattern (a+)+$, 50,000 letters a", hostile.matchingMs.toFixed(1), ""],
      ["the same, then a b", hostile.failingMs.toFixed(1), ""],
      ["the same again", hostile.againMs.toFixed(1), ""],
    );
    return {
      table: { columns: ["what", "median ms", "p95 ms"], rows },
      goals: [
        { name: "prompt at 300 skills, p95", value: p95[300] ?? Number.NaN, limit: 5, side: "at-most", unit: " ms" },
        {
          name: "prompt at 10,000 skills, p95",
          value: p95[10_000] ?? Number.NaN,
          limit: 15,
          side: "at-most",
          unit: " ms",
        },
        { name: "one changed skill of 1000", value: reindexMs, limit: 50, side: "at-most", unit: " ms" },
        {
          name: "hostile pattern",
          value: Math.max(hostile.matchingMs, hostile.failingMs),
          limit: 100,
          side: "at-most",
          unit: " ms",
        },
        { name: "hostile pattern, times reported", value: hostile.reported, limit: 1, side: "at-least" },
      ],
    };
  },
};

interface Pool {
  handle: StoreHandle;
  folder: string;
  buildMs: number;
  refresh(): void;
  remove(): void;
}

function makePool(size: number, rules?: unknown): Pool {
  const base = mkdtempSync(join(tmpdir(), "haversack-bench-"));
  const folder = join(base, "skills");
  for (const { name, text } of syntheticSkills(size)) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "SKILL.md"), text);
  }
  const ruleFile = join(base, "skill-rules.json");
  if (rules) writeFileSync(ruleFile, JSON.stringify(rules));
  const handle = openDatabase(join(base, "haversack.db"), { durability: "normal" });
  const roots = [{ dir: folder, source: { kind: "project" as const, label: ".claude/skills", rank: 0 } }];
  const refresh = () =>
    refreshIndex(handle, {
      roots,
      ruleFiles: [ruleFile],
      ruleTrust: { root: "/elsewhere", accepted: [] },
      fs: diskFileSystem,
    });
  const start = performance.now();
  refresh();
  return {
    handle,
    folder,
    buildMs: performance.now() - start,
    refresh,
    remove: () => {
      handle.db.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function promptTimes({ handle }: Pool): number[] {
  const ask = asker(handle);
  const prompts = syntheticPrompts(300);
  for (const text of prompts.slice(0, 50)) ask(text);
  return prompts.map((text) => timed(() => ask(text)));
}

function changeTimes({ folder, refresh }: Pool): number[] {
  const skills = syntheticSkills(30);
  return skills.map(({ name, text }, at) => {
    writeFileSync(join(folder, name, "SKILL.md"), `${text}\nOne more line, number ${at}.\n`);
    return timed(refresh);
  });
}

function hostileTimes() {
  const pool = makePool(30, { skills: { hostile: { promptTriggers: { intentPatterns: ["(a+)+$"] } } } });
  try {
    const ask = asker(pool.handle);
    ask("warm up");
    let reported = 0;
    const run = (text: string) => timed(() => (reported += ask(text).slowPatterns.length));
    const letters = "a".repeat(50_000);
    return { matchingMs: run(letters), failingMs: run(`${letters}b`), againMs: run(`${letters}b`), reported };
  } finally {
    pool.remove();
  }
}

function asker(handle: StoreHandle) {
  const parts = {
    index: new SqliteSkillIndex(handle.db),
    ledger: new SkillLedger(handle),
    settings: discoverSettings(readConfig([]).config),
  };
  const client = profileOf("claude-code");
  return (text: string) => discover({ sessionId: "bench", client, cwd: "/", prompt: text, at: new Date() }, parts);
}

function timed(action: () => unknown): number {
  const start = performance.now();
  action();
  return performance.now() - start;
}
