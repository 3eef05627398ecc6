import { describe, expect, it } from "vitest";
import { scratchFolder, TENDER_SKILL, tenderFolder } from "./fixtures.suite.ts";
import { SkillAutoTrigger } from "./skill-auto-trigger.ts";
import { SkillRegistry } from "./skill-registry.ts";

const tenderTrigger = () => new SkillAutoTrigger(new SkillRegistry(`${tenderFolder()}/skills`));
const named = (text: string, triggers: string) =>
  `---\nname: ${text}\ndescription: About ${text}.\n${triggers}\n---\nText.\n`;
const triggerOf = (skills: Record<string, string>) => {
  const files = Object.entries(skills).map(([name, text]) => [`${name}/SKILL.md`, text]);
  return new SkillAutoTrigger(new SkillRegistry(scratchFolder(Object.fromEntries(files))));
};

describe("SkillAutoTrigger", () => {
  it("loads the tender skill for “Analyze Danish tender document” at its author's 0.7", () => {
    const [first, ...rest] = tenderTrigger().analyzeTask("Analyze Danish tender document");
    expect(first?.skill.name).toBe("danish-tender-guidelines");
    expect(first?.threshold).toBe(0.7);
    expect(first?.confidence).toBeGreaterThanOrEqual(0.7);
    expect(first?.confidence).toBeLessThanOrEqual(1);
    expect(rest).toEqual([]);
  });

  it("matches keywords and patterns, and names them", () => {
    const [first] = tenderTrigger().analyzeTask("Analyze Danish tender document");
    expect(first?.matchedKeywords).toContain("danish tender");
    expect(first?.matchedKeywords).toContain("pattern:analyz.*danish.*tender");
    expect(new Set(first?.matchedKeywords).size).toBe(first?.matchedKeywords.length);
    expect(first?.reason).toMatch(/^Matched: .*danish tender/);
  });

  it("matches words, not parts of words", () => {
    const trigger = triggerOf({ test: named("testing", "triggers: { keywords: [test], confidence: 0.3 }") });
    expect(trigger.analyzeTask("show the latest contestants")).toEqual([]);
    expect(trigger.analyzeTask("write a test")).toHaveLength(1);
  });

  it("does not make a skill harder to find because its author lists more keywords", () => {
    const few = triggerOf({ t: TENDER_SKILL });
    const many = triggerOf({
      t: TENDER_SKILL.replace(
        "keywords:",
        `keywords:\n${"    - never met\n".repeat(1)}${Array.from({ length: 50 }, (_, at) => `    - "keyword ${at}"`).join("\n")}`,
      ),
    });
    const task = "Analyze Danish tender document";
    expect(many.analyzeTask(task)[0]?.confidence).toBeGreaterThanOrEqual(few.analyzeTask(task)[0]!.confidence - 0.05);
  });

  it("gives a pattern more weight than a further keyword", () => {
    const confidence = (more: string) => {
      const trigger = triggerOf({ z: named("zeppelin", `triggers: { keywords: [the tender${more}`) });
      return trigger.analyzeTask("compare the tender with the last one")[0]?.confidence ?? 0;
    };
    const byKeyword = confidence(", last one], confidence: 0.1 }");
    const byPattern = confidence("], patterns: [compare.*tender], confidence: 0.1 }");
    expect(byKeyword).toBeGreaterThan(0.1);
    expect(byPattern).toBeGreaterThan(byKeyword);
  });

  it("finds every skill of a task with several topics, at its author's confidence", () => {
    const trigger = tenderTrigger();
    const names = (task: string) =>
      trigger
        .analyzeTask(task)
        .map(({ skill }) => skill.name)
        .sort();
    expect(names("Do an architecture review and a complexity estimation of the tender")).toEqual([
      "architecture-analyzer",
      "complexity-calculator",
    ]);
    const crafts = ["glassblowing", "beekeeping", "falconry"];
    const three = triggerOf(
      Object.fromEntries(crafts.map((craft) => [craft, named(craft, `triggers: { keywords: [${craft}] }`)])),
    );
    expect(three.analyzeTask("Compare glassblowing with beekeeping")).toMatchObject([
      { skill: { name: "beekeeping" }, confidence: expect.closeTo(1, 1) },
      { skill: { name: "glassblowing" }, confidence: expect.closeTo(1, 1) },
    ]);
    expect(three.analyzeTask("glassblowing, beekeeping and falconry")).toHaveLength(3);
  });

  it("sorts by confidence and returns at most as many as asked for", () => {
    const trigger = tenderTrigger();
    const task =
      "Analyze Danish tender document: architecture review of the microservices and an effort estimate in story points";
    const all = trigger.analyzeTask(task);
    expect(all).toHaveLength(3);
    expect(all.map(({ confidence }) => confidence)).toEqual(
      all.map(({ confidence }) => confidence).sort((a, b) => b - a),
    );
    expect(trigger.analyzeTask(task, { maxSkills: 2 })).toEqual(all.slice(0, 2));
  });

  it("respects the author's confidence, else the one that is asked for", () => {
    const skill = (confidence: string) => named("zeppelin", `triggers: { keywords: [quorble]${confidence} }`);
    const own = triggerOf({ z: skill(", confidence: 0.95") });
    expect(own.analyzeTask("please quorble", { confidenceThreshold: 0.1 })).toEqual([]);
    const none = triggerOf({ z: skill("") });
    expect(none.analyzeTask("please quorble", { confidenceThreshold: 0.1 })).toHaveLength(1);
    expect(none.analyzeTask("please quorble", { confidenceThreshold: 0.99 })).toEqual([]);
  });

  it("finds nothing for a task that no skill fits, and for an empty one", () => {
    for (const task of ["What time is it?", "Thanks!", "", " ", "🙂", "a".repeat(100_000)])
      expect(tenderTrigger().analyzeTask(task)).toEqual([]);
  });

  it("looks at the beginning and the end of a long task, however long it is", () => {
    const registry = new SkillRegistry(`${tenderFolder()}/skills`);
    const match = registry.match.bind(registry);
    let most = 0;
    registry.match = (text, options) => {
      most = Math.max(most, text.length);
      return match(text, options);
    };
    const trigger = new SkillAutoTrigger(registry);
    const pasted = "lorem ipsum dolor sit amet\n".repeat(40_000);
    for (const task of [`Analyze Danish tender document:\n${pasted}`, `${pasted}\nAnalyze Danish tender document`])
      expect(trigger.analyzeTask(task)).toMatchObject([{ skill: { name: "danish-tender-guidelines" } }]);
    expect(most).toBeLessThan(20_010);
  });

  it("can load a skill without triggers when the task names it", () => {
    const trigger = triggerOf({ z: "---\nname: release-notes\ndescription: Writes release notes\n---\nText.\n" });
    expect(trigger.analyzeTask("use the release-notes skill for 2.0")[0]?.skill.name).toBe("release-notes");
  });

  it("leaves out a skill that its author keeps for people", () => {
    const trigger = triggerOf({ t: TENDER_SKILL.replace("license:", "disable-model-invocation: true\nlicense:") });
    expect(trigger.analyzeTask("Analyze Danish tender document")).toEqual([]);
  });

  it("is not held up by a pattern that never ends", () => {
    const trigger = triggerOf({ t: named("slow", "triggers: { patterns: ['(a+)+$'], confidence: 0.1 }") });
    const start = performance.now();
    trigger.analyzeTask(`${"a".repeat(40)}!`);
    trigger.analyzeTask(`${"a".repeat(40)}!`);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it("follows the rules of a skill-rules.json beside the skills", () => {
    const folder = scratchFolder({
      "z/SKILL.md": named("zeppelin", ""),
      "skill-rules.json": JSON.stringify({
        skills: { zeppelin: { enforcement: "auto", promptTriggers: { keywords: ["quorble"] } } },
      }),
    });
    const trigger = new SkillAutoTrigger(new SkillRegistry(folder));
    expect(trigger.analyzeTask("please quorble", { confidenceThreshold: 0.9 })).toMatchObject([
      { skill: { name: "zeppelin" } },
    ]);
  });
});
