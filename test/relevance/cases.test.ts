import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface Case {
  id: string;
  pool: string;
  prompt: string;
  expect: string[];
  half: "tune" | "held";
}

const here = import.meta.dirname;
const pools = readdirSync(join(here, "pools"));
const cases = lines<Case>("cases.jsonl");
const ordinary = lines<{ prompt: string }>("ordinary.jsonl");

test("every pool has 3 to 12 skills, named after their folders", () => {
  expect(pools).toHaveLength(16);
  for (const pool of pools) {
    const skills = readdirSync(join(here, "pools", pool));
    expect(skills.length, pool).toBeGreaterThanOrEqual(3);
    expect(skills.length, pool).toBeLessThanOrEqual(12);
    for (const skill of skills) {
      const [, head = "", body = ""] =
        /^---\n(.*?)\n---\n(.*)$/s.exec(readFileSync(join(here, "pools", pool, skill, "SKILL.md"), "utf8")) ?? [];
      expect(head.split("\n")[0], skill).toBe(`name: ${skill}`);
      expect(head, skill).toMatch(/^description: \S/m);
      const length = body.trimEnd().split("\n").length;
      expect(length, skill).toBeGreaterThanOrEqual(15);
      expect(length, skill).toBeLessThanOrEqual(60);
    }
  }
});

test("every case names skills of its own pool, and the halves are balanced", () => {
  expect(new Set(cases.map((one) => one.id)).size).toBe(cases.length);
  expect(new Set([...cases, ...ordinary].map((one) => one.prompt)).size).toBe(cases.length + ordinary.length);
  for (const one of cases) {
    expect(pools, one.id).toContain(one.pool);
    for (const skill of one.expect) {
      expect(existsSync(join(here, "pools", one.pool, skill, "SKILL.md")), `${one.id}: ${skill}`).toBe(true);
    }
  }
  for (const pool of pools) {
    const halves = cases.filter((one) => one.pool === pool).map((one) => one.half);
    expect(
      halves.every((half, at) => half === (at % 2 === 0 ? halves[0] : other(halves[0]!))),
      pool,
    ).toBe(true);
  }
  const count = (half: string, fits: boolean) =>
    cases.filter((one) => one.half === half && one.expect.length > 0 === fits).length;
  const counts = {
    tune: { fits: count("tune", true), nothing: count("tune", false) },
    held: { fits: count("held", true), nothing: count("held", false) },
    ordinary: ordinary.length,
  };
  console.log(JSON.stringify(counts));
  expect(counts.tune.fits + counts.held.fits).toBe(95);
  expect(counts.tune.nothing + counts.held.nothing).toBe(55);
  expect(Math.abs(counts.tune.fits - counts.held.fits)).toBeLessThanOrEqual(3);
  expect(counts.ordinary).toBe(100);
});

function other(half: Case["half"]): Case["half"] {
  return half === "tune" ? "held" : "tune";
}

function lines<T>(name: string): T[] {
  return readFileSync(join(here, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);
}
