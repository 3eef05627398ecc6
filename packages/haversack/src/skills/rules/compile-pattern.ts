/**
 * What the index stores about a regular expression from a rule or a skill. Patterns are untrusted. Invalid patterns and those that match
 * everything are problems. Each valid one states how its worst time grows, so the hook can run proven cheap patterns directly and the rest under a
 * time limit.
 */
import { growthDegree } from "./regex-growth.ts";
import { parseRegex } from "./regex-syntax.ts";

export interface CompiledPattern {
  /** For `new RegExp(source, flags)`. Matches the same texts as the author's pattern. */
  source: string;
  flags: string;
  /** Proven to search any text in linear time. The same as degree 1. */
  linear: boolean;
  /**
   * Proven worst time as a power of the text's length; null if nothing is proven. `create.*skill` is 2: in a long line with many “create”, each
   * one searches for “skill” to the end of the line.
   */
  degree: number | null;
}

export type PatternCompilation = CompiledPattern | { problem: string; code: "pattern-invalid" | "pattern-matches-all" };

const MAX_PATTERN_CHARS = 2_000;

export function compilePattern(pattern: string, { flags = "i" }: { flags?: string } = {}): PatternCompilation {
  if (pattern.length > MAX_PATTERN_CHARS) {
    return {
      code: "pattern-invalid",
      problem: `the pattern has ${pattern.length} characters, more than ${MAX_PATTERN_CHARS}`,
    };
  }
  const source = simplified(pattern);
  let expression: RegExp;
  try {
    expression = new RegExp(source, flags);
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).replace(/^.*\/[a-z]*: /s, "");
    return { code: "pattern-invalid", problem: `not a valid regular expression: ${reason}` };
  }
  const node = parseRegex(source, flags);
  const degree = node ? (growthDegree(node) ?? null) : null;
  // Run only patterns known to be cheap: with nested counts even the empty text can be expensive.
  if (source === "" || (degree !== null && expression.test(""))) {
    return { code: "pattern-matches-all", problem: "the pattern matches every text, so it says nothing" };
  }
  return { source, flags, linear: degree === 1, degree };
}

/**
 * A search for `.*foo.*` is a search for `foo`, with a lower degree. `(?i)` is how other languages write a flag that we set anyway. A final `.*`
 * is removed only if its dot is not escaped.
 */
function simplified(pattern: string): string {
  let source = pattern.replace(/^\(\?i\)/, "").replace(/^(?:\.\*\??)+/, "");
  for (let end = FREE_END.exec(source); end && !isEscaped(source, end.index); end = FREE_END.exec(source)) {
    source = source.slice(0, end.index);
  }
  return source;
}

const FREE_END = /\.\*\??$/;

function isEscaped(source: string, at: number): boolean {
  let slashes = 0;
  while (source[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}
