/**
 * Measures how well prompts find skills. Every SKILL.md under a folder is one pool, in a real index in memory. Each case is matched and
 * answered like the first prompt of a window.
 */
import {
  type CaseResult,
  type EvalCase,
  type Evaluation,
  evaluate,
  type LeaveOneOut,
  leaveOneOut,
  type Metrics,
  type Miss,
  percentile,
  type Rankable,
} from "../skills/evaluate.ts";
import { sentenceFor, wordGap } from "../skills/evaluate-advice.ts";
import { backgroundTerms } from "../skills/matching/background.ts";
import { type Match, matchSkills, type Tier } from "../skills/matching/match-skills.ts";
import { skillTerms } from "../skills/matching/skill-terms.ts";
import { termOf } from "../skills/matching/tokenize.ts";
import type { ClientProfile } from "../skills/showing/activation.ts";
import { decideDisclosure, isExplicitRequest, requestTopic } from "../skills/showing/disclosure.ts";
import type { Problem } from "../skills/types.ts";
import { estimateTokens } from "../tokens/estimate.ts";
import { composeAnswer } from "./compose-answer.ts";
import { CANDIDATES } from "./discover.ts";
import { type Pool, type PoolIndex, partOf, randomParts, withSentence } from "./evaluation-pool.ts";

export interface SkillEvaluation extends Omit<Evaluation, "misses"> {
  skills: number;
  /** Of the pool. */
  ids: string[];
  /** Skills that their author keeps for people. */
  hiddenSkills: number;
  /** Cases that only hidden skills could answer. They are in `results` but in no rate. */
  hiddenCases: number;
  /** Of all cases. */
  results: CaseResult[];
  /** In random parts of the pool, by their size: "5", "30", "100"; and "all". */
  pools: Record<string, Metrics>;
  misses: AdvisedMiss[];
  leaveOneOut?: LeaveOneOut;
  /** Input for `leaveOneOut`, for callers that measure several pools together. */
  rankables: Rankable[];
  p50Ms: number | null;
  p95Ms: number | null;
  problems: Problem[];
}

export interface AdvisedMiss extends Miss {
  /** Words of the prompt that the skill does not contain. */
  missing_words?: string[];
  /** A suggested sentence for the skill's description. */
  add?: string;
  /** What would be shown of the skill with that sentence. */
  shown_then?: Tier | false;
}

export interface EvaluationSettings {
  recommendThreshold: number;
  maxSkills: number;
}

export interface EvaluationOptions {
  settings: EvaluationSettings;
  /** For the random parts of the pool. Default: 1. */
  seed?: number;
  /** Choose the thresholds without each source in turn. Default: false. */
  isLeaveOneOut?: boolean;
  /** Leave out the random parts of the pool and the advice. Default: false. */
  isQuick?: boolean;
  onProgress?: (text: string) => void;
}

export function evaluateSkills(pool: Pool, cases: readonly EvalCase[], options: EvaluationOptions): SkillEvaluation {
  const { settings, isLeaveOneOut = false, isQuick = false, onProgress } = options;
  const times: number[] = [];
  // Warm up: the first prompts prepare statements and compile code, which must not count in the timing.
  for (const { prompt } of cases.slice(0, 20)) matchSkills({ prompt }, pool.index);
  const answers = cases.map((testCase, at) => {
    const start = performance.now();
    const found = match(testCase.prompt, pool.index);
    times.push(performance.now() - start);
    if ((at + 1) % 50 === 0) onProgress?.(`${at + 1} of ${cases.length} cases`);
    return { testCase, found, result: answer(testCase, found, { index: pool.index, settings }) };
  });
  const isCounted = cases.map((testCase) => !isForPeople(testCase, pool));
  const counted = cases.filter((_, at) => isCounted[at]);
  const results = answers.map(({ result }) => result);
  const { misses, ...rates } = evaluate(
    counted,
    results.filter((_, at) => isCounted[at]),
  );
  const rankables = answers
    .filter((_, at) => isCounted[at])
    .map(({ testCase, found, result }): Rankable => ({ case: testCase, result, ...found }));
  return {
    ...rates,
    misses: isQuick ? misses : misses.map((miss) => advise(miss, pool, settings)),
    skills: pool.skills.size,
    ids: [...pool.skills.keys()],
    hiddenSkills: [...pool.skills.values()].filter(({ isHidden }) => isHidden).length,
    hiddenCases: cases.length - counted.length,
    results,
    pools: { ...(!isQuick && partRates(pool, counted, options)), all: rates.metrics },
    ...(isLeaveOneOut && { leaveOneOut: leaveOneOut(rankables, settings.maxSkills) }),
    rankables,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    problems: pool.problems,
  };
}

/** Whether every skill of the case is hidden from models. */
function isForPeople({ expected, negativeFor }: EvalCase, { skills }: Pool): boolean {
  const spokenOf = expected.length > 0 ? expected : negativeFor;
  return spokenOf.length > 0 && spokenOf.every((id) => skills.get(id)?.isHidden);
}

