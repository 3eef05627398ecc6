/** Which skills fit a prompt, by words and by rules: for every program that need not count its bytes. */
import { combineMatches, type MatchIndex, type MatchInput, type MatchResult } from "./combine-matches.ts";
import { matchRules } from "./match-rules.ts";

export function matchSkills(
  input: MatchInput,
  index: MatchIndex,
  { limit = 24 }: { limit?: number } = {},
): MatchResult {
  return combineMatches(input, index, { matchRules, limit });
}
