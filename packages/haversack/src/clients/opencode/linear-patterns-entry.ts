/**
 * Replaces skills/matching/run-patterns.ts in the plugin's build, for the runtime inside opencode (Bun 1.3.14). The original calls `vm` with a
 * time limit; with it, a prompt in a project with rules never ended (seen once). Here only patterns that are proven linear run, on texts of
 * bounded length; others are skipped.
 */
import type { PatternRun, RunnablePattern } from "../../skills/matching/run-patterns.ts";

/** Needed only by callers that count it down: linear patterns need no limit. */
export const PATTERN_BUDGET_MS = 50;

const MAX_HEAD = 15_000;
const MAX_TAIL = 5000;

export function runPatterns(patterns: readonly RunnablePattern[], texts: readonly string[]): PatternRun {
  const { pairs, slow, skipped } = matchEach(patterns, texts);
  return { hits: [...new Set(pairs.map(([pattern]) => pattern))], slow, skipped };
}

export function matchEach(
  patterns: readonly RunnablePattern[],
  texts: readonly string[],
): { pairs: [pattern: number, text: number][]; slow: number[]; skipped: number[] } {
  const pairs: [number, number][] = [];
  const skipped: number[] = [];
  const cut = texts.map((text) =>
    text.length <= MAX_HEAD + MAX_TAIL ? text : `${text.slice(0, MAX_HEAD)}\n${text.slice(-MAX_TAIL)}`,
  );
  for (const [at, pattern] of patterns.entries()) {
    const expression = pattern.linear ? compiled(pattern) : undefined;
    if (!expression) skipped.push(at);
    else for (const [place, text] of cut.entries()) if (isMatch(expression, text)) pairs.push([at, place]);
  }
  return { pairs, slow: [], skipped };
}

function isMatch(expression: RegExp, text: string): boolean {
  expression.lastIndex = 0;
  return expression.test(text);
}

function compiled({ source, flags }: RunnablePattern): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    // An invalid pattern was reported when it was indexed; here it matches nothing.
    return undefined;
  }
}
