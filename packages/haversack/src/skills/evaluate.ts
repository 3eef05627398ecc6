/**
 * How well a ranking finds the right skills: pure metrics over cases and what was ranked for them.
 *
 * A hit at k: any expected skill of the case is among the first k. Cases without expected skills count only for the two
 * rates of wrong showing. `mrr` sees the first 10. A rate without cases is null and is left out of the mean over sources.
 */
import type { Problem } from "./types.ts";

export interface RankedResult {
  id: string;
  confidence: number;
  /** In the top 3 and above the recommend threshold: what a user would see. */
  shown: boolean;
}

/** One line of `--results`. */
export interface CaseResult {
  id: string;
  ranked: RankedResult[];
}

export interface Metrics {
  cases: number;
  positives: number;
  negatives: number;
  recall_at_1: number | null;
  recall_at_3: number | null;
  recall_at_5: number | null;
  mrr: number | null;
  /** Expected in the top 3 and above the recommend threshold, over cases with an expected skill. */
  true_positive_rate: number | null;
  /** A `negative_for` skill shown, over cases with none expected. */
  false_trigger_rate: number | null;
  /** Anything shown, over cases with none expected. */
  any_shown_rate: number | null;
}

export interface Miss {
  id: string;
  kind: "not-found" | "not-shown" | "false-trigger";
  /** What went wrong, in plain words. */
  text: string;
}

export interface Evaluation {
  metrics: Metrics;
  sources: Record<string, Metrics>;
  /** Each rate averaged over the sources that have it; `cases`, `positives` and `negatives` are sums. */
  mean: Metrics;
  misses: Miss[];
}

export interface EvaluateOptions {
  /** The threshold that `shown` was decided with, for the words of the misses. */
  recommendConfidence: number;
  /** Count `acceptable` skills as expected. Default false: then anyone can recompute the rates from expected alone. */
  countAcceptable?: boolean;
}

/** `results` in the order of `cases`. */
export function evaluate(
  cases: readonly EvalCase[],
  results: readonly CaseResult[],
  { recommendConfidence, countAcceptable = false }: EvaluateOptions,
): Evaluation {
  const judged = cases.map((testCase, at) => {
    const ranked = results[at]?.ranked ?? [];
    return judge(testCase, ranked, { recommendConfidence, countAcceptable });
  });
  const bySource = new Map<string, Judged[]>();
  for (const entry of judged) bySource.set(entry.source, [...(bySource.get(entry.source) ?? []), entry]);
  const sources = Object.fromEntries([...bySource].map(([source, entries]) => [source, measure(entries)]));
  return {
    metrics: measure(judged),
    sources,
    mean: meanOf(Object.values(sources)),
    misses: judged.flatMap((entry) => entry.misses),
  };
}

/** The top 10 of a ranking with what would be shown of it. */
export function caseResult(
  id: string,
  ranked: readonly { skill: string; confidence: number }[],
  { recommendConfidence, maxSkills = 3 }: { recommendConfidence: number; maxSkills?: number },
): CaseResult {
  return {
    id,
    ranked: ranked.slice(0, 10).map(({ skill, confidence }, at) => ({
      id: skill,
      confidence,
      shown: at < maxSkills && confidence >= recommendConfidence,
    })),
  };
}

/** The value below which `share` of the numbers lie; null for none. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

interface Judged {
  source: string;
  positive: boolean;
  /** 0 when no expected skill is in the list. */
  rank: number;
  truePositive: boolean;
  falseTrigger: boolean;
  anyShown: boolean;
  misses: Miss[];
}

