/**
 * Ranks skills for a prompt by their words, with a confidence in 0..1 and the evidence for it. Runs in the hook process: pure, small, no
 * dependencies. Asks the index only how common the prompt's terms are and which skills contain them.
 */

import {
  bodyTerm,
  FIELD,
  gramTerms,
  hasGrams,
  type Manner,
  NAME_LENGTH,
  type PromptTerm,
  promptTerms,
} from "./tokenize.ts";

export interface TermStats {
  term: string;
  /** How many skills of the pool contain it. */
  df: number;
  /** From background.ts: the share of ordinary requests that contain it; absent for an unknown word. */
  share?: number;
}

/** A store may use row numbers as keys, which are cheaper to read than names. */
export type SkillKey = string | number;

export interface Posting<Key extends SkillKey = string> {
  term: string;
  skill: Key;
  weight: number;
  /** Bits of FIELD. */
  fields: number;
}

/** What ranking needs from the index; in SQLite, one statement each. */
export interface TermIndex<Key extends SkillKey = string> {
  /** Number of skills in the pool. */
  size: number;
  /** May omit terms that are neither in the pool nor in the background. */
  terms(terms: readonly string[]): Iterable<TermStats>;
  /**
   * Finds the `count` best skills. A skill's score is the sum of weight × factor over its terms. The same can be computed from `postings`,
   * but that reads one row per term and skill. Absent: the scores are computed from `postings`.
   */
  best?(factors: ReadonlyMap<string, number>, count: number): Key[];
  /** All rows of these terms; with `skills`, only the rows of those skills. The rows of a skill are in the order of `terms`. */
  postings(terms: readonly string[], skills?: readonly Key[]): Iterable<Posting<Key>>;
}

export interface Evidence {
  /** The word or phrase as written in the prompt. */
  text: string;
  kind: PromptTerm["kind"] | "similar";
  where: readonly ("name" | "description" | "body")[];
  /** Its share of this skill's score, 0..1. */
  share: number;
}

export interface RankedSkill<Key extends SkillKey = string> {
  skill: Key;
  confidence: number;
  score: number;
  /** The prompt calls the skill by its name. */
  named: boolean;
  /** Strongest first, at most 6. */
  evidence: Evidence[];
}

export const SCORE = {
  /** The background counts as much as this many skills: small pools rely on its frequencies, large ones on their own. */
  backgroundSize: 500,
  /** Assumed share of ordinary requests that contain a word unknown to the background. */
  rareShare: 0.002,
  /** A word that is in this share of ordinary requests says nothing about a request's subject. */
  everydayShare: 0.2,
  /** A misspelled word must share this part of its letter groups with a skill's words. */
  similarShare: 0.5,
  /** How many unknown words are looked up by letter groups. Pasted text has hundreds, and none of them is a typo. */
  mostSimilar: 6,
  /** How many skills are scored in full. */
  candidates: 24,
};

export interface RankOptions<Key extends SkillKey> {
  /** How many skills are returned. Default: 10. */
  limit?: number;
  faint?: Faint;
  /** The text is a search for skills, so it asks for one. Default: false. */
  isSearch?: boolean;
  /** Which of the given skills no model is shown. They are ranked, but do not lower the confidence of other skills that fit as well. */
  hidden?: (skills: readonly Key[]) => ReadonlySet<Key>;
  /** Skills whose own keyword or pattern is in the prompt. A prompt may ask for several, so they do not lower each other's confidence. */
  asked?: ReadonlySet<Key>;
}

export function rankSkills<Key extends SkillKey = string>(
  prompt: string,
  index: TermIndex<Key>,
  { limit = 10, faint, isSearch = false, ...rivals }: RankOptions<Key> = {},
): RankedSkill<Key>[] {
  const scored = scoreSkills(prompt, index, rivals);
  const asking = isSearch ? Number.POSITIVE_INFINITY : evidenceOf(scored);
  const ranked = scored.map((one) => ({ ...one, confidence: confidenceWith(asking, one) }));
  ranked.sort(
    (a, b) =>
      Number(b.named) - Number(a.named) ||
      b.confidence - a.confidence ||
      b.score - a.score ||
      (a.skill < b.skill ? -1 : 1),
  );
  return ranked
    .filter(({ confidence }, at) => at < limit && !(faint && at >= faint.after && confidence < faint.below))
    .map(({ skill, confidence, score, named, gains }) => ({
      skill,
      confidence,
      score,
      named,
      evidence: strongestGains(gains),
    }));
}

