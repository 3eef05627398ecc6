/**
 * Text to terms, the same way for skills and prompts: words are lower-cased, split at humps, hyphens and dots, freed of stop words and
 * stemmed; names such as C#, .NET, Node.js and CI/CD stay one term.
 */
import { isAscii } from "../../base/clean-text.ts";
import { ABBREVIATIONS, ONE_NAME, SIGNED_NAMES, STOP_WORDS } from "./vocabulary.ts";

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

/** Longer runs are hashes, base64 or minified code. */
const LONGEST_WORD = 60;
/** System.Text.Json is a name; a longer chain is somebody's code. */
const LONGEST_CHAIN = 24;
/** Pieces of a compound that are also taken together. */
const MOST_PIECES = 4;

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let plain = isAscii(text) ? text : withPlainSigns(text);
  for (const [pattern, name] of SIGNED_NAMES) plain = plain.replace(pattern, name);
  const signs = isAscii(plain) ? (ascii ??= patternsOf(ASCII)) : (unicode ??= patternsOf(UNICODE));
  const spacedOut = plain.normalize("NFKC").replace(UNSPACED_RUN, " $& ");
  let at = 0;
  for (const [raw] of spacedOut.matchAll(signs.raw)) {
    if (raw.length > LONGEST_WORD) continue;
    if (PLAIN_WORD.test(raw)) at += addPiece(tokens, raw, { at, kind: "word" }, signs);
    else if (BREAK.test(raw)) at += 2;
    // A full stop is taken for a part of its word, as in Node.js, until the word has ended.
    else at += addWord(tokens, raw, at, signs) + (raw.endsWith(".") ? 2 : 0);
  }
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

/** The term of one lower-case word: its one spelling where abbreviations exist, else its stem. */
export function termOf(word: string): string {
  return ABBREVIATIONS.get(word) ?? stem(word);
}

/** Bits of a posting's `fields`: where a term of a skill was seen. `onlyName`: the skill's name consists of this one word. */
export const FIELD = { name: 1, description: 2, body: 4, world: 8, wholeName: 16, onlyName: 32 } as const;

/** The skill's whole name as one term, for prompts that call it by name: `systematic-debugging` → `=systematicdebugging`. */
export function nameTerm(name: string): string {
  const lower = name.toLowerCase();
  return `=${lower.replace(isAscii(lower) ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu, "")}`;
}

/** A world that the skill is bound to as a term: `~language:python`. */
export function worldTerm(world: string): string {
  return `~${world}`;
}

function withPlainSigns(text: string): string {
  return (
    text
      .replace(/[\u2018\u2019]/g, "'")
      // Dashes, typographic quotes, arrows, CJK punctuation, emoji: they end a phrase and are no letters.
      .replace(/[\u2010-\u2bff\u3000-\u303f]|[\ufe00-\ufe0f]|[\ud83c-\ud83e][\udc00-\udfff]/g, " ; ")
  );
}

/** The classes that the patterns are made of. A class of all letters takes milliseconds to compile, and most texts need none. */
interface Alphabet {
  letter: string;
  lower: string;
  upper: string;
  mark: string;
  digit: string;
}
const ASCII: Alphabet = { letter: "A-Za-z", lower: "a-z", upper: "A-Z", mark: "", digit: "0-9" };
const UNICODE: Alphabet = {
  letter: "\\p{L}",
  lower: "\\p{Ll}",
  upper: "\\p{Lu}",
  mark: "\\p{M}",
  digit: "\\p{N}",
};

