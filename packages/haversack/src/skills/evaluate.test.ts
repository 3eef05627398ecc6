import { describe, expect, it } from "vitest";
import { type EvalCase, evaluate, leaveOneOut, percentile, type Rankable } from "./evaluate.ts";
import type { Tier } from "./matching/match-skills.ts";
import type { SkillCard } from "./types.ts";

const positive = (id: string, source: string, expected: string[], acceptable: string[] = []): EvalCase => ({
  id,
  prompt: `prompt ${id}`,
  expected,
  negativeFor: [],
  acceptable,
  source,
});
const negative = (id: string, source: string, negativeFor: string[]): EvalCase => ({
  id,
  prompt: `prompt ${id}`,
  expected: [],
  negativeFor,
  acceptable: [],
  source,
});
const result = (id: string, tokens: number, ...ranked: [string, number, Tier | false][]) => ({
  id,
  tokens,
  ranked: ranked.map(([skill, confidence, shown]) => ({ id: skill, confidence, shown })),
});

describe("evaluate", () => {
  const cases = [
    positive("first", "s", ["a"]),
    positive("second", "s", ["a"]),
    positive("fourth", "s", ["a"]),
    positive("absent", "t", ["a"]),
    negative("quiet", "s", ["a"]),
    negative("wrong", "t", ["a"]),
    negative("named", "t", ["a"]),
    negative("other", "t", ["a"]),
  ];
  const results = [
    result("first", 60, ["a", 0.9, "card"], ["b", 0.5, "card"]),
    result("second", 80, ["b", 0.9, "card"], ["a", 0.3, "name"]),
    result("fourth", 100, ["b", 0.9, "card"], ["c", 0.8, "card"], ["d", 0.7, "card"], ["a", 0.01, false]),
    result("absent", 0, ["b", 0.01, false]),
    result("quiet", 0, ["a", 0.03, false]),
    result("wrong", 50, ["a", 0.4, "card"]),
    result("named", 30, ["a", 0.2, "name"]),
    result("other", 80, ["b", 0.9, "card"]),
  ];
  const report = evaluate(cases, results);

  it("counts hits, ranks and tiers", () => {
    expect(report.metrics).toEqual({
      cases: 8,
      positives: 4,
      negatives: 4,
      recall_at_1: 1 / 4,
      recall_at_3: 2 / 4,
      recall_at_5: 3 / 4,
      mrr: (1 + 1 / 2 + 1 / 4) / 4,
      in_front: 2 / 4,
      cards: 1 / 4,
      names: 1 / 4,
      wrong_cards: 1 / 4,
      wrong_shown: 2 / 4,
      any_card_rate: 2 / 4,
      any_shown_rate: 3 / 4,
      mean_tokens: 400 / 8,
      mean_answer_tokens: 400 / 6,
      true_positive_rate: 1 / 4,
      false_trigger_rate: 1 / 4,
    });
  });

  it("reports each source and their mean", () => {
    expect(report.sources["s"]).toMatchObject({ positives: 3, recall_at_3: 2 / 3, in_front: 2 / 3, wrong_cards: 0 });
    expect(report.sources["t"]).toMatchObject({ positives: 1, recall_at_3: 0, in_front: 0, wrong_cards: 1 / 3 });
    expect(report.mean).toMatchObject({ cases: 8, recall_at_3: 1 / 3, in_front: 1 / 3, wrong_cards: 1 / 6 });
  });

  it("averages only sources with five positives or more", () => {
    const many = Array.from({ length: 5 }, (_, at) => positive(`m${at}`, "many", ["a"]));
    const all = evaluate(
      [...cases, ...many],
      [...results, ...many.map(({ id }, at) => result(id, 0, ["a", 0.5, at === 0 ? false : "card"]))],
    );
    expect(report.macro).toMatchObject({ sources: 0, in_front: null });
    expect(all.macro).toMatchObject({ sources: 1, cases: 5, recall_at_1: 1, in_front: 4 / 5 });
  });

  it("reports by the number of words in the prompt", () => {
    const words = (count: number) => ({ ...positive(`w${count}`, "s", ["a"]), prompt: "word ".repeat(count) });
    const { lengths } = evaluate([6, 7, 12, 13, 40].map(words), []);
    expect(Object.entries(lengths).map(([name, rates]) => [name, rates.cases])).toEqual([
      ["up_to_6", 1],
      ["up_to_12", 2],
      ["up_to_40", 2],
    ]);
    expect(Object.keys(evaluate([words(41)], []).lengths)).toEqual(["over_40"]);
  });

  it("says in plain words what was missed", () => {
    const text = (id: string) => report.misses.find((miss) => miss.id === id)?.text;
    expect(report.misses.map(({ id }) => id)).toEqual(["fourth", "absent", "wrong"]);
    expect(text("fourth")).toContain("number 4 with a confidence of 0.010: too low for a name");
    expect(text("absent")).toContain("a is not among the first 1. First is b.");
    expect(text("wrong")).toContain("a gets a card (confidence 0.40) but must not");
  });

  it("says which skills stand before one that would be sure enough", () => {
    const [miss] = evaluate(
      [positive("x", "s", ["a"])],
      [result("x", 90, ["b", 0.9, "card"], ["c", 0.8, "card"], ["a", 0.2, false])],
    ).misses;
    expect(miss).toMatchObject({ kind: "not-shown", skill: "a" });
    expect(miss!.text).toContain("behind b, c");
  });

  it("counts acceptable skills only when asked to", () => {
    const one = [positive("x", "s", ["a"], ["b"])];
    const ranked = [result("x", 60, ["b", 0.9, "card"])];
    expect(evaluate(one, ranked).metrics.recall_at_1).toBe(0);
    expect(evaluate(one, ranked, { countAcceptable: true }).metrics.recall_at_1).toBe(1);
  });

  it("gives null, not 0, for rates without cases", () => {
    const found = evaluate([positive("x", "s", ["a"])], [result("x", 0, ["a", 0.9, "card"])]);
    expect(found.metrics).toMatchObject({ wrong_cards: null, any_shown_rate: null, mean_answer_tokens: null });
    expect(found.mean.wrong_cards).toBeNull();
    expect(evaluate([], []).metrics).toMatchObject({ recall_at_1: null, mean_tokens: null });
  });
});

