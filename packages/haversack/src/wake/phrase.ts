/** Texts as words: whether one holds a phrase ("pr" is in "open a PR", not in "process"), and what it is about. Loaded by the hook. */
import { isAscii } from "../base/is-ascii.ts";

/** More is a document, and its first lines say what it is about. */
const MOST_CHARS = 4_000;

/** Endings do not count ("merging" is "merge"), nor do articles in between ("write the plan" is "write plan"). */
export function hasPhrase(text: string, phrase: string): boolean {
  const wanted = wordsOf(phrase);
  const [first] = wanted;
  const lower = text.slice(0, MOST_CHARS).toLowerCase();
  // Of most texts that is enough, and costs a tenth of taking them apart.
  if (first === undefined || !lower.includes(first.length > 3 ? stem(first) : first)) return false;
  const words = wordsOf(lower);
  return words.some((_, start) => isAt(words, start, wanted));
}

const ARTICLES = new Set(["a", "an", "the", "this", "our"]);

function isAt(words: readonly string[], start: number, wanted: readonly string[]): boolean {
  let at = start;
  for (const word of wanted) {
    while (at > start && ARTICLES.has(words[at] ?? "") && words[at] !== word) at++;
    if (!isSame(words[at++] ?? "", word)) return false;
  }
  return true;
}

/** Scripts without spaces: a run of them is a sentence, so there the part counts. */
const UNSPACED = /[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

function isSame(word: string, wanted: string): boolean {
  if (!isAscii(wanted) && UNSPACED.test(wanted)) return word.includes(wanted);
  return word === wanted || word === `${wanted}s` || (wanted.length > 3 && stem(word) === stem(wanted));
}

/** The longer words of a text in a rough stem, to see how much two texts are about the same. */
export function stemsOf(text: string): Set<string> {
  const stems = new Set<string>();
  wordsOf(text).forEach((word) => {
    if (word.length > 3) stems.add(stem(word));
  });
  return stems;
}

function stem(word: string): string {
  if (word.endsWith("ing")) return word.slice(0, -3);
  if (word.endsWith("ed") || word.endsWith("es")) return word.slice(0, -2);
  return word.endsWith("s") || word.endsWith("e") ? word.slice(0, -1) : word;
}

function wordsOf(text: string): string[] {
  const lower = text.slice(0, MOST_CHARS).toLowerCase();
  // The second is dear to compile, and a hook compiles it anew at each start.
  return lower.match(isAscii(lower) ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu) ?? [];
}