function patternsOf({ letter, lower, upper, mark, digit }: Alphabet) {
  const any = letter + mark + digit;
  const humpAt = `(?<=[${lower}]{2})(?=[${upper}])|(?<=[${lower}]|[${upper}]{2})(?=[${upper}][${lower}]{2})`;
  return {
    /** A run without spaces, or a sign that ends a phrase. */
    raw: new RegExp(`[${letter}${digit}$@_][${any}$@_.'/\\\\+#~-]*|[.!?;:\\n|()[\\]{}<>"\`,]`, "gu"),
    edge: new RegExp(`^[^${letter}${digit}]+|[^${any}]+$`, "gu"),
    version: new RegExp(`(?<=[${letter}]\\d+)(?:\\.\\d+)+$`, "u"),
    between: new RegExp(`[^${any}']+`, "u"),
    /** asNoTracking → asNo Tracking, HTTPServer → HTTP Server; OAuth2, gRPC, iOS, IPv6, GitHub and MongoDB stay whole. */
    hump: new RegExp(`[${lower}][${upper}]|[${upper}]{2}[${lower}]`, "u"),
    humps: new RegExp(humpAt, "u"),
    capitals: new RegExp(`^[${upper}]{1,3}$`, "u"),
    startsAsName: new RegExp(`^[${letter}]`, "u"),
    letter: new RegExp(`[${letter}]`, "u"),
  };
}
type Patterns = ReturnType<typeof patternsOf>;
let ascii: Patterns | undefined;
let unicode: Patterns | undefined;

/** Most words; there is nothing to take off or to split. */
const PLAIN_WORD = /^[a-z0-9]+$/;
/** A sign that ends a phrase. */
const BREAK = /^[.!?;:\n|()[\]{}<>"`,]$/;
/** Scripts without spaces between words: Han, Hiragana, Katakana. */
const UNSPACED_RUN = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+/g;
const UNSPACED_WORD = /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}$/;
/** it's, they'll; not o'clock. */
const CONTRACTION = /'(?:s|re|ve|ll|d|m)\b/gi;

