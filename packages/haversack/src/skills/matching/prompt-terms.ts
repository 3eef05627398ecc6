/**
 * What a prompt asks for, in terms: its words, pairs of neighbours, synonyms, the worlds it speaks of, and skills that it
 * may be calling by name.
 */
import { nameTerm, pairs, tokenize } from "./tokenize.ts";
import { synonymsOf, worldsOf } from "./vocabulary.ts";

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
    asksToKnow: asksToKnow(text),
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
function asksToKnow(text: string): boolean {
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
    if (CALLED.test(word)) add(word.slice(1));
    else if (COMPOUND.test(word)) add(word);
    // Not "skills": "my testing skills" calls nobody.
    if (word !== "skill") return;
    for (let count = 1; count <= LONGEST_NAME; count++) {
      if (at - count >= 0) add(words.slice(at - count, at).join("-"));
      add(words.slice(at + 1, at + 1 + count).join("-"));
    }
  });
  return { names, refused };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
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
