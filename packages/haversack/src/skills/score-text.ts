/**
 * Ranks skills for a prompt by their words, with a confidence in 0..1 and the evidence for it. Runs in the hook process:
 * pure, small, no dependency. Of the index it asks only how common the prompt's terms are and which skills hold them.
 */
import { rivalsOf, worldsConflict } from "./ecosystems.ts";
import { type PromptTerm, promptTerms } from "./prompt-terms.ts";
import { FIELD, worldTerm } from "./skill-fields.ts";

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
  /** A telling word alone: see isTelling. */
  toldConfidence: 0.41,
  /** See sharedConfidence: so many matches by chance give RECOMMEND_CONFIDENCE; fewer give more, up to this. */
  fewChances: 0.1,
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
  const { terms, worlds, names, asksToKnow, refused } = promptTerms(prompt);
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
  const words = terms.filter(isOwn).length;
  const discount = (asksToKnow ? k.knowledgeFactor : 1) * (1 - k.shortStep * Math.max(0, k.shortWords - words));
  scored.sort(
    (a, b) =>
      Number(named.has(b.skill)) - Number(named.has(a.skill)) || b.score - a.score || (a.skill < b.skill ? -1 : 1),
  );
  const ranked: RankedSkill<Key>[] = [];
  for (const { skill, score, conflict, gains } of scored) {
    if (ranked.length === limit) break;
    const isNamed = named.has(skill);
    const overshadowed = !isNamed && (named.size > 0 || score < k.shadowShare * best);
    const strength = (score * discount) / (known.mass + k.massPadding);
    const curve = 1 / (1 + Math.exp(-k.steepness * (strength - k.midpoint)));
    const isTold = !conflict && !asksToKnow && score === best && isTelling(gains, known.terms);
    const shared = conflict || asksToKnow ? 0 : sharedConfidence(gains, known.terms, { words, size: index.size, k });
    const sure = Math.max(curve, shared, isTold ? k.toldConfidence : 0);
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

/** Looks up how telling each term is. `mass`: what the prompt says in all, known to the pool or not. */
function weighPrompt(
  terms: readonly PromptTerm[],
  index: Pick<TermIndex, "terms" | "size">,
  k: typeof SCORE,
): { terms: Map<string, KnownTerm>; mass: number } {
  const stats = new Map<string, TermStats>();
  for (const row of index.terms(terms.map((term) => term.term))) stats.set(row.term, row);
  const { size } = index;
  const weighed = terms.map(({ term, text, kind, weight, origin }): KnownTerm => {
    const row = stats.get(term);
    const idf = idfOf(row, size, k);
    return { term, text, kind, weight, origin, idf, df: row?.df ?? 0, share: row?.share };
  });
  weighed.sort((a, b) => b.weight * b.idf - a.weight * a.idf || (a.term < b.term ? -1 : 1));
  const found = new Map<string, KnownTerm>();
  let mass = 0;
  let own = 0;
  for (const known of weighed) {
    if (isOwn(known) && own++ < k.maxTerms) mass += known.weight * known.idf;
    if (known.df > 0 && found.size < k.maxTerms) found.set(known.term, known);
  }
  return { terms: found, mass };
}

/**
 * A short prompt says little else than the one word that matters ("write a Dockerfile for this service"). A word that ordinary
 * requests do not hold, and that one skill alone holds, in its name or description, is enough to recommend that one.
 */
function isTelling(gains: ReadonlyMap<string, Gain>, terms: ReadonlyMap<string, KnownTerm>): boolean {
  for (const { term, fields } of gains.values()) {
    const known = terms.get(term.term);
    if (term.kind !== "word" || !known || known.share !== undefined || known.df > TELLING_DF) continue;
    if (fields & (FIELD.name | FIELD.description)) return true;
  }
  return false;
}

/** Skills of the pool that may hold it. With 2, false triggers on the public cases rise from 5.7 to 6.7%. */
const TELLING_DF = 1;

/**
 * The confidence that comes from words which the prompt shares with a skill's name or description, for pools and prompts of any
 * size. It asks how many skills would share these words by chance: the product of how common each word is, times the number of ways
 * to pick as many words from the prompt, times the square root of the pool's size (skills of one pool are alike, so
 * 300 skills are not 300 independent chances). A word counts once however often the skill repeats it, and less in a long
 * description, which holds more words. One shared word is not enough.
 */
function sharedConfidence(
  gains: ReadonlyMap<string, Gain>,
  terms: ReadonlyMap<string, KnownTerm>,
  { words, size, k }: { words: number; size: number; k: typeof SCORE },
): number {
  let chances = Math.sqrt(size);
  let count = 0;
  for (const { term, fields, weight } of gains.values()) {
    const known = terms.get(term.term);
    if (!known || !isOwn(term) || !(fields & (FIELD.name | FIELD.description))) continue;
    const share = known.share ?? k.rareShare;
    if (share >= EVERYDAY_SHARE) continue;
    count++;
    const chance = (known.df - 1 + share * k.backgroundSize) / (size - 1 + k.backgroundSize);
    chances *= chance ** Math.min(1, weight) * ((words - count + 1) / count);
  }
  if (count < 2) return 0;
  const doubt = (1 / RECOMMEND_CONFIDENCE - 1) * Math.sqrt(chances / k.fewChances);
  return Math.min(k.mostShared, 1 / (1 + doubt));
}

/** Words that every fourth request holds ("add", "file") are no evidence. */
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