describe("leaveOneOut", () => {
  const rankable = (testCase: EvalCase, ...ranked: [string, number][]): Rankable => ({
    case: testCase,
    matches: ranked.map(([id, confidence]) => ({ card: { id } as SkillCard, confidence, named: false })),
    result: { id: testCase.id, ranked: [], tokens: 0 },
    isExplicit: false,
  });

  it("chooses the thresholds without the source that it measures", () => {
    // Only source "loud" has wrong skills, at 0.59: with it a card needs more than that, without it the least.
    const all = ["loud", "calm"].flatMap((source) => [
      ...Array.from({ length: 5 }, (_, at) => rankable(positive(`${source}+${at}`, source, ["a"]), ["a", 0.5])),
      ...Array.from({ length: 5 }, (_, at) =>
        rankable(negative(`${source}-${at}`, source, ["b"]), ["b", source === "loud" ? 0.59 : 0.01]),
      ),
    ]);
    const { fitted, left_out: left } = leaveOneOut(all, 3);
    expect(left.thresholds).toMatchObject({ loud: { card: 0.2 }, calm: { card: 0.6 } });
    expect(fitted.thresholds.card).toBe(0.6);
    expect(fitted.metrics).toMatchObject({ cards: 0, wrong_cards: 0 });
    expect(left.metrics).toMatchObject({ cards: 0.5, wrong_cards: 0.5 });
    expect(left.macro).toMatchObject({ sources: 2, in_front: 1 });
    expect(Object.keys(left.sources)).toEqual(["loud", "calm"]);
    // Half of all negatives name a wrong skill, which is too much: names need more as well.
    expect(fitted.thresholds.name).toBeGreaterThan(0.2);
  });

  it("leaves what was asked for as it was shown, and never shows an excluded skill", () => {
    const asked = { id: "x", tokens: 9, ranked: [{ id: "a", confidence: 0.04, shown: "card" as const }] };
    const hidden = rankable(positive("y", "t", ["a"]), ["a", 0.9]);
    const { fitted } = leaveOneOut(
      [
        { ...rankable(positive("x", "s", ["a"]), ["a", 0.04]), result: asked, isExplicit: true },
        { ...hidden, matches: hidden.matches.map((match) => ({ ...match, excluded: "hidden" })) },
      ],
      3,
    );
    expect(fitted.metrics).toMatchObject({ cards: 0.5, in_front: 0.5, mean_tokens: null });
  });
});

describe("percentile", () => {
  it("takes the nearest rank", () => {
    expect(percentile([3, 1, 2], 0.5)).toBe(2);
    expect(percentile([1, 2, 3, 4], 0.95)).toBe(4);
    expect(percentile([], 0.5)).toBeNull();
  });
});
