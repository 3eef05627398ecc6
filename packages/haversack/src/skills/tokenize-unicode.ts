/**
 * The half of `tokenize` for texts beyond ASCII, by patterns: \p costs a new process 5 ms, which only such a text is worth. Runs in
 * the hook process.
 */
import { LONGEST_CHAIN, LONGEST_WORD, MOST_PIECES, type Token, type TokenKind, termOf } from "./token.ts";
import { ONE_NAME, STOP_WORDS } from "./word-lists.ts";

export function addUnicodeTokens(tokens: Token[], text: string): void {
  made ??= makePatterns();
  let at = 0;
  const spacedOut = text.normalize("NFKC").replace(made.unspacedRun, " $& ");
  for (const [raw] of spacedOut.matchAll(made.raw)) {
    if (raw.length > LONGEST_WORD) continue;
    if (made.break.test(raw)) at += 2;
    // A full stop is taken for a part of its word, as in Node.js, until the word has ended.
    else at += addWord(tokens, raw, at, made) + (raw.endsWith(".") ? 2 : 0);
  }
}

/** Made when they are first needed: making them is what costs. */
const makePatterns = () => ({
  /** A run without spaces, or a sign that ends a phrase. */
  raw: /[\p{L}\p{N}$@_][\p{L}\p{M}\p{N}$@_.'/\\+#~-]*|[.!?;:\n|()[\]{}<>"`,]/gu,
  break: /^[.!?;:\n|()[\]{}<>"`,]$/,
  edge: /^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu,
  version: /(?<=\p{L}\d+)(?:\.\d+)+$/u,
  between: /[^\p{L}\p{M}\p{N}']+/u,
  hump: /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u,
  humps: /(?<=\p{Ll}\p{Ll})(?=\p{Lu})|(?<=\p{Ll}|\p{Lu}{2})(?=\p{Lu}\p{Ll}{2})/u,
  capitals: /^\p{Lu}{1,3}$/u,
  startsAsName: /^\p{L}/u,
  letter: /\p{L}/u,
  /** Scripts without spaces between words: Han, Hiragana, Katakana. */
  unspacedRun: /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+/g,
  unspacedWord: /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}$/,
});
type Patterns = ReturnType<typeof makePatterns>;
let made: Patterns | undefined;

/** Adds the tokens of one run without spaces; returns how many places it took. */
function addWord(tokens: Token[], raw: string, at: number, signs: Patterns): number {
  const word = raw
    .replace(/'(?:s|re|ve|ll|d|m)\b/gi, "")
    .replace(signs.edge, "")
    .replace(signs.version, "");
  if (word === "") return 1;
  if (signs.unspacedWord.test(word)) return addCharacterPairs(tokens, word, at);
  // A path or a chain of calls: each step is a name of its own, and none of them a plain word.
  const steps = word.split(/[./\\]+/).filter((step) => step !== "");
  const joined = steps.join("").toLowerCase();
  if (steps.length > 1 && joined.length <= LONGEST_CHAIN && /^[a-z][a-z0-9]*$/.test(joined)) {
    tokens.push({ term: termOf(joined), kind: "whole", text: word.toLowerCase(), at });
  }
  let places = 0;
  for (const step of steps) places += addStep(tokens, step, at + places, steps.length === 1 ? "word" : "part", signs);
  return Math.max(places, 1);
}

function addStep(tokens: Token[], step: string, at: number, single: TokenKind, signs: Patterns): number {
  const pieces = step
    .split(signs.between)
    .flatMap((piece) => humps(piece, signs))
    .filter((piece) => piece !== "");
  const whole = pieces.join("").toLowerCase();
  if (pieces.length > 1 && pieces.length <= MOST_PIECES && signs.startsAsName.test(whole)) {
    tokens.push({ term: termOf(whole), kind: "whole", text: step.toLowerCase(), at });
  }
  pieces.forEach((piece, index) => {
    const part = piece.toLowerCase();
    const kind = pieces.length === 1 ? single : "part";
    if (isTerm(part, signs)) tokens.push({ term: termOf(part), kind, text: part, at: at + index });
  });
  return pieces.length;
}

/** Where words are not spaced, two neighbouring characters stand for a word. */
function addCharacterPairs(tokens: Token[], word: string, at: number): number {
  for (let from = 0; from + 2 <= word.length; from++) {
    const term = word.slice(from, from + 2);
    // Three places apart, so that no pairs are made of them.
    tokens.push({ term, kind: "word", text: term, at: at + from * 3 });
  }
  return word.length * 3;
}

/** As in tokenize.ts. */
function humps(word: string, signs: Patterns): string[] {
  if (!signs.hump.test(word) || ONE_NAME.has(word.toLowerCase())) return [word];
  const parts = word.split(signs.humps);
  return parts.length === 2 && signs.capitals.test(parts[1]!) ? [word] : parts;
}

function isTerm(word: string, signs: Patterns): boolean {
  return !STOP_WORDS.has(word) && signs.letter.test(word) && (word.length > 1 || word > "\x7f");
}
