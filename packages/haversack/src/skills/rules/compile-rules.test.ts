import { describe, expect, it } from "vitest";
import { compileRules } from "./compile-rules.ts";
import { parseRules } from "./parse-rules.ts";

const rulesOf = (rule: object, file = "near.json") => parseRules({ skills: { a: rule } }, file).rules;

describe("compileRules", () => {
  it("keeps keywords under the stems that a prompt looks them up by", () => {
    const { triggers } = compileRules(
      rulesOf({ keywords: ["testing", "error handling", "node.js", "c#"], keywordExclusions: ["demo"] }),
    );
    expect(triggers.map(({ stem, kind, phrase }) => `${stem} ${kind} ${phrase}`)).toEqual([
      "test keyword test\ttesting",
      "error keyword error handl\terror handling",
      "node keyword node js|nodej\tnode.js",
      "nodej keyword node js|nodej\tnode.js",
      "= keyword =c#\tc#",
      "demo exclude demo\tdemo",
    ]);
  });

  it("turns a negated glob into its opposite", () => {
    const { patterns } = compileRules(rulesOf({ fileTriggers: { pathPatterns: ["src/**", "!src/gen/**"] } }));
    expect(patterns.map(({ kind }) => kind)).toEqual(["path", "path-exclude"]);
  });

  it("names the file of a pattern that is invalid, says nothing, or may never end", () => {
    const { patterns, problems } = compileRules(rulesOf({ intentPatterns: ["(", ".*", "(a+)+$", "ok"] }));
    expect(problems.map(({ code, file }) => `${code} ${file}`)).toEqual([
      "pattern-invalid near.json",
      "pattern-matches-all near.json",
      "pattern-risky near.json",
    ]);
    expect(patterns.map(({ source, linear }) => `${source} ${linear}`)).toEqual(["(a+)+$ false", "ok true"]);
  });

  it("unites lists over files, and of single values takes the nearest file's", () => {
    const near = rulesOf({ enforcement: "warn", keywords: ["one"], skipConditions: { fileMarkers: ["x"] } });
    const far = rulesOf(
      {
        enforcement: "auto",
        priority: "high",
        domain: "zoo",
        keywords: ["two"],
        skipConditions: { fileMarkers: ["x", "y"], envOverride: "NO" },
      },
      "far.json",
    );
    const { rule, triggers } = compileRules([...near, ...far]);
    expect(triggers.map(({ phrase }) => phrase)).toEqual(["one\tone", "two\ttwo"]);
    expect(rule).toMatchObject({
      enforcement: "warn",
      priority: "high",
      domain: "zoo",
      skip: { fileMarkers: ["x", "y"], envOverride: "NO", sessionSkillUsed: false },
      isDeferred: false,
    });
  });

  it("takes the short description of a deferred skill only", () => {
    const brief = (defer_loading: unknown) => compileRules(rulesOf({ keywords: ["x"], defer_loading })).rule;
    expect(brief({ enabled: true, short_description: "Does it." })).toMatchObject({
      isDeferred: true,
      brief: "Does it.",
    });
    expect(brief({ enabled: false, short_description: "Does it." })?.brief).toBeUndefined();
    expect(brief(true)).toMatchObject({ isDeferred: true });
  });

  it("has triggers and no rule for a skill whose frontmatter alone has some", () => {
    const { rule, triggers, patterns } = compileRules([], {
      triggers: { keywords: ["zebra"], patterns: ["zoo.*"] },
      file: "SKILL.md",
    });
    expect({ rule, triggers: triggers.length, patterns: patterns.length }).toEqual({
      rule: undefined,
      triggers: 1,
      patterns: 1,
    });
  });
});
