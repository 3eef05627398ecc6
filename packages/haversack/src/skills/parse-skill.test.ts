import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_BODY_CHARS } from "../base/skill-body.ts";
import { parseSkill, type SkillPlace } from "./parse-skill.ts";

const place: SkillPlace = {
  path: "/p/.claude/skills/deploy/SKILL.md",
  folder: "/p/.claude/skills/deploy",
  folderName: "deploy",
  source: { kind: "project", label: ".claude/skills", rank: 1 },
};
const parse = (text: string, more: Partial<SkillPlace> = {}) => parseSkill(text, { ...place, ...more });
const skillOf = (text: string, more: Partial<SkillPlace> = {}) => parse(text, more).skill!;
const codes = (text: string) => parse(text).problems.map(({ code }) => code);

const FULL = `---
name: deploy
description: Ships a service. Use when the user wants to release.
when_to_use: Before every release
license: MIT
allowed-tools: Read, Bash(git add:*, git tag:*), Grep
disable-model-invocation: true
short_description: Release steps and checks
triggers:
  keywords: [ship, "roll out"]
  patterns: ["release.*now"]
  confidence: 0.8
metadata:
  requires: git-flow, checks
  tags: [ops, release]
  domain: delivery
  version: 1.2
  nested: { a: [1] }
---
# Deploy

Steps.
`;

