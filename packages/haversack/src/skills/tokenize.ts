/**
 * Text to terms, the same way for skills and prompts: words are lower-cased, split at humps, hyphens and dots,
 * freed of stop words and stemmed; names such as C#, .NET, Node.js and CI/CD stay one term.
 *
 * ASCII is read character by character: a dozen patterns cost a new process a millisecond, most of what a prompt takes. What else
 * there is goes through the patterns of tokenize-unicode.ts; a test holds the two against each other.
 */
import { isAscii } from "../base/clean-text.ts";
import { LONGEST_CHAIN, LONGEST_WORD, MOST_PIECES, type Token, type TokenKind, termOf } from "./token.ts";
import { addUnicodeTokens } from "./tokenize-unicode.ts";
import { NAME_SIGNS, ONE_NAME, STOP_WORDS, signedNames } from "./word-lists.ts";

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const plain = withNames(isAscii(text) ? text : withPlainSigns(text));
  if (isAscii(plain)) addAsciiTokens(tokens, plain);
  else addUnicodeTokens(tokens, plain);
  return tokens;
}

/** Two neighbours as one term. Joined without a sign, so that "front end", "front-end" and "frontend" meet. */
export function pairs(tokens: readonly Token[]): { term: string; text: string; of: readonly [string, string] }[] {
  const found: ReturnType<typeof pairs> = [];
  let previous: Token | undefined;
  for (const token of tokens) {
    if (token.kind === "whole") continue;
    // One stop word may stand between them: "role of assignment".
    if (previous && token.at > previous.at && token.at - previous.at <= 2 && token.term !== previous.term) {
      found.push({
        term: previous.term + token.term,
        text: `${previous.text} ${token.text}`,
        of: [previous.term, token.term],
      });
    }
    previous = token;
  }
  return found;
}

function withPlainSigns(text: string): string {
  return (
    text
      .replace(/[\u2018\u2019]/g, "'")
      // Dashes, typographic quotes, arrows, CJK punctuation, emoji: they end a phrase and are no letters.
      .replace(/[\u2010-\u2bff\u3000-\u303f]|[\ufe00-\ufe0f]|[\ud83c-\ud83e][\udc00-\udfff]/g, " ; ")
  );
}

function withNames(text: string): string {
  let plain = text;
  let lower = text.toLowerCase();
  if (!NAME_SIGNS.some((sign) => lower.includes(sign))) return text;
  for (const { holds, pattern, name } of signedNames()) {
    // The one in capitals is the language Go: "to go on" holds no name.
    if (!holds.every((part) => lower.includes(part) || plain.includes(part))) continue;
    plain = plain.replace(pattern, name);
    lower = plain.toLowerCase();
  }
  return plain;
}

function addAsciiTokens(tokens: Token[], text: string): void {
  let at = 0;
  for (let from = 0; from < text.length; ) {
    const first = text.charCodeAt(from);
    if (!isLetterOrDigit(first) && !RUN_STARTS.includes(text[from]!)) {
      if (BREAKS.includes(text[from]!)) at += 2;
      from++;
      continue;
    }
    let isSimple = isLowerOrDigit(first);
    let to = from + 1;
    for (; to < text.length; to++) {
      const code = text.charCodeAt(to);
      if (isLowerOrDigit(code)) continue;
      if (!isUpper(code) && !RUN_SIGNS.includes(text[to]!)) break;
      isSimple = false;
    }
    const raw = text.slice(from, to);
    from = to;
    if (raw.length > LONGEST_WORD) continue;
    if (isSimple) at += addPiece(tokens, raw, at, "word");
    // A full stop is taken for a part of its word, as in Node.js, until the word has ended.
    else at += addRun(tokens, raw, at) + (raw.endsWith(".") ? 2 : 0);
  }
}

/** Signs, beside letters and digits, that a run without spaces may begin with, and hold; and those that end a phrase. */
const RUN_STARTS = "$@_";
const RUN_SIGNS = "$@_.'/\\+#~-";
const BREAKS = '.!?;:\n|()[]{}<>"`,';

