/**
 * How well prompts find skills: the public cases (HAVERSACK_CORPUS), our own small pools with short prompts, and ordinary
 * prompts that must bring nothing.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../packages/haversack/src/base/config.ts";
import { diskFileSystem } from "../../packages/haversack/src/base/file-system.ts";
import { evaluateSkills } from "../../packages/haversack/src/engine/evaluate-skills.ts";
import { type CaseResult, type EvalCase, parseCases } from "../../packages/haversack/src/skills/evaluate.ts";
import { memoryIndex } from "../../packages/haversack/src/skills/matching/memory-index.ts";
import { RECOMMEND_CONFIDENCE, rankSkills } from "../../packages/haversack/src/skills/matching/score-text.ts";
import type { Benchmark } from "../harness.ts";

export const matching: Benchmark = {
  name: "matching",
  summary: "recall, false triggers and silence on public skills and prompts",
  async run({ corpus }) {
    const small = smallPools();
    const columns = ["cases", "n", "recall@1", "recall@3", "shown", "false triggers"];
    if (!corpus) {
      return {
        table: { columns, rows: small.rows },
        goals: small.goals,
        notes: [
          "HAVERSACK_CORPUS is not set: the public skills and prompts are read from that folder and were not run.",
        ],
      };
    }
    const { config } = readConfig([]);
    const settings = { recommendThreshold: config["skills.recommendThreshold"], maxSkills: config["skills.maxSkills"] };
    const folder = join(corpus, "skill-triggers/skills");
    const file = join(corpus, "skill-triggers/cases.jsonl");
    const english = parseCases(readFileSync(file, "utf8"), { file }).cases.filter(({ lang }) => lang === "en");
    const found = evaluateSkills(folder, english, { fs: diskFileSystem, settings });
    const ordinary = ordinaryCases();
    const silence = evaluateSkills(folder, ordinary, { fs: diskFileSystem, settings });
    const percent = (value: number | null) => (value === null ? "–" : (100 * value).toFixed(1));
    const rate = (value: number | null) => 100 * (value ?? Number.NaN);
    const { metrics, sources, mean } = found;
    const heldOut = leaveOneOut(english, found.results, settings.maxSkills);
    const row = (name: string, rates: typeof metrics) => [
      name,
      rates.cases,
      percent(rates.recall_at_1),
      percent(rates.recall_at_3),
      percent(rates.true_positive_rate),
      percent(rates.false_trigger_rate),
    ];
    return {
      table: {
        columns,
        rows: [
          row(`all, one pool of ${found.skills}`, metrics),
          ...Object.entries(sources).map(([name, rates]) => row(`  ${name}`, rates)),
          row("mean of sources", mean),
          ...small.rows,
        ],
      },
      goals: [
        { name: "recall@1", value: rate(metrics.recall_at_1), limit: 78, side: "at-least", unit: "%" },
        { name: "recall@3", value: rate(metrics.recall_at_3), limit: 92, side: "at-least", unit: "%" },
        {
          name: "true positives (expected and shown)",
          value: rate(metrics.true_positive_rate),
          limit: 80,
          side: "at-least",
          unit: "%",
        },
        { name: "false triggers", value: rate(metrics.false_trigger_rate), limit: 7, side: "at-most", unit: "%" },
        {
          name: `something shown at ${ordinary.length} ordinary prompts`,
          value: rate(silence.metrics.any_shown_rate),
          limit: 2,
          side: "at-most",
          unit: "%",
        },
        ...small.goals,
      ],
      notes: [
        `threshold chosen without each source in turn: shown ${percent(heldOut.shown)}%, false triggers ${percent(heldOut.falseTriggers)}%`,
      ],
      data: { heldOut, metrics, mean, sources, ordinary: silence.metrics },
    };
  },
};

/**
 * The threshold chosen without a source (the lowest with at most 7% false triggers on the others) and tried on that source, for
 * each in turn: what the rates are on skills that had no say in it. The other constants are not chosen anew.
 */
