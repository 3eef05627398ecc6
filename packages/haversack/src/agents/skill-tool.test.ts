import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "../tokens/estimate.ts";
import { ConversationLedger } from "./conversations.ts";
import type { AgentEventDetails } from "./events.ts";
import { scratchFolder, tenderFolder } from "./fixtures.suite.ts";
import { SkillCache } from "./skill-cache.ts";
import { SkillRegistry } from "./skill-registry.ts";
import { SkillTool } from "./skill-tool.ts";

const tenderTool = (options = {}) => new SkillTool(new SkillRegistry(`${tenderFolder()}/skills`), options);
/** As many skills as asked for, each with a description of about 20 tokens. */
const manySkills = (count: number) => {
  const registry = new SkillRegistry();
  for (let at = 0; at < count; at++)
    registry.add(
      `skill-${at}`,
      `---\nname: skill-${at}\ndescription: Explains how number ${at} is handled in the warehouse of the northern depot, with all its forms.\n---\nText.`,
    );
  return registry;
};

describe("SkillTool.execute", () => {
  it("loads a skill by name and returns its content as markdown", async () => {
    const { success, output } = await tenderTool().execute({ name: "danish-tender-guidelines" });
    expect(success).toBe(true);
    expect(output).toMatch(/^# danish-tender-guidelines\n\n\*Danish public tender compliance/);
    expect(output).toContain("[FAKTA]");
  });

  it("finds a name in another case", async () => {
    expect(await tenderTool().execute({ name: " Danish-Tender-Guidelines " })).toMatchObject({ success: true });
  });

  it("lists the resources of all three kinds", async () => {
    const { output, resources } = await tenderTool().execute({ name: "danish-tender-guidelines" });
    expect(resources).toEqual({
      reference: ["reference/marker-system.md"],
      assets: ["assets/analysis-template.md"],
      scripts: ["scripts/validate.py"],
    });
    for (const name of ["reference/marker-system.md", "assets/analysis-template.md", "scripts/validate.py"])
      expect(output).toContain(name);
    expect(output).toContain('skill({ name: "danish-tender-guidelines", resource: "…" })');
  });

  it("leaves the resources out with includeResources: false", async () => {
    const result = await tenderTool().execute({ name: "danish-tender-guidelines", includeResources: false });
    expect(result.resources).toBeUndefined();
    expect(result.output).not.toContain("Available Resources");
  });

  it("names a tool that reads files if there is one", async () => {
    const { output } = await tenderTool({ readTool: "read" }).execute({ name: "danish-tender-guidelines" });
    expect(output).toContain("Use the read tool to access these resources.");
  });

  it("answers an unknown name with all names within the budget", async () => {
    const { success, output } = await tenderTool().execute({ name: "non-existent" });
    expect(success).toBe(false);
    expect(output).toMatch(/^Skill 'non-existent' not found\.\n\nAvailable skills:\n/);
    for (const name of ["danish-tender-guidelines", "complexity-calculator", "architecture-analyzer"])
      expect(output).toContain(`  - ${name}: `);
    expect(output).toContain("Use one of the above skill names.");
  });

  it("answers an unknown name with the nearest names and a count if there are too many", async () => {
    const { output } = await new SkillTool(manySkills(400)).execute({ name: "skil-123" });
    expect(output).toContain("  - skill-123: ");
    expect(output).toContain("400 skills are available");
    expect(estimateTokens(output)).toBeLessThan(300);
  });

  it("says what it expects when the arguments are malformed", async () => {
    const tool = tenderTool();
    for (const input of [
      {},
      { name: 3 },
      { name: "" },
      null,
      "tender",
      [],
      { query: {} },
      { name: "x", resource: 1 },
    ]) {
      const { success, output } = await tool.execute(input as never);
      expect(success).toBe(false);
      expect(output).toContain("danish-tender-guidelines");
    }
  });

  it("loads what a skill requires with it", async () => {
    const registry = new SkillRegistry();
    registry.add("base", "---\nname: base\ndescription: Base\n---\nBase text.");
    registry.add("top", "---\nname: top\ndescription: Top\nmetadata: { requires: base }\n---\nTop text.");
    const { output } = await new SkillTool(registry).execute({ name: "top" });
    expect(output.indexOf("Base text.")).toBeLessThan(output.indexOf("Top text."));
  });

  it("reads a resource, and nothing outside the skill's folder", async () => {
    const folder = tenderFolder({ "skills/secret.txt": "secret" });
    symlinkSync(`${folder}/skills/secret.txt`, `${folder}/skills/danish-tender-guidelines/reference/link.md`);
    const tool = new SkillTool(new SkillRegistry(`${folder}/skills`));
    const read = (resource: string) => tool.execute({ name: "danish-tender-guidelines", resource });
    expect(await read("reference/marker-system.md")).toEqual({
      success: true,
      output: "# Markers\n\n[FAKTA] needs a page number.\n",
    });
    for (const path of [
      "../secret.txt",
      "/etc/passwd",
      "reference/link.md",
      "reference/none.md",
      "",
      "reference/../../secret.txt",
    ]) {
      const { success, output } = await read(path);
      expect({ path, success }).toEqual({ path, success: false });
      expect(output).not.toContain("secret\n");
    }
    expect(await tool.execute({ name: "nothing", resource: "a.md" })).toMatchObject({ success: false });
  });

  it("says that a long resource was cut", async () => {
    const folder = tenderFolder({ "skills/danish-tender-guidelines/reference/long.md": "x".repeat(300_000) });
    const { output } = await new SkillTool(new SkillRegistry(`${folder}/skills`)).execute({
      name: "danish-tender-guidelines",
      resource: "reference/long.md",
    });
    expect(output).toMatch(/\(The first 262144 of 300000 characters\.\)$/);
  });

  it("searches", async () => {
    const tool = tenderTool();
    expect((await tool.execute({ query: "danish tender compliance" })).output).toContain(
      "  - danish-tender-guidelines: ",
    );
    expect((await tool.execute({ query: "zzzz" })).output).toBe("No skill fits “zzzz”.");
  });
});

describe("SkillTool and its conversation", () => {
  it("caches a skill within a conversation, uses it on the second call, and shares nothing between conversations", async () => {
    const events: AgentEventDetails[] = [];
    const cache = new SkillCache();
    const tool = tenderTool({ cache, onEvent: (event: AgentEventDetails) => events.push(event) });
    const load = (conversationId: string) => tool.execute({ name: "complexity-calculator" }, { conversationId });
    const first = await load("a");
    expect(cache.size("a")).toBe(1);
    const second = await load("a");
    expect(second).toEqual(first);
    await load("b");
    expect(events.map(({ type }) => type)).toEqual(["skill-loaded", "skill-cached", "skill-loaded"]);
  });

  it("sends the text once if it knows what the model has been shown, and again on request", async () => {
    const tool = tenderTool({ ledger: new ConversationLedger() });
    const load = (reload = false) => tool.execute({ name: "complexity-calculator", reload });
    expect((await load()).output).toContain("Points = ");
    const again = await load();
    expect(again.success).toBe(true);
    expect(again.output).not.toContain("Points = ");
    expect(again.output).toContain("already in this conversation");
    expect((await load(true)).output).toContain("Points = ");
  });

  it("loads again what changed on disk", async () => {
    const folder = tenderFolder();
    const registry = new SkillRegistry(`${folder}/skills`, { refreshMs: 0 });
    const tool = new SkillTool(registry, {
      ledger: new ConversationLedger(),
      cache: new SkillCache(),
      conversationId: "a",
    });
    await tool.execute({ name: "complexity-calculator" });
    const file = `${folder}/skills/complexity-calculator/SKILL.md`;
    writeFileSync(file, "---\nname: complexity-calculator\ndescription: New\n---\nNew text.\n");
    registry.refresh();
    const { output } = await tool.execute({ name: "complexity-calculator" });
    expect(output).toContain("New text.");
    expect(output).toContain("Changed since it was loaded");
  });

  it("tells the model when a skill cannot be loaded", async () => {
    const registry = new SkillRegistry();
    registry.add("broken", "---\nname: broken\ndescription: Broken\n---\nText.");
    registry.load = () => {
      throw new Error("the disk is gone");
    };
    const events: AgentEventDetails[] = [];
    const tool = new SkillTool(registry, { onEvent: (event) => events.push(event) });
    expect(await tool.execute({ name: "broken" })).toEqual({
      success: false,
      output: "Skill 'broken' cannot be loaded: the disk is gone",
    });
    expect(events).toMatchObject([{ type: "skill-failed", skill: "broken" }]);
  });
});

describe("SkillTool.description", () => {
  it("is a catalogue of all skills", () => {
    const { description } = tenderTool();
    expect(description).toContain(
      "  - danish-tender-guidelines: Danish public tender compliance rules and formatting standards",
    );
    expect(description).toContain("  - complexity-calculator: ");
    expect(description).toContain("  - architecture-analyzer: ");
  });

  it("follows the registry, and stays the same while that does", () => {
    const folder = tenderFolder();
    const registry = new SkillRegistry(`${folder}/skills`);
    const tool = new SkillTool(registry);
    const before = tool.description;
    expect(registry.refresh()).toBe(false);
    expect(tool.description).toBe(before);
    mkdirSync(`${folder}/skills/new-one`);
    writeFileSync(`${folder}/skills/new-one/SKILL.md`, "---\nname: new-one\ndescription: Is new\n---\nText.\n");
    rmSync(`${folder}/skills/architecture-analyzer`, { recursive: true });
    expect(registry.refresh()).toBe(true);
    expect(tool.description).toContain("  - new-one: Is new");
    expect(tool.description).not.toContain("architecture-analyzer");
    registry.add("in-code", "---\nname: in-code\ndescription: From code\n---\nText.");
    expect(tool.description).toContain("in-code");
    registry.remove("in-code");
    expect(tool.description).not.toContain("in-code");
  });

  it("shrinks to names, and then to a search, to stay within its budget", () => {
    const sizes = [10, 60, 200, 1_000].map((count) => {
      const { description } = new SkillTool(manySkills(count));
      expect(estimateTokens(description)).toBeLessThanOrEqual(1_500);
      return {
        hasText: description.includes("Explains"),
        hasNames: description.includes("skill-9"),
        hasSearch: description.includes("skill({ query:"),
      };
    });
    expect(sizes).toEqual([
      { hasText: true, hasNames: true, hasSearch: false },
      { hasText: true, hasNames: true, hasSearch: false },
      { hasText: false, hasNames: true, hasSearch: false },
      { hasText: false, hasNames: false, hasSearch: true },
    ]);
  });

  it("says so when there are no skills", async () => {
    const tool = new SkillTool(new SkillRegistry());
    expect(tool.description).toContain("No skill is installed.");
    expect((await tool.execute({ name: "x" })).output).toContain("No skill is installed.");
  });

  it("leaves out what its author keeps for people, which still loads by name", async () => {
    const registry = new SkillRegistry(
      scratchFolder({ "own/SKILL.md": "---\nname: own\ndescription: D\ndisable-model-invocation: true\n---\nT.\n" }),
    );
    const tool = new SkillTool(registry);
    expect(tool.description).not.toContain("own");
    expect(await tool.execute({ name: "own" })).toMatchObject({ success: true });
  });
});

describe("SkillRegistry", () => {
  it("lists skills sorted by name, and reads resources when they are asked for", async () => {
    const folder = tenderFolder();
    const registry = new SkillRegistry([`${folder}/skills`]);
    expect(registry.listSkills().map(({ name }) => name)).toEqual([
      "architecture-analyzer",
      "complexity-calculator",
      "danish-tender-guidelines",
    ]);
    const skill = registry.getSkill("danish-tender-guidelines");
    expect(skill).toMatchObject({
      metadata: { version: "1.0.0" },
      triggers: { confidence: 0.7 },
      modelInvocable: true,
    });
    // Nothing has looked into the folder yet.
    writeFileSync(`${folder}/skills/danish-tender-guidelines/reference/late.md`, "late");
    expect((await skill?.getResources())?.reference).toEqual(["reference/late.md", "reference/marker-system.md"]);
    expect(await skill?.getResources()).toBe(await skill?.getResources());
    expect(registry.resourceAt(`${folder}/skills/danish-tender-guidelines/reference/late.md`)).toEqual({
      skill: "danish-tender-guidelines",
      resource: "reference/late.md",
    });
    expect(registry.resourceAt(`${folder}/skills/other.md`)).toBeUndefined();
  });

  it("uses the nearest of two skills with one name, and reports the other", () => {
    const near = scratchFolder({ "x/SKILL.md": "---\nname: x\ndescription: Near\n---\nN.\n" });
    const far = scratchFolder({ "x/SKILL.md": "---\nname: x\ndescription: Far\n---\nF.\n" });
    const registry = new SkillRegistry([near, far]);
    expect(registry.getSkill("x")?.description).toBe("Near");
    expect(registry.problems).toMatchObject([{ code: "skill-duplicate" }]);
  });

  it("reads what it can when a file is bad or a folder is missing", () => {
    const folder = scratchFolder({
      "bad/SKILL.md": "\u0000\u0000",
      "good/SKILL.md": "---\nname: good\ndescription: Good\n---\nG.\n",
      "skill-rules.json": "{ not json",
    });
    const registry = new SkillRegistry([folder, `${folder}/none`]);
    expect(registry.listSkills().map(({ name }) => name)).toEqual(["good"]);
    expect(registry.problems.map(({ code }) => code).sort()).toEqual([
      "rules-no-json",
      "skill-binary",
      "source-missing",
    ]);
  });

  it("looks for changes as often as it may", () => {
    const folder = tenderFolder();
    const registry = new SkillRegistry(`${folder}/skills`, { refreshMs: 1 });
    const never = new SkillRegistry(`${folder}/skills`, { refreshMs: 0 });
    const file = `${folder}/skills/complexity-calculator/SKILL.md`;
    writeFileSync(file, "---\nname: complexity-calculator\ndescription: Changed\n---\nT.\n");
    utimesSync(file, 1, 1);
    const start = performance.now();
    while (performance.now() - start < 3);
    registry.keepFresh();
    never.keepFresh();
    expect(registry.getSkill("complexity-calculator")?.description).toBe("Changed");
    expect(never.getSkill("complexity-calculator")?.description).not.toBe("Changed");
  });

  it("refuses a text that is no markdown", () => {
    expect(() => new SkillRegistry().add("x", "\u0000")).toThrow(/not markdown/);
  });
});
