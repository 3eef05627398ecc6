/**
 * Fits the matcher's constants: the weights of the evidence that a prompt asks for a skill (EVIDENCE) and of the confidence (SURE). `npm run bench
 * matching` fits them without each source of prompts in turn.
 */
import {
  asksForSkill,
  confidenceOf,
  EVIDENCE,
  type EvidenceTerms,
  LEAST_CONFIDENCE,
  type Scored,
  SURE,
  type SureTerms,
} from "../packages/haversack/src/skills/matching/score-text.ts";

/** The examples for the fit, and the weight of each kind. Within a kind, a source weighs the square root of its number of prompts. */
export type Kind =
  | "one pool"
  | "own pool"
  | "small pool"
  | "foreign pool"
  | "ordinary"
  | "ordinary, small pool"
  | "short";

export interface Candidate
  extends Pick<Scored<number>, "skill" | "score" | "named" | "isOrdered" | "sure" | "evidence"> {
  /** The prompt's case names it as right or as wrong, or does not mention it. */
  label: "right" | "wrong" | "other";
}

export interface Example {
  kind: Kind;
  source: string;
  /** A skill of the pool is right. */
  isPositive: boolean;
  candidates: Candidate[];
}

export interface Weights {
  sure: SureTerms;
  evidence: EvidenceTerms;
}

export const SHIPPED: Weights = { sure: SURE, evidence: EVIDENCE };

export function fitWeights(examples: readonly Example[]): Weights {
  const evidence = fitEvidence(examples);
  return { sure: fitSure(examples.filter(({ candidates }) => asksForSkill(candidates, evidence))), evidence };
}

/** As `rankSkills` does it, with other weights. Best first. */
export function confidences({ candidates }: Example, { sure, evidence }: Weights): Map<number, number> {
  const asks = asksForSkill(candidates, evidence);
  const found = candidates.map((one): [number, number] => {
    const confidence = confidenceOf(one.sure, sure);
    if (one.named) return [one.skill, 0.99];
    return [one.skill, one.isOrdered ? Math.max(0.6, confidence) : confidence * (asks ? 1 : LEAST_CONFIDENCE)];
  });
  return new Map(found.sort((a, b) => b[1] - a[1]));
}

const SURE_KINDS: Partial<Record<Kind, number>> = {
  "one pool": 1,
  "own pool": 0.5,
  "small pool": 0.15,
  "foreign pool": 0.15,
  ordinary: 0.2,
  "ordinary, small pool": 0.1,
  short: 0.1,
};
/** A prompt that must not bring a certain skill counts this many times. */
const WRONG_FACTOR = 2;
/** Shifts the confidence so that 13% wrong cards are reached at the default of `skills.recommend_threshold`. */
const SURE_SHIFT = 0.48;

/** Logistic regression by Newton's method, with slight regularization, on the prompts that ask for a skill. */
function fitSure(examples: readonly Example[]): SureTerms {
  const names = Object.keys(SURE) as (keyof SureTerms)[];
  const weightOf = weights(
    examples,
    ({ kind, isPositive, candidates }) => {
      const isWrong = !isPositive && candidates.some(({ label }) => label === "wrong");
      return (SURE_KINDS[kind] ?? 0) * (isWrong ? WRONG_FACTOR : 1);
    },
    ({ kind }) => kind,
  );
  const rows = examples.flatMap((example, at) =>
    weightOf[at] === 0
      ? []
      : example.candidates.map(({ sure, label }) => ({
          x: names.map((name) => sure[name]),
          y: label === "right" ? 1 : 0,
          weight: weightOf[at]!,
        })),
  );
  const total = rows.reduce((sum, { weight }) => sum + weight, 0);
  let b = names.map(() => 0);
  for (let step = 0; step < 12; step++) {
    const gradient = names.map((_, at) => -SHRINK * b[at]!);
    const hessian = names.map((_, row) => names.map((_, column) => (row === column ? SHRINK : 0)));
    for (const { x, y, weight } of rows) {
      const p = sigmoid(dot(x, b));
      const residual = (weight / total) * (y - p);
      const curve = (weight / total) * p * (1 - p);
      for (let i = 0; i < x.length; i++) {
        gradient[i]! += residual * x[i]!;
        for (let j = 0; j <= i; j++) hessian[i]![j]! += curve * x[i]! * x[j]!;
      }
    }
    for (let i = 0; i < names.length; i++) for (let j = 0; j < i; j++) hessian[j]![i] = hessian[i]![j]!;
    const move = solve(hessian, gradient);
    b = b.map((value, at) => value + move[at]!);
  }
  b[names.indexOf("constant")]! += SURE_SHIFT;
  return named(names, b);
}

const SHRINK = 1e-5;