function judge(testCase: EvalCase, ranked: readonly RankedResult[], options: Required<EvaluateOptions>): Judged {
  const wanted = options.countAcceptable ? [...testCase.expected, ...testCase.acceptable] : testCase.expected;
  const positive = testCase.expected.length > 0;
  const rank = ranked.findIndex((entry) => wanted.includes(entry.id)) + 1;
  const truePositive = ranked.slice(0, 3).some((entry) => entry.shown && wanted.includes(entry.id));
  const wrong = ranked.slice(0, 3).filter((entry) => entry.shown && testCase.negativeFor.includes(entry.id));
  const misses: Miss[] = wrong.map((entry) => ({
    id: testCase.id,
    kind: "false-trigger",
    text: `${quote(testCase.prompt)}: ${entry.id} is shown (confidence ${entry.confidence.toFixed(2)}) but must not be.`,
  }));
  if (positive && !truePositive) misses.push(missOf(testCase, ranked, rank, options.recommendConfidence));
  return {
    source: testCase.source,
    positive,
    rank,
    truePositive,
    falseTrigger: !positive && wrong.length > 0,
    anyShown: ranked.some((entry) => entry.shown),
    misses,
  };
}

function missOf(testCase: EvalCase, ranked: readonly RankedResult[], rank: number, threshold: number): Miss {
  const wanted = testCase.expected.join(" or ");
  const start = `${quote(testCase.prompt)}: ${wanted}`;
  if (rank === 0) {
    const instead = ranked[0] ? ` First is ${ranked[0].id}.` : "";
    return {
      id: testCase.id,
      kind: "not-found",
      text: `${start} is not among the first ${ranked.length || 10}: its name, description and body share too few words with the prompt.${instead}`,
    };
  }
  const entry = ranked[rank - 1]!;
  if (rank <= 3) {
    return {
      id: testCase.id,
      kind: "not-shown",
      text: `${start} is number ${rank}, but its confidence of ${entry.confidence.toFixed(2)} is below ${threshold.toFixed(2)}.`,
    };
  }
  const ahead = ranked.slice(0, 3).map((other) => other.id);
  return {
    id: testCase.id,
    kind: "not-found",
    text: `${start} is only number ${rank}; ahead of it are ${ahead.join(", ")}.`,
  };
}

function measure(entries: readonly Judged[]): Metrics {
  const positives = entries.filter((entry) => entry.positive);
  const negatives = entries.filter((entry) => !entry.positive);
  const share = (list: readonly Judged[], holds: (entry: Judged) => boolean) =>
    list.length === 0 ? null : list.filter(holds).length / list.length;
  const within = (k: number) => share(positives, ({ rank }) => rank > 0 && rank <= k);
  return {
    cases: entries.length,
    positives: positives.length,
    negatives: negatives.length,
    recall_at_1: within(1),
    recall_at_3: within(3),
    recall_at_5: within(5),
    mrr:
      positives.length === 0
        ? null
        : positives.reduce((sum, { rank }) => sum + (rank > 0 && rank <= 10 ? 1 / rank : 0), 0) / positives.length,
    true_positive_rate: share(positives, (entry) => entry.truePositive),
    false_trigger_rate: share(negatives, (entry) => entry.falseTrigger),
    any_shown_rate: share(negatives, (entry) => entry.anyShown),
  };
}

function meanOf(all: readonly Metrics[]): Metrics {
  const sum = (key: "cases" | "positives" | "negatives") => all.reduce((total, entry) => total + entry[key], 0);
  const mean = (key: keyof Metrics) => {
    const values = all.map((entry) => entry[key]).filter((value) => value !== null);
    return values.length === 0 ? null : values.reduce((total, value) => total + value, 0) / values.length;
  };
  return {
    cases: sum("cases"),
    positives: sum("positives"),
    negatives: sum("negatives"),
    recall_at_1: mean("recall_at_1"),
    recall_at_3: mean("recall_at_3"),
    recall_at_5: mean("recall_at_5"),
    mrr: mean("mrr"),
    true_positive_rate: mean("true_positive_rate"),
    false_trigger_rate: mean("false_trigger_rate"),
    any_shown_rate: mean("any_shown_rate"),
  };
}

function quote(prompt: string): string {
  const line = prompt.replace(/\s+/g, " ").trim();
  return `"${line.length > 80 ? `${line.slice(0, 79)}…` : line}"`;
}

