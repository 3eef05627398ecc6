import { describe, expect, it } from "vitest";
import { lintSkill, lintSkillSet } from "./lint-skill.ts";
import { parseSkill } from "./parse-skill.ts";
import type { Skill } from "./types.ts";

const source = { kind: "project", label: ".claude/skills", rank: 1 } as const;
const parsed = (text: string, folderName = "deploy") =>
  parseSkill(text, { path: `/p/${folderName}/SKILL.md`, folder: `/p/${folderName}`, folderName, source });
const codes = (header: string, { body = "Body\n", folderName = "deploy", isDeferred = false } = {}) =>
  lintSkill(parsed(`---\n${header}\n---\n${body}`, folderName), { folderName, isDeferred }).map(
    ({ level, code }) => `${level} ${code}`,
  );
const GOOD = "name: deploy\ndescription: Ships it";

describe("lintSkill", () => {
  it("is silent about a good skill", () => {
    expect(codes(GOOD)).toEqual([]);
  });

  it.each([
    ["Deploy", "error name-invalid"],
    ["de--ploy", "error name-invalid"],
    ["-deploy", "error name-invalid"],
    ["a".repeat(65), "error name-too-long"],
  ])("refuses the name %s", (name, expected) => {
    expect(codes(`name: ${name}\ndescription: d`, { folderName: name })).toEqual([expected]);
  });

  it("wants the folder's name", () => {
    expect(codes("name: ship\ndescription: d")).toEqual(["error name-not-folder"]);
    expect(lintSkill(parsed("---\nname: ship\ndescription: d\n---\nBody"))).toEqual([]);
  });

  it("wants a name and a description", () => {
    expect(codes("license: MIT")).toEqual([
      "warning skill-description",
      "error name-missing",
      "error description-missing",
    ]);
  });

  it("limits description and compatibility", () => {
    expect(codes(`${GOOD}${"x".repeat(1100)}`)).toEqual(["error description-too-long"]);
    expect(codes(`${GOOD}\ncompatibility: ${"x".repeat(501)}`)).toEqual(["error compatibility-too-long"]);
  });

  it("finds files that are too long, and cores of deferred skills", () => {
    expect(codes(GOOD, { body: "line\n".repeat(600) })).toEqual(["warning skill-too-long"]);
    expect(codes(GOOD, { body: "line\n".repeat(51), isDeferred: true })).toEqual(["suggestion core-too-long"]);
    expect(codes(GOOD, { body: "line\n".repeat(50), isDeferred: true })).toEqual([]);
    expect(codes(GOOD, { body: "" })).toEqual(["warning body-empty"]);
  });

  it("judges short descriptions and patterns", () => {
    expect(codes(`${GOOD}\nshort_description: Skill guidance available`)).toEqual([
      "warning short-description-generic",
    ]);
    expect(codes(`${GOOD}\ntriggers:\n  patterns: ["(", "(a+)+$"]`)).toEqual([
      "error pattern-invalid",
      "warning pattern-risky",
    ]);
  });

  it("starts with what reading found", () => {
    expect(codes("name: deploy\ndescription: Use when: now")).toEqual(["warning frontmatter-invalid"]);
  });
});

describe("lintSkillSet", () => {
  const skill = (id: string, requires: string[] = [], more: Partial<Skill> = {}): Skill => ({
    ...parsed(`---\nname: ${id}\ndescription: d\n---\nB`, id).skill!,
    id,
    requires,
    ...more,
  });

  it("is silent about a chain", () => {
    expect(lintSkillSet([skill("a", ["b"]), skill("b", ["c"]), skill("c"), skill("d", ["b", "c"])])).toEqual([]);
  });

  it("names a requirement that is no skill", () => {
    expect(lintSkillSet([skill("a", ["deplyo"]), skill("deploy")])).toMatchObject([
      { code: "requires-unknown", file: "/p/a/SKILL.md", text: "there is no skill “deplyo”; near: deploy" },
    ]);
  });

  it("finds a plugin's own skills without their prefix", () => {
    expect(lintSkillSet([skill("tools:a", ["b"]), skill("tools:b")])).toEqual([]);
  });

  it("names each circle once", () => {
    const problems = lintSkillSet([skill("a", ["b"]), skill("b", ["c"]), skill("c", ["a"]), skill("d", ["d"])]);
    expect(problems.map(({ text }) => text)).toEqual([
      "the requirements form a cycle: a → b → c → a",
      "the requirements form a cycle: d → d",
    ]);
  });

  it("survives a chain of 20,000", () => {
    expect(
      lintSkillSet(
        Array.from({ length: 20_000 }, (_, n) => ({
          ...skill("x"),
          id: `s${n}`,
          requires: n < 19_999 ? [`s${n + 1}`] : [],
        })),
      ),
    ).toEqual([]);
  });

  it("reports two skills of one name, the farther one", () => {
    const near = skill("a", [], { path: "/near" });
    const far = skill("a", [], { path: "/far", hash: "other", source: { kind: "user", label: "~", rank: 5 } });
    expect(lintSkillSet([{ ...far, hash: near.hash }, near])).toMatchObject([
      { level: "suggestion", code: "name-twice", file: "/far", text: "“a” is a copy of /near, which is used" },
    ]);
    expect(lintSkillSet([far, near])).toMatchObject([
      { level: "warning", code: "name-twice", file: "/far", text: "“a” is also in /near, which is used instead" },
    ]);
    expect(lintSkillSet([near, skill("a", [], { path: "/other" })])).toMatchObject([
      { level: "error", file: "/other" },
    ]);
  });
});
