import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { matching } from "../../bench/benchmarks/matching.ts";

/** Two sources with five positives each: "plain" finds all of its skills, "odd" none; both have one prompt that must find nothing. */
function corpus(): string {
  const folder = mkdtempSync(join(tmpdir(), "corpus-"));
  const set = join(folder, "skill-triggers");
  const subjects = ["invoice", "kubernetes", "typography", "geology", "sailing"];
  const cases: object[] = [];
  for (const source of ["plain", "odd"]) {
    for (const subject of subjects) {
      const name = `${source}-${subject}`;
      mkdirSync(join(set, "skills", source, name), { recursive: true });
      const about = source === "plain" ? `Helps with ${subject} questions.` : "Says nothing of use.";
      writeFileSync(join(set, "skills", source, name, "SKILL.md"), `---\nname: ${name}\ndescription: ${about}\n---\n`);
      const prompt = source === "plain" ? `help me with the ${subject} questions` : "bake some bread with rye";
      cases.push({ id: name, prompt, expected: [`${source}/${name}`], source, lang: "en" });
    }
    const negative_for = [`${source}/${source}-sailing`];
    cases.push({ id: source, prompt: "more sailing questions", expected: [], negative_for, source, lang: "en" });
  }
  cases.push({ id: "other", prompt: "Segel setzen", expected: ["plain/plain-sailing"], source: "plain", lang: "de" });
  writeFileSync(join(set, "cases.jsonl"), cases.map((line) => JSON.stringify(line)).join("\n"));
  return folder;
}

/** Each run indexes some forty pools. */
const SLOW = 180_000;
const folder = corpus();
afterAll(() => rmSync(folder, { recursive: true }));

it(
  "has the goals per set, for all sets, for ordinary prompts and for both halves of the small pools",
  async () => {
    const { goals = [], table } = await matching.run({ corpus: folder, runs: 1, events: undefined });
    const value = (name: string) => goals.find((goal) => goal.name === name)?.value;
    for (const name of ["skill-triggers", "all sets"]) {
      // The mean of a source that finds all and one that finds none.
      expect(value(`${name}: recall@1`)).toBe(50);
      expect(value(`${name}: in front`)).toBe(50);
      expect(value(`${name}: cards`)).toBe(50);
      // Of two prompts that must find nothing, one names its skill.
      expect(value(`${name}: wrong cards`)).toBe(50);
      expect(value(`${name}, each source a pool: in front`)).toBe(50);
    }
    expect(table.rows[0]?.slice(0, 2)).toEqual(["skill-triggers, one pool: mean of sources", 12]);
    for (const name of [
      "all sets, fitted without the source: in front",
      "gap between fitted on all and without the source",
      "100 ordinary prompts, three pools: anything shown",
      "100 other ordinary prompts, small pools: a card",
      "small pools, tuned on: in front",
      "small pools, held back: in front",
      "small pools, held back: anything shown where nothing fits",
    ]) {
      expect(value(name), name).toBeGreaterThanOrEqual(0);
    }
  },
  SLOW,
);

it(
  "says so when there is no corpus",
  async () => {
    const { goals = [], notes } = await matching.run({ corpus: undefined, runs: 1, events: undefined });
    expect(notes?.join()).toContain("HAVERSACK_CORPUS is not set");
    expect(goals.some(({ name }) => name.startsWith("small pools, held back"))).toBe(true);
    expect(goals.some(({ name }) => name.startsWith("all sets"))).toBe(false);
  },
  SLOW,
);
