/** The term index in memory, for evaluation and tests. Gives the same answers as the one in SQLite. */
import { backgroundTerms } from "./background.ts";
import type { Posting, SkillKey, TermIndex, TermStats } from "./score-text.ts";
import { SKILL_TERMS, type SkillTerm, type SkillTermsInput, skillTerms } from "./skill-terms.ts";

export function memoryIndex(
  skills: readonly (SkillTermsInput & { id: string })[],
  constants: typeof SKILL_TERMS = SKILL_TERMS,
): TermIndex {
  return indexOfTerms(skills.map((skill) => [skill.id, skillTerms(skill, constants)]));
}

export function indexOfTerms<Key extends SkillKey>(skills: readonly (readonly [Key, SkillTerm[]])[]): TermIndex<Key> {
  background ??= backgroundTerms();
  const shares = background;
  const rows = new Map<string, Posting<Key>[]>();
  for (const [skill, terms] of skills) {
    for (const { term, weight, fields } of terms) {
      const posting = { term, skill, weight, fields };
      const known = rows.get(term);
      if (known) known.push(posting);
      else rows.set(term, [posting]);
    }
  }
  return {
    size: skills.length,
    terms: (terms) =>
      terms.flatMap((term): TermStats[] => {
        const share = shares.get(term);
        const df = rows.get(term)?.length ?? 0;
        if (share === undefined) return df === 0 ? [] : [{ term, df }];
        return [{ term, df, share }];
      }),
    postings: (terms, only) => {
      if (!only)
        return terms.length === 1 ? (rows.get(terms[0]!) ?? []) : terms.flatMap((term) => rows.get(term) ?? []);
      const wanted = new Set(only);
      return terms.flatMap((term) => (rows.get(term) ?? []).filter((row) => wanted.has(row.skill)));
    },
  };
}

let background: ReadonlyMap<string, number> | undefined;
