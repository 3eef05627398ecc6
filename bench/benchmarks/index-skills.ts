/** Indexing 3,000 synthetic skills from scratch with the built CLI: the time, and the size of the store afterwards. */
import { spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark } from "../harness.ts";
import { makeScratch } from "../scratch.ts";
import { syntheticSkills } from "../synthetic-skills.ts";

const SKILLS = 3000;

export const indexSkills: Benchmark = {
  name: "index-skills",
  summary: `a cold index of ${SKILLS} skills: seconds, and megabytes of store`,
  async run() {
    const { root, env, bin, remove } = makeScratch();
    try {
      for (const { name, text } of syntheticSkills(SKILLS)) {
        const folder = join(root, ".claude/skills", name);
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, "SKILL.md"), text);
      }
      const startedAt = performance.now();
      const { status, stderr } = spawnSync(process.execPath, [bin, "skill", "index", "--json"], {
        cwd: root,
        env: { ...process.env, ...env },
        encoding: "utf8",
      });
      const seconds = (performance.now() - startedAt) / 1000;
      if (status !== 0) throw new Error(`skill index: ${stderr}`);
      const megabytes = statSync(join(root, ".haversack/haversack.db")).size / 1e6;
      return {
        table: {
          columns: ["skills", "seconds", "MB of store"],
          rows: [[SKILLS, seconds.toFixed(1), megabytes.toFixed(1)]],
        },
        goals: [
          { name: "time", value: seconds, limit: 6, side: "at-most", unit: " s" },
          { name: "store", value: megabytes, limit: 30, side: "at-most", unit: " MB" },
        ],
      };
    } finally {
      remove();
    }
  },
};
