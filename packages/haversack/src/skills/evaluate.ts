/**
 * Metrics of how well a ranking finds the right skills, computed from cases and their ranked skills.
 *
 * A hit at k: any expected skill of the case is among the first k. Cases without expected skills count only for the
 * rates of wrongly shown skills. `mrr` uses the first 10. A rate without cases is null and is left out of means.
 */
import { isRecord, readJson } from "../base/json.ts";
import { type Match, type Tier, tiersOf } from "./matching/match-skills.ts";
import { NAME_CONFIDENCE } from "./matching/score-text.ts";
import type { Problem } from "./types.ts";

export interface RankedResult {
  id: string;
  confidence: number;
  /** How a model would see it in a new window. */
  shown: Tier | false;
}

/** One line of `--results`. */
export interface CaseResult {
  id: string;
  ranked: RankedResult[];
  /** The tokens of the text that would be injected. */
  tokens: number;
}

export interface Metrics {
  cases: number;
  positives: number;
  negatives: number;
  recall_at_1: number | null;
  recall_at_3: number | null;
  recall_at_5: number | null;
  mrr: number | null;
  /** Over cases with an expected skill: it is shown, as a card or by name. */
  in_front: number | null;
  /** The part of `in_front` that is a card. */
  cards: number | null;
  /** The part of `in_front` that is only a name. */
  names: number | null;
  /** Over cases with none expected: a `negative_for` skill has a card. */
  wrong_cards: number | null;
  /** The same for any tier. */
  wrong_shown: number | null;
  /** Over cases with none expected: any skill has a card. */
  any_card_rate: number | null;
  /** The same for any tier. */
  any_shown_rate: number | null;
  /** Mean over all prompts; a prompt that adds nothing counts as 0. */
  mean_tokens: number | null;
  /** Mean over the prompts that add a text. */
  mean_answer_tokens: number | null;
  /** Former name of `cards`. */
  true_positive_rate: number | null;
  /** Former name of `wrong_cards`. */
  false_trigger_rate: number | null;
}

export interface Miss {
  id: string;
  prompt: string;
  kind: "not-found" | "not-shown" | "false-trigger";
  /** What went wrong, in plain words. */
  text: string;
  /** The expected skill that ranks best; absent for a false trigger. */
  skill?: string;
}

export interface Macro extends Metrics {
  /** How many sources it averages. */
  sources: number;
}

export interface Evaluation {
  metrics: Metrics;
  sources: Record<string, Metrics>;
  /** Each rate averaged over the sources that have it; `cases`, `positives` and `negatives` are sums. */
  mean: Metrics;
  /** The same over the sources with at least five positives: one with two prompts says nothing. */
  macro: Macro;
  /** By the number of words in the prompt: "up_to_6", "up_to_12", "up_to_40", "over_40". Lengths without cases are left out. */
  lengths: Record<string, Metrics>;
  misses: Miss[];
}

export interface EvaluateOptions {
  /** Count `acceptable` skills as expected. Default false: then anyone can recompute the rates from expected alone. */
  countAcceptable?: boolean;
}

/** `results` in the order of `cases`. */
export function evaluate(
  cases: readonly EvalCase[],
  results: readonly CaseResult[],
  { countAcceptable = false }: EvaluateOptions = {},
): Evaluation {
  const judged = cases.map((testCase, at) =>
    judge(testCase, results[at] ?? { id: testCase.id, ranked: [], tokens: 0 }, countAcceptable),
  );
  const sources = measureBy(judged, ({ source }) => source);
  const byLength = measureBy(judged, ({ length }) => length);
  return {
    metrics: measure(judged),
    sources,
    mean: meanOf(Object.values(sources)),
    macro: macroOf(Object.values(sources)),
    lengths: Object.fromEntries(LENGTHS.flatMap(({ name }) => (byLength[name] ? [[name, byLength[name]]] : []))),
    misses: judged.flatMap((entry) => entry.misses),
  };
}

/** The mean over the sources with at least five positives. */
export function macroOf(sources: readonly Metrics[]): Macro {
  const large = sources.filter(({ positives }) => positives >= LEAST_POSITIVES);
  return { sources: large.length, ...meanOf(large) };
}

const LEAST_POSITIVES = 5;

const LENGTHS = [
  { name: "up_to_6", most: 6 },
  { name: "up_to_12", most: 12 },
  { name: "up_to_40", most: 40 },
  { name: "over_40", most: Number.POSITIVE_INFINITY },
];

function lengthOf(prompt: string): string {
  const words = prompt.split(/\s+/).filter(Boolean).length;
  return LENGTHS.find(({ most }) => words <= most)!.name;
}

