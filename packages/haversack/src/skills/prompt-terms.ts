/**
 * What a prompt asks for, in terms: its words, pairs of neighbours, synonyms, the worlds it speaks of, and skills that it
 * may be calling by name.
 */
import { worldsOf } from "./ecosystems.ts";
import { PackedSet } from "./packed-words.ts";
import { nameTerm } from "./skill-fields.ts";
import { synonymsOf } from "./synonyms.ts";
import { pairs, tokenize } from "./tokenize.ts";

export interface PromptTerm {
  term: string;
  /** As the prompt has it. */
  text: string;
  kind: "word" | "part" | "whole" | "pair" | "synonym";
  weight: number;
  /** For a synonym: the prompt's own term that it stands for. */
  origin: string | undefined;
  /** For a pair: its two words, as terms. */
  of?: readonly [string, string];
}

export interface PromptTerms {
  terms: PromptTerm[];
  /** It is an order of one word: "deploy", "please deploy this". Not "what's the plan", not "design looks good". */
  isOrder: boolean;
  worlds: string[];
  /** It asks to have a general matter explained: such a prompt rarely needs a skill's procedure. */
  asksToKnow: boolean;
  /** Name terms (`=…`) of what may be skills called by name. */
  names: string[];
  /** The same, of what the prompt does not want: "don't use the x skill", "without x". */
  refused: string[];
}

/** A part of a compound is often of the user's own making; a pair and a synonym confirm rather than say. */
const PROMPT_WEIGHT = { word: 1, part: 0.5, whole: 1, pair: 0.5, synonym: 0.5 };

export function promptTerms(prompt: string): PromptTerms {
  const text = excerpt(withoutCode(excerpt(prompt, MOST_READ)), MOST_TOKENIZED);
  const lower = text.toLowerCase();
  const tokens = tokenize(text);
  const neighbours = pairs(tokens);
  const terms = new Map<string, PromptTerm>();
  for (const { term, text: said, kind } of tokens) {
    const weight = PROMPT_WEIGHT[kind];
    const seen = terms.get(term);
    if (!seen || weight > seen.weight) terms.set(term, { term, text: said, kind, weight, origin: undefined });
  }
  const own = [...terms.values()];
  for (const { term, text: said, of } of neighbours) {
    if (terms.has(term)) continue;
    terms.set(term, { term, text: said, kind: "pair", weight: PROMPT_WEIGHT.pair, origin: undefined, of });
  }
  for (const { term, text: said, weight } of own) {
    for (const other of synonymsOf(term)) {
      if (terms.has(other)) continue;
      const half = weight * PROMPT_WEIGHT.synonym;
      terms.set(other, { term: other, text: said, kind: "synonym", weight: half, origin: term });
    }
  }
  const words = wordsOf(lower);
  return {
    terms: [...terms.values()],
    isOrder: own.length === 1 && isOrder(words, tokens[0]!.at),
    worlds: worldsOf(tokens, neighbours),
    asksToKnow: asksToKnow(text, lower),
    ...namesIn(words),
  };
}

/** Whether only polite words stand before this place, and after it nothing or what an order is given about. */
function isOrder(words: readonly string[], at: number): boolean {
  const next = words[at + 1];
  return (
    words.slice(0, at).every((word) => POLITE.has(word)) && (next === undefined || OBJECTS.has(withoutQuotes(next)))
  );
}

/** What stands in a code block was pasted: it shows the matter, it does not ask. Unless there is nothing else. */
function withoutCode(prompt: string): string {
  if (!prompt.includes("```")) return prompt;
  const rest = prompt.replace(/^[ \t]*```[\s\S]*?(?:^[ \t]*```|$(?![\s\S]))/gm, "\n");
  return rest.trim() === "" ? prompt : rest;
}

/** "Explain how TLS works", "what is the difference between": not "explain this function". */
function asksToKnow(text: string, lower: string): boolean {
  // Asked first: making the pattern costs a new process more.
  if (!lower.includes("explain ") && !lower.includes("difference")) return false;
  return /^\W*(?:(?:can|could|would|please) (?:you )?(?:please )?)?explain (?!(?:this|that|these|those|my|our|it|your)\b)|\bdifferences? between (?!(?:this|these|those|my|our)\b)/i.test(
    text,
  );
}

/** Characters of a prompt that are looked at for code blocks, and of what remains, for words. */
const MOST_READ = 30_000;
const MOST_TOKENIZED = 4500;

/** A long prompt says what it wants at its start or its end; between them stands what was pasted. */
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
    const word = withoutQuotes(written);
    if (isCalled(word)) add(word.slice(1));
    else if (isCompound(word)) add(word);
    // Not "skills": "my testing skills" calls nobody.
    if (word !== "skill") return;
    for (let count = 1; count <= LONGEST_NAME; count++) {
      if (at - count >= 0) add(words.slice(at - count, at).join("-"));
      add(words.slice(at + 1, at + 1 + count).join("-"));
    }
  });
  return { names, refused };
}

/** Parted by white space; patterns cost a new process more than what they find here. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (let from = 0, at = 0; at <= text.length && words.length < MOST_WORDS; at++) {
    if (at < text.length && !isSpace(text.charCodeAt(at))) continue;
    if (at > from) words.push(text.slice(from, at));
    from = at + 1;
  }
  return words;
}

function isSpace(code: number): boolean {
  return code <= 32 ? code === 32 || (code >= 9 && code <= 13) : code >= 0xa0 && /\s/.test(String.fromCharCode(code));
}

function withoutQuotes(word: string): string {
  let from = 0;
  let to = word.length;
  while (from < to && "\"'`(".includes(word[from]!)) from++;
  while (to > from && "\"'`),.;:!?".includes(word[to - 1]!)) to--;
  return word.slice(from, to);
}

/** `/name`, `$name`, `@name`. */
function isCalled(word: string): boolean {
  if (word.length < 2 || !"/$@".includes(word[0]!) || !isPlain(word.charCodeAt(1))) return false;
  for (let at = 2; at < word.length; at++) {
    if (!isPlain(word.charCodeAt(at)) && !"_:-".includes(word[at]!)) return false;
  }
  return true;
}

/** Two pieces or more with single signs between them. */
function isCompound(word: string): boolean {
  let pieces = 1;
  for (let at = 0; at < word.length; at++) {
    if (isPlain(word.charCodeAt(at))) continue;
    if (!"-_:".includes(word[at]!) || !isPlain(word.charCodeAt(at - 1)) || !isPlain(word.charCodeAt(at + 1)))
      return false;
    pieces++;
  }
  return pieces > 1;
}

/** A lower-case letter or a digit. */
function isPlain(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
}

/** Up to four words before a name: "do not use the x skill". */
const REFUSALS = new PackedSet(" don't dont not never without no avoid skip stop ");
/** What may stand before an order, and what may follow it. */
const POLITE = new PackedSet(
  " please now ok okay and then so can could would will you let's lets let us i we want need to help me just also ",
);
const OBJECTS = new PackedSet(" it this that these those the my our all everything now again please here to for with ");
const MOST_WORDS = 400;
/** Words of a skill's name that is written with spaces. */
const LONGEST_NAME = 4;