/** Adds the tokens of one run without spaces; returns how many places it took. */
function addRun(tokens: Token[], raw: string, at: number): number {
  const word = withoutVersion(withoutEdges(raw.includes("'") ? withoutContractions(raw) : raw));
  if (word === "") return 1;
  // A path or a chain of calls: each step is a name of its own, and none of them a plain word.
  const steps = splitAt(word, "./\\");
  const joined = steps.join("").toLowerCase();
  if (steps.length > 1 && joined.length <= LONGEST_CHAIN && isName(joined)) {
    tokens.push({ term: termOf(joined), kind: "whole", text: word.toLowerCase(), at });
  }
  let places = 0;
  for (const step of steps) places += addStep(tokens, step, at + places, steps.length === 1 ? "word" : "part");
  return Math.max(places, 1);
}

function addStep(tokens: Token[], step: string, at: number, single: TokenKind): number {
  const pieces = splitAt(step, "$@_+#~-").flatMap(humps);
  const whole = pieces.join("").toLowerCase();
  if (pieces.length > 1 && pieces.length <= MOST_PIECES && isLowerLetter(whole.charCodeAt(0))) {
    tokens.push({ term: termOf(whole), kind: "whole", text: step.toLowerCase(), at });
  }
  const kind = pieces.length === 1 ? single : "part";
  pieces.forEach((piece, index) => {
    addPiece(tokens, piece.toLowerCase(), at + index, kind);
  });
  return pieces.length;
}

function addPiece(tokens: Token[], piece: string, at: number, kind: TokenKind): number {
  if (piece.length > 1 && !STOP_WORDS.has(piece) && hasLetter(piece)) {
    tokens.push({ term: termOf(piece), kind, text: piece, at });
  }
  return 1;
}

/** asNoTracking → asNo Tracking, HTTPServer → HTTP Server; OAuth2, gRPC, iOS, IPv6, GitHub and MongoDB stay whole. */
function humps(word: string): string[] {
  if (!hasHump(word) || ONE_NAME.has(word.toLowerCase())) return [word];
  const parts = word.split(/(?<=[a-z][a-z])(?=[A-Z])|(?<=[a-z]|[A-Z]{2})(?=[A-Z][a-z]{2})/);
  return parts.length === 2 && /^[A-Z]{1,3}$/.test(parts[1]!) ? [word] : parts;
}

/** aB or ABc. */
function hasHump(word: string): boolean {
  for (let at = 1; at < word.length; at++) {
    if (!isUpper(word.charCodeAt(at))) continue;
    if (isLowerLetter(word.charCodeAt(at - 1))) return true;
    if (isUpper(word.charCodeAt(at - 1)) && isLowerLetter(word.charCodeAt(at + 1))) return true;
  }
  return false;
}

/** it's → it, they'll → they; o'clock stays. */
function withoutContractions(word: string): string {
  let kept = "";
  for (let from = 0; ; ) {
    const at = word.indexOf("'", from);
    if (at < 0) return kept + word.slice(from);
    const length = contractionLength(word, at + 1);
    kept += word.slice(from, length > 0 ? at : at + 1);
    from = at + 1 + length;
  }
}

function contractionLength(word: string, at: number): number {
  for (const ending of ["s", "d", "m", "re", "ve", "ll"]) {
    const end = at + ending.length;
    if (word.slice(at, end).toLowerCase() !== ending) continue;
    if (end === word.length || (!isLetterOrDigit(word.charCodeAt(end)) && word[end] !== "_")) return ending.length;
  }
  return 0;
}

function withoutEdges(word: string): string {
  let from = 0;
  let to = word.length;
  while (from < to && !isLetterOrDigit(word.charCodeAt(from))) from++;
  while (to > from && !isLetterOrDigit(word.charCodeAt(to - 1))) to--;
  return word.slice(from, to);
}

/** python3.12 → python3. */
function withoutVersion(word: string): string {
  if (!word.includes(".") || !isDigit(word.charCodeAt(word.length - 1))) return word;
  return word.replace(/(?<=[a-z]\d+)(?:\.\d+)+$/i, "");
}

/** What stands between these signs, without empty pieces. */
function splitAt(text: string, signs: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !signs.includes(text[at]!)) continue;
    if (at > from) parts.push(text.slice(from, at));
    from = at + 1;
  }
  return parts;
}

function isName(word: string): boolean {
  if (!isLowerLetter(word.charCodeAt(0))) return false;
  for (let at = 1; at < word.length; at++) if (!isLowerOrDigit(word.charCodeAt(at))) return false;
  return true;
}

function hasLetter(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (isLowerLetter(word.charCodeAt(at))) return true;
  return false;
}

function isLowerLetter(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isLowerOrDigit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

function isLetterOrDigit(code: number): boolean {
  return isLowerOrDigit(code) || isUpper(code);
}
