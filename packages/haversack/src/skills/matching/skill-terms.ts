/**
 * The terms by which a skill can be found, each with a weight (BM25F). Independent of the other skills of the pool, so changing one skill
 * never touches the rows of another: lengths are compared with fixed averages, and a term's rarity is applied only at ranking time.
 *
 * Two parts: what the skill says about itself (name, title, description, when to use it, tags), and its body. Within a part, the fields
 * are added up before repetition is discounted. The body has separate rows, with separate counts of how rare a term is.
 */

import { proseOf, titleOf, wantedText, whenText } from "../skill-text.ts";
import {
  bodyTerm,
  FIELD,
  forEachPair,
  gramTerms,
  hasGrams,
  NAME_LENGTH,
  nameTerm,
  type Token,
  tokenize,
} from "./tokenize.ts";

export interface SkillTermsInput {
  name: string;
  description: string;
  whenToUse?: string;
  body: string;
  tags: readonly string[];
  /** The author's own trigger keywords. */
  keywords?: readonly string[];
}

export interface SkillTerm {
  term: string;
  /** Below 1; 0 for the row of the whole name. */
  weight: number;
  /** Bits of FIELD. */
  fields: number;
}

/**
 * The middle of a range of settings that are about equally good: 100 random settings on three public sets of skills and prompts differ by
 * at most two points of recall@3.
 */
export const SKILL_TERMS = {
  /** Weight of a word by its field. A sentence on when to use the skill is written for this very purpose. */
  name: 3,
  title: 1,
  description: 2,
  when: 3,
  tags: 1,
  /** How fast repetition stops counting: at this value a term has half of its maximum weight. */
  saturation: 3,
  bodySaturation: 2,
  /** Weight of the body relative to the rest, because the body also mentions other things. */
  bodyShare: 0.6,
  /** Weight of a pair of neighbours relative to a single word. */
  pairShare: 0.8,
  /** How much a longer text is discounted: 0 not at all, 1 fully. */
  lengthShare: 0.4,
  /** Average text lengths, in tokens. */
  titleLength: 4,
  descriptionLength: 18,
  whenLength: 20,
  bodyLength: 400,
};

export function skillTerms(input: SkillTermsInput, k: typeof SKILL_TERMS = SKILL_TERMS): SkillTerm[] {
  const wanted = wantedText([input.description, input.whenToUse ?? ""].join("\n\n"));
  const { what, when } = whenText(wanted);
  const name = tokenize(input.name);
  const about = new Part(k);
  const described = tokenize(what);
  const asked = tokenize(when);
  about.add(name, k.name, FIELD.name | (Math.min(3, Math.max(0, wordCount(name) - 1)) << NAME_LENGTH));
  about.add(tokenize(titleOf(input.body)), k.title, FIELD.description, k.titleLength);
  about.add(described, k.description, FIELD.description, k.descriptionLength);
  about.add(asked, k.when, FIELD.description, k.whenLength);
  about.add(tokenize([...input.tags, ...(input.keywords ?? [])].join("\n")), k.tags, FIELD.description);
  const body = new Part(k);
  body.add(tokenize(proseOf(input.body)), 1, FIELD.body, k.bodyLength);

  const grams = new Set<string>();
  for (const { text } of [...name, ...described, ...asked]) {
    if (hasGrams(text)) for (const gram of gramTerms(text)) grams.add(gram);
  }
  return [
    ...about.rows({ saturation: k.saturation, share: 1, leastPairs: 1 }),
    // A pair that occurs once in a body is just a turn of phrase. Half of all rows would be such pairs, and they find nothing.
    ...body
      .rows({ saturation: k.bodySaturation, share: k.bodyShare, leastPairs: 2 })
      .map((row) => ({ ...row, term: bodyTerm(row.term) })),
    ...[...grams].map((term) => ({ term, weight: 1, fields: FIELD.gram })),
    { term: nameTerm(input.name), weight: 0, fields: FIELD.wholeName },
  ];
}

function wordCount(tokens: readonly Token[]): number {
  return tokens.filter(({ kind }) => kind !== "whole").length;
}

interface Sum {
  sum: number;
  times: number;
  fields: number;
}

/** Adds up several fields before repetition is discounted. */
class Part {
  readonly #k: typeof SKILL_TERMS;
  readonly #words = new Map<string, Sum>();
  readonly #pairs = new Map<string, Sum>();

  constructor(k: typeof SKILL_TERMS) {
    this.#k = k;
  }

  add(tokens: readonly Token[], weight: number, fields: number, averageLength = 0): void {
    const { lengthShare } = this.#k;
    const longer = averageLength === 0 ? 1 : 1 - lengthShare + (lengthShare * tokens.length) / averageLength;
    const count = (sums: Map<string, Sum>, term: string) => {
      const known = sums.get(term);
      if (known) {
        known.sum += weight / longer;
        known.times++;
        known.fields |= fields;
      } else sums.set(term, { sum: weight / longer, times: 1, fields });
    };
    for (const { term } of tokens) count(this.#words, term);
    forEachPair(tokens, (first, second) => count(this.#pairs, first.term + second.term));
  }

  /** `leastPairs`: how often a pair must occur. */
  rows({ saturation, share, leastPairs }: { saturation: number; share: number; leastPairs: number }): SkillTerm[] {
    const found = new Map<string, SkillTerm>();
    const put = (term: string, weight: number, fields: number) => {
      const known = found.get(term);
      if (known) {
        known.weight += weight;
        known.fields |= fields;
      } else found.set(term, { term, weight, fields });
    };
    for (const [term, { sum, fields }] of this.#words) put(term, (share * sum) / (sum + saturation), fields);
    for (const [term, { sum, times, fields }] of this.#pairs) {
      if (times >= leastPairs) put(term, (share * this.#k.pairShare * sum) / (sum + saturation), fields);
    }
    return [...found.values()];
  }
}