function leaveOneOut(cases: readonly EvalCase[], results: readonly CaseResult[], maxSkills: number) {
  const judged = cases.map(({ source, expected, negativeFor }, at) => {
    const top = (results[at]?.ranked ?? []).slice(0, maxSkills);
    const best = (ids: readonly string[]) =>
      Math.max(0, ...top.filter(({ id }) => ids.includes(id)).map(({ confidence }) => confidence));
    return { source, isPositive: expected.length > 0, hit: best(expected), wrong: best(negativeFor) };
  });
  const rate = (rows: typeof judged, test: (row: (typeof judged)[number]) => boolean) =>
    rows.filter(test).length / Math.max(1, rows.length);
  const negatives = judged.filter(({ isPositive }) => !isPositive);
  const grid = Array.from({ length: 61 }, (_, step) => 0.2 + step / 100);
  const thresholds = new Map(
    [...new Set(judged.map(({ source }) => source))].map((source) => {
      const others = negatives.filter((row) => row.source !== source);
      return [source, grid.find((threshold) => rate(others, ({ wrong }) => wrong >= threshold) <= 0.07) ?? 0.8];
    }),
  );
  return {
    shown: rate(
      judged.filter(({ isPositive }) => isPositive),
      ({ source, hit }) => hit >= (thresholds.get(source) ?? 1),
    ),
    falseTriggers: rate(negatives, ({ source, wrong }) => wrong >= (thresholds.get(source) ?? 1)),
  };
}

interface SmallPool {
  pool: string;
  /** Not looked at while the constants were chosen. */
  heldOut: boolean;
  skills: { name: string; description: string; body: string }[];
  prompts: { prompt: string; skill: string }[];
  silent: string[];
}

/**
 * `small-pools.json`: pools of 3 to 12 skills and prompts of 3 to 8 words, as most users have them. `short-prompts.json`: pools of 5 to 20 skills,
 * most with a name of one word and a description of one sentence, and prompts of 1 to 6 words. False: anything shown for a prompt that means none of
 * the pool's skills, which are its own silent prompts and the prompts of all other pools.
 */
function smallPools() {
  const read = (file: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, "../data", file), "utf8")) as SmallPool[];
  const measure = (pools: readonly SmallPool[], heldOut: boolean) => {
    const counts = { prompts: 0, first: 0, three: 0, shown: 0, others: 0, falsely: 0 };
    for (const pool of pools.filter((candidate) => candidate.heldOut === heldOut)) {
      const index = memoryIndex(pool.skills.map((skill) => ({ ...skill, id: skill.name, tags: [] })));
      for (const { prompt, skill } of pool.prompts) {
        const ranked = rankSkills(prompt, index, { limit: 3 });
        counts.prompts++;
        if (ranked[0]?.skill === skill) counts.first++;
        const own = ranked.find((entry) => entry.skill === skill);
        if (own) counts.three++;
        if (own && own.confidence >= RECOMMEND_CONFIDENCE) counts.shown++;
      }
      const foreign = pools.filter((other) => other !== pool).flatMap(({ prompts }) => prompts);
      for (const prompt of [...pool.silent, ...foreign.map((entry) => entry.prompt)]) {
        counts.others++;
        const best = rankSkills(prompt, index, { limit: 1 })[0];
        if (best && best.confidence >= RECOMMEND_CONFIDENCE) counts.falsely++;
      }
    }
    return counts;
  };
  const small = read("small-pools.json");
  const short = read("short-prompts.json");
  const sets = [
    { name: "small pools", mostFalse: 1, ...measure(small, false) },
    { name: "small pools, held out", mostFalse: 1, ...measure(small, true) },
    // Few prompts, and some ("debug") that two people would judge differently.
    { name: "short prompts", mostFalse: 5, ...measure(short, false) },
    { name: "short prompts, held out", mostFalse: 5, ...measure(short, true) },
  ];
  const percent = (part: number, whole: number) => ((100 * part) / whole).toFixed(1);
  return {
    rows: sets.map(({ name, prompts, first, three, shown, others, falsely }) => [
      name,
      prompts + others,
      percent(first, prompts),
      percent(three, prompts),
      percent(shown, prompts),
      percent(falsely, others),
    ]),
    goals: sets.flatMap(({ name, mostFalse, prompts, shown, others, falsely }) => [
      { name: `${name}: shown`, value: (100 * shown) / prompts, limit: 80, side: "at-least" as const, unit: "%" },
      {
        name: `${name}: false`,
        value: (100 * falsely) / others,
        limit: mostFalse,
        side: "at-most" as const,
        unit: "%",
      },
    ]),
  };
}

function ordinaryCases() {
  const prompts = JSON.parse(
    readFileSync(join(import.meta.dirname, "../data/ordinary-prompts.json"), "utf8"),
  ) as string[];
  return prompts.map((prompt, at) => ({
    id: String(at + 1),
    prompt,
    expected: [],
    negativeFor: [],
    acceptable: [],
    source: "ordinary",
  }));
}
