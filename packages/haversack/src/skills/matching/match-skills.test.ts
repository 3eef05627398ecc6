import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileRules } from "../rules/compile-rules.ts";
import { parseRules } from "../rules/parse-rules.ts";
import type { SkillCard } from "../types.ts";
import { type MatchIndex, type MatchInput, matchSkills } from "./match-skills.ts";
import { memoryIndex } from "./memory-index.ts";

/** Skills without words of their own, which only their rules can find. */
function indexOf(rules: Record<string, unknown>, cards: Record<string, Partial<SkillCard>> = {}): MatchIndex {
  const names = Object.keys(rules);
  const compiled = names.map((name) => {
    const parsed = parseRules({ skills: { [name]: rules[name] } }, "rules.json").rules;
    return { name, ...compileRules(parsed) };
  });
  const words = memoryIndex(
    names.map((name) => ({ id: name, name: `zz${name}`, description: "", body: "", tags: [] })),
  );
  return {
    size: words.size,
    terms: (terms) => words.terms(terms),
    // Empty: the match index needs numeric keys, and the memory index has names.
    postings: () => [],
    hasRules: () => true,
    triggers: (stems) =>
      compiled.flatMap(({ triggers }, skill) =>
        triggers.filter(({ stem }) => stems.includes(stem)).map((row) => ({ ...row, skill })),
      ),
    patterns: (kinds) =>
      compiled.flatMap(({ patterns }, skill) =>
        patterns.filter(({ kind }) => kinds.includes(kind)).map((row) => ({ ...row, skill })),
      ),
    alwaysActive: () => compiled.flatMap(({ rule }, skill) => (rule?.alwaysActive ? [skill] : [])),
    hidden: (keys) => keys.filter((key) => cards[names[key]!]?.modelInvocable === false),
    cards: (keys) =>
      keys.map((key) => ({
        key,
        id: names[key]!,
        name: names[key]!,
        description: "",
        brief: "",
        path: `/s/${names[key]}/SKILL.md`,
        hash: "h",
        sourceKind: "project",
        sourceLabel: ".claude/skills",
        modelInvocable: true,
        requires: [],
        ...(compiled[key]!.rule && { rule: compiled[key]!.rule }),
        ...cards[names[key]!],
      })),
  };
}

const keyword = (...keywords: unknown[]) => ({ promptTriggers: { keywords } });
const match = (rules: Record<string, unknown>, input: string | MatchInput, cards = {}) =>
  matchSkills(typeof input === "string" ? { prompt: input } : input, indexOf(rules, cards)).matches;
const reasons = (rules: Record<string, unknown>, input: string | MatchInput) =>
  match(rules, input).flatMap(({ card, reasons: list }) =>
    list.map(({ feature, text }) => `${card.id} ${feature} ${text}`),
  );

describe("keywords, synonyms and intents", () => {
  it.each([
    ["test", "run the tests", true],
    ["test", "get the latest version", false],
    ["get", "the widgets are wrong", false],
    ["c#", "port it to C#.", true],
    ["node.js", "a nodejs server", true],
    ["error handling", "error handling is missing", true],
    ["error handling", "handling an error", false],
    ["发票", "请修复发票", true],
  ])("%s in %j: %s", (word, prompt, isHit) => {
    expect(match({ a: keyword(word) }, prompt).length > 0).toBe(isHit);
  });

  it("name what matched", () => {
    const rule = {
      promptTriggers: { keywords: ["invoice"], synonyms: ["bill"], intentPatterns: ["(fix|repair).*?total"] },
    };
    expect(reasons({ a: rule }, "fix the total of the invoice, the bill")).toEqual([
      "a keyword invoice",
      "a synonym bill",
      "a intent /(fix|repair).*?total/",
    ]);
    expect(match({ a: rule }, "fix the total of the invoice, the bill")[0]?.parts).toEqual({
      keyword: 1,
      synonym: 1,
      intent: 1,
      file: 0,
      context: 0,
      score: 6,
    });
  });

  it("never make a skill less sure because its author listed more", () => {
    const words = ["invoice", "ledger", "pod", "zebra", "billing"];
    fc.assert(
      fc.property(fc.subarray(words), fc.subarray(words), fc.subarray(words), (own, more, said) => {
        const confidence = (list: string[]) =>
          match({ a: keyword(...list) }, `the ${said.join(" and ")}`)[0]?.confidence ?? 0;
        const [few, many] = [confidence(own), confidence([...new Set([...own, ...more])])];
        expect(many).toBeGreaterThanOrEqual(few);
        expect(many).toBeLessThan(1);
      }),
    );
  });

  it("weigh what the author weighs", () => {
    const confidence = (weight: number) => match({ a: keyword({ value: "zebra", weight }) }, "a zebra")[0]!.confidence;
    expect(confidence(0.5)).toBeLessThan(confidence(1));
    expect(confidence(2)).toBeGreaterThan(confidence(1));
  });

  it("let priority order equals, and no more", () => {
    const rules = {
      low: { ...keyword("zebra"), priority: "low" },
      critical: { ...keyword("zebra"), priority: "critical" },
      both: { ...keyword("zebra", "giraffe"), priority: "low" },
    };
    expect(match(rules, "a zebra").map(({ card }) => card.id)).toEqual(["critical", "both", "low"]);
    expect(match(rules, "a zebra and a giraffe").map(({ card }) => card.id)).toEqual(["both", "critical", "low"]);
  });
});

