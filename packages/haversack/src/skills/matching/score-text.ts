/**
 * Ranks skills for a prompt by their words, with a confidence in 0..1 and the evidence for it. Runs in the hook process:
 * pure, small, no dependency. Of the index it asks only how common the prompt's terms are and which skills hold them.
 */

import { type PromptTerm, promptTerms } from "./prompt-terms.ts";
import { FIELD, worldTerm } from "./tokenize.ts";
import { rivalsOf, worldsConflict } from "./vocabulary.ts";

export interface TermStats {
  term: string;
  /** How many skills of the pool hold it. */
  df: number;
  /** From background.ts: the share of ordinary requests that hold it; absent for a word that it does not know. */
  share?: number;
}

/** A store may use row numbers for skills, which are cheaper to read than names. */
export type SkillKey = string | number;

export interface Posting<Key extends SkillKey = string> {
  term: string;
  skill: Key;
  weight: number;
  /** Bits of FIELD. */
  fields: number;
}

/** What ranking needs of the index; in SQLite one statement each. */
export interface TermIndex<Key extends SkillKey = string> {
  /** Number of skills in the pool. */
  size: number;
  /** Terms that are neither in the pool nor in the background may be left out. */
  terms(terms: readonly string[]): Iterable<TermStats>;
  /**
   * The skills whose weights, each times the factor of its term, give the largest sums, at most `count`: what `postings` would
   * give, without a row for each. Absent: it is added up from `postings`.
   */
  best?(factors: ReadonlyMap<string, number>, count: number): Key[];
  /** All rows of these terms; with `skills`, only theirs. */
  postings(terms: readonly string[], skills?: readonly Key[]): Iterable<Posting<Key>>;
}

export interface Evidence {
  /** The word or phrase as the prompt has it. */
  text: string;
  kind: PromptTerm["kind"];
  where: readonly ("name" | "description" | "body")[];
  /** Its share of this skill's score, 0..1. */
  share: number;
}

export interface RankedSkill<Key extends SkillKey = string> {
  skill: Key;
  confidence: number;
  score: number;
  /** The prompt calls it by its name. */
  named: boolean;
  /** The prompt speaks of another world (Python, not .NET). */
  conflict: boolean;
  /** Another skill fits far better. */
  overshadowed: boolean;
  /** Strongest first, at most 6. */
  evidence: Evidence[];
}

/** Behind so many, those below this confidence are left out. */
export interface Faint {
  after: number;
  below: number;
}

/** From this confidence on a skill is worth showing. */
export const RECOMMEND_CONFIDENCE = 0.4;

export const SCORE = {
  /** The background counts like so many skills: small pools borrow its frequencies, large ones their own. */
  backgroundSize: 300,
  /** Share of ordinary requests that hold a word which the background does not know. */
  rareShare: 0.002,
  /** What a prompt's weight is padded with: two words in common with a prompt of two words prove little. */
  massPadding: 2.25,
  /** A skill of another world keeps this share of its score. */
  conflictFactor: 0.5,
  /** Each word short of this many takes `shortStep` off: a prompt of two words goes on with what is under way. */
  shortWords: 4,
  shortStep: 0.15,
  /** A question about a general matter counts as this much of a request to do something. */
  knowledgeFactor: 0.6,
  /** Below this share of the best score a skill is overshadowed: shown only if asked for. */
  shadowShare: 0.7,
  /** Confidence is a logistic curve over score / (mass + padding). */
  midpoint: 0.45,
  steepness: 7,
  /** See wordConfidence: the odds that a request means a given skill of a pool of one, before a word of it is read. */
  priorOdds: 0.1,
  /** They fall with the pool's size to this power. Skills of one pool are alike, so 16 skills halve them. */
  priorPower: 0.25,
  /** How likely a request for a skill says a word of its description, per unit of the word's weight, up to `mostSaid`. */
  said: 0.21,
  mostSaid: 0.5,
  /** How likely it says the name, if that is one word. */
  nameSaid: 0.6,
  /** How likely it says two words that stand together in the name or description. */
  pairSaid: 0.3,
  /** An order that is the name alone ("deploy this") counts so many times as much as the name elsewhere. */
  orderFactor: 3,
  /** Each further word of the prompt that name and description do not hold leaves this share of the odds. */
  missing: 0.75,
  /** Two words or more that are all the prompt speaks of count so many times as much. */
  wholeFactor: 1.5,
  /** Words shared with a name or description give at most this much. */
  mostShared: 0.55,
  namedConfidence: 0.99,
  shadowConfidence: 0.3,
  /** Most terms looked up, rarest first. */
  maxTerms: 64,
  /** Most rows read to find candidates: so many per skill of the pool, but not fewer than the one nor more than the other. */
  rowsPerSkill: 2,
  leastRows: 600,
  rowBudget: 4000,
  candidates: 8,
};

