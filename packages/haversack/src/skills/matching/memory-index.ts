/** The index of terms in memory: for evaluation and tests. Same answers as the one in SQLite. */
import { backgroundTerms } from "./background.ts";
import type { Posting, TermIndex, TermStats } from "./score-text.ts";
import { SKILL_TERMS, type SkillTermsInput, skillTerms } from "./skill-terms.ts";

const background = backgroundTerms();

export function memoryIndex(
  skills: readonly (SkillTermsInput & { id: string })[],
  constants: typeof SKILL_TERMS = SKILL_TERMS,
): TermIndex {
  const rows = new Map<string, Posting[]>();
  for (const skill of skills) {
    for (const { term, weight, fields } of skillTerms(skill, constants)) {
      const posting = { term, skill: skill.id, weight, fields };
      const known = rows.get(term);
      if (known) known.push(posting);
      else rows.set(term, [posting]);
    }
  }
  return {
    size: skills.length,
    terms: (terms) =>
      terms.flatMap((term): TermStats[] => {
        const share = background.get(term);
        const df = rows.get(term)?.length ?? 0;
        if (share === undefined) return df === 0 ? [] : [{ term, df }];
        return [{ term, df, share }];
      }),
    postings: (terms, only) => {
      const wanted = only && new Set(only);
      return terms.flatMap((term) => (rows.get(term) ?? []).filter((row) => !wanted || wanted.has(row.skill)));
    },
  };
}
