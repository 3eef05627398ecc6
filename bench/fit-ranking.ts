/**
 * Fits the matcher's constants: the weights of the evidence that a prompt asks for a skill (EVIDENCE) and of the confidence (SURE). `npm run bench
 * matching` fits them without each source of prompts in turn.
 */
import {
  confidenceWith,
  EVIDENCE,
  type EvidenceTerms,
  evidenceOf,
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
  | "short"
  | "everyday"
  | "everyday, small pool";

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
  return { sure: fitSure(examples.filter(({ candidates }) => evidenceOf(candidates, evidence) >= 0)), evidence };
}

/** As `rankSkills` does it, with other weights. Best first. */
export function confidences({ candidates }: Example, { sure, evidence }: Weights): Map<number, number> {
  const asking = evidenceOf(candidates, evidence);
  const found = candidates.map((one): [number, number] => [one.skill, confidenceWith(asking, one, sure)]);
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
  everyday: 0.2,
  "everyday, small pool": 0.1,
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

/** How much the prompts that need a skill weigh, and those that do not. */
const EVIDENCE_KINDS: Record<Kind, readonly [positive: number, negative: number]> = {
  "one pool": [5, 0],
  "own pool": [0.6, 0],
  "small pool": [0.6, 0],
  "foreign pool": [0, 0.4],
  ordinary: [0, 2.4],
  "ordinary, small pool": [0, 0.6],
  short: [5, 2.5],
  everyday: [0, 4.8],
  "everyday, small pool": [0, 1.2],
};
/** Chosen so that few everyday prompts bring something. The shipped `nameSaid` is larger than fitted: few examples say a skill's name. */
const EVIDENCE_SHIFT = 1;

/** Logistic regression by gradient descent (Adam), on the skill with most evidence, which changes with the weights. */
function fitEvidence(examples: readonly Example[]): EvidenceTerms {
  const names = Object.keys(EVIDENCE) as (keyof EvidenceTerms)[];
  const weightOf = weights(
    examples,
    ({ kind, isPositive }) => EVIDENCE_KINDS[kind][isPositive ? 0 : 1],
    ({ kind, isPositive }) => `${kind} ${isPositive}`,
  );
  const total = weightOf.reduce((sum, one) => sum + one, 0);
  const rows = examples.flatMap(({ candidates, isPositive }, at) => {
    const strongest = [...candidates].sort((a, b) => b.score - a.score).slice(0, 3);
    const xs = strongest.flatMap(({ evidence }) => (evidence ? [names.map((name) => evidence[name])] : []));
    return weightOf[at] === 0 || xs.length === 0 ? [] : [{ xs, y: isPositive ? 1 : 0, weight: weightOf[at]! / total }];
  });
  // Standardized, so that one rate of descent fits all terms. The first is the constant.
  const all = rows.flatMap(({ xs }) => xs);
  const mean = names.map((_, i) => (i === 0 ? 0 : all.reduce((sum, x) => sum + x[i]!, 0) / all.length));
  const spread = names.map((_, i) =>
    i === 0 ? 1 : Math.sqrt(all.reduce((sum, x) => sum + (x[i]! - mean[i]!) ** 2, 0) / all.length) || 1,
  );
  for (const { xs } of rows)
    for (const x of xs) for (let i = 0; i < x.length; i++) x[i] = (x[i]! - mean[i]!) / spread[i]!;
  const b = names.map(() => 0);
  const moment = names.map(() => 0);
  const square = names.map(() => 0);
  for (let step = 1; step <= STEPS; step++) {
    const gradient = b.map((value, i) => (i === 0 ? 0 : 2 * PULL * value));
    for (const { xs, y, weight } of rows) {
      let best = Number.NEGATIVE_INFINITY;
      let of = xs[0]!;
      for (const x of xs) {
        const z = dot(x, b);
        if (z > best) [best, of] = [z, x];
      }
      const residual = weight * (sigmoid(best) - y);
      for (let i = 0; i < of.length; i++) gradient[i]! += residual * of[i]!;
    }
    for (let i = 0; i < b.length; i++) {
      moment[i] = 0.9 * moment[i]! + 0.1 * gradient[i]!;
      square[i] = 0.99 * square[i]! + 0.01 * gradient[i]! ** 2;
      b[i]! -= (RATE * moment[i]!) / (1 - 0.9 ** step) / (Math.sqrt(square[i]! / (1 - 0.99 ** step)) + 1e-8);
    }
  }
  const fitted = b.map((value, i) => value / spread[i]!);
  fitted[0]! += EVIDENCE_SHIFT - fitted.reduce((sum, value, i) => sum + (i === 0 ? 0 : value * mean[i]!), 0);
  return named(names, fitted);
}

/** How strongly a standardized weight is pulled towards zero. */
const PULL = 0.0005;
const STEPS = 300;
const RATE = 0.05;

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
