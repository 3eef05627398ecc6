/** Search on request: first the ranking by words, then further results of full-text search, which also matches prefixes. */

import { type MatchIndex, matchSkills, type Reason } from "../skills/matching/match-skills.ts";
import type { SkillCard } from "../skills/types.ts";
import type { FoundSkillInfo } from "./library-types.ts";

export interface FoundSkill extends FoundSkillInfo {
  reasons: Reason[];
  disclosure: "none";
}

export interface SearchParts {
  index: MatchIndex & { search(match: string, limit: number): number[] };
}

/** `forPeople`: includes skills that their author hides from models. */
export function searchSkills(
  text: string,
  { index }: SearchParts,
  { limit, forPeople = false }: { limit: number; forPeople?: boolean },
): FoundSkill[] {
  const toFound = ({ id, name, brief }: SkillCard, confidence: number, reasons: Reason[]): FoundSkill => {
    return { id, name, brief, confidence, reasons, disclosure: "none" };
  };
  const found = matchSkills({ prompt: text, isSearch: true }, index, { limit })
    .matches.filter(({ excluded, card }) => !excluded || (forPeople && !card.modelInvocable))
    .map(({ card, confidence, reasons }) => toFound(card, confidence, reasons));
  const seen = new Set(found.map(({ id }) => id));
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  if (found.length < limit && words.length > 0) {
    const starts = words.slice(0, 32).map((word) => `"${word}"*`);
    const keys = index.search(starts.join(" OR "), limit * 2);
    const cards = new Map(index.cards(keys).map((card) => [card.key, card]));
    // What only the full-text search finds stands last, so it must not look likelier than what stands before it.
    const confidence = Math.min(0.05, ...found.map((one) => one.confidence));
    for (const key of keys) {
      const card = cards.get(key);
      if (!card || seen.has(card.id) || !(card.modelInvocable || forPeople)) continue;
      found.push(toFound(card, confidence, [{ feature: "body", text: "full-text search", strength: confidence }]));
    }
  }
  return found.slice(0, limit);
}