interface Found {
  isExplicit: boolean;
  matches: Match[];
}

function match(prompt: string, index: PoolIndex): Found {
  const isExplicit = isExplicitRequest(prompt);
  return { isExplicit, ...matchSkills({ prompt: isExplicit ? requestTopic(prompt) : prompt }, index, CANDIDATES) };
}

/** The profile of Claude Code with our server, for skills that its own tool can load. */
export const CLIENT: ClientProfile = {
  name: "claude-code",
  maxChars: 9500,
  skillTool: "mcp__haversack__skill",
  ownTool: { call: (id) => `Skill(skill: "${id}")`, sees: () => true },
};

function answer(
  { id }: { id: string },
  { isExplicit, matches }: Found,
  { index, settings }: { index: PoolIndex; settings: EvaluationSettings },
): CaseResult {
  const off = { autoLoadThreshold: 1, autoLoad: "asked", enforce: false, forgetAfterPrompts: 0 } as const;
  const all = { ...settings, ...off };
  const first = { ledger: [], status: "new", promptNumber: 1 } as const;
  const decision = decideDisclosure(matches, { ...first, isExplicit, settings: all });
  // A skill that the prompt names comes with its text. It counts as a card here: the length of a text says nothing about matching.
  const cards = new Set([...decision.fresh, ...decision.autoLoad.map((entry) => entry.match)]);
  const fresh = matches.filter((one) => cards.has(one));
  const withName = (one: Match) => ({ ...one, card: { ...one.card, id: one.card.name } });
  const { text } = composeAnswer(
    {
      ...decision,
      format: fresh.length > 0 ? "full" : decision.format,
      fresh: fresh.map(withName),
      names: decision.names.map(withName),
      autoLoad: [],
    },
    { client: CLIENT, index, isFirst: true, ...(isExplicit && { request: { hasSubject: true } }) },
  );
  const names = new Set(decision.names);
  return {
    id,
    ranked: matches
      .filter(({ excluded }) => !excluded)
      .map((one) => ({
        id: one.card.id,
        confidence: one.confidence,
        shown: cards.has(one) ? "card" : names.has(one) ? "name" : false,
      })),
    tokens: estimateTokens(text),
  };
}

const PART_SIZES = [5, 30, 100];

/** Each case once per size, in the part that contains its skill. */
function partRates(
  pool: Pool,
  cases: readonly EvalCase[],
  { settings, seed = 1, onProgress }: EvaluationOptions,
): Record<string, Metrics> {
  const rates: Record<string, Metrics> = {};
  for (const size of PART_SIZES) {
    if (size >= pool.skills.size) break;
    onProgress?.(`pools of ${size}`);
    const parts = randomParts(pool, size, seed);
    const partWith = new Map(parts.flatMap((part, at) => part.map(({ id }) => [id, at] as const)).reverse());
    const placed = Map.groupBy(
      cases.map((testCase, at) => {
        const own = [...testCase.expected, ...testCase.negativeFor].find((id) => partWith.has(id));
        return { testCase, part: own === undefined ? at % parts.length : partWith.get(own)! };
      }),
      ({ part }) => part,
    );
    const ordered: EvalCase[] = [];
    const results: CaseResult[] = [];
    for (const [part, group] of placed) {
      const index = partOf(pool, parts[part]!);
      for (const { testCase } of group) {
        ordered.push(testCase);
        results.push(answer(testCase, match(testCase.prompt, index), { index, settings }));
      }
    }
    rates[String(size)] = evaluate(ordered, results).metrics;
  }
  return rates;
}

/** For a skill that was not shown: which words it lacks, and what a sentence with them would change. */
function advise(miss: Miss, pool: Pool, settings: EvaluationSettings): AdvisedMiss {
  if (miss.skill === undefined) return miss;
  const skill = pool.skills.get(miss.skill);
  if (!skill) return { ...miss, text: `${miss.text} The pool has no skill ${miss.skill}.` };
  const gap = wordGap(miss.prompt, new Set(skillTerms(skill.text).map(({ term }) => term)));
  const advice = { ...miss, missing_words: gap.missing };
  const lacks = gap.missing.length > 0 ? ` It lacks: ${gap.missing.join(", ")}.` : " It has every word of the prompt.";
  const add = sentenceFor(gap, shareOf);
  if (add === undefined) return { ...advice, text: miss.text + lacks };
  const index = withSentence(pool, skill, add);
  const result = answer(miss, match(miss.prompt, index), { index, settings });
  const then = result.ranked.find(({ id }) => id === skill.id)?.shown ?? false;
  const effect = then ? `then it is shown as a ${then}` : "alone that is not enough";
  return { ...advice, add, shown_then: then, text: `${miss.text}${lacks} Add: "${add}" (${effect}).` };
}

function shareOf(word: string): number {
  shares ??= backgroundTerms();
  return shares.get(termOf(word)) ?? 0;
}

let shares: ReadonlyMap<string, number> | undefined;