export function rankSkills<Key extends SkillKey = string>(
  prompt: string,
  index: TermIndex<Key>,
  { limit = 10, constants: k = SCORE, faint }: { limit?: number; constants?: typeof SCORE; faint?: Faint } = {},
): RankedSkill<Key>[] {
  const { terms, isOrder, worlds, names, asksToKnow, refused } = promptTerms(prompt);
  if (terms.length === 0 && names.length === 0) return [];
  const known = weighPrompt(terms, index, k);
  const named = new Set<Key>();
  if (names.length > 0) for (const row of index.postings(names)) named.add(row.skill);

  const unwanted = new Set<Key>();
  if (refused.length > 0) for (const row of index.postings(refused)) unwanted.add(row.skill);
  const candidates = findCandidates(known.terms, named, index, k).filter((skill) => !unwanted.has(skill));
  if (candidates.length === 0) return [];
  const rows = index.postings([...known.terms.keys(), ...rivalsOf(worlds).map(worldTerm)], candidates);
  const tallies = tally(rows, known.terms);
  let best = 0;
  const scored = candidates.map((skill): Scored<Key> => {
    const found = tallies.get(skill) ?? { gains: new Map<string, Gain>(), worlds: [] };
    let score = 0;
    for (const { gain } of found.gains.values()) score += gain;
    const conflict = worldsConflict(worlds, found.worlds);
    if (conflict) score *= k.conflictFactor;
    if (score > best) best = score;
    return { skill, score, conflict, gains: found.gains };
  });
  const words = known.own.length;
  const discount = (asksToKnow ? k.knowledgeFactor : 1) * (1 - k.shortStep * Math.max(0, k.shortWords - words));
  scored.sort(
    (a, b) =>
      Number(named.has(b.skill)) - Number(named.has(a.skill)) || b.score - a.score || (a.skill < b.skill ? -1 : 1),
  );
  const ranked: RankedSkill<Key>[] = [];
  for (const { skill, score, conflict, gains } of scored) {
    if (ranked.length === limit) break;
    const isNamed = named.has(skill);
    const isOrdered = isOrder && [...gains.values()].some(({ fields }) => fields & FIELD.onlyName);
    const overshadowed = !isNamed && (named.size > 0 || (score < k.shadowShare * best && !isOrdered));
    const strength = (score * discount) / (known.mass + k.massPadding);
    const curve = 1 / (1 + Math.exp(-k.steepness * (strength - k.midpoint)));
    const shared = conflict || asksToKnow ? 0 : wordConfidence(gains, known.own, { size: index.size, isOrder, k });
    const sure = Math.max(curve, shared);
    const confidence = isNamed ? k.namedConfidence : overshadowed ? Math.min(sure, k.shadowConfidence) : sure;
    if (faint && ranked.length >= faint.after && confidence < faint.below) continue;
    ranked.push({ skill, confidence, score, named: isNamed, conflict, overshadowed, evidence: evidenceOf(gains) });
  }
  return ranked;
}

interface Scored<Key> {
  skill: Key;
  score: number;
  conflict: boolean;
  gains: ReadonlyMap<string, Gain>;
}

