/**
 * Text to terms, the same way for skills and prompts: words are lower-cased, split at humps, hyphens and dots,
 * freed of stop words and stemmed; names such as C#, .NET, Node.js and CI/CD stay one term. Runs in the hook process.
 */
import { stem } from "./stem.ts";
import { ABBREVIATIONS, MAY_BE_SIGNED, ONE_NAME, SIGNED_NAMES, STOP_WORDS } from "./word-lists.ts";

/**
 * word: an ordinary word. part: a piece of a compound (camelCase, kebab-case, path). whole: the compound itself,
 * which in a prompt is most often a name of the user's own and then says nothing about skills.
 */
export type TokenKind = "word" | "part" | "whole";

export interface Token {
  term: string;
  kind: TokenKind;
  /** As it was written, lower-cased: for messages. */
  text: string;
  /** Counts words; a gap of more than two means that a sentence or a line ended between two tokens. */
  at: number;
}

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const plain = plainText(text);
  const ascii = !/[^\0-\x7f]/.test(plain);
  const signs = ascii ? ASCII : (unicode ??= unicodeSigns());
  let at = 0;
  for (const [raw] of (ascii ? plain : spacedOut(plain)).matchAll(signs.raw)) {
    if (raw.length > LONGEST_WORD) continue;
    if (BREAK.test(raw)) at += 2;
    // A full stop is taken for a part of its word, as in Node.js, until the word has ended.
    else at += addWord(tokens, raw, at, signs) + (raw.endsWith(".") ? 2 : 0);
  }
  return tokens;
}

/** Two neighbours as one term. Joined without a sign, so that "front end", "front-end" and "frontend" meet. */
export function pairs(tokens: readonly Token[]): { term: string; text: string }[] {
  const found: { term: string; text: string }[] = [];
  let previous: Token | undefined;
  for (const token of tokens) {
    if (token.kind === "whole") continue;
    // One stop word may stand between them: "role of assignment".
    if (previous && token.at > previous.at && token.at - previous.at <= 2 && token.term !== previous.term) {
      found.push({ term: previous.term + token.term, text: `${previous.text} ${token.text}` });
    }
    previous = token;
  }
  return found;
}

/** The term of one lower-case word: its one spelling where abbreviations exist, else its stem. */
export function termOf(word: string): string {
  return ABBREVIATIONS.get(word) ?? stem(word);
}

/** Longer runs are hashes, base64 or minified code. */
const LONGEST_WORD = 60;
/** System.Text.Json is a name; a longer chain is somebody's code. */
const LONGEST_CHAIN = 24;

interface Signs {
  /** A run without spaces, or a sign that ends a phrase. */
  raw: RegExp;
  edge: RegExp;
  version: RegExp;
  between: RegExp;
  hump: RegExp;
  humps: RegExp;
  capitals: RegExp;
  startsAsName: RegExp;
  letter: RegExp;
}

// Patterns with \p cost 5 ms to make, more than ranking a prompt does, and most prompts never need them.
const ASCII: Signs = {
  raw: /[a-z0-9$@_][a-z0-9$@_.'/\\+#~-]*|[.!?;:\n|()[\]{}<>"`,]/gi,
  edge: /^[^a-z0-9]+|[^a-z0-9]+$/gi,
  version: /(?<=[a-z]\d+)(?:\.\d+)+$/i,
  between: /[^a-z0-9']+/i,
  hump: /[a-z][A-Z]|[A-Z]{2}[a-z]/,
  humps: /(?<=[a-z][a-z])(?=[A-Z])|(?<=[a-z]|[A-Z]{2})(?=[A-Z][a-z]{2})/,
  capitals: /^[A-Z]{1,3}$/,
  startsAsName: /^[a-z]/i,
  letter: /[a-z]/,
};
let unicode: Signs | undefined;
const unicodeSigns = (): Signs => ({
  raw: /[\p{L}\p{N}$@_][\p{L}\p{M}\p{N}$@_.'/\\+#~-]*|[.!?;:\n|()[\]{}<>"`,]/gu,
  edge: /^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu,
  version: /(?<=\p{L}\d+)(?:\.\d+)+$/u,
  between: /[^\p{L}\p{M}\p{N}']+/u,
  hump: /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u,
  humps: /(?<=\p{Ll}\p{Ll})(?=\p{Lu})|(?<=\p{Ll}|\p{Lu}{2})(?=\p{Lu}\p{Ll}{2})/u,
  capitals: /^\p{Lu}{1,3}$/u,
  startsAsName: /^\p{L}/u,
  letter: /\p{L}/u,
});
const BREAK = /^[.!?;:\n|()[\]{}<>"`,]$/;

/** Scripts without spaces between words: Han, Hiragana, Katakana. */
const UNSPACED_RUN = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+/g;
const UNSPACED_WORD = /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}$/;

function plainText(text: string): string {
  let plain = text
    .replace(/[\u2018\u2019]/g, "'")
    // Dashes, typographic quotes, arrows, CJK punctuation, emoji: they end a phrase and are no letters.
    .replace(/[\u2010-\u2bff\u3000-\u303f]|[\ufe00-\ufe0f]|[\ud83c-\ud83e][\udc00-\udfff]/g, " ; ");
  // A dozen patterns cost a new process a millisecond at their first use; most prompts hold none of those names.
  if (!MAY_BE_SIGNED.test(plain)) return plain;
  for (const [pattern, name] of SIGNED_NAMES) plain = plain.replace(pattern, name);
  return plain;
}

function spacedOut(text: string): string {
  return text.normalize("NFKC").replace(UNSPACED_RUN, " $& ");
}

/** Adds the tokens of one run without spaces; returns how many places it took. */
function addWord(tokens: Token[], raw: string, at: number, signs: Signs): number {
  const word = raw
    .replace(/'(?:s|re|ve|ll|d|m)\b/gi, "")
    .replace(signs.edge, "")
    .replace(signs.version, "");
  if (word === "") return 1;
  if (UNSPACED_WORD.test(word)) return addCharacterPairs(tokens, word, at);
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

function addStep(tokens: Token[], step: string, at: number, single: TokenKind, signs: Signs): number {
  const pieces = step
    .split(signs.between)
    .flatMap((piece) => humps(piece, signs))
    .filter((piece) => piece !== "");
  const whole = pieces.join("").toLowerCase();
  if (pieces.length > 1 && pieces.length <= 4 && signs.startsAsName.test(whole)) {
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

/** asNoTracking → asNo Tracking, HTTPServer → HTTP Server; OAuth2, gRPC, iOS, IPv6, GitHub and MongoDB stay whole. */
function humps(word: string, signs: Signs): string[] {
  if (!signs.hump.test(word) || ONE_NAME.has(word.toLowerCase())) return [word];
  const parts = word.split(signs.humps);
  return parts.length === 2 && signs.capitals.test(parts[1]!) ? [word] : parts;
}

function isTerm(word: string, signs: Signs): boolean {
  return !STOP_WORDS.has(word) && signs.letter.test(word) && (word.length > 1 || word > "\x7f");
}