/** After the first `after` skills, those below this confidence are left out. */
export interface Faint {
  after: number;
  below: number;
}

/** The minimum confidence for a card: such a skill is right about half of the time. */
export const RECOMMEND_CONFIDENCE = 0.4;
/** The minimum confidence for a name. A model that sees five names tells them apart better than word statistics can. */
export const NAME_CONFIDENCE = 0.03;
/** The minimum confidence of the second and third, if anything is shown. */
export const LEAST_CONFIDENCE = 0.01;

const NAMED_CONFIDENCE = 0.99;
const ORDERED_CONFIDENCE = 0.6;

/**
 * Does the prompt ask for something that this pool has? A logistic curve over the evidence for the skill that has most of it. Each word of the
 * prompt is evidence for or against a skill: a word that the skill has counts for it, the rarer the word is in ordinary requests the
 * more; a word that the skill lacks counts against it. That rarity comes from the background alone, because a pool of five skills has
 * no statistics. How the prompt is worded counts too: most requests are about code at hand, whatever words they contain.
 *
 * `npm run bench matching` fits the weights again without each source of prompts in turn, and prints what that changes.
 */
export const EVIDENCE = {
  constant: 2.6,
  /** A rare word in name or description; a common one counts less. */
  told: 0.67,
  /** A rare word that only the body has. */
  mentioned: 1.12,
  /** A word that the skill lacks. It weighs less than a match, because prompts also name things of their own. */
  missing: -0.1,
  /** A second and a third word confirm the first, which is often meant in another sense: "release the lock". */
  second: 1.59,
  /** Two neighbours that the description has as neighbours. */
  pair: 3.32,
  /** The prompt contains the skill's whole name. */
  nameSaid: 2,
  /**
   * In a large pool chance finds a skill for a short prompt, so short prompts need more evidence there: the logarithm of the pool's
   * size, and that times the logarithm of the prompt's length.
   */
  size: -1.51,
  sizeAndLength: 0.36,
  /** As in SURE. */
  covered: 1.05,
  score: 1.79,
  /** How the prompt is worded, see `Manner`. */
  error: -1.49,
  edit: -1.59,
};

/** More than this is needed for a card than for a name: an ordinary prompt that brings a card is worse than one that brings names. */
const CARD_EVIDENCE = 0.7;

/** One common word ("image", "page", "release") is not evidence in any pool, nor are everyday words, however many. */
const LEAST_STRENGTH = 0.29;
/** Smaller pools were not fitted. */
const SMALLEST_POOL = 3;
/** Of the strongest skills, this many are tested: the best by score is not always the one with the most evidence. */
const ASKED_OF = 3;

/** What the weights are applied to. */
export type EvidenceTerms = Record<keyof typeof EVIDENCE, number>;
export type SureTerms = Record<keyof typeof SURE, number>;

/** The log odds that the prompt asks for a skill of the pool. */
export function evidenceOf(
  scored: readonly Pick<Scored<unknown>, "score" | "evidence">[],
  weights: EvidenceTerms = EVIDENCE,
): number {
  const strongest = [...scored].sort((a, b) => b.score - a.score).slice(0, ASKED_OF);
  return Math.max(
    ...strongest.map(({ evidence }) => (evidence ? weigh(evidence, weights) : Number.NEGATIVE_INFINITY)),
    Number.NEGATIVE_INFINITY,
  );
}

/**
 * If the prompt asks for no skill, the confidence is scaled below what any tier needs, and if it hardly does, it stays below a card's. It
 * still orders the skills.
 */
export function confidenceWith(
  asking: number,
  { named, isOrdered, sure }: Pick<Scored<unknown>, "named" | "isOrdered" | "sure">,
  weights: SureTerms = SURE,
): number {
  if (named) return NAMED_CONFIDENCE;
  const confidence = confidenceOf(sure, weights);
  if (isOrdered) return Math.max(ORDERED_CONFIDENCE, confidence);
  if (asking < 0) return confidence * LEAST_CONFIDENCE;
  // Still in their order.
  return asking < CARD_EVIDENCE ? Math.min(confidence, MOST_UNSURE * (0.8 + 0.2 * confidence)) : confidence;
}

/** Just below the default of `skills.recommend_threshold`. */
const MOST_UNSURE = 0.39;

/** Everyday words are below this: "test this" does not ask for a skill named test. */
const LEAST_EVIDENCE = 0.1;

