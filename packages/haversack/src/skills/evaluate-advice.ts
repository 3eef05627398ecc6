/** Advice for the author of a skill that a prompt does not find: the missing words, and a sentence with them. */
import { bodyTerm, gramTerms, hasGrams, promptTerms } from "./matching/tokenize.ts";

export interface WordGap {
  /** Words of the prompt that are nowhere in the skill. */
  missing: string[];
  /** Words that are only in its body, where they count less. */
  bodyOnly: string[];
}

/** `terms`: every term by which the skill can be found. */
export function wordGap(prompt: string, terms: ReadonlySet<string>): WordGap {
  const gap: WordGap = { missing: [], bodyOnly: [] };
  for (const { term, text, kind } of promptTerms(prompt).terms) {
    if ((kind !== "word" && kind !== "part") || terms.has(term) || isSpelledAlike(text, terms)) continue;
    const list = terms.has(bodyTerm(term)) ? gap.bodyOnly : gap.missing;
    if (!list.includes(text)) list.push(text);
  }
  return gap;
}

/** Uses the ranking's own measure: half of the letter groups must match. */
function isSpelledAlike(word: string, terms: ReadonlySet<string>): boolean {
  if (!hasGrams(word)) return false;
  const grams = gramTerms(word);
  return grams.filter((gram) => terms.has(gram)).length >= grams.length / 2;
}

/**
 * A sentence for the description with the rarest missing words; undefined if no word would help. `shareOf` returns the share
 * of ordinary requests that contain a word: common words do not tell skills apart.
 */
export function sentenceFor({ missing, bodyOnly }: WordGap, shareOf: (word: string) => number): string | undefined {
  const useful = [...missing, ...bodyOnly].filter((word) => /^\p{L}{3,}$/u.test(word) && shareOf(word) < EVERYDAY);
  const rarest = [...useful].sort((a, b) => shareOf(a) - shareOf(b)).slice(0, MOST_WORDS);
  const words = useful.filter((word) => rarest.includes(word));
  if (words.length === 0) return undefined;
  const last = words.pop()!;
  return `Use for requests about ${words.length > 0 ? `${words.join(", ")} or ${last}` : last}.`;
}

const EVERYDAY = 0.05;
const MOST_WORDS = 5;