describe("parseSkill", () => {
  it("reads every field", () => {
    const { skill, problems, frontmatter, lineCount, bodyLineCount } = parse(FULL);
    expect(problems).toEqual([]);
    expect(skill).toEqual({
      id: "deploy",
      name: "deploy",
      description: "Ships a service. Use when the user wants to release.",
      whenToUse: "Before every release",
      shortDescription: "Release steps and checks",
      body: "# Deploy\n\nSteps.\n",
      hash: createHash("sha256").update(FULL).digest("hex"),
      path: place.path,
      folder: place.folder,
      source: place.source,
      modelInvocable: false,
      triggers: { keywords: ["ship", "roll out"], patterns: ["release.*now"], confidence: 0.8 },
      tags: ["ops", "release"],
      requires: ["git-flow", "checks"],
      domain: "delivery",
      license: "MIT",
      allowedTools: ["Read", "Bash(git add:*, git tag:*)", "Grep"],
      metadata: {
        requires: "git-flow, checks",
        tags: "ops, release",
        domain: "delivery",
        version: "1.2",
        nested: '{"a":[1]}',
      },
    });
    expect(frontmatter["name"]).toBe("deploy");
    expect([lineCount, bodyLineCount]).toEqual([22, 3]);
  });

  it("qualifies the skills of a plugin", () => {
    expect(skillOf(FULL, { plugin: "tools" })).toMatchObject({ id: "tools:deploy", name: "deploy" });
  });

  it("takes other spellings of the keys", () => {
    const skill = skillOf(
      "---\nname: x\ndescription: y\nwhenToUse: now\nmetadata:\n  short-description: Short one\n---\n",
    );
    expect(skill).toMatchObject({ whenToUse: "now", shortDescription: "Short one", modelInvocable: true });
  });

  it("falls back to the folder's name and the first paragraph", () => {
    const { skill, problems } = parse(
      "# Deploy\n\n<!-- note -->\n```sh\nrun\n```\n\nShips a *service*\nto production.\n\nMore.",
    );
    expect(skill).toMatchObject({ name: "deploy", description: "Ships a *service* to production." });
    expect(problems.map(({ code }) => code)).toEqual(["frontmatter-missing", "skill-description"]);
  });

  it("loads an empty file, with its problems", () => {
    expect(parse("").skill).toMatchObject({ name: "deploy", description: "", body: "" });
  });

  it.each([
    ["../../etc/passwd", "passwd"],
    ["..", "deploy"],
    ["/", "deploy"],
    ["a/b\\c", "c"],
    [".hidden", "hidden"],
    ["other:skill", "other-skill"],
    ["x".repeat(500), "x".repeat(128)],
  ])("cleans the name %j to %j and says so", (written, name) => {
    const { skill, problems } = parse(`---\nname: ${JSON.stringify(written)}\ndescription: d\n---\n`);
    expect(skill!.name).toBe(name);
    expect(problems.map(({ code, where }) => [code, where])).toEqual([["skill-name", "name"]]);
  });

  it("cleans a folder's name too", () => {
    expect(skillOf("x", { folderName: "../.." }).name).toBe("unnamed");
  });

  it("keeps names that only break the strict rules", () => {
    expect(skillOf("---\nname: My Skill_2\ndescription: d\n---\n").name).toBe("My Skill_2");
    expect(codes("---\nname: My Skill_2\ndescription: d\n---\n")).toEqual([]);
  });

  it("strips control characters from what is shown", () => {
    const skill = skillOf('---\nname: "de\\u001b[31mploy"\ndescription: "Ships\\u0007 it\\u202e \\n now"\n---\n');
    expect(skill).toMatchObject({ name: "deploy", description: "Ships it now" });
    expect(skillOf("---\nname: x\ndescription: d\n---\nred \u001b[31mtext\u200b\n\tindented").body).toBe(
      "red text\n\tindented",
    );
  });

  it("cuts a body of megabytes, and hashes the whole file", () => {
    const text = `---\nname: big\ndescription: d\n---\n${"word ".repeat(1_000_000)}`;
    const { skill, problems } = parse(text);
    expect(skill!.body).toHaveLength(MAX_BODY_CHARS);
    expect(skill!.hash).toBe(createHash("sha256").update(text).digest("hex"));
    expect(problems.map(({ code }) => code)).toEqual(["skill-body-cut"]);
  });

  it("says when only the beginning of a body is searched", () => {
    const { skill, problems } = parse(`---\nname: long\ndescription: d\n---\n${"word ".repeat(10_000)}`);
    expect(skill!.body.length).toBeGreaterThan(49_000);
    expect(problems.map(({ code }) => code)).toEqual(["skill-body-long"]);
  });

  it("uses so many keywords, tags and patterns of one skill, and reports what it leaves out", () => {
    const list = (count: number, text: string) =>
      JSON.stringify(Array.from({ length: count }, (_, n) => `${text}${n}`));
    const { skill, problems } = parse(
      `---\nname: x\ndescription: d\ntags: ${list(201, "t")}\ntriggers:\n  keywords: ${list(300, "k")}\n  patterns: ${list(51, "p")}\n---\n`,
    );
    expect(skill?.triggers?.keywords).toHaveLength(200);
    expect(skill?.triggers?.patterns).toHaveLength(50);
    expect(skill?.tags).toHaveLength(200);
    expect(problems.map(({ code, where }) => [code, where])).toEqual([
      ["skill-field-cut", "triggers.keywords"],
      ["skill-field-cut", "triggers.patterns"],
      ["skill-field-cut", "tags"],
    ]);
  });

  it("refuses a binary file", () => {
    expect(parse("\u0000\u0001\u0002PNG").skill).toBeUndefined();
    expect(
      parse(Buffer.from(Uint8Array.from({ length: 4000 }, (_, n) => 128 + (n % 120))).toString("utf8")).skill,
    ).toBeUndefined();
    expect(codes("\u0000")).toEqual(["skill-binary"]);
  });

  it("loads a skill with a YAML bomb, without the bomb", () => {
    const text = `---\nname: bomb\ndescription: d\na: &a [x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n---\nBody`;
    expect(parse(text)).toMatchObject({
      skill: { name: "bomb", description: "d", body: "Body" },
      problems: [{ code: "frontmatter-invalid" }],
    });
  });

  it("names fields it cannot read", () => {
    const { skill, problems } = parse(
      "---\nname: x\ndescription: d\ntriggers:\n  keywords: {a: {}}\n  confidence: 7\n  vibes: 1\nmetadata:\n  requires: {bins: [git]}\n---\n",
    );
    expect(skill).toMatchObject({ triggers: { keywords: [], patterns: [] }, requires: [] });
    expect(problems.map(({ where }) => where)).toEqual([
      "triggers.keywords",
      "triggers.confidence",
      "triggers.vibes",
      "metadata.requires",
    ]);
  });

  it("reads triggers given as a plain list", () => {
    expect(skillOf("---\nname: x\ndescription: d\ntriggers: [a, b c]\n---\n").triggers).toEqual({
      keywords: ["a", "b c"],
      patterns: [],
    });
  });

  it("reads a description in which a colon was not quoted", () => {
    expect(skillOf("---\nname: x\ndescription: Use when: the user says: go\n---\n").description).toBe(
      "Use when: the user says: go",
    );
  });

  it("never throws", () => {
    const value = fc.oneof(
      fc.constantFrom("", "[]", "{}", "null", "~", "7", "true", "[1, {a: b}]", "{a: {b: c}}", "|\n  x", "*a"),
      fc.string({ maxLength: 12 }),
    );
    const key = fc.constantFrom(
      "name",
      "description",
      "triggers",
      "metadata",
      "tags",
      "requires",
      "allowed-tools",
      "disable-model-invocation",
      "when_to_use",
      "license",
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 8 }), (entries) => {
        const { skill } = parse(`---\n${entries.map(([name, text]) => `${name}: ${text}`).join("\n")}\n---\nBody`);
        expect(skill === undefined || skill.name !== "").toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
