import { describe, expect, it } from "vitest";
import { fakeProject } from "./fake-project.suite.ts";
import { loadSkill } from "./load-skill.ts";

const NO_RESOURCES = { reference: [], assets: [], scripts: [] };

function pool() {
  const project = fakeProject();
  project.skill("base", "The base.", { body: "Base body." });
  project.skill("left", "Left.", { body: "Left body.", more: "metadata:\n  requires: base\n" });
  project.skill("right", "Right.", { body: "Right body.", more: "metadata:\n  requires: base\n" });
  project.skill("top", "Top.", { body: "Top body.", more: 'metadata:\n  requires: "left, right"\n' });
  return project;
}

const times = (text: string, part: string) => text.split(part).length - 1;

describe("loadSkill", () => {
  it("gives the body once per window, then a line, and again on reload", () => {
    const project = pool();
    expect(project.load("base")).toMatchObject({
      kind: "loaded",
      text: "# base\n\n*The base.*\n\nBase body.",
      hasChanged: false,
    });
    expect(project.load("base")).toMatchObject({
      kind: "already-loaded",
      text: expect.stringMatching(/^[^\n]*reload[^\n]*$/),
    });
    expect(project.load("base", { reload: true })).toMatchObject({ kind: "loaded" });
    project.compact();
    expect(project.load("base")).toMatchObject({ kind: "loaded", hasChanged: false });
  });

  it("says the title once, and keeps a title of the author's own", () => {
    const project = fakeProject();
    project.skill("pdf-forms", "Fills forms.", { body: "# PDF Forms\n\nBody." });
    project.skill("sql-tuning", "Tunes.", { body: "# Make queries fast\n\nBody." });
    expect(project.load("pdf-forms")).toMatchObject({ text: "# pdf-forms\n\n*Fills forms.*\n\nBody." });
    expect(project.load("sql-tuning")).toMatchObject({
      text: "# sql-tuning\n\n*Tunes.*\n\n# Make queries fast\n\nBody.",
    });
    expect(project.prompt("use the pdf-forms skill", { sessionId: "other" }).text).toContain(
      "## AUTO-LOADED SKILL: pdf-forms (the prompt names it)\n\nBody.",
    );
  });

  it("lists the resources of a required skill too, with its own folder", () => {
    const project = pool();
    project.refresh();
    const listResources = (folder: string) => ({
      ...NO_RESOURCES,
      reference: [`references/of-${folder.split("/").at(-1)}.md`],
    });
    const parts = { index: project.index(), ledger: project.ledger, listResources };
    const loaded = loadSkill({ name: "left", at: project.now() }, parts);
    expect(loaded.text).toMatch(/In \/repo\/\.claude\/skills\/base:[\s\S]*references\/of-base\.md[\s\S]*# left\n/);
    expect(loaded.text).toContain("references/of-left.md");
    expect(loadSkill({ name: "left", at: project.now(), includeResources: false }, parts).text).not.toContain(
      "of-base",
    );
  });

  it("always gives it when the window is unknown, and records nothing then", () => {
    const project = pool();
    project.refresh();
    const parts = { index: project.index(), ledger: project.ledger, listResources: () => NO_RESOURCES };
    for (let n = 0; n < 2; n++)
      expect(loadSkill({ name: "base", at: project.now() }, parts)).toMatchObject({ kind: "loaded" });
    expect(project.ledger.context({ sessionId: "s" })).toBeUndefined();
    expect(project.load("base")).toMatchObject({ kind: "loaded" });
  });

  it("keeps two agents of a session apart", () => {
    const project = pool();
    project.load("base");
    expect(project.load("base", { session: { sessionId: "s", agentId: "a" } })).toMatchObject({ kind: "loaded" });
  });

  it("gives a changed skill again and says so", () => {
    const project = pool();
    project.load("base");
    project.skill("base", "The base.", { body: "Other body." });
    const changed = project.load("base");
    expect(changed).toMatchObject({
      kind: "loaded",
      hasChanged: true,
      text: expect.stringContaining("> Changed since it was loaded in this window"),
    });
    expect(changed.text).toContain("Other body.");
    expect(project.load("base")).toMatchObject({ kind: "already-loaded" });
  });

  it("loads what is required first, each once, and not what the window has", () => {
    const project = pool();
    const all = project.load("top");
    expect(all).toMatchObject({ requires: ["base", "left", "right"] });
    for (const part of ["Base body.", "Left body.", "Right body.", "Top body."]) expect(times(all.text, part)).toBe(1);
    expect(all.text.indexOf("Base body.")).toBeLessThan(all.text.indexOf("Left body."));
    expect(all.text.indexOf("Right body.")).toBeLessThan(all.text.indexOf("Top body."));
    expect(project.ledger.context({ sessionId: "s" })?.used).toEqual(["base", "left", "right", "top"]);

    const other = pool();
    other.load("base");
    expect(other.load("top").text).not.toContain("Base body.");
  });

  it("says a cycle and a missing requirement, and gives the rest", () => {
    const project = fakeProject();
    project.skill("a-one", "A.", { body: "A body.", more: 'metadata:\n  requires: "b-two, nobody"\n' });
    project.skill("b-two", "B.", { body: "B body.", more: "metadata:\n  requires: A-One\n" });
    const { text } = project.load("a-one");
    expect(text).toContain("> Requirement cycle: a-one → b-two → a-one.");
    expect(text).toContain("> It requires the skill 'nobody', which is not installed.");
    expect(times(text, "A body.")).toBe(1);
    expect(text.indexOf("B body.")).toBeLessThan(text.indexOf("A body."));
  });

  it("looks for a plugin's requirement in that plugin first", () => {
    const project = fakeProject();
    for (const plugin of ["one", "two"]) {
      project.roots.push({
        dir: `/plugins/${plugin}/skills`,
        plugin,
        source: { kind: "plugin", label: `plugin ${plugin}`, rank: project.roots.length },
      });
      project.files.write(
        `/plugins/${plugin}/skills/base/SKILL.md`,
        `---\nname: base\ndescription: B.\n---\nBase of ${plugin}.`,
      );
      project.files.write(
        `/plugins/${plugin}/skills/top/SKILL.md`,
        `---\nname: top\ndescription: T.\nmetadata:\n  requires: base\n---\nTop of ${plugin}.`,
      );
    }
    expect(project.load("two:top")).toMatchObject({ requires: ["two:base"] });
    expect(project.load("top")).toMatchObject({ kind: "unknown" });
    project.files.remove("/plugins/one/skills/top/SKILL.md");
    expect(project.load("top", { reload: true })).toMatchObject({ id: "two:top" });
  });

  it("survives a chain of requirements that never ends", () => {
    const project = fakeProject();
    for (let n = 0; n < 300; n++) project.skill(`s${n}`, "S.", { more: `metadata:\n  requires: s${n + 1}\n` });
    const loaded = project.load("s0");
    expect(loaded.text).toContain("requires more than 50 skills");
    expect(loaded.text).toContain("How to s0.");
  });

  it("gives the nearest names for an unknown one, without control characters", () => {
    const project = pool();
    const unknown = project.load("rihgt\u001b[31m");
    expect(unknown).toMatchObject({ kind: "unknown" });
    expect(project.load("rihgt")).toMatchObject({
      nearest: ["right"],
      text: expect.stringContaining("Did you mean 'right'?"),
    });
    expect(unknown.text).toContain("Available skills:\n  - base: The base.");
    expect(unknown.text).not.toContain("\u001b");
  });

  it("does not list a large catalogue for a typo", () => {
    const project = fakeProject();
    for (let n = 0; n < 30; n++) project.skill(`skill-number-${n}`, "A description.");
    const { text } = project.load("skil-number-7");
    expect(text).toContain("Nearest names:\n  - skill-number-7");
    expect(text).toContain("30 skills are installed");
    expect(text.split("\n").length).toBeLessThan(12);
  });

  it("says of a skill that only rules name that it has no file, and does not count it as loaded", () => {
    const project = pool();
    project.rules({ skills: { ghost: { promptTriggers: { keywords: ["zebra"] } } } });
    expect(project.load("ghost")).toMatchObject({
      kind: "unknown",
      text: expect.stringContaining("skill-rules.json name it, but it has no SKILL.md"),
    });
    expect(project.prompt("a zebra").skills[0]).toMatchObject({ id: "ghost", disclosure: "full" });
  });

  it("lets a person load what models are not offered", () => {
    const project = fakeProject();
    project.skill("secret-deploy", "Deploys.", { more: "disable-model-invocation: true\n" });
    expect(project.load("secret-deploy")).toMatchObject({ kind: "loaded" });
    expect(project.load("secret-deplo").text).not.toContain("secret-deploy:");
  });
});
