/** Text from outside, cleaned and cut to a length for a packet; and fields of a WIP read without trust. */
import { cleanLine, cutAt, headingLevel, isAscii, isFence, stripControl } from "../base/clean-text.ts";

/** One clean line; what was cut shows as an ellipsis. Never cleans more of a text than could be shown. */
export function cutLine(text: string, maxChars: number): string {
  const line = cleanLine(text.slice(0, maxChars * 4));
  const isCut = line.length > maxChars || text.length > maxChars * 4;
  return isCut ? `${cutAt(line, maxChars - 1).trimEnd()}…` : line;
}

/** A line of a document; more is data. */
const MOST_LINE_CHARS = 1_000;

/** Several lines, cut at the end of a line where that loses little; a code fence that was cut open is closed. */
export function cutText(text: string, maxChars: number): string {
  const clean = stripControl(text.slice(0, maxChars * 2 + 1_000))
    .split("\n")
    .map((line) => (line.length > MOST_LINE_CHARS ? `${cutAt(line, MOST_LINE_CHARS)}…` : line.trimEnd()))
    .join("\n")
    .trim();
  if (clean.length <= maxChars && text.length <= maxChars * 2 + 1_000) return clean;
  // Room for the ellipsis and the end of a fence.
  const head = cutAt(clean, Math.max(0, maxChars - 6));
  const end = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "));
  const kept = `${end > maxChars / 2 ? head.slice(0, end).trimEnd() : head} …`;
  const isOpen = kept.includes("```") && (kept.match(/^\s*```/gm)?.length ?? 0) % 2 === 1;
  return isOpen ? `${kept}\n\`\`\`` : kept;
}

/** Headings two levels deeper, so that they stand below the packet's own. */
export function deepen(text: string): string {
  if (!text.includes("# ")) return text;
  let isFenced = false;
  return text
    .split("\n")
    .map((line) => {
      if (isFence(line)) isFenced = !isFenced;
      const level = isFenced ? 0 : headingLevel(line);
      return level > 0 && level <= 4 ? `##${line}` : line;
    })
    .join("\n");
}

/** At most one empty line between two others. */
export function withoutGaps(text: string): string {
  return text.includes("\n\n\n") ? text.replace(/\n{3,}/g, "\n\n") : text;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** What a packet says already, so that nothing is said twice: whatever its case and punctuation, in the same words and order. */
export class Said {
  #text = "";

  add(...texts: (string | undefined)[]): void {
    for (const text of texts) if (text) this.#text += `${plain(text)}\n`;
  }

  has(text: string): boolean {
    const wanted = plain(text);
    return wanted.length > 2 && this.#text.includes(wanted);
  }
}

/** Of longer ones the beginning tells. */
const MOST_CHARS = 4_000;

/**
 * Words between single spaces: a part of a word is no word. The box of a step is no word either. ASCII's signs only: a class of
 * all letters is compiled in every hook, and that costs more than all the rest here.
 */
function plain(text: string): string {
  const start = text.slice(0, MOST_CHARS);
  const words = start.includes("] ") ? start.replace(/^\s*[-*] \[[ xX]\] /gm, "") : start;
  return ` ${words
    .toLowerCase()
    .replace(/[\s!-/:-@[-^`{-~]+/g, " ")
    .trim()} `;
}

// Texts as words: whether one holds a phrase ("pr" is in "open a PR", not in "process"), and what it is about.

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
