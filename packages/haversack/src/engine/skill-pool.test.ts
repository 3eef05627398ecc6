import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { diskFileSystem } from "../base/file-system.ts";
import { matchSkills } from "../skills/matching/match-skills.ts";
import { openPool } from "./evaluation-pool.ts";
import { SkillPool } from "./skill-pool.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "haversack-pool-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SKILLS: Record<string, string> = {
  "sql-tuning": "description: Makes slow SQL queries fast with indexes and plans",
  "db-migrations":
    "description: Writes database migrations with a rollback\ntriggers: { keywords: [migration, backfill], patterns: ['add.*column'] }",
  "release-notes": "description: Use when release notes or a changelog are written",
  "unit-tests": "description: Writes unit tests for functions and modules",
  private: "description: Only for people who write SQL\ndisable-model-invocation: true",
};
for (const [name, header] of Object.entries(SKILLS)) {
  mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, name, "SKILL.md"),
    `---\nname: ${name}\n${header}\n---\n\n# ${name}\n\nHow to do it well, with tests and SQL.\n`,
  );
}

it("ranks as the index in SQLite does", () => {
  const pool = new SkillPool({ folders: [folder] });
  const sqlite = openPool(folder, diskFileSystem).index;
  const prompts = [
    "the orders query is slow, which SQL index is missing?",
    "add a migration that adds a column and backfills it",
    "write the changelog",
    "unit tests for the parser, please",
    "use the release-notes skill",
    "thanks, go on",
    "make the databse migratoin safe",
  ];
  for (const prompt of prompts) {
    const found = (index: Parameters<typeof matchSkills>[1]) => matchSkills({ prompt }, index).matches;
    const facts = ({ card, named, excluded }: ReturnType<typeof found>[number]) => ({ id: card.id, named, excluded });
    const [inMemory, inSqlite] = [found(pool), found(sqlite)];
    expect(inMemory.map(facts)).toEqual(inSqlite.map(facts));
    // SQLite keeps weights in a few bits.
    inMemory.forEach(({ confidence }, at) => {
      expect(Math.abs(confidence - inSqlite[at]!.confidence)).toBeLessThan(0.015);
    });
  }
});

it("reads again only what changed, and tries again what could not be read", () => {
  let reads: string[] = [];
  const broken = new Set<string>();
  const fs = {
    ...diskFileSystem,
    readFile: (path: string) => {
      if (broken.has(path)) throw new Error("EIO");
      if (path.endsWith("SKILL.md")) reads.push(path);
      return diskFileSystem.readFile(path);
    },
  };
  const bad = join(folder, "unit-tests/SKILL.md");
  broken.add(bad);
  const pool = new SkillPool({ folders: [folder], fs });
  expect(pool.card("unit-tests")).toBeUndefined();
  expect(pool.problems).toMatchObject([{ code: "skill-unreadable", file: bad }]);
  broken.clear();
  reads = [];
  expect(pool.refresh()).toBe(true);
  expect(reads).toEqual([bad]);
  reads = [];
  expect(pool.refresh()).toBe(false);
  expect(reads).toEqual([]);
  expect(pool.problems).toEqual([]);
});
