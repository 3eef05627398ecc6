/** A token, how long one may be, and the term of a word: what both ways of cutting a text agree on. */
import { stem } from "./stem.ts";
import { ABBREVIATIONS } from "./word-lists.ts";

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

/** The term of one lower-case word: its one spelling where abbreviations exist, else its stem. */
export function termOf(word: string): string {
  return ABBREVIATIONS.get(word) ?? stem(word);
}

/** Longer runs are hashes, base64 or minified code. */
export const LONGEST_WORD = 60;
/** System.Text.Json is a name; a longer chain is somebody's code. */
export const LONGEST_CHAIN = 24;
/** Pieces of a compound that are also taken together. */
export const MOST_PIECES = 4;
