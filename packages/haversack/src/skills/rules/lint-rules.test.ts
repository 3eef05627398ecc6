import { describe, expect, it } from "vitest";
import { lintRules } from "./lint-rules.ts";
import { parseRules } from "./parse-rules.ts";

const lint = (skills: unknown, knownSkills?: string[]) => {
  const { rules } = parseRules({ skills }, "rules.json");
  return lintRules(rules, knownSkills ? { knownSkills } : {});
};
const codes = (skills: unknown, knownSkills?: string[]) =>
  lint(skills, knownSkills).map(({ code, where }) => `${code} ${where}`);
const deferred = (short_description?: string) => ({
  x: { keywords: ["a"], defer_loading: { enabled: true, short_description } },
});

describe("lintRules", () => {
  it("is silent about a good rule", () => {
    expect(lint({ x: { ...deferred("Release steps and checks").x, intentPatterns: ["ship.*build"] } }, ["x"])).toEqual(
      [],
    );
  });

  it("wants a short description of a deferred skill", () => {
    expect(codes(deferred())).toEqual(["short-description-missing x.defer_loading"]);
    expect(codes({ x: { keywords: ["a"], defer_loading: true } })).toEqual([
      "short-description-missing x.defer_loading",
    ]);
    expect(codes({ x: { keywords: ["a"], defer_loading: false } })).toEqual([]);
  });

  it.each([
    ["Skill guidance available", "short-description-generic"],
    ["Helper for various tasks", "short-description-generic"],
    ["x".repeat(101), "short-description-too-long"],
    ["Release steps and checks for every service that we run", "short-description-long"],
    ["Release steps", "short-description-short"],
  ])("judges the short description %j", (text, code) => {
    expect(lint(deferred(text)).map((problem) => problem.code)).toEqual([code]);
  });

  it("names skills that are not there, with the nearest names", () => {
    expect(lint({ deplyo: { keywords: ["a"] } }, ["deploy", "review"])).toEqual([
      {
        level: "warning",
        code: "rule-skill-unknown",
        file: "rules.json",
        where: "deplyo",
        text: "there is no skill of this name; near: deploy",
      },
    ]);
    expect(lint({ "global/Deploy": { keywords: ["a"] } }, ["deploy"])).toEqual([]);
  });

  it("finds invalid, risky and empty patterns", () => {
    expect(
      codes({
        x: {
          intentPatterns: ["(", "(a+)+$", ".*", "a.*b"],
          fileTriggers: { contentPatterns: ["it("], pathPatterns: ["+(a)"] },
        },
      }),
    ).toEqual([
      "pattern-invalid x.intentPatterns",
      "pattern-risky x.intentPatterns",
      "pattern-matches-all x.intentPatterns",
      "pattern-invalid x.contentPatterns",
      "glob-invalid x.pathPatterns",
    ]);
  });

  it("finds rules that can never apply, and what is listed twice", () => {
    expect(codes({ x: { priority: "high", enforcement: "suggest" } })).toEqual(["rule-without-triggers x"]);
    expect(codes({ x: { enforcement: "suggest", alwaysActive: true } })).toEqual([]);
    expect(codes({ x: { keywords: ["test", "Tests"], intentPatterns: ["a.*b", "a.*b"] } })).toEqual([
      "keyword-duplicate x.keywords",
      "pattern-duplicate x.intentPatterns",
    ]);
    const { rules } = parseRules(
      {
        rules: [
          { skill: "x", keywords: ["a"] },
          { skill: "x", keywords: ["b"] },
        ],
      },
      "rules.json",
    );
    expect(lintRules(rules).map(({ code }) => code)).toEqual(["rule-duplicate"]);
  });
});
