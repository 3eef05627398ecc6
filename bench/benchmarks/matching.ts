/** How well prompts find skills: the public cases (HAVERSACK_CORPUS), and ordinary prompts that must bring nothing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../packages/haversack/src/base/config.ts";
import { diskFileSystem } from "../../packages/haversack/src/base/file-system.ts";
import { evaluateSkills } from "../../packages/haversack/src/engine/evaluate-skills.ts";
import type { CaseResult } from "../../packages/haversack/src/skills/evaluate.ts";
import { type EvalCase, parseCases } from "../../packages/haversack/src/skills/evaluate-cases.ts";
import type { Benchmark } from "../harness.ts";

export const matching: Benchmark = {
  name: "matching",
  summary: "recall, false triggers and silence on public skills and prompts",
  async run({ corpus }) {
    if (!corpus) {
      return {
        table: { columns: ["pool"], rows: [] },
        notes: [
          "HAVERSACK_CORPUS is not set: this benchmark reads public skills and prompts from that folder and was not run.",
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
        columns: ["cases", "n", "recall@1", "recall@3", "shown", "false triggers"],
        rows: [
          row(`all, one pool of ${found.skills}`, metrics),
          ...Object.entries(sources).map(([name, rates]) => row(`  ${name}`, rates)),
          row("mean of sources", mean),
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
