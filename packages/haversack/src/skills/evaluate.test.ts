import { describe, expect, it } from "vitest";
import { caseResult, type EvalCase, evaluate, percentile } from "./evaluate.ts";

const options = { recommendConfidence: 0.4 };
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
const result = (id: string, ...ranked: [string, number][]) =>
  caseResult(
    id,
    ranked.map(([skill, confidence]) => ({ skill, confidence })),
    options,
  );

describe("evaluate", () => {
  const cases = [
    positive("first", "s", ["a"]),
    positive("second", "s", ["a"]),
    positive("fourth", "s", ["a"]),
    positive("absent", "t", ["a"]),
    negative("quiet", "s", ["a"]),
    negative("wrong", "t", ["a"]),
    negative("other", "t", ["a"]),
  ];
  const results = [
    result("first", ["a", 0.9], ["b", 0.5]),
    result("second", ["b", 0.9], ["a", 0.3]),
    result("fourth", ["b", 0.9], ["c", 0.8], ["d", 0.7], ["a", 0.6]),
    result("absent", ["b", 0.1]),
    result("quiet", ["a", 0.39]),
    result("wrong", ["a", 0.4]),
    result("other", ["b", 0.9], ["c", 0.9], ["d", 0.9], ["a", 0.9]),
  ];
  const report = evaluate(cases, results, options);

  it("counts hits, ranks and what is shown", () => {
    expect(report.metrics).toEqual({
      cases: 7,
      positives: 4,
      negatives: 3,
      recall_at_1: 1 / 4,
      recall_at_3: 2 / 4,
      recall_at_5: 3 / 4,
      mrr: (1 + 1 / 2 + 1 / 4) / 4,
      true_positive_rate: 1 / 4,
      false_trigger_rate: 1 / 3,
      any_shown_rate: 2 / 3,
    });
  });

  it("reports each source and their mean", () => {
    expect(report.sources["s"]).toMatchObject({ positives: 3, recall_at_3: 2 / 3, false_trigger_rate: 0 });
    expect(report.sources["t"]).toMatchObject({ positives: 1, recall_at_3: 0, false_trigger_rate: 1 / 2 });
    expect(report.mean).toMatchObject({ cases: 7, recall_at_3: 1 / 3, false_trigger_rate: 1 / 4 });
  });

  it("says in plain words what was missed", () => {
    const text = (id: string) => report.misses.find((miss) => miss.id === id)?.text;
    expect(text("first")).toBeUndefined();
    expect(text("second")).toContain("number 2, but its confidence of 0.30 is below 0.40");
    expect(text("fourth")).toContain("only number 4; ahead of it are b, c, d");
    expect(text("absent")).toContain("not among the first");
    expect(text("wrong")).toContain("must not be");
  });

  it("counts acceptable skills only when asked to", () => {
    const one = [positive("x", "s", ["a"], ["b"])];
    const ranked = [result("x", ["b", 0.9])];
    expect(evaluate(one, ranked, options).metrics.recall_at_1).toBe(0);
    expect(evaluate(one, ranked, { ...options, countAcceptable: true }).metrics.recall_at_1).toBe(1);
  });

  it("gives null, not 0, for rates without cases", () => {
    const report = evaluate([positive("x", "s", ["a"])], [result("x", ["a", 0.9])], options);
    expect(report.metrics.false_trigger_rate).toBeNull();
    expect(report.mean.false_trigger_rate).toBeNull();
    expect(evaluate([], [], options).metrics.recall_at_1).toBeNull();
  });

  it("shows three at most and lists ten", () => {
    const ranked = Array.from({ length: 12 }, (_, at) => ({ skill: `s${at}`, confidence: 0.9 }));
    const { ranked: listed } = caseResult("x", ranked, options);
    expect(listed).toHaveLength(10);
    expect(listed.filter((entry) => entry.shown)).toHaveLength(3);
  });
});

describe("percentile", () => {
  it("takes the nearest rank", () => {
    expect(percentile([3, 1, 2], 0.5)).toBe(2);
    expect(percentile([1, 2, 3, 4], 0.95)).toBe(4);
    expect(percentile([], 0.5)).toBeNull();
  });
});