/**
 * How likely a skill is the right one, if the prompt asks for any: a logistic curve, fitted by likelihood. Prompts that must not bring a
 * skill count twice, because a wrong card costs more than a missing one. None of the terms grows with the number of skills. `npm run
 * bench matching` fits them again without each source of prompts in turn. A fit on all sources is about as good (`covered` and `score`
 * nearly coincide), but less sure of skills that the prompt names.
 */
export const SURE = {
  constant: -5.85,
  /** Rare words that only the body has. */
  mentioned: 0.99,
  /** The part of the prompt that is in name and description, 0..1. */
  covered: 1.73,
  /** Words of the prompt that the skill lacks. */
  missing: -0.67,
  /** The part of the name that is in the prompt, 0..1. */
  nameSaid: 1.07,
  /** The score relative to the best other skill's, 0..2: counts most. */
  lead: 4.26,
  score: 0.51,
};

export function confidenceOf(terms: SureTerms, weights: SureTerms = SURE): number {
  return 1 / (1 + Math.exp(-weigh(terms, weights)));
}

function weigh<Name extends string>(terms: Record<Name, number>, weights: Record<Name, number>): number {
  let sum = 0;
  for (const name in weights) sum += weights[name] * terms[name];
  return sum;
}

export interface Scored<Key> {
  skill: Key;
  score: number;
  named: boolean;
  /** The prompt is an order that consists of the skill's name: "deploy this". */
  isOrdered: boolean;
  gains: Gain[];
  sure: SureTerms;
  /** Evidence that the prompt asks for this skill; absent if the prompt says too little. */
  evidence: EvidenceTerms | undefined;
}

interface KnownTerm extends PromptTerm {
  idf: number;
  bodyIdf: number;
  surprise: number;
  /** How rare it is in ordinary requests, 0..1. */
  rare: number;
  df: number;
  bodyDf: number;
}

interface Gain {
  term: PromptTerm;
  kind: Evidence["kind"];
  gain: number;
  fields: number;
}

/** All candidates, best first. */
export function scoreSkills<Key extends SkillKey>(
  prompt: string,
  index: TermIndex<Key>,
  { hidden, asked }: Pick<RankOptions<Key>, "hidden" | "asked"> = {},
): Scored<Key>[] {
  const k = SCORE;
  const { terms, names, refused, isOrder, manner } = promptTerms(prompt);
  if (terms.length === 0 && names.length === 0) return [];
  const known = weighTerms(terms, index, k);
  const similar = similarTerms(known, k);
  const factors = new Map<string, number>();
  for (const { term, weight, idf, bodyIdf, df, bodyDf } of known) {
    if (df > 0) factors.set(term, weight * idf);
    if (bodyDf > 0) factors.set(bodyTerm(term), weight * bodyIdf);
  }
  for (const { grams, weight, idf } of similar) {
    for (const gram of grams) factors.set(gram, (SIMILAR_WEIGHT * weight * idf) / grams.length);
  }
  const called = keysOf(names, index);
  const unwanted = keysOf(refused, index);
  const found = index.best?.(factors, k.candidates + unwanted.size) ?? bestOf(factors, k.candidates, index);
  const candidates = [...new Set([...called, ...found])].filter((skill) => !unwanted.has(skill));
  if (candidates.length === 0) return [];

  const said = known.filter(({ kind }) => kind === "word" || kind === "part");
  const mass = said.reduce((sum, { weight, idf }) => sum + weight * idf, 0);
  const words = said.reduce((sum, { weight }) => sum + weight, 0);
  const has = wordsOfSkills(known, { candidates, terms: [...factors.keys()], index });

  const scored = candidates.map((skill): Scored<Key> => {
    const own = has.get(skill)!;
    const gains: Gain[] = [];
    const found = new WordEvidence();
    let score = 0;
    let told = 0;
    let mentioned = 0;
    let covered = 0;
    let nameWords = 0;
    let nameLength = 1;
    for (const { term, about, body } of own.words) {
      const gain = term.weight * (term.idf * (about?.weight ?? 0) + term.bodyIdf * (body?.weight ?? 0));
      const fields = (about?.fields ?? 0) | (body ? FIELD.body : 0);
      score += gain;
      gains.push({ term, kind: term.kind, gain, fields });
      if (term.kind === "pair") {
        if (about) found.paired += term.weight;
        continue;
      }
      if (term.kind === "whole") continue;
      if (about) {
        told += term.weight * term.surprise;
        covered += term.weight * term.idf;
      } else mentioned += term.weight * term.surprise;
      found.add(term, about ? "told" : "mentioned");
      if (about && about.fields & FIELD.name) {
        nameWords++;
        nameLength = 1 + ((about.fields >> NAME_LENGTH) & 3);
      }
    }
    for (const term of similar) {
      const { grams, weight, idf } = term;
      const share = grams.reduce((sum, gram) => sum + (own.grams.has(gram) ? 1 : 0), 0) / grams.length;
      if (share < k.similarShare) continue;
      const gain = SIMILAR_WEIGHT * share * weight * idf;
      score += gain;
      told += share * weight;
      covered += share * weight * idf;
      // "changelog" is spelled like "change": half of the letter groups are no evidence alone.
      found.add({ weight: share * weight, rare: share }, "told", share / 2);
      gains.push({ term, kind: "similar", gain, fields: FIELD.description });
    }
    const nameSaid = Math.min(1, nameWords / nameLength);
    const isOrdered = isOrder && nameSaid === 1 && nameLength === 1 && told >= LEAST_EVIDENCE;
    const sure: SureTerms = {
      constant: 1,
      mentioned: Math.log1p(mentioned),
      covered: covered / (mass + 1e-6),
      missing: Math.log1p(Math.max(0, words - found.words)),
      nameSaid,
      lead: 0,
      score: Math.log(score + 0.05),
    };
    const evidence = found.terms({ words, nameSaid, size: index.size, sure, manner });
    return { skill, score, named: called.has(skill), isOrdered, gains, sure, evidence };
  });
  scored.sort((a, b) => Number(b.named) - Number(a.named) || b.score - a.score || (a.skill < b.skill ? -1 : 1));
  const unseen = hidden?.(candidates);
  const rivals = scored.filter(({ skill }) => !unseen?.has(skill)).sort((a, b) => b.score - a.score);
  for (const { skill, score, sure } of scored) {
    const isAsked = asked?.has(skill);
    const other = rivals.find((rival) => rival.skill !== skill && !(isAsked && asked?.has(rival.skill)))?.score ?? 0;
    sure.lead = Math.min(2, score / (other + LEAD_PADDING));
  }
  return scored;
}