/** Adds the tokens of one run without spaces; returns how many places it took. */
function addWord(tokens: Token[], raw: string, at: number, signs: Patterns): number {
  const word = raw.replace(CONTRACTION, "").replace(signs.edge, "").replace(signs.version, "");
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

function addStep(tokens: Token[], step: string, at: number, single: TokenKind, signs: Patterns): number {
  const pieces = step
    .split(signs.between)
    .flatMap((piece) => humps(piece, signs))
    .filter((piece) => piece !== "");
  const whole = pieces.join("").toLowerCase();
  if (pieces.length > 1 && pieces.length <= MOST_PIECES && signs.startsAsName.test(whole)) {
    tokens.push({ term: termOf(whole), kind: "whole", text: step.toLowerCase(), at });
  }
  const kind = pieces.length === 1 ? single : "part";
  pieces.forEach((piece, index) => {
    addPiece(tokens, piece.toLowerCase(), { at: at + index, kind }, signs);
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

function humps(word: string, signs: Patterns): string[] {
  if (!signs.hump.test(word) || ONE_NAME.has(word.toLowerCase())) return [word];
  const parts = word.split(signs.humps);
  return parts.length === 2 && signs.capitals.test(parts[1]!) ? [word] : parts;
}

function addPiece(tokens: Token[], text: string, { at, kind }: Pick<Token, "at" | "kind">, signs: Patterns): number {
  const isTerm = (text.length > 1 || text > "\x7f") && !STOP_WORDS.has(text) && signs.letter.test(text);
  if (isTerm) tokens.push({ term: termOf(text), kind, text, at });
  return 1;
}

/**
 * A light English stemmer: cuts inflections (tests, testing, tested) and the commonest derivations (deployment, optimizer,
 * authentication), so that a prompt and a skill meet though they are worded differently. It need not give words, only the same text for
 * the same family.
 */
export function stem(word: string): string {
  // Names with digits or signs (net8, s3, oauth2) and other scripts do not inflect the English way.
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return IRREGULAR.get(word) ?? withoutTail(withoutDerivation(withoutVerbEnding(withoutPlural(word))));
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (endsWithAny(word, ["xes", "ches", "shes", "zes"])) return word.slice(0, -2);
  // status, focus, analysis, nodejs, kubernetes: an s that is no plural.
  if (endsWithAny(word, ["ss", "us", "is", "js", "netes"])) return word;
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const cut = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const rest = word.slice(0, word.length - cut);
  if (cut === 0 || rest.length < MIN_REST || !hasVowel(rest)) return word;
  if (endsWithAny(rest, ["at", "bl", "iz", "is"])) return `${rest}e`;
  return withoutDouble(rest);
}

function withoutDerivation(word: string): string {
  const once = withoutEnding(word);
  return once === word ? word : withoutEnding(once);
}

function withoutEnding(word: string): string {
  for (let length = Math.min(LONGEST_ENDING, word.length); length >= SHORTEST_ENDING; length--) {
    const replacement = ENDINGS.get(word.slice(-length));
    if (replacement === undefined) continue;
    const rest = word.slice(0, -length);
    return rest.length < MIN_REST + (length === 2 ? 1 : 0) || !hasVowel(rest) ? word : rest + replacement;
  }
  return word;
}

/** Ends that differ within a family after the cuts above: configur(e), quer(y), optimiz(e), plan(n). */
function withoutTail(word: string): string {
  if (word.endsWith("y") && word.length >= 4) return `${word.slice(0, -1)}i`;
  if (word.length < 5) return word;
  if (word.length > 5 && endsWithAny(word, ["ate", "ize", "ise"])) return word.slice(0, -3);
  return word.endsWith("e") ? word.slice(0, -1) : withoutDouble(word);
}

/** planning, stopped: the doubled letter goes, except those that words end in (call, pass, buzz). */
function withoutDouble(word: string): string {
  const last = word.at(-1)!;
  return last === word.at(-2) && !"aeioulsz".includes(last) ? word.slice(0, -1) : word;
}

function endsWithAny(word: string, endings: readonly string[]): boolean {
  return endings.some((ending) => word.endsWith(ending));
}

function hasVowel(word: string): boolean {
  return /[aeiouy]/.test(word);
}

/** Ending and what takes its place; the longest that fits counts. What remains must hold a vowel and `MIN_REST` letters. */
// biome-ignore format: one word a line would be longer than the file.
const ENDINGS: ReadonlyMap<string, string> = new Map(Object.entries({
  ization: "ize", isation: "ize", ational: "ate", fulness: "ful", iveness: "ive", ability: "able", ibility: "ible",
  ication: "icate", ation: "ate", ition: "it", ution: "ute", ction: "ct", ssion: "ss", ment: "", ness: "",
  ally: "al", ator: "ate", able: "", ible: "", izer: "ize", iser: "ize", ance: "", ence: "", less: "", ful: "",
  ise: "ize", ity: "", ive: "", ics: "ic", ly: "", er: "", or: "", al: "",
}));
const LONGEST_ENDING = 7;
const SHORTEST_ENDING = 2;
const MIN_REST = 3;

/** Families that the endings above would split, or join with a stranger (react and reaction). Written as they are said. */
// biome-ignore format: one word a line would be longer than the file.
const IRREGULAR: ReadonlyMap<string, string> = new Map(Object.entries({
  document: "document", documents: "document", documented: "document", documenting: "document",
  documentation: "doc", container: "container", containers: "container", analysis: "analyz", analyses: "analyz",
  diagnostic: "diagnos", diagnostics: "diagnos", diagnosis: "diagnos", verification: "verifi",
  resilience: "resili", resilient: "resili", resiliency: "resili", subscription: "subscrib",
  subscriptions: "subscrib", indices: "index", config: "configur", configs: "configur", written: "writ",
  wrote: "writ", asynchronous: "async", performant: "perform", built: "build", broke: "break", broken: "break",
  ran: "run", reactive: "reactive", reaction: "reaction", author: "writer", authors: "writer",
  metadata: "metadata", data: "data", server: "server", servers: "server", during: "during", string: "string",
  strings: "string", architecture: "architect", architectures: "architect", architectural: "architect",
  dependency: "depend", dependencies: "depend", local: "local", general: "general", generic: "generic",
  universal: "universal", university: "university",
}));