// Reads cases that say which skill a prompt should find: JSON lines `{prompt, expected[], negative_for[]}`, or the
// `[{query, should_trigger}]` list that authors keep for one skill. A bad line becomes a problem, the others are read.

export interface EvalCase {
  id: string;
  prompt: string;
  /** Skills that fit; empty for a prompt that must find nothing. */
  expected: string[];
  /** Skills that must not fire. */
  negativeFor: string[];
  /** Skills that fit too, though the author would take another first. */
  acceptable: string[];
  /** The collection the case comes from: its own field, else the first folder of its skills' ids. */
  source: string;
  lang?: string;
}

export interface ParsedCases {
  cases: EvalCase[];
  problems: Problem[];
}

/** `skill`: whom a `[{query, should_trigger}]` list speaks of. */
export function parseCases(text: string, { file, skill }: { file: string; skill?: string }): ParsedCases {
  const cases: EvalCase[] = [];
  const problems: Problem[] = [];
  const problem = (where: string, what: string) =>
    problems.push({ level: "error", code: "eval-case-invalid", file, where, text: what });

  const read = (value: unknown, where: string, id: string) => {
    const parsed = readCase(value, id, skill);
    if (typeof parsed === "string") problem(where, parsed);
    else cases.push(parsed);
  };
  const list = parseJson(text);
  if (Array.isArray(list)) {
    list.forEach((entry, at) => {
      read(entry, `entry ${at + 1}`, String(at + 1));
    });
    return { cases, problems };
  }
  text.split(/\r?\n/).forEach((line, at) => {
    if (line.trim() === "") return;
    const value = parseJson(line);
    if (value === undefined)
      problem(`line ${at + 1}`, 'This line is not JSON. Write one object a line: {"prompt": …, "expected": [ids]}.');
    else read(value, `line ${at + 1}`, String(at + 1));
  });
  return { cases, problems };
}

function readCase(value: unknown, id: string, skill: string | undefined): EvalCase | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "A case must be an object.";
  const entry = value as Record<string, unknown>;
  const ownId = typeof entry["id"] === "string" || typeof entry["id"] === "number" ? String(entry["id"]) : id;
  const prompt = entry["prompt"] ?? entry["query"];
  if (typeof prompt !== "string") return 'It needs a text under "prompt" (or "query" with "should_trigger").';
  if (entry["should_trigger"] !== undefined) {
    if (typeof entry["should_trigger"] !== "boolean") return '"should_trigger" must be true or false.';
    if (skill === undefined) return 'A list with "should_trigger" speaks of one skill: name it with --skill.';
    const fires = entry["should_trigger"];
    return {
      id: ownId,
      prompt,
      expected: fires ? [skill] : [],
      negativeFor: fires ? [] : [skill],
      acceptable: [],
      source: sourceOf(entry, [skill]),
    };
  }
  const expected = idList(entry["expected"]);
  const negativeFor = idList(entry["negative_for"]);
  const acceptable = idList(entry["acceptable"]);
  if (!expected || !negativeFor || !acceptable)
    return '"expected", "negative_for" and "acceptable" must be lists of skill ids.';
  if (entry["expected"] === undefined && entry["negative_for"] === undefined)
    return 'It needs "expected" or "negative_for".';
  return {
    id: ownId,
    prompt,
    expected,
    negativeFor,
    acceptable,
    source: sourceOf(entry, [...expected, ...negativeFor]),
    ...(typeof entry["lang"] === "string" ? { lang: entry["lang"] } : {}),
  };
}

function sourceOf(entry: Record<string, unknown>, ids: readonly string[]): string {
  if (typeof entry["source"] === "string") return entry["source"];
  const [first = ""] = ids;
  return first.includes("/") ? first.slice(0, first.indexOf("/")) : "all";
}

function idList(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) && value.every((id) => typeof id === "string") ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an expected answer here: the caller tries lines, and names the line that fails.
    return undefined;
  }
}