/** The words of the prompt that a skill has. */
interface OwnWords {
  /** In the order of the prompt. */
  words: { term: KnownTerm; about: Posting<SkillKey> | undefined; body: Posting<SkillKey> | undefined }[];
  /** Letter groups of misspelled words. */
  grams: Set<string>;
}

/** Most skills have few of the words, so only what they have is visited later. */
function wordsOfSkills<Key extends SkillKey>(
  known: readonly KnownTerm[],
  { candidates, terms, index }: { candidates: readonly Key[]; terms: readonly string[]; index: TermIndex<Key> },
): Map<Key, OwnWords> {
  const found = new Map(candidates.map((skill): [Key, OwnWords] => [skill, { words: [], grams: new Set() }]));
  const wordOf = new Map(known.flatMap((term) => [[term.term, term] as const, [bodyTerm(term.term), term] as const]));
  for (const row of index.postings(terms, candidates)) {
    const own = found.get(row.skill);
    const term = wordOf.get(row.term);
    if (!term) own?.grams.add(row.term);
    else if (row.term === term.term) own?.words.push({ term, about: row, body: undefined });
    else if (own?.words.at(-1)?.term === term) own.words.at(-1)!.body = row;
    else own?.words.push({ term, about: undefined, body: row });
  }
  return found;
}

/** What a prompt's words say for and against one skill. */
class WordEvidence {
  /** Weights of the words that the skill has; the same times their rarity; and of those, the ones in name and description. */
  words = 0;
  #rare = 0;
  #told = 0;
  readonly #strengths: number[] = [];
  paired = 0;

  add({ weight, rare }: Pick<KnownTerm, "weight" | "rare">, where: "told" | "mentioned", strength = rare): void {
    this.words += weight;
    this.#rare += weight * rare;
    if (where === "told") this.#told += weight * rare;
    this.#strengths.push(where === "told" ? strength : strength / 2);
  }