/** The value below which `share` of the numbers lie; null for none. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

interface Judged {
  source: string;
  length: string;
  positive: boolean;
  /** 0 if no expected skill is in the list. */
  rank: number;
  /** The best form in which an expected skill is shown. */
  right: Tier | false;
  /** The most visible form in which a skill is shown that must not be. */
  wrong: Tier | false;
  any: Tier | false;
  tokens: number;
  misses: Miss[];
}

function judge(testCase: EvalCase, { ranked, tokens }: CaseResult, countAcceptable: boolean): Judged {
  const wanted = countAcceptable ? [...testCase.expected, ...testCase.acceptable] : testCase.expected;
  const positive = testCase.expected.length > 0;
  const rank = ranked.findIndex((entry) => wanted.includes(entry.id)) + 1;
  const right = tierAmong(ranked.filter(({ id }) => wanted.includes(id)));
  const forbidden = ranked.filter(({ id }) => testCase.negativeFor.includes(id));
  const misses: Miss[] = forbidden
    .filter(({ shown }) => shown === "card")
    .map((entry) => ({
      id: testCase.id,
      prompt: testCase.prompt,
      kind: "false-trigger",
      text: `${quote(testCase.prompt)}: ${entry.id} gets a card (confidence ${entry.confidence.toFixed(2)}) but must not.`,
    }));
  if (positive && !right) misses.push(missOf(testCase, ranked, rank));
  return {
    source: testCase.source,
    length: lengthOf(testCase.prompt),
    positive,
    rank,
    right,
    wrong: tierAmong(forbidden),
    any: tierAmong(ranked),
    tokens,
    misses,
  };
}

function tierAmong(ranked: readonly RankedResult[]): Tier | false {
  if (ranked.some(({ shown }) => shown === "card")) return "card";
  return ranked.some(({ shown }) => shown === "name") ? "name" : false;
}

function missOf(testCase: EvalCase, ranked: readonly RankedResult[], rank: number): Miss {
  const { id, prompt } = testCase;
  const entry = ranked[rank - 1];
  const skill = entry?.id ?? testCase.expected[0]!;
  const start = `${quote(prompt)}: ${entry ? skill : testCase.expected.join(" or ")}`;
  const first = ranked.find((other) => !testCase.expected.includes(other.id));
  if (!entry) {
    const instead = first ? ` First is ${first.id}.` : "";
    const text = `${start} is not among the first ${ranked.length || 10}.${instead}`;
    return { id, prompt, kind: "not-found", text, skill };
  }
  const sure = `number ${rank} with a confidence of ${entry.confidence.toFixed(3)}`;
  const reason =
    entry.confidence < NAME_CONFIDENCE
      ? `too low for a name (${NAME_CONFIDENCE})`
      : `behind ${ranked
          .slice(0, Math.min(3, rank - 1))
          .map((other) => other.id)
          .join(", ")}`;
  return { id, prompt, kind: "not-shown", text: `${start} is ${sure}: ${reason}.`, skill };
}

function measureBy(entries: readonly Judged[], keyOf: (entry: Judged) => string): Record<string, Metrics> {
  const groups = Map.groupBy(entries, keyOf);
  return Object.fromEntries([...groups].map(([key, group]) => [key, measure(group)]));
}

function measure(entries: readonly Judged[]): Metrics {
  const positives = entries.filter((entry) => entry.positive);
  const negatives = entries.filter((entry) => !entry.positive);
  const answers = entries.filter(({ tokens }) => tokens > 0);
  const share = (list: readonly Judged[], holds: (entry: Judged) => boolean) =>
    list.length === 0 ? null : list.filter(holds).length / list.length;
  const meanOver = (list: readonly Judged[], value: (entry: Judged) => number) =>
    list.length === 0 ? null : list.reduce((sum, entry) => sum + value(entry), 0) / list.length;
  const within = (k: number) => share(positives, ({ rank }) => rank > 0 && rank <= k);
  const cards = share(positives, ({ right }) => right === "card");
  const wrongCards = share(negatives, ({ wrong }) => wrong === "card");
  return {
    cases: entries.length,
    positives: positives.length,
    negatives: negatives.length,
    recall_at_1: within(1),
    recall_at_3: within(3),
    recall_at_5: within(5),
    mrr: meanOver(positives, ({ rank }) => (rank > 0 && rank <= 10 ? 1 / rank : 0)),
    in_front: share(positives, ({ right }) => right !== false),
    cards,
    names: share(positives, ({ right }) => right === "name"),
    wrong_cards: wrongCards,
    wrong_shown: share(negatives, ({ wrong }) => wrong !== false),
    any_card_rate: share(negatives, ({ any }) => any === "card"),
    any_shown_rate: share(negatives, ({ any }) => any !== false),
    mean_tokens: meanOver(entries, ({ tokens }) => tokens),
    mean_answer_tokens: meanOver(answers, ({ tokens }) => tokens),
    true_positive_rate: cards,
    false_trigger_rate: wrongCards,
  };
}

