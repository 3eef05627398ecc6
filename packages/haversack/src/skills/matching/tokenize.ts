/**
 * Turns text into terms, the same way for skills and prompts. Words are lower-cased, split at camelCase humps, hyphens and dots, and
 * stemmed; stop words are dropped. Names such as C#, .NET, Node.js and CI/CD stay one term.
 */
import { isAscii } from "../../base/clean-text.ts";
import { ONE_NAME, SIGNED_NAMES, STOP_WORDS } from "./vocabulary.ts";

/**
 * word: an ordinary word. part: a piece of a compound (camelCase, kebab-case, path). whole: the compound itself, which in a prompt is
 * usually the user's own identifier and says nothing about skills.
 */
export type TokenKind = "word" | "part" | "whole";

export interface Token {
  term: string;
  kind: TokenKind;
  /** As written but in lower case, for messages. */
  text: string;
  /** Word position. A gap of more than two means that a sentence or line ended between two tokens. */
  at: number;
}

/** Longer runs are hashes, base64 or minified code. */
const LONGEST_WORD = 60;
/** System.Text.Json is a name; a longer chain is code. */
const LONGEST_CHAIN = 24;
/** How many pieces of a compound are also joined into one term. */
const MOST_PIECES = 4;

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let plain = isAscii(text) ? text : withPlainSigns(text);
  const lower = plain.toLowerCase();
  for (const [sign, pattern, name] of SIGNED_NAMES) if (lower.includes(sign)) plain = plain.replace(pattern, name);
  const isPlain = isAscii(plain);
  const signs = isPlain ? (ascii ??= patternsOf(ASCII)) : (unicode ??= patternsOf(UNICODE));
  const spacedOut = isPlain ? plain : plain.normalize("NFKC").replace(UNSPACED_RUN, " $& ");
  let at = 0;
  for (const [raw] of spacedOut.matchAll(signs.raw)) {
    if (raw.length > LONGEST_WORD) continue;
    if (isPlainWord(raw)) at += addPiece(tokens, raw, { at, kind: "word" }, signs);
    else if (BREAK.test(raw)) at += 2;
    // A trailing full stop is part of the raw word (as the dot in Node.js is), so the sentence end is counted after the word.
    else at += addWord(tokens, raw, at, signs) + (raw.endsWith(".") ? 2 : 0);
  }
  return tokens;
}

/** Two neighbours as one term, joined without a sign: "front end", "front-end" and "frontend" become the same. */
export function pairs(tokens: readonly Token[]): { term: string; text: string; of: readonly [string, string] }[] {
  const found: ReturnType<typeof pairs> = [];
  forEachPair(tokens, (first, second) => {
    const text = `${first.text} ${second.text}`;
    found.push({ term: first.term + second.term, text, of: [first.term, second.term] });
  });
  return found;
}

export function forEachPair(tokens: readonly Token[], visit: (first: Token, second: Token) => void): void {
  let previous: Token | undefined;
  for (const token of tokens) {
    if (token.kind === "whole") continue;
    // One stop word may be between them: "role of assignment".
    if (previous && token.at > previous.at && token.at - previous.at <= 2 && token.term !== previous.term) {
      visit(previous, token);
    }
    previous = token;
  }
}

/** The term of one lower-case word: its stem. */
export function termOf(word: string): string {
  let term = knownTerms.get(word);
  if (term === undefined) {
    term = stem(word);
    if (knownTerms.size >= MOST_KNOWN) knownTerms.clear();
    knownTerms.set(word, term);
  }
  return term;
}

/** A cache: an index of 3,000 skills asks two million times for the terms of 12,000 words. */
const knownTerms = new Map<string, string>();
const MOST_KNOWN = 20_000;

/**
 * Bits of a posting's `fields`: where a term of a skill was seen. Two more bits, from `NAME_LENGTH` on, hold the number of words in the
 * skill's name, minus one and at most three. A prompt with both words of a two-word name means that skill; one word of four proves little.
 */
export const FIELD = { name: 1, description: 2, body: 4, gram: 8, wholeName: 16 } as const;
export const NAME_LENGTH = 5;

/** The skill's whole name as one term, for prompts that call it by name: `systematic-debugging` → `=systematicdebugging`. */
export function nameTerm(name: string): string {
  const lower = name.toLowerCase();
  return `=${lower.replace(isAscii(lower) ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu, "")}`;
}

/** A word of a skill's body. Kept separately, because a word that many bodies mention may still be rare in descriptions. */
export function bodyTerm(term: string): string {
  return `.${term}`;
}