  terms({
    words,
    nameSaid,
    size,
    sure,
    manner,
  }: {
    words: number;
    nameSaid: number;
    size: number;
    sure: SureTerms;
    manner: Manner;
  }): EvidenceTerms | undefined {
    const [first = 0, second = 0, third = 0] = this.#strengths.sort((a, b) => b - a);
    // A phrase is more than its words: "review my branch" has a skill's name and another of its words.
    const isPhrase = this.paired > 0 || (nameSaid === 1 && this.#strengths.length > 1);
    if (first + second + third < LEAST_STRENGTH && !isPhrase) return undefined;
    const logSize = Math.log(Math.max(SMALLEST_POOL, size));
    const { length, ...wording } = manner;
    return {
      constant: 1,
      told: this.#told,
      mentioned: this.#rare - this.#told,
      missing: words - this.words,
      second: second + third,
      pair: this.paired,
      nameSaid,
      size: logSize,
      sizeAndLength: logSize * length,
      covered: sure.covered,
      score: sure.score,
      ...wording,
    };
  }
}

/** Weight of a word found by letter groups, relative to one spelled right: as much as a word of a description. */
const SIMILAR_WEIGHT = 0.4;
/** A constant rival: what an ordinary request scores by chance. Without it, a skill without rivals would have an unlimited lead. */
const LEAD_PADDING = 0.2;

function keysOf<Key extends SkillKey>(names: readonly string[], index: TermIndex<Key>): Set<Key> {
  const keys = new Set<Key>();
  if (names.length > 0) for (const { skill } of index.postings(names)) keys.add(skill);
  return keys;
}

function weighTerms(
  terms: readonly PromptTerm[],
  index: Pick<TermIndex<SkillKey>, "terms" | "size">,
  k: typeof SCORE,
): KnownTerm[] {
  const stats = new Map<string, TermStats>();
  const asked = terms.flatMap(({ term }) => [term, bodyTerm(term)]);
  for (const row of index.terms(asked)) stats.set(row.term, row);
  const all = index.size + k.backgroundSize;
  const rarity = (seen: number) => Math.log(1 + (all - seen + 0.5) / (seen + 0.5)) / Math.log(1 + (all + 0.5) / 0.5);
  return terms.map((term): KnownTerm => {
    const { df = 0, share = k.rareShare } = stats.get(term.term) ?? {};
    const bodyDf = stats.get(bodyTerm(term.term))?.df ?? 0;
    const seen = df + share * k.backgroundSize;
    const surprise = Math.max(0, Math.log((k.everydayShare * all) / seen)) / Math.log(k.everydayShare / k.rareShare);
    const isUnknown = df === 0 && bodyDf === 0 && stats.get(term.term)?.share === undefined;
    return {
      ...term,
      idf: rarity(seen),
      bodyIdf: rarity(bodyDf + share * k.backgroundSize),
      surprise,
      rare: Math.max(0, Math.log(k.everydayShare / share)) / Math.log(k.everydayShare / k.rareShare),
      df: isUnknown ? -1 : df,
      bodyDf,
    };
  });
}

/** Words that neither the pool nor the background knows, with their letter groups. */
function similarTerms(known: readonly KnownTerm[], k: typeof SCORE): (KnownTerm & { grams: string[] })[] {
  return known
    .filter(({ kind, df, text }) => df === -1 && (kind === "word" || kind === "part") && hasGrams(text))
    .slice(0, k.mostSimilar)
    .map((term) => ({ ...term, grams: gramTerms(term.text) }));
}

function bestOf<Key extends SkillKey>(
  factors: ReadonlyMap<string, number>,
  count: number,
  index: TermIndex<Key>,
): Key[] {
  const sums = new Map<Key, number>();
  for (const { term, skill, weight } of index.postings([...factors.keys()])) {
    sums.set(skill, (sums.get(skill) ?? 0) + (factors.get(term) ?? 0) * weight);
  }
  const sorted = [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return sorted.slice(0, count).map(([skill]) => skill);
}

/** Indexed by the three lowest bits of `fields`. */
const WHERE: Evidence["where"][] = [
  [],
  ["name"],
  ["description"],
  ["name", "description"],
  ["body"],
  ["name", "body"],
  ["description", "body"],
  ["name", "description", "body"],
];

function strongestGains(gains: readonly Gain[]): Evidence[] {
  const strongest = [...gains].sort((a, b) => b.gain - a.gain);
  const total = strongest.reduce((sum, { gain }) => sum + gain, 0);
  return strongest.slice(0, 6).map(({ gain, term, kind, fields }) => ({
    text: term.text,
    kind,
    where: WHERE[fields & 7]!,
    share: gain / total,
  }));
}