const COUNTS: readonly (keyof Metrics)[] = ["cases", "positives", "negatives"];

function meanOf(all: readonly Metrics[]): Metrics {
  const keys = Object.keys(measure([])) as (keyof Metrics)[];
  const entries = keys.map((key) => {
    const values = all.map((entry) => entry[key]).filter((value) => value !== null);
    const sum = values.reduce((total, value) => total + value, 0);
    return [key, COUNTS.includes(key) ? sum : values.length === 0 ? null : sum / values.length];
  });
  return Object.fromEntries(entries) as Metrics;
}

function quote(prompt: string): string {
  const line = prompt.replace(/\s+/g, " ").trim();
  return `"${line.length > 80 ? `${line.slice(0, 79)}…` : line}"`;
}

// Cross-validation of the two display thresholds: for each source, choose them on all other sources, and measure on this one.

/** The data needed to try other thresholds on a case. */
export interface Rankable {
  case: EvalCase;
  matches: readonly Pick<Match, "card" | "confidence" | "named" | "excluded">[];
  /** With the thresholds of the settings. */
  result: CaseResult;
  /** The user asks for skills, so the thresholds do not apply. */
  isExplicit: boolean;
}

export interface Thresholds {
  /** The lowest confidence for a card. */
  card: number;
  /** The lowest confidence for a name. */
  name: number;
}

export interface LeaveOneOut {
  /** The results with thresholds chosen on all sources. */
  fitted: { thresholds: Thresholds; metrics: Metrics; macro: Macro };
  /** The results of each source with thresholds chosen on the other sources. */
  left_out: {
    thresholds: Record<string, Thresholds>;
    metrics: Metrics;
    macro: Macro;
    sources: Record<string, Metrics>;
  };
}

/** The largest allowed share of cases without an expected skill in which a wrong one is shown. */
const MOST_WRONG = { card: 0.13, any: 0.35 };
const CARD_GRID = Array.from({ length: 31 }, (_, step) => (20 + 2 * step) / 100);
/** Starts at the product's own threshold. Whether a prompt asks for a skill at all is a separate test with a fixed threshold. */
const NAME_GRID = Array.from({ length: 26 }, (_, step) => NAME_CONFIDENCE + step / 100);

/**
 * On a grid, the lowest threshold for a card with at most 13% wrong cards, then the lowest for a name with at most 35% wrong
 * skills in any tier. `refit` ranks all cases with weights that were fitted without a source, or on all sources. Without it, the
 * weights of the ranking and the test whether a prompt asks for a skill stay the same.
 */
export function leaveOneOut(
  all: readonly Rankable[],
  maxSkills: number,
  refit: (without: string | undefined) => readonly Rankable[] = () => all,
): LeaveOneOut {
  const sources = [...new Set(all.map((one) => one.case.source))];
  const measured = (ranked: readonly Rankable[], thresholdsOf: (source: string) => Thresholds) => {
    const results = ranked.map((one) => resultWith(one, thresholdsOf(one.case.source), maxSkills));
    const cases = ranked.map((one) => one.case);
    const { metrics, macro, sources: bySource } = evaluate(cases, results);
    const named = Object.entries(bySource).map(([source, rates]) => [source, withoutTokens(rates)]);
    return { metrics: withoutTokens(metrics), macro: withoutTokens(macro), sources: Object.fromEntries(named) };
  };
  const onAll = refit(undefined);
  const thresholds = choose(onAll, maxSkills);
  const fitted = measured(onAll, () => thresholds);
  const without: Record<string, Thresholds> = {};
  const left = sources.flatMap((source) => {
    const ranked = refit(source);
    without[source] = choose(
      ranked.filter((one) => one.case.source !== source),
      maxSkills,
    );
    return ranked.filter((one) => one.case.source === source);
  });
  return {
    fitted: { thresholds, metrics: fitted.metrics, macro: fitted.macro },
    left_out: { thresholds: without, ...measured(left, (source) => without[source]!) },
  };
}

