/** What the index and the hook process must agree on: where a term of a skill was seen, and terms that are no words. */
import { isAscii } from "../base/clean-text.ts";

/** Bits of a posting's `fields`. `onlyName`: the skill's name consists of this one word. */
export const FIELD = { name: 1, description: 2, body: 4, world: 8, wholeName: 16, onlyName: 32 } as const;

/** The skill's whole name as one term, for prompts that call it by name: `systematic-debugging` → `=systematicdebugging`. */
export function nameTerm(name: string): string {
  const lower = name.toLowerCase();
  return `=${lower.replace(isAscii(lower) ? /[^a-z0-9]+/g : /[^\p{L}\p{N}]+/gu, "")}`;
}

/** A world that the skill is bound to (see ecosystems.ts) as a term: `~language:python`. */
export function worldTerm(world: string): string {
  return `~${world}`;
}