/** Groups of four neighbouring letters, with marks for start and end. A misspelled word finds the right one by them. */
export function gramTerms(word: string): string[] {
  const marked = `^${word}$`;
  const found = new Set<string>();
  for (let at = 0; at + GRAM <= marked.length; at++) found.add(`%${marked.slice(at, at + GRAM)}`);
  return [...found];
}

const GRAM = 4;

/** Shorter words have too few letter groups to tell them apart; words with digits or signs are names, not typos. */
export function hasGrams(word: string): boolean {
  return word.length >= 5 && word.length <= 24 && (isAscii(word) ? /^[a-z]+$/i : /^\p{L}+$/u).test(word);
}

function withPlainSigns(text: string): string {
  return (
    text
      .replace(/[\u2018\u2019]/g, "'")
      // Dashes, typographic quotes, arrows, CJK punctuation and emoji end a phrase.
      .replace(/[\u2010-\u2bff\u3000-\u303f]|[\ufe00-\ufe0f]|[\ud83c-\ud83e][\udc00-\udfff]/g, " ; ")
  );
}

/** Character classes for the patterns. A class of all letters takes milliseconds to compile, and most texts do not need it. */
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

/** A sign that ends a phrase. */
const BREAK = /^[.!?;:\n|()[\]{}<>"`,]$/;
/** Scripts without spaces between words: Han, Hiragana, Katakana. */
const UNSPACED_RUN = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+/g;
const UNSPACED_WORD = /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}$/;
/** it's, they'll; not o'clock. */
const CONTRACTION = /'(?:s|re|ve|ll|d|m)\b/gi;

/** Adds the tokens of one run without spaces; returns how many positions it took. */
function addWord(tokens: Token[], raw: string, at: number, signs: Patterns): number {
  const word = raw.replace(CONTRACTION, "").replace(signs.edge, "").replace(signs.version, "");
  if (word === "") return 1;
  if (UNSPACED_WORD.test(word)) return addCharacterPairs(tokens, word, at);
  // A path or a chain of calls: each step is an identifier, not a plain word.
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

/** In scripts without spaces, two neighbouring characters count as a word. */
function addCharacterPairs(tokens: Token[], word: string, at: number): number {
  for (let from = 0; from + 2 <= word.length; from++) {
    const term = word.slice(from, from + 2);
    // Three positions apart, so they never form pairs.
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
  if (text <= "9999" && VERSION.test(text)) addVersion(tokens, text, at);
  const isTerm =
    (text.length > 1 || text > "\x7f") && !STOP_WORDS.has(text) && (isLatin(text) || signs.letter.test(text));
  if (isTerm) tokens.push({ term: termOf(text), kind, text, at });
  return 1;
}

/**
 * a to z and digits only, as most words: nothing to trim or split. A loop, here and below: a new process would have to compile a pattern,
 * and again when it is used twice.
 */
function isPlainWord(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 48 || code > 122 || (code > 57 && code < 97)) return false;
  }
  return true;
}

function isSmallLetters(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 97 || code > 122) return false;
  }
  return true;
}

/** Most words begin with a letter from a to z, which needs no pattern. */
function isLatin(word: string): boolean {
  return word >= "a" && word < "{";
}

/** A number alone says nothing. After a name it is a version: "Angular 17" and angular-17 are not Angular 18. */
const VERSION = /^\d{1,4}$/;

function addVersion(tokens: Token[], text: string, at: number): void {
  const before = tokens.at(-1);
  if (!before || before.at !== at - 1 || before.kind === "whole") return;
  tokens.push({ term: before.term + text, kind: "whole", text: `${before.text} ${text}`, at });
}

/**
 * A light English stemmer: removes inflections (tests, testing, tested) and the most common derivations (deployment, optimizer,
 * authentication), so that a prompt matches a skill that is worded differently. Stems need not be words; a word family just shares one.
 */