function choose(ranked: readonly Rankable[], maxSkills: number): Thresholds {
  const negatives = ranked.filter((one) => one.case.expected.length === 0);
  const wrongRate = (thresholds: Thresholds, tiers: readonly Tier[]) =>
    negatives.filter((one) =>
      resultWith(one, thresholds, maxSkills).ranked.some(
        ({ id, shown }) => shown && tiers.includes(shown) && one.case.negativeFor.includes(id),
      ),
    ).length / Math.max(1, negatives.length);
  const card =
    CARD_GRID.find((at) => wrongRate({ card: at, name: NAME_CONFIDENCE }, ["card"]) <= MOST_WRONG.card) ??
    CARD_GRID.at(-1)!;
  const name =
    NAME_GRID.find((at) => wrongRate({ card, name: at }, ["card", "name"]) <= MOST_WRONG.any) ?? NAME_GRID.at(-1)!;
  return { card, name };
}

function resultWith(
  { matches, result, isExplicit }: Rankable,
  { card, name }: Thresholds,
  maxSkills: number,
): CaseResult {
  if (isExplicit) return result;
  const tiers = tiersOf(matches, { recommendThreshold: card, nameThreshold: name, maxSkills });
  const ranked = matches.map((match, at) => ({
    id: match.card.id,
    confidence: match.confidence,
    shown: tiers[at] ?? (false as const),
  }));
  return { id: result.id, ranked: ranked.filter((_, at) => !matches[at]!.excluded), tokens: 0 };
}

/** The texts are not written again for each threshold. */
function withoutTokens<T extends Metrics>(metrics: T): T {
  return { ...metrics, mean_tokens: null, mean_answer_tokens: null };
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
  /** Skills that also fit, but are not the author's first choice. */
  acceptable: string[];
  /** The collection the case comes from: its own field, else the first folder of its skills' ids. */
  source: string;
  lang?: string;
}

export interface CaseOptions {
  file: string;
  /** The skill that a `[{query, should_trigger}]` list is about. */
  skill?: string;
  /** Only the entries whose fields have these values. */
  where?: readonly (readonly [field: string, value: string])[];
}

export function parseCases(
  text: string,
  { file, skill, where: wanted = [] }: CaseOptions,
): { cases: EvalCase[]; problems: Problem[] } {
  const cases: EvalCase[] = [];
  const problems: Problem[] = [];
  const problem = (where: string, what: string) =>
    problems.push({ level: "error", code: "eval-case-invalid", file, where, text: what });

  const read = (value: unknown, where: string, id: string) => {
    if (wanted.some(([field, is]) => String((value as Record<string, unknown> | null)?.[field]) !== is)) return;
    const parsed = readCase(value, id, skill);
    if (typeof parsed === "string") problem(where, parsed);
    else cases.push(parsed);
  };
  const list = readJson(text).value;
  if (Array.isArray(list)) {
    list.forEach((entry, at) => {
      read(entry, `entry ${at + 1}`, String(at + 1));
    });
    return { cases, problems };
  }
  text.split(/\r?\n/).forEach((line, at) => {
    if (line.trim() === "") return;
    const { value } = readJson(line);
    if (value === undefined)
      problem(`line ${at + 1}`, 'This line is not JSON. Write one object a line: {"prompt": …, "expected": [ids]}.');
    else read(value, `line ${at + 1}`, String(at + 1));
  });
  return { cases, problems };
}

function readCase(value: unknown, id: string, skill: string | undefined): EvalCase | string {
  if (!isRecord(value)) return "A case must be an object.";
  const entry = value;
  const ownId = typeof entry["id"] === "string" || typeof entry["id"] === "number" ? String(entry["id"]) : id;
  const prompt = entry["prompt"] ?? entry["query"];
  if (typeof prompt !== "string") return 'It needs a text under "prompt" (or "query" with "should_trigger").';
  if (entry["should_trigger"] !== undefined) {
    if (typeof entry["should_trigger"] !== "boolean") return '"should_trigger" must be true or false.';
    if (skill === undefined) return 'A list with "should_trigger" speaks of one skill: name it with --skill.';
    const [expected, negative_for] = entry["should_trigger"] ? [[skill], []] : [[], [skill]];
    return readCase({ id: entry["id"], prompt, source: entry["source"], expected, negative_for }, id, skill);
  }
  const fits = entry["expected"] === undefined ? entry["expect"] : entry["expected"];
  const expected = idList(fits);
  const negativeFor = idList(entry["negative_for"]);
  const acceptable = idList(entry["acceptable"]);
  if (!expected || !negativeFor || !acceptable)
    return '"expected", "negative_for" and "acceptable" must be lists of skill ids.';
  if (fits === undefined && entry["negative_for"] === undefined) return 'It needs "expected" or "negative_for".';
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