interface KnownTerm extends PromptTerm {
  idf: number;
  df: number;
  /** The share of ordinary requests that hold it; absent when the background does not know it. */
  share: number | undefined;
}

/** Looks up how telling each term is. `own`: the words of the prompt; `mass`: what it says in all, known to the pool or not. */
function weighPrompt(
  terms: readonly PromptTerm[],
  index: Pick<TermIndex, "terms" | "size">,
  k: typeof SCORE,
): { terms: Map<string, KnownTerm>; own: KnownTerm[]; mass: number } {
  const stats = new Map<string, TermStats>();
  for (const row of index.terms(terms.map((term) => term.term))) stats.set(row.term, row);
  const { size } = index;
  const weighed = terms.map(({ term, text, kind, weight, origin, of }): KnownTerm => {
    const row = stats.get(term);
    const idf = idfOf(row, size, k);
    return { term, text, kind, weight, origin, ...(of && { of }), idf, df: row?.df ?? 0, share: row?.share };
  });
  weighed.sort((a, b) => b.weight * b.idf - a.weight * a.idf || (a.term < b.term ? -1 : 1));
  const found = new Map<string, KnownTerm>();
  let mass = 0;
  let own = 0;
  for (const known of weighed) {
    if (isOwn(known) && own++ < k.maxTerms) mass += known.weight * known.idf;
    if (known.df > 0 && found.size < k.maxTerms) found.set(known.term, known);
  }
  return { terms: found, own: weighed.filter(isOwn), mass };
}

/**
 * The confidence that comes from the words which the prompt shares with a skill's name or description, by Bayes' rule: the odds that a
 * request means this skill, before it is read, times for each shared word how much likelier such a request says it than any other
 * request does. How common a word is in other requests comes from the background, and from the pool as it grows. So one
 * word is enough if it is rare or is the skill's name, and two or three ordinary words together are, whatever the length of the prompt and the
 * size of the pool. Words of the prompt that neither holds leave doubt.
 */
function wordConfidence(
  gains: ReadonlyMap<string, Gain>,
  prompt: readonly KnownTerm[],
  { size, isOrder, k }: { size: number; isOrder: boolean; k: typeof SCORE },
): number {
  let odds = k.priorOdds / size ** k.priorPower;
  let isWhole = true;
  const chances = new Map<string, number>();
  const ratios = new Map<string, number>();
  for (const { term, weight, df, share = k.rareShare } of prompt) {
    const chance = (Math.max(0, df - 1) + share * k.backgroundSize) / (size - 1 + k.backgroundSize);
    chances.set(term, chance);
    if (share >= EVERYDAY_SHARE) continue;
    const gain = gains.get(term);
    if (gain?.term.term !== term || !isAboutWhole(gain)) {
      odds *= k.missing ** weight;
      isWhole = false;
      continue;
    }
    const isName = (gain.fields & FIELD.onlyName) !== 0;
    const said = isName ? k.nameSaid : Math.min(k.mostSaid, k.said * gain.weight);
    const ratio = Math.max(1, said / chance) ** weight * (isName && isOrder ? k.orderFactor : 1);
    ratios.set(term, ratio);
    odds *= ratio;
  }
  // A pair replaces what its two words give if it gives more. Everyday words count here: "review my branch".
  for (const gain of gains.values()) {
    const [left, right] = gain.term.of ?? [];
    if (left === undefined || right === undefined || !isAboutWhole(gain)) continue;
    const apart = (ratios.get(left) ?? 1) * (ratios.get(right) ?? 1);
    const together = k.pairSaid / ((chances.get(left) ?? 1) * (chances.get(right) ?? 1));
    if (together <= apart) continue;
    odds *= together / apart;
    ratios.set(left, Math.sqrt(together)).set(right, Math.sqrt(together));
  }
  if (isWhole && ratios.size > 1) odds *= k.wholeFactor;
  return ratios.size === 0 ? 0 : Math.min(k.mostShared, odds / (1 + odds));
}

