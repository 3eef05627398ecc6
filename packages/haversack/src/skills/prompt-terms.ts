/**
 * What a prompt asks for, in terms: its words, pairs of neighbours, synonyms, the worlds it speaks of, and skills that it
 * may be calling by name. Runs in the hook process.
 */
import { worldsOf } from "./ecosystems.ts";
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
  origin?: string;
}

export interface PromptTerms {
  terms: PromptTerm[];
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
  const tokens = tokenize(text);
  const terms = new Map<string, PromptTerm>();
  const add = (term: PromptTerm) => {
    const seen = terms.get(term.term);
    if (!seen || term.weight > seen.weight) terms.set(term.term, term);
  };
  for (const token of tokens)
    add({ term: token.term, text: token.text, kind: token.kind, weight: PROMPT_WEIGHT[token.kind] });
  const own = [...terms.values()];
  for (const pair of pairs(tokens)) {
    if (!terms.has(pair.term)) add({ term: pair.term, text: pair.text, kind: "pair", weight: PROMPT_WEIGHT.pair });
  }
  for (const { term, text: said, weight } of own) {
    for (const other of synonymsOf(term)) {
      if (!terms.has(other)) {
        add({ term: other, text: said, kind: "synonym", weight: weight * PROMPT_WEIGHT.synonym, origin: term });
      }
    }
  }
  return {
    terms: [...terms.values()],
    worlds: worldsOf(tokens),
    asksToKnow: KNOWLEDGE.test(text),
    ...namesIn(text),
  };
}

/** What stands in a code block was pasted: it shows the matter, it does not ask. Unless there is nothing else. */
function withoutCode(prompt: string): string {
  if (!prompt.includes("```")) return prompt;
  const rest = prompt.replace(/^[ \t]*```[\s\S]*?(?:^[ \t]*```|$(?![\s\S]))/gm, "\n");
  return rest.trim() === "" ? prompt : rest;
}

/** "Explain how TLS works", "what is the difference between": not "explain this function". */
const KNOWLEDGE =
  /^\W*(?:(?:can|could|would|please) (?:you )?(?:please )?)?explain (?!(?:this|that|these|those|my|our|it|your)\b)|\bdifferences? between (?!(?:this|these|those|my|our)\b)/i;

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
function namesIn(text: string): { names: string[]; refused: string[] } {
  const names = new Set<string>();
  const refused = new Set<string>();
  const words = text.toLowerCase().split(/\s+/).slice(0, MOST_WORDS);
  words.forEach((written, at) => {
    const isRefused = words.slice(Math.max(0, at - 4), at).some((before) => REFUSAL.test(before));
    const add = (name: string) => (isRefused ? refused : names).add(nameTerm(name.slice(name.lastIndexOf(":") + 1)));
    const word = written.replace(/^["'`(]+|["'`),.;:!?]+$/g, "");
    const sign = /^[/$@]([a-z0-9][\w:-]*)$/.exec(word)?.[1];
    if (sign) add(sign);
    else if (/^[a-z0-9]+(?:[-_:][a-z0-9]+)+$/.test(word)) add(word);
    // Not "skills": "my testing skills" calls nobody.
    if (word !== "skill") return;
    for (let count = 1; count <= LONGEST_NAME; count++) {
      if (at - count >= 0) add(words.slice(at - count, at).join("-"));
      add(words.slice(at + 1, at + 1 + count).join("-"));
    }
  });
  names.delete("=");
  refused.delete("=");
  return { names: [...names], refused: [...refused] };
}

/** Up to four words before a name: "do not use the x skill". */
const REFUSAL = /^(?:don'?t|dont|not|never|without|no|avoid|skip|stop)$/;
const MOST_WORDS = 400;
/** Words of a skill's name that is written with spaces. */
const LONGEST_NAME = 4;
