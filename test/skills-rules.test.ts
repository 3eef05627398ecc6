/** Rules files as a user sees them: found, understood, changed, broken. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { skillText } from "../packages/haversack/src/engine/fake-project.suite.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

/** A skill whose own words never match, so only its rule can. */
function ruled(rule: object | undefined, file = ".claude/skills/skill-rules.json") {
  const project = scratchProject();
  project.write(".claude/skills/keeper/SKILL.md", skillText("keeper", "Qwertz."));
  if (rule) project.write(file, JSON.stringify({ skills: { keeper: rule } }));
  return project;
}
const say = async (project: Scratch, stdin: string, words: string[] = [], env: Record<string, string> = {}) =>
  await run(project, ["discover", "--client", "claude-code", ...words], { stdin, env });
const find = async (project: Scratch, stdin: string, words: string[] = [], env: Record<string, string> = {}) =>
  (
    (await run(project, ["discover", "--json", ...words], { stdin, env })).json() as {
      id: string;
      [key: string]: unknown;
    }[]
  ).find(({ id }) => id === "keeper");
const keywords = (...list: string[]) => ({ promptTriggers: { keywords: list } });

describe("rules files", () => {
  it.each([
    ".claude/skills/skill-rules.json",
    ".claude/skill-rules.json",
    ".claude/hooks/skill-rules.json",
    ".haversack/skill-rules.json",
    ".haversack/skills/skill-rules.json",
    ".agents/skills/skill-rules.json",
  ])("%s is found", async (file) => {
    expect((await find(ruled(keywords("zebra"), file), "a zebra"))?.reasons).toMatchObject([
      { feature: "keyword", text: "zebra" },
    ]);
  });

  it.each([
    ["skills as a list", { skills: [{ name: "keeper", ...keywords("zebra") }] }],
    ["rules", { rules: [{ skill: "keeper", keywords: ["zebra"] }] }],
    ["activation_rules", { activation_rules: [{ skill: "keeper", triggers: { keywords: ["zebra"] } }] }],
    ["a bare map", { keeper: keywords("zebra") }],
    ["a bare list of patterns", [{ pattern: "zebra", skill: "keeper" }]],
    ["weighted keywords", { skills: { keeper: { promptTriggers: { keywords: [{ value: "zebra", weight: 1.5 }] } } } }],
    ["snake case", { skills: { keeper: { prompt_triggers: { intent_patterns: ["zebra"] } } } }],
  ])("%s is understood, by rules check and by discover", async (_, value) => {
    const project = ruled(undefined);
    const file = project.write(".claude/skill-rules.json", JSON.stringify(value));
    expect((await run(project, ["rules", "check", file, "--json"])).json()).toMatchObject({ rules: 1, problems: [] });
    expect(await find(project, "a zebra")).toMatchObject({ disclosure: "full" });
  });

  it("that changed are seen by the next command", async () => {
    const project = ruled(keywords("zebra"));
    expect(await find(project, "a zebra")).toBeDefined();
    project.write(".claude/skills/skill-rules.json", JSON.stringify({ skills: { keeper: keywords("giraffe") } }));
    expect(await find(project, "a zebra")).toBeUndefined();
    expect(await find(project, "a giraffe")).toBeDefined();
    project.write(".claude/skills/skill-rules.json", '{"skills": {');
    expect(await find(project, "a giraffe")).toBeUndefined();
    expect((await run(project, ["skill", "check"])).out).toMatch(
      /skill-rules\.json\n {2}error: line 1:\d+: the text ends too early/,
    );
  });

  it("given with --rules count instead of the project's, for that call alone", async () => {
    const project = ruled(keywords("zebra"));
    const file = project.write("other.json", JSON.stringify({ skills: { keeper: keywords("giraffe") } }));
    expect(await find(project, "a giraffe", ["--rules", file])).toBeDefined();
    expect(await find(project, "a zebra", ["--rules", file])).toBeUndefined();
    expect(await find(project, "a zebra")).toBeDefined();
    const broken = project.write("broken.json", "{");
    const ran = await say(project, "a zebra", ["--rules", broken]);
    expect({ code: ran.code, out: ran.out }).toEqual({ code: 0, out: "" });
    expect(ran.err).toMatch(/^haversack: warning: .*broken\.json: line 1/);
    expect(await say(project, "a zebra", ["--rules", "none.json"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no file none.json"),
    });
  });

  it.each([
    ["broken JSON", '{"skills": {,}}', /error: line 1:\d+/],
    ["no rules", '{"name": "x", "scripts": {}}', /no rules: expected “skills”/],
    [
      "a schema",
      '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": {}}',
      /JSON Schema/,
    ],
    ["a number", "7", /an object or a list of rules is expected, not a number/],
    ["nothing", "", /the file is empty/],
    [
      "an invalid pattern",
      '{"skills": {"keeper": {"promptTriggers": {"intentPatterns": ["("]}}}}',
      /keeper\.intentPatterns: “\(”: not a valid/,
    ],
    [
      "a deferred skill without a short description",
      '{"skills": {"keeper": {"defer_loading": true, "keywords": ["x"]}}}',
      /needs a short_description/,
    ],
    [
      "one that is too long",
      JSON.stringify({
        skills: {
          keeper: { keywords: ["x"], defer_loading: { enabled: true, short_description: "word ".repeat(30) } },
        },
      }),
      /has 149 characters: at most 100/,
    ],
  ])("check names what is wrong with %s, exit 1", async (_, text, line) => {
    const project = ruled(undefined);
    const file = project.write("rules.json", text);
    const { code, out, err } = await run(project, ["rules", "check", file]);
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(out).toMatch(line);
    expect(out.startsWith(`${file}\n`)).toBe(true);
  });

  it("check warns of unknown keys, generic descriptions and skills that are not there", async () => {
    const project = ruled(undefined);
    const file = project.write(
      "rules.json",
      JSON.stringify({
        skills: {
          keepr: {
            keywords: ["x"],
            bogus: 1,
            defer_loading: { enabled: true, short_description: "Skill guidance available" },
          },
        },
      }),
    );
    const { code, out } = await run(project, ["rules", "check", file]);
    expect(code).toBe(0);
    expect(out).toContain("bogus: unknown key: ignored");
    expect(out).toContain("fits any skill");
    expect(out).toContain("there is no skill of this name; near: keeper");
    expect((await run(project, ["rules", "check", file, "--strict"])).code).toBe(1);
    expect(await run(project, ["rules", "check", "none.json"])).toMatchObject({ code: 1 });
  });
});

describe("what rules do", () => {
  it("match words, synonyms, intents and paths, and say which", async () => {
    const project = ruled({
      promptTriggers: { keywords: ["test"], synonyms: ["spec"], intentPatterns: ["(feed|water).*?animals?"] },
      fileTriggers: { pathPatterns: ["zoo/**/*.ts"] },
    });
    expect(await find(project, "use the latest version")).toBeUndefined();
    expect(await find(project, "testing and specs: feed the animals in zoo/cage/lion.ts")).toMatchObject({
      parts: { keyword: 1, synonym: 1, intent: 1, file: 1 },
    });
    expect((await run(project, ["why"])).out).toMatch(/keyword "test".*|intent "\/\(feed/);
  });

  it("are held back by exclusions, the environment and markers in files", async () => {
    const project = ruled({
      ...keywords("zebra"),
      keywordExclusions: ["toy"],
      skipConditions: { envOverride: "SKIP_KEEPER", fileMarkers: ["@no-keeper"] },
    });
    project.write("src/zoo.ts", "// @no-keeper\n");
    expect(await find(project, "a zebra")).toMatchObject({ disclosure: "full" });
    for (const [prompt, env] of [
      ["a toy zebra", {}],
      ["a zebra", { SKIP_KEEPER: "1" }],
      ["a zebra in src/zoo.ts", {}],
    ] as const)
      expect(await find(project, prompt, ["--session", "other"], env)).toMatchObject({
        disclosure: "none",
        verdict: expect.stringMatching(/^left out: /),
      });
  });

  it("do not wait for a file that never ends", async () => {
    const project = ruled({
      ...keywords("zebra"),
      skipConditions: { fileMarkers: ["@no-keeper"] },
      fileTriggers: { contentPatterns: ["x"] },
    });
    expect(await find(project, "a zebra like /dev/zero and /dev/urandom and src")).toMatchObject({
      disclosure: "full",
    });
  });

  it("auto loads the body and says why; block and require warn until the user switches enforcement on", async () => {
    const auto = ruled({ ...keywords("zebra"), enforcement: "auto" });
    // A project's rule loads text only after the user has accepted it.
    await run(auto, ["skill", "index"]);
    expect((await run(auto, ["trust", "--yes"])).code).toBe(0);
    expect((await say(auto, "a zebra")).out).toMatch(
      /^## AUTO-LOADED SKILL: keeper \(its rule says auto\)\n\nHow to keeper\./,
    );
    const block = ruled({ ...keywords("zebra"), enforcement: "block", blockMessage: "Read it first." });
    expect((await say(block, "a zebra")).out).toContain("Note: Read it first.\nActivate:");
    // Only the user can switch it on, not a cloned repository.
    block.write(".haversack/config.json", '{"skills.enforce": true}');
    expect((await say(block, "a zebra", ["--session", "cloned"])).out).toContain("Note: Read it first.\nActivate:");
    expect((await run(block, ["config", "set", "skills.enforce", "true"])).code).toBe(0);
    // The rule itself still has to be accepted.
    expect((await say(block, "a zebra", ["--session", "set"])).out).toContain("Note: Read it first.\nActivate:");
    expect((await run(block, ["trust", "--yes"])).code).toBe(0);
    expect((await say(block, "a zebra", ["--session", "other"])).out).toContain(
      "AUTO-LOADED SKILL: keeper (its rule says block)",
    );
  });

  it("show a deferred skill by its short description, and an old one by its own", async () => {
    const project = ruled({
      ...keywords("zebra"),
      priority: "critical",
      defer_loading: { enabled: true, short_description: "Cares for striped animals" },
    });
    expect((await say(project, "a zebra")).out).toContain(
      "## 🔴 keeper (critical priority)\nBrief: Cares for striped animals\nActivate:",
    );
    expect((await say(ruled(keywords("zebra")), "a zebra")).out).toContain("## keeper\nBrief: Qwertz.\n");
  });

  it("recommend a skill that has no file here", async () => {
    const project = scratchProject();
    project.write(
      ".claude/skill-rules.json",
      JSON.stringify({ skills: { ghost: { description: "Cares for ghosts.", ...keywords("zebra") } } }),
    );
    expect((await say(project, "a zebra")).out).toContain(
      '## ghost\nBrief: Cares for ghosts.\nActivate: Skill(skill: "ghost")',
    );
  });

  it.each([`${"a".repeat(50_000)}`, `${"a".repeat(50_000)}b`])("never stall a prompt", async (prompt) => {
    const project = ruled({ promptTriggers: { keywords: ["zebra"], intentPatterns: ["(a+)+$"] } });
    const { code, err } = await say(project, prompt);
    expect(code).toBe(0);
    if (prompt.endsWith("b") && err)
      expect(err).toBe("haversack: warning: the pattern /(a+)+$/ took too long and is left out from now on\n");
    expect(await find(project, "a zebra", ["--session", "other"])).toMatchObject({ disclosure: "full" });
    expect((await run(project, ["skill", "check"])).out).toContain("(a+)+$: the pattern may run forever");
  });
});

const corpus = process.env["HAVERSACK_CORPUS"];
describe.skipIf(!corpus)("the rules files of the corpus", () => {
  const folder = join(corpus ?? "", "skill-rules");
  const files =
    corpus && existsSync(folder)
      ? readdirSync(folder, { recursive: true })
          .map(String)
          .filter((file) => file.endsWith(".json"))
      : [];

  it("load, or are named with what is wrong", async () => {
    expect(files.length).toBeGreaterThan(0);
    const project = scratchProject();
    for (const file of files) {
      writeFileSync(join(project.root, "rules.json"), readFileSync(join(folder, file)));
      const { code, err, json } = await run(project, ["rules", "check", "rules.json", "--json"]);
      expect({ file, err }).toEqual({ file, err: "" });
      const { rules, problems } = json();
      expect(rules > 0 || problems.length > 0).toBe(true);
      expect(code).toBe(problems.some(({ level }: { level: string }) => level === "error") ? 1 : 0);
    }
  });
});