/** A name and a description say what the skill is for; a body also mentions other things. */
function isAboutWhole({ fields }: Gain): boolean {
  return (fields & (FIELD.name | FIELD.description)) !== 0;
}

/** Words that every fourth request holds ("add", "file") are no evidence by themselves, not even as a name ("test"). */
const EVERYDAY_SHARE = 0.2;

/** A compound's whole is known or is the user's own name for something; only its parts count as said. */
function isOwn(term: PromptTerm): boolean {
  return term.kind === "word" || term.kind === "part";
}

/** How telling a term is, 0..1: rare among the pool's skills and in ordinary requests. Of one scale for pools of any size. */
function idfOf(stats: TermStats | undefined, size: number, k: typeof SCORE): number {
  const all = size + k.backgroundSize;
  const seen = (stats?.df ?? 0) + (stats?.share ?? k.rareShare) * k.backgroundSize;
  return Math.log(1 + (all - seen + 0.5) / (seen + 0.5)) / Math.log(1 + (all + 0.5) / 0.5);
}

/**
 * The skills worth scoring in full. Reads rows rarest term first and stops at the row budget: in a pool of 10,000 skills
 * a word that half of them hold would cost more than everything else and decide nothing. (With 600 rows or 4000, the public cases
 * give the same matches.)
 */
function findCandidates<Key extends SkillKey>(
  terms: ReadonlyMap<string, KnownTerm>,
  named: ReadonlySet<Key>,
  index: TermIndex<Key>,
  k: typeof SCORE,
): Key[] {
  const factors = new Map<string, number>();
  const mostRows = Math.min(k.rowBudget, Math.max(k.leastRows, k.rowsPerSkill * index.size));
  let rows = 0;
  for (const term of [...terms.values()].sort((a, b) => a.df - b.df)) {
    if (factors.size > 0 && rows + term.df > mostRows) break;
    rows += term.df;
    factors.set(term.term, term.weight * term.idf);
  }
  const others = index.best?.(factors, k.candidates) ?? bestOf(factors, k.candidates, index);
  return [...new Set([...[...named].sort((a, b) => (a < b ? -1 : 1)), ...others])].slice(0, k.candidates);
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

interface Gain {
  gain: number;
  term: PromptTerm;
  fields: number;
  /** Of the term in this skill. */
  weight: number;
}

/** Per skill what each term of the prompt brings; a synonym counts only where it brings more than the word itself. */
function tally<Key extends SkillKey>(
  rows: Iterable<Posting<Key>>,
  terms: ReadonlyMap<string, KnownTerm>,
): Map<Key, { gains: Map<string, Gain>; worlds: string[] }> {
  const tallies = new Map<Key, { gains: Map<string, Gain>; worlds: string[] }>();
  for (const row of rows) {
    let entry = tallies.get(row.skill);
    if (!entry) {
      entry = { gains: new Map(), worlds: [] };
      tallies.set(row.skill, entry);
    }
    if (row.fields & FIELD.world) {
      entry.worlds.push(row.term.slice(1));
      continue;
    }
    const term = terms.get(row.term);
    if (!term || row.weight === 0) continue;
    const idf = term.origin === undefined ? term.idf : Math.min(term.idf, terms.get(term.origin)?.idf ?? term.idf);
    const gain = term.weight * idf * row.weight;
    const key = term.origin ?? term.term;
    if (gain > (entry.gains.get(key)?.gain ?? 0))
      entry.gains.set(key, { gain, term, fields: row.fields, weight: row.weight });
  }
  return tallies;
}

/** By the three lowest bits of `fields`. */
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

function evidenceOf(gains: ReadonlyMap<string, Gain>): Evidence[] {
  const strongest = [...gains.values()].sort((a, b) => b.gain - a.gain);
  const total = strongest.reduce((sum, { gain }) => sum + gain, 0);
  return strongest.slice(0, 6).map(({ gain, term, fields }) => ({
    text: term.text,
    kind: term.kind,
    where: WHERE[fields & 7]!,
    share: gain / total,
  }));
}
