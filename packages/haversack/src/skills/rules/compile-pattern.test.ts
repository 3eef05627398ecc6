import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePattern } from "./compile-pattern.ts";

const degree = (pattern: string) => {
  const compiled = compilePattern(pattern);
  if ("problem" in compiled) throw new Error(compiled.problem);
  return compiled.degree;
};

describe("compilePattern", () => {
  it("keeps a plain pattern and its flag", () => {
    expect(compilePattern("\\bdeploy(ment)?\\b")).toEqual({
      source: "\\bdeploy(ment)?\\b",
      flags: "i",
      linear: true,
      degree: 1,
    });
  });

  it.each(["(", "[a", "a**", "(?<=", "*.ts", "\\"])("reports %j as invalid", (pattern) => {
    expect(compilePattern(pattern)).toMatchObject({ code: "pattern-invalid" });
  });

  it("says why in the engine's words, without repeating the pattern", () => {
    expect(compilePattern("it(")).toEqual({
      code: "pattern-invalid",
      problem: "not a valid regular expression: Unterminated group",
    });
  });

  it("refuses a pattern of absurd length", () => {
    expect(compilePattern("a".repeat(3000))).toMatchObject({ code: "pattern-invalid" });
  });

  it.each([".*", ".*?", "", "(foo)?", "a*", ".*.*", "^", "foo|"])("refuses %j, which matches everything", (pattern) => {
    expect(compilePattern(pattern)).toMatchObject({ code: "pattern-matches-all" });
  });

  it.each([
    [".*?authentication.*?", "authentication"],
    [".*.*foo.*", "foo"],
    ["foo\\.*", "foo\\.*"],
    ["foo\\\\.*", "foo\\\\"],
    ["(?i)foo", "foo"],
    ["foo|.*bar", "foo|.*bar"],
  ])("simplifies %j to %j", (pattern, source) => {
    expect(compilePattern(pattern)).toMatchObject({ source });
  });

  it("leaves \\S what it is", () => {
    expect(compilePattern("\\S+@\\S+")).toMatchObject({ source: "\\S+@\\S+", flags: "i" });
  });
});

describe("linear", () => {
  it.each([
    "foo",
    "foo|bar|baz",
    "\\bdata\\s+(pipeline|engineer|etl)\\b",
    "\\bci/?cd\\b|\\bgithub\\s+actions?\\b",
    "how (do|does) .{0,80}skill",
    "^foo.*bar",
    "foo.*",
    "\\b\\w+ing\\b",
    "\\b\\w+\\s*=",
    "\\bp.?value\\b",
    "페이즈\\s*기반\\s*(계획|설계)",
    "\\$[a-z]+\\d*",
    '"[^"]*"x',
    "x(?:ab|cd)*e",
    "(?<word>foo)bar",
    "\\b(verify|validate)\\s+(the\\s+)?(app|build|code)\\b",
  ])("is proven for %j", (pattern) => {
    expect(degree(pattern)).toBe(1);
  });

  it.each([
    ["create.*skill", 2],
    ["(create|add|modify).*?(skill|hook)", 2],
    ["a.*b.*c", 3],
    ["\\w+\\s*=", 2],
    ["\\s+$", 2],
    ["a*a*a*b", 4],
    ["^a.*b.*c", 2],
    ["x[^y]*y", 2],
    ['"[^"]*"', 1],
    [".{0,5000}foo", 2],
    ["(foo|ba.*r)baz", 2],
  ])("is not claimed for %j: degree %d", (pattern, expected) => {
    expect(degree(pattern)).toBe(expected);
  });

  it.each([
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+$",
    "(.*)*x",
    "(\\w+\\s?)*$",
    "(a*)*b",
    "(?=foo)bar",
    "(?!foo)bar",
    "(?<=foo)bar",
    "(a)\\1",
    "(a?){30}a{30}",
    "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaaaaaaaaaaaaaa",
    "([a-z]+)*\\d",
  ])("is unknown for %j", (pattern) => {
    expect(degree(pattern)).toBeNull();
  });

  it("counts steps: a pattern said to be linear never takes more than a constant per character", () => {
    // A backtracking matcher that counts steps: native time cannot be asserted reliably.
    const atom = fc.constantFrom("a", "b", "[ab]", ".", "\\w", "\\s", "(a|b)", "(a|ab)", "(ab|cd)", "\\b");
    const quantified = fc
      .tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{0,3}"))
      .map(([one, sign]) => (one === "\\b" ? one : one + sign));
    const pattern = fc.array(quantified, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
    const unit = fc.constantFrom("a", "b", "ab", "a ", "ba", "abab ");
    fc.assert(
      fc.property(pattern, unit, (source, repeated) => {
        const compiled = compilePattern(`${source}#`);
        if ("problem" in compiled || !compiled.linear) return;
        const small = countSteps(compiled.source, repeated.repeat(40));
        const large = countSteps(compiled.source, repeated.repeat(160));
        // The text is four times as long: a quadratic search would take sixteen times the steps.
        expect(large).toBeLessThan(small * 6 + 200);
      }),
      { numRuns: 1500 },
    );
  });

  it("never throws, whatever the pattern", () => {
    const piece = fc.constantFrom(
      "a",
      ".",
      "*",
      "+",
      "?",
      "(",
      ")",
      "[",
      "]",
      "{2,}",
      "|",
      "\\",
      "^",
      "$",
      "(?:",
      "(?=",
      "\\b",
      "\\1",
      "-",
      "é",
      "[^",
      "{",
      "\\u00e9",
      "\\x",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const source = pieces.join("");
        const compiled = compilePattern(source);
        let valid = true;
        try {
          new RegExp(source, "i");
        } catch {
          valid = false; // That it throws is the answer.
        }
        if ("problem" in compiled) expect(compiled.code === "pattern-invalid").toBe(!valid);
        else expect(valid).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

/** Counts the steps of a plain backtracking search with a tiny matcher for the subset generated above. */
function countSteps(source: string, text: string): number {
  type Item = { test: (at: number) => number[]; min: number; max: number };
  const items: Item[] = [];
  for (const [, atom, sign] of source.matchAll(/(\[ab\]|\\w|\\s|\\b|\([^)]*\)|\.|[ab#])(\*|\+|\?|\{0,3\})?/g)) {
    const ends = (at: number): number[] => {
      const char = text[at];
      if (atom === "\\b") return /\w/.test(text[at - 1] ?? " ") !== /\w/.test(char ?? " ") ? [at] : [];
      if (atom!.startsWith("("))
        return atom!
          .slice(1, -1)
          .split("|")
          .filter((one) => text.startsWith(one, at))
          .map((one) => at + one.length);
      if (char === undefined) return [];
      const ok =
        atom === "." ||
        (atom === "\\w" && /\w/.test(char)) ||
        (atom === "\\s" && char === " ") ||
        (atom === "[ab]" && /[ab]/.test(char)) ||
        atom === char;
      return ok ? [at + 1] : [];
    };
    const [min, max] =
      sign === "*" ? [0, 9e9] : sign === "+" ? [1, 9e9] : sign === "?" ? [0, 1] : sign ? [0, 3] : [1, 1];
    items.push({ test: ends, min: min!, max: max! });
  }
  let steps = 0;
  const match = (item: number, round: number, at: number): boolean => {
    steps++;
    if (item === items.length) return true;
    const { test, min, max } = items[item]!;
    if (round < max) for (const end of test(at)) if (match(item, round + 1, end)) return true;
    return round >= min && match(item + 1, 0, at);
  };
  for (let start = 0; start <= text.length; start++) if (match(0, 0, start)) break;
  return steps;
}