/** What it costs to be silent on a prompt that needs a skill, and to speak on one that does not. */
const EVIDENCE_COSTS: Partial<Record<Kind, readonly [silent: number, spoken: number]>> = {
  "one pool": [5, 0],
  "own pool": [0.6, 0],
  "small pool": [0.6, 0],
  short: [1.5, 0.5],
  "foreign pool": [0, 0.4],
  ordinary: [0, 2.4],
  "ordinary, small pool": [0, 0.6],
};
/** Round numbers to start from: a word counts two, a missing one minus one. */
const START: EvidenceTerms = {
  constant: 1,
  told: 2,
  mentioned: 1,
  missing: -1,
  missingRare: 0.5,
  second: 2,
  pair: 4,
  nameSaid: 1,
  nameRare: 2,
  size: -2,
  sizeAndLength: 1,
};

/**
 * Minimizes the cost of wrong decisions, with a steep sigmoid in place of the step, by gradient descent (Adam). Likelihood is the wrong
 * measure here: it fits the many prompts that nobody could decide wrongly.
 */
function fitEvidence(examples: readonly Example[]): EvidenceTerms {
  const names = Object.keys(EVIDENCE) as (keyof EvidenceTerms)[];
  const weightOf = weights(
    examples,
    ({ kind, isPositive }) => EVIDENCE_COSTS[kind]?.[isPositive ? 0 : 1] ?? 0,
    ({ kind, isPositive }) => `${kind} ${isPositive}`,
  );
  const total = weightOf.reduce((sum, one) => sum + one, 0);
  const rows = examples.flatMap(({ candidates, isPositive }, at) => {
    const strongest = [...candidates].sort((a, b) => b.score - a.score).slice(0, 3);
    const xs = strongest.flatMap(({ evidence }) => (evidence ? [names.map((name) => evidence[name])] : []));
    return weightOf[at] === 0 || xs.length === 0
      ? []
      : [{ xs, sign: isPositive ? -1 : 1, weight: weightOf[at]! / total }];
  });
  const start = names.map((name) => START[name]);
  const b = [...start];
  const mean = names.map(() => 0);
  const square = names.map(() => 0);
  for (let step = 1; step <= STEPS; step++) {
    const gradient = b.map((value, at) => 2 * PULL * (value - start[at]!));
    for (const { xs, sign, weight } of rows) {
      let best = Number.NEGATIVE_INFINITY;
      let of = xs[0]!;
      for (const x of xs) {
        const z = dot(x, b);
        if (z > best) [best, of] = [z, x];
      }
      const p = sigmoid(best / STEEPNESS);
      const slope = (weight * sign * p * (1 - p)) / STEEPNESS;
      if (Math.abs(slope) > 1e-9) for (let at = 0; at < of.length; at++) gradient[at]! += slope * of[at]!;
    }
    for (let at = 0; at < b.length; at++) {
      mean[at] = 0.9 * mean[at]! + 0.1 * gradient[at]!;
      square[at] = 0.99 * square[at]! + 0.01 * gradient[at]! ** 2;
      const unbiased = mean[at]! / (1 - 0.9 ** step);
      b[at]! -= (RATE * unbiased) / (Math.sqrt(square[at]! / (1 - 0.99 ** step)) + 1e-8);
    }
  }
  return named(names, b);
}

const STEEPNESS = 0.5;
/** How strongly a weight is pulled towards its start value. */
const PULL = 0.01;
const STEPS = 250;
const RATE = 0.02;

/** The examples of a group share its weight. In a group, a source weighs the square root of its number of examples. */
function weights(
  examples: readonly Example[],
  costOf: (example: Example) => number,
  groupOf: (example: Example) => string,
): number[] {
  const all = [...Map.groupBy(examples.keys(), (at) => groupOf(examples[at]!)).values()];
  const found = examples.map(() => 0);
  for (const group of all) {
    const sources = [...Map.groupBy(group, (at) => examples[at]!.source).values()];
    const total = sources.reduce((sum, { length }) => sum + Math.sqrt(length), 0);
    for (const source of sources)
      for (const at of source) found[at] = costOf(examples[at]!) / (total * Math.sqrt(source.length));
  }
  return found;
}

function sigmoid(z: number): number {
  return 1 / (1 + Math.exp(-z));
}

function dot(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}

/** Gaussian elimination; the matrix is symmetric and positive. */
function solve(matrix: number[][], right: readonly number[]): number[] {
  const m = matrix.map((row, at) => [...row, right[at]!]);
  for (let i = 0; i < m.length; i++) {
    for (let j = i + 1; j < m.length; j++) {
      const factor = m[j]![i]! / m[i]![i]!;
      for (let k = i; k <= m.length; k++) m[j]![k]! -= factor * m[i]![k]!;
    }
  }
  const x = m.map(() => 0);
  for (let i = m.length - 1; i >= 0; i--) {
    let sum = m[i]![m.length]!;
    for (let j = i + 1; j < m.length; j++) sum -= m[i]![j]! * x[j]!;
    x[i] = sum / m[i]![i]!;
  }
  return x;
}

function named<Name extends string>(names: readonly Name[], values: readonly number[]): Record<Name, number> {
  return Object.fromEntries(names.map((name, at) => [name, values[at]!])) as Record<Name, number>;
}
