import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { diskFileSystem } from "../base/file-system.ts";
import { matchSkills } from "../skills/matching/match-skills.ts";
import { openPool, partOf, randomParts, withSentence } from "./evaluation-pool.ts";

const SUBJECTS = ["invoice", "kubernetes", "typography", "geology", "sailing", "pottery", "beekeeping"];

function subjectPool() {
  const folder = mkdtempSync(join(tmpdir(), "pool-"));
  for (const name of SUBJECTS) {
    mkdirSync(join(folder, name));
    const head = `name: ${name}\ndescription: Helps with ${name} questions and reports.`;
    writeFileSync(join(folder, name, "SKILL.md"), `---\n${head}\n---\n# ${name}\nText about ${name}.\n`);
  }
  return openPool(folder, diskFileSystem);
}

/** The index rounds weights, so the last digits may differ. */
const ids = (prompt: string, index: Parameters<typeof matchSkills>[1]) =>
  matchSkills({ prompt }, index).matches.map(({ card, confidence }) => [card.id, confidence.toFixed(3)]);

it("a part with every skill ranks as the whole pool does", () => {
  const pool = subjectPool();
  const part = partOf(pool, [...pool.skills.values()]);
  for (const prompt of ["help with the sailing report", "geolgy questions", "a kubernetes invoice"]) {
    expect(ids(prompt, part)).toEqual(ids(prompt, pool.index));
    expect(ids(prompt, part)).not.toEqual([]);
  }
});

it("a part knows only its own skills", () => {
  const pool = subjectPool();
  const members = ["sailing", "pottery"].map((id) => pool.skills.get(id)!);
  const part = partOf(pool, members);
  expect(part).toMatchObject({ size: 2, installed: 2 });
  expect(ids("help with the geology report", part).map(([id]) => id)).not.toContain("geology");
});

it("random parts hold every skill, are of one size, and depend on the seed alone", () => {
  const pool = subjectPool();
  const namesOf = (seed: number) => randomParts(pool, 3, seed).map((part) => part.map(({ id }) => id));
  expect(new Set(namesOf(1).flat())).toEqual(new Set(SUBJECTS));
  for (const part of namesOf(1)) expect(new Set(part).size).toBe(3);
  expect(namesOf(1)).toEqual(namesOf(1));
  expect(namesOf(2)).not.toEqual(namesOf(1));
});

it("a sentence is tried as if the description had it", () => {
  const pool = subjectPool();
  const before = ids("bake bread with rye", pool.index);
  const changed = withSentence(pool, pool.skills.get("pottery")!, "Use for requests about bread or rye.");
  expect(ids("bake bread with rye", changed)[0]?.[0]).toBe("pottery");
  expect(ids("bake bread with rye", pool.index)).toEqual(before);
  expect(ids("help with the sailing report", changed)[0]?.[0]).toBe("sailing");
});