describe("what speaks against a skill", () => {
  const why = (rule: object, input: string | MatchInput, card: Partial<SkillCard> = {}) =>
    match({ a: { ...keyword("zebra"), ...rule } }, input, { a: card })[0]?.excluded;

  it.each([
    [{ keywordExclusions: ["giraffe"] }, "a zebra and giraffes", /excludes prompts with "giraffe/],
    [{ excludePatterns: ["^explain"] }, "explain the zebra", /excludes prompts that match/],
    [{ skipConditions: { sessionMarker: "#nozebra" } }, "a zebra #nozebra", /has the marker #nozebra/],
  ])("%j", (rule, prompt, text) => {
    expect(why(rule, prompt)).toMatch(text);
    expect(why(rule, "a zebra")).toBeUndefined();
  });

  it("its author keeps it for people", () => {
    expect(why({}, "a zebra", { modelInvocable: false })).toContain("disable-model-invocation");
  });

  it("an environment variable, unless it is 0 or empty", () => {
    const rule = { skipConditions: { envOverride: "SKIP_ZEBRA" } };
    const set = (value: string) => why(rule, { prompt: "a zebra", env: { SKIP_ZEBRA: value } });
    expect([set("1"), set("true")]).toEqual(["SKIP_ZEBRA is set", "SKIP_ZEBRA is set"]);
    expect([set("0"), set("")]).toEqual([undefined, undefined]);
  });

  it("a marker in a file that the prompt names, read once", () => {
    const reads: string[] = [];
    const readHead = (path: string) => {
      reads.push(path);
      return "// @skip-zebra";
    };
    const rule = { ...keyword("zebra"), skipConditions: { fileMarkers: ["@skip-zebra"] } };
    const found = match({ a: rule, b: rule }, { prompt: "the zebra in src/zoo.ts", readHead });
    expect(found.map(({ excluded }) => excluded)).toEqual([
      "src/zoo.ts has the marker @skip-zebra",
      "src/zoo.ts has the marker @skip-zebra",
    ]);
    expect(reads).toEqual(["src/zoo.ts"]);
  });

  it("sorts the excluded behind all others", () => {
    const rules = { a: { ...keyword("zebra", "lion"), keywordExclusions: ["cage"] }, b: keyword("zebra") };
    expect(match(rules, "zebra lion cage").map(({ card }) => card.id)).toEqual(["b", "a"]);
  });
});

describe("files", () => {
  const rule = {
    fileTriggers: {
      pathPatterns: ["src/**/*.ts"],
      pathExclusions: ["**/*.test.ts"],
      contentPatterns: ["import .*react"],
    },
  };

  it("match by path, each on its own", () => {
    expect(reasons({ a: rule }, "look at src/app.ts")).toEqual(["a file src/app.ts (in the prompt)"]);
    expect(reasons({ a: rule }, "look at src/app.test.ts")).toEqual([]);
    expect(reasons({ a: rule }, "look at src/app.test.ts and src/app.ts")).toEqual([
      "a file src/app.ts (in the prompt)",
    ]);
    expect(reasons({ a: rule }, { prompt: "go on", files: ["/repo/src/a.ts"], root: "/repo" })).toEqual([
      "a file src/a.ts (touched in this session)",
    ]);
  });

  it("match by what they hold", () => {
    const input = {
      prompt: "look at lib/view.js",
      readHead: (path: string) => (path === "lib/view.js" ? "import x from 'react'" : undefined),
    };
    expect(reasons({ a: rule }, input)).toEqual(["a content lib/view.js"]);
  });

  it("that exist do not count where the rule is for new ones", () => {
    const created = { fileTriggers: { pathPatterns: ["**/*.ts"], createOnly: true } };
    const readHead = (path: string) => (path === "src/old.ts" ? "" : undefined);
    expect(reasons({ a: created }, { prompt: "change src/old.ts", readHead })).toEqual([]);
    expect(reasons({ a: created }, { prompt: "like src/old.ts make src/new.ts", readHead })).toEqual([
      "a file src/new.ts (in the prompt)",
    ]);
    expect(reasons({ a: created }, { prompt: "go on", files: ["src/old.ts"], readHead })).toEqual([]);
  });
});

describe("context", () => {
  it("adds to other evidence and is none alone", () => {
    const rule = { ...keyword("zebra"), domain: "zoo", agentContext: ["reviewer"], taskTypes: ["bug"] };
    const context = { domain: "zoo", role: "reviewer", taskType: "bug" };
    expect(match({ a: rule }, { prompt: "a lion", ...context })).toEqual([]);
    expect(reasons({ a: rule }, { prompt: "a zebra", ...context })).toEqual([
      "a keyword zebra",
      "a domain zoo",
      "a task-type bug",
      "a role reviewer",
    ]);
  });

  it("brings what is always active", () => {
    expect(reasons({ a: { alwaysActive: true } }, "anything")).toEqual(["a always always active"]);
  });
});

describe("patterns that never end", () => {
  const evil = ["(a+)+$", "(a|a)+$", "(a*)*b$"];
  /** A pattern is reported as slow only if it really had its time, which on a busy machine may take several prompts. */
  const matchOften = (input: MatchInput, index: MatchIndex) => {
    let found = matchSkills(input, index);
    for (let n = 0; n < 10 && found.slowPatterns.length === 0; n++) found = matchSkills(input, index);
    return found;
  };

  it.each([
    ["in a prompt", { promptTriggers: { intentPatterns: evil } }, `${"a".repeat(50_000)}b c`],
    [
      "for paths",
      { fileTriggers: { pathPatterns: ["(a+)+\\.py$", "(a|a)+\\.rb$"] } },
      Array.from({ length: 50 }, (_, n) => `${"a".repeat(60)}${n}.ts`).join(" "),
    ],
    ["for contents", { fileTriggers: { contentPatterns: evil } }, "a/b1.ts a/b2.ts a/b3.ts a/b4.ts a/b5.ts"],
  ])("%s share one budget, are named, and the other rules still work", (_, rule, prompt) => {
    const index = indexOf({ evil: rule, good: keyword("zebra") });
    const start = process.cpuUsage();
    const found = matchOften({ prompt: `zebra ${prompt}`, readHead: () => `${"a".repeat(20_000)}!` }, index);
    const cpuMs = process.cpuUsage(start).user / 1000;
    expect(found.matches.map(({ card }) => card.id)).toContain("good");
    expect(found.slowPatterns.length).toBeGreaterThan(0);
    // A loose bound: without one shared budget, 50 paths take many seconds.
    expect(cpuMs).toBeLessThan(3000);
  });

  it("are named once", () => {
    const found = matchOften(
      { prompt: `${"a".repeat(60)}!` },
      indexOf({
        one: { promptTriggers: { intentPatterns: ["(a+)+$"] } },
        two: { promptTriggers: { intentPatterns: ["(a+)+$"] } },
      }),
    );
    expect(found.slowPatterns).toEqual(["(a+)+$"]);
  });
});