export function stem(word: string): string {
  // Names with digits or signs (net8, s3, oauth2) and other scripts have no English inflections.
  if (word.length < 4 || !isSmallLetters(word)) return word;
  return withoutTail(withoutDerivation(withoutVerbEnding(withoutPlural(word))));
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (endsWithAny(word, ["xes", "ches", "shes", "zes"])) return word.slice(0, -2);
  // status, focus, analysis, nodejs, kubernetes: the s is not a plural.
  if (endsWithAny(word, ["ss", "us", "is", "js", "netes"])) return word;
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const cut = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const rest = word.slice(0, word.length - cut);
  if (cut === 0 || rest.length < MIN_REST || !hasVowel(rest)) return word;
  if (endsWithAny(rest, ["at", "bl", "iz", "is"])) return `${rest}e`;
  // add, egg: the word itself ends in a doubled letter.
  return rest.length === MIN_REST ? rest : withoutDouble(rest);
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

/** Removes ends that still differ within a word family after the steps above: configur(e), quer(y), optimiz(e), plan(n). */
function withoutTail(word: string): string {
  if (word.endsWith("y") && word.length >= 4) return `${word.slice(0, -1)}i`;
  if (word.length < 5) return word;
  if (word.length > 5 && endsWithAny(word, ["ate", "ize", "ise"])) return word.slice(0, -3);
  return word.endsWith("e") ? word.slice(0, -1) : withoutDouble(word);
}

/** planning, stopped: removes the doubled letter, except where words end in one (call, pass, buzz). */
function withoutDouble(word: string): string {
  const last = word.at(-1)!;
  return last === word.at(-2) && !"aeioulsz".includes(last) ? word.slice(0, -1) : word;
}

function endsWithAny(word: string, endings: readonly string[]): boolean {
  return endings.some((ending) => word.endsWith(ending));
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if ("aeiouy".includes(word[at]!)) return true;
  return false;
}

/** Endings and their replacements; the longest match counts. The rest must have a vowel and at least `MIN_REST` letters. */
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

// What a prompt asks for, in terms: its words, pairs of neighbours, and skills that it may be calling by name.

export interface PromptTerm {
  term: string;
  /** As the prompt has it. */
  text: string;
  kind: "word" | "part" | "whole" | "pair";
  weight: number;
}

export interface PromptTerms {
  terms: PromptTerm[];
  /** It is an order of one word: "deploy", "please deploy this". Not "what's the plan", not "design looks good". */
  isOrder: boolean;
  /** Name terms (`=…`) of what may be skills called by name. */
  names: string[];
  /** The same, of what the prompt does not want: "don't use the x skill", "without x". */
  refused: string[];
  manner: Manner;
}

/** How a prompt is worded, whatever it is about. "rename the variable" is about work at hand, however rare its words are. */
export interface Manner {
  /** Logarithm of the number of words. */
  length: number;
  /** 1: the message of a compiler, a test or a program is in it. */
  error: number;
  /** 1: it begins like an order for a small change, or like a question about what is there. */
  edit: number;
}

/** A part of a compound is often a name that the user made up. A pair confirms its two words rather than adding a third. */
const PROMPT_WEIGHT = { word: 1, part: 0.5, whole: 1, pair: 0.5 };

/**
 * A prompt states its wish at the start, or at the end after what was pasted. After this many words a word counts half. The distance
 * from the end counts double, so that the last sentence of a long prompt counts, but less than the first. Adds 0.5 points of recall@3.
 */
const HALF_AT = 20;
const END_FACTOR = 2;

export function promptTerms(prompt: string): PromptTerms {
  const text = excerpt(withoutCode(excerpt(prompt, MOST_READ)), MOST_TOKENIZED);
  const tokens = tokenize(text);
  const terms = new Map<string, PromptTerm>();
  const nearness = new Map<string, number>();
  const add = (term: PromptTerm) => {
    if (term.weight > (terms.get(term.term)?.weight ?? 0)) terms.set(term.term, term);
  };
  tokens.forEach(({ term, text: said, kind }, at) => {
    const near = HALF_AT / (HALF_AT + Math.min(at, (tokens.length - 1 - at) * END_FACTOR));
    nearness.set(term, Math.max(near, nearness.get(term) ?? 0));
    add({ term, text: said, kind, weight: PROMPT_WEIGHT[kind] * near });
  });
  for (const { term, text: said, of } of pairs(tokens)) {
    // "front end" is also "frontend": then the word stays.
    if (nearness.has(term)) continue;
    add({ term, text: said, kind: "pair", weight: PROMPT_WEIGHT.pair * (nearness.get(of[0]) ?? 1) });
  }
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  return {
    terms: [...terms.values()],
    isOrder: tokens.length === 1 && isOrder(words, tokens[0]!.at),
    ...namesIn(words),
    manner: mannerOf(text, words),
  };
}

function mannerOf(text: string, words: readonly string[]): Manner {
  return {
    length: Math.log(words.length + 1),
    error: Number(ERROR_TEXT.test(text)),
    edit: Number(EDITS.has((words[0] ?? "").replace(/[^a-z']/g, ""))),
  };
}

const ERROR_TEXT =
  /\b\w*(?:Error|Exception)\b|^error\b|\berror[:[ ]|panic|Traceback|warning:|FAILED|fatal:|Errno|npm ERR/m;
/** First words of orders and questions about code at hand. With others, such as "add", "create" or "fix", people also ask for larger work. */
// biome-ignore format: a list of words.
const EDITS = new Set([
  "remove", "delete", "rename", "change", "move", "replace", "put", "extract", "inline", "wrap", "split", "merge", "revert", "undo",
  "commit", "push", "rebase", "sort", "turn", "drop", "keep", "hide", "print", "log", "return", "rerun", "restart", "start", "stop",
  "open", "close", "read", "rebuild", "bump", "sorry", "no", "yes", "ok", "why", "where", "which", "who", "explain", "show", "is",
  "does", "did", "can", "could",
]);

/** Whether only polite words come before this place, and after it nothing or an object such as "this". */
function isOrder(words: readonly string[], at: number): boolean {
  const next = words[at + 1];
  return (
    words.slice(0, at).every((word) => POLITE.has(word)) && (next === undefined || OBJECTS.has(withoutQuotes(next)))
  );
}

/** Code blocks are pasted material, not a request. They stay if nothing else is left. */
function withoutCode(prompt: string): string {
  if (!prompt.includes("```")) return prompt;
  const rest = prompt.replace(/^[ \t]*```[\s\S]*?(?:^[ \t]*```|$(?![\s\S]))/gm, "\n");
  return rest.trim() === "" ? prompt : rest;
}

/** Maximum characters of a prompt that are searched for code blocks, and of the rest that are split into words. */
const MOST_READ = 30_000;
const MOST_TOKENIZED = 4500;

/** A long prompt states its wish at its start or end. What was pasted is in between. */
function excerpt(prompt: string, most: number): string {
  if (prompt.length <= most) return prompt;
  const end = Math.floor(most / 3);
  return `${prompt.slice(0, most - end)}\n${prompt.slice(-end)}`;
}

/**
 * `/name`, `$name`, `@name`, `plugin:name`, a name with a hyphen that is no path, "the … skill", "skill …".
 * A single plain word never counts: "commit this" is not a call of a skill named commit.
 */
function namesIn(words: readonly string[]): { names: string[]; refused: string[] } {
  const names: string[] = [];
  const refused: string[] = [];
  words.forEach((written, at) => {
    const add = (name: string) => {
      const term = nameTerm(name.slice(name.lastIndexOf(":") + 1));
      const list = words.slice(Math.max(0, at - 4), at).some((before) => REFUSALS.has(before)) ? refused : names;
      if (term !== "=" && !list.includes(term)) list.push(term);
    };
    // Most words have no sign: they are no name, and there is nothing to trim.
    if (isPlainWord(written) && written !== "skill") return;
    const word = withoutQuotes(written);
    if (CALLED.test(word)) add(word.slice(1));
    else if (COMPOUND.test(word)) add(word);
    // Only the singular: "the testing skill" names a skill, "my testing skills" does not.
    if (word !== "skill") return;
    for (let count = 1; count <= LONGEST_NAME; count++) {
      if (at - count >= 0) add(words.slice(at - count, at).join("-"));
      add(words.slice(at + 1, at + 1 + count).join("-"));
    }
  });
  return { names, refused };
}

function withoutQuotes(word: string): string {
  return word.replace(/^["'`(]+|["'`),.;:!?]+$/g, "");
}

/** `/name`, `$name`, `@name`. */
const CALLED = /^[/$@][a-z0-9][a-z0-9_:-]*$/;
/** Two pieces or more with single signs between them. */
const COMPOUND = /^[a-z0-9]+(?:[-_:][a-z0-9]+)+$/;

/** Up to four words before a name: "do not use the x skill". */
// biome-ignore format: a list of words.
const REFUSALS = new Set(["don't", "dont", "not", "never", "without", "no", "avoid", "skip", "stop"]);
/** What may stand before an order, and what may follow it. */
// biome-ignore format: a list of words.
const POLITE = new Set(["please", "now", "ok", "okay", "and", "then", "so", "can", "could", "would", "will", "you", "let's", "lets", "let", "us", "i", "we", "want", "need", "to", "help", "me", "just", "also"]);
// biome-ignore format: a list of words.
const OBJECTS = new Set(["it", "this", "that", "these", "those", "the", "my", "our", "all", "everything", "now", "again", "please", "here", "to", "for", "with"]);
const MOST_WORDS = 400;
/** Words of a skill's name that is written with spaces. */
const LONGEST_NAME = 4;
