/**
 * What one skill can be found by: its terms with a weight each. Knows nothing of the other skills of the pool, so that
 * changing one skill never touches the rows of another: lengths are measured against fixed averages, and how rare a
 * term is comes in only when a prompt is ranked.
 */

import { proseOf, wantedText } from "../skill-text.ts";
import { FIELD, nameTerm, pairs, tokenize, worldTerm } from "./tokenize.ts";
import { worldsOf } from "./vocabulary.ts";

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
  /** Saturated and length-normalised; 0 for rows that are no evidence by themselves (world, whole name). */
  weight: number;
  /** Bits of FIELD. */
  fields: number;
}

/**
 * Measured on 529 public prompts against 285 skills: the optimum is flat, changing one of these by a third moves
 * recall@1 by 1.5 points at most. Code blocks and extra weight for headings lost.
 */
export const SKILL_TERMS = {
  nameWeight: 1,
  descriptionWeight: 1,
  tagWeight: 1,
  bodyWeight: 0.4,
  /** A pair of neighbours against a single word. */
  pairWeight: 0.5,
  /** How fast a repeated term stops counting more. */
  saturation: 1,
  /** How much a longer text is discounted: 0 not at all, 1 fully. */
  lengthShare: 0.4,
  /** Tokens of an average description and body. */
  descriptionLength: 30,
  bodyLength: 400,
  /** Rows a skill may have: the long tail of a long body finds nothing. */
  maxTerms: 500,
};

export function skillTerms(input: SkillTermsInput, k: typeof SKILL_TERMS = SKILL_TERMS): SkillTerm[] {
  return weighTerms(readFields(input), k);
}

interface FieldCounts {
  length: number;
  words: Map<string, number>;
  pairs: Map<string, number>;
}

interface SkillFields {
  name: FieldCounts;
  description: FieldCounts;
  tags: FieldCounts;
  body: FieldCounts;
  /** Rows of weight 0: the whole name, the worlds. */
  marks: { term: string; fields: number }[];
}

function readFields(input: SkillTermsInput): SkillFields {
  const about = [input.description, input.whenToUse ?? ""].join("\n\n");
  const wanted = wantedText(about);
  return {
    name: count(input.name),
    description: count(wanted),
    tags: count([...input.tags, ...(input.keywords ?? [])].join("\n")),
    body: count(proseOf(input.body)),
    marks: [
      { term: nameTerm(input.name), fields: FIELD.wholeName },
      ...worldsIn(`${input.name}\n${wanted}`).map((world) => ({
        term: worldTerm(world),
        fields: FIELD.world,
      })),
    ],
  };
}

function worldsIn(text: string): string[] {
  const tokens = tokenize(text);
  return worldsOf(tokens, pairs(tokens));
}

function weighTerms(fields: SkillFields, k: typeof SKILL_TERMS): SkillTerm[] {
  const found = new Map<string, SkillTerm>();
  const add = (counts: Map<string, number>, bit: number, weigh: (times: number) => number) => {
    for (const [term, times] of counts) {
      const entry = found.get(term);
      if (entry) {
        entry.weight += weigh(times);
        entry.fields |= bit;
      } else found.set(term, { term, weight: weigh(times), fields: bit });
    }
  };
  const addField = (field: FieldCounts, bit: number, weight: number, averageLength?: number) => {
    const norm = averageLength === undefined ? 1 : 1 - k.lengthShare + (k.lengthShare * field.length) / averageLength;
    const saturated = (times: number) => (weight * (1 + k.saturation) * times) / (times + k.saturation * norm);
    add(field.words, bit, saturated);
    add(field.pairs, bit, (times) => k.pairWeight * saturated(times));
  };
  addField(fields.name, fields.name.length === 1 ? FIELD.name | FIELD.onlyName : FIELD.name, k.nameWeight);
  addField(fields.description, FIELD.description, k.descriptionWeight, k.descriptionLength);
  addField(fields.tags, FIELD.description, k.tagWeight);
  addField(fields.body, FIELD.body, k.bodyWeight, k.bodyLength);

  const rows = [...found.values()]
    .sort((a, b) => b.weight - a.weight || (a.term < b.term ? -1 : 1))
    .slice(0, k.maxTerms);
  return [...rows, ...fields.marks.map((mark) => ({ ...mark, weight: 0 }))];
}

function count(text: string): FieldCounts {
  const tokens = tokenize(text);
  const counts: FieldCounts = { length: tokens.length, words: new Map(), pairs: new Map() };
  for (const { term } of tokens) counts.words.set(term, (counts.words.get(term) ?? 0) + 1);
  for (const { term } of pairs(tokens)) counts.pairs.set(term, (counts.pairs.get(term) ?? 0) + 1);
  return counts;
}
