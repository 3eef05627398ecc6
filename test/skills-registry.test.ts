import { spawnSync } from "node:child_process";
/** Where skills come from, and how they are shown, searched and loaded, as a person meets it. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { skillText } from "../packages/haversack/src/engine/fake-project.suite.ts";
import { DIST, type Scratch, scratchProject } from "./bins.ts";
import { run } from "./skills-run.ts";

const write = (file: string, text: string) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const skill = (
  project: Scratch,
  folder: string,
  name: string,
  description: string,
  options: { more?: string; body?: string } = {},
) => write(join(project.root, folder, name, "SKILL.md"), skillText(name, description, options));
const list = async (project: Scratch) =>
  (
    (await run(project, ["skills", "list", "--json"])).json().skills as {
      id: string;
      description: string;
      source: string;
    }[]
  ).map(({ id, description, source }) => `${id} | ${description} | ${source}`);

describe("sources", () => {
  it("lets the nearest of one name win, down to the last, and reports the others", async () => {
    const project = scratchProject();
    const places: [folder: string, label: string][] = [
      [join(project.root, ".haversack/skills"), ".haversack/skills"],
      [join(project.root, ".claude/skills"), ".claude/skills"],
      [join(project.root, ".agents/skills"), ".agents/skills"],
      [join(project.root, ".gemini/skills"), ".gemini/skills"],
      [join(project.root, ".opencode/skills"), ".opencode/skills"],
      [join(project.root, ".opencode/skill"), ".opencode/skill"],
      [join(project.home, ".claude/skills"), "~/.claude/skills"],
      [join(project.home, ".agents/skills"), "~/.agents/skills"],
      [join(project.home, ".config/haversack/skills"), join(project.home, ".config/haversack/skills")],
      [join(project.home, ".gemini/skills"), "~/.gemini/skills"],
      [join(project.home, ".config/opencode/skills"), join(project.home, ".config/opencode/skills")],
      [join(project.home, ".opencode/skills"), "~/.opencode/skills"],
      [join(project.root, "team"), "team"],
    ];
    project.write(".haversack/config.json", '{"skills.folders": ["team"]}');
    for (const [folder, label] of places) write(join(folder, "deploy/SKILL.md"), skillText("deploy", `From ${label}.`));
    const { problems } = (await run(project, ["skills", "check", "--json"])).json();
    expect(problems.filter(({ code }: { code: string }) => code === "name-twice")).toHaveLength(places.length - 1);
    for (const [folder, label] of places) {
      expect(await list(project)).toEqual([`deploy | From ${label}. | ${label}`]);
      rmSync(join(folder, "deploy"), { recursive: true });
    }
    expect(await list(project)).toEqual([]);
  });

  it("takes of plugins only what is installed and enabled, as plugin:skill", async () => {
    const project = scratchProject();
    const cache = join(project.home, ".claude/plugins/cache");
    for (const version of ["1.0.0", "2.0.0"])
      write(join(cache, "tools", version, "skills/deploy/SKILL.md"), skillText("deploy", `Version ${version}.`));
    write(join(cache, "off", "1.0.0", "skills/other/SKILL.md"), skillText("other", "Switched off."));
    const install = (name: string, version: string) => [
      { scope: "user", installPath: join(cache, name, version), version },
    ];
    write(
      join(project.home, ".claude/plugins/installed_plugins.json"),
      JSON.stringify({
        version: 2,
        plugins: { "tools@market": install("tools", "2.0.0"), "off@market": install("off", "1.0.0") },
      }),
    );
    write(
      join(project.home, ".claude/settings.json"),
      JSON.stringify({ enabledPlugins: { "tools@market": true, "off@market": false } }),
    );
    skill(project, ".claude/skills", "deploy", "The project's own.");
    expect(await list(project)).toEqual([
      "deploy | The project's own. | .claude/skills",
      "tools:deploy | Version 2.0.0. | plugin tools",
    ]);
    expect((await run(project, ["skills", "show", "tools:deploy"])).out).toContain("How to deploy.");
  });

  it("reads single files, nested folders and files without frontmatter, and honours what frontmatter says", async () => {
    const project = scratchProject();
    project.write(".claude/skills/single.md", "---\ndescription: A single file.\n---\nBody of single.");
    project.write(".claude/skills/README.md", "# Not a skill");
    project.write(".claude/skills/group/nested/SKILL.md", skillText("nested", "Nested."));
    project.write(".claude/skills/bare/SKILL.md", "# Bare\n\nKnows about zebras in the wild.");
    skill(project, ".claude/skills", "people-only", "Knows about zebras in the zoo.", {
      more: "disable-model-invocation: true\n",
    });
    skill(project, ".claude/skills", "helped", "Cares for animals.", { more: "when_to_use: A striped okapi limps.\n" });
    expect((await list(project)).map((line) => line.split(" | ")[0])).toEqual([
      "bare",
      "helped",
      "nested",
      "people-only",
      "single",
    ]);

    const stdin = "tell me about zebras in the wild and in the zoo";
    const zebras = (await run(project, ["discover", "--json"], { stdin })).json();
    expect(zebras.find(({ id }: { id: string }) => id === "people-only")).toMatchObject({
      disclosure: "none",
      verdict: expect.stringContaining("disable-model-invocation"),
    });
    expect(zebras[0]).toMatchObject({ id: "bare", disclosure: "full" });
    expect((await run(project, ["skills", "search", "zebras", "zoo"])).out).toContain("people-only");
    expect((await run(project, ["skills", "show", "people-only"])).code).toBe(0);
    expect(
      (await run(project, ["discover", "--json"], { stdin: "my striped okapi limps badly" })).json()[0],
    ).toMatchObject({ id: "helped" });
  });

  it("gives each client a line that works for that skill", async () => {
    const project = scratchProject();
    project.write(".claude/skills/single.md", "---\ndescription: Feeds zebras.\n---\nBody.");
    skill(project, ".claude/skills", "folder", "Waters zebras.");
    skill(project, ".haversack/skills", "ours", "Brushes zebras.");
    let session = 0;
    const say = async (client: string) =>
      (
        await run(project, ["discover", "--client", client, "--session", `s${++session}`], {
          stdin: "which skills are for zebras?",
        })
      ).out;
    expect(await say("claude-code")).toContain('Activate: Skill(skill: "folder")');
    expect(await say("claude-code")).not.toContain('Skill(skill: "single")');
    for (const path of [".claude/skills/single.md", ".haversack/skills/ours/SKILL.md"]) {
      expect(await say("codex")).toContain(`Activate: Read ${join(project.root, path)}`);
      expect(await say("gemini")).toContain(`Activate: Read ${join(project.root, path)}`);
    }
    expect(await say("plain")).toContain("Activate: haversack skills show ours");
  });
});

describe("a skill's files", () => {
  const withResources = () => {
    const project = scratchProject();
    skill(project, ".claude/skills", "forms", "Fills forms.");
    for (const file of [
      "references/codes.md",
      "assets/form.txt",
      "scripts/fill.sh",
      "quick-reference.md",
      "other/hidden.md",
    ])
      project.write(`.claude/skills/forms/${file}`, `Text of ${file} \u001b[31m`);
    project.write(".claude/skills/forms/secret-free.txt", "x");
    project.write("outside.md", "secret of the project");
    symlinkSync(join(project.root, "outside.md"), join(project.root, ".claude/skills/forms/references/link.md"));
    return project;
  };

  it("are listed by name under the folder, which stands there once", async () => {
    const project = withResources();
    const { out } = await run(project, ["skills", "show", "forms"]);
    const folder = join(project.root, ".claude/skills/forms");
    expect(out.split(folder)).toHaveLength(2);
    expect(out).toContain(
      `In ${folder}:\n\n**Reference Documentation:**\n  - quick-reference.md\n  - references/codes.md\n\n**Assets & Templates:**\n  - assets/form.txt\n\n**Executable Scripts:**\n  - scripts/fill.sh`,
    );
    expect(out).not.toMatch(/link\.md|hidden\.md/);
    expect((await run(project, ["skills", "show", "forms", "--no-resources"])).out).not.toContain(
      "Available Resources",
    );
    expect((await run(project, ["skills", "show", "forms", "--json"])).json().resources).toEqual({
      reference: ["quick-reference.md", "references/codes.md"],
      assets: ["assets/form.txt"],
      scripts: ["scripts/fill.sh"],
    });
    expect((await run(project, ["skills", "check"])).out).toContain("the link leads out of the skill's folder");
  });

  it.each([
    ["../../../../../../etc/passwd", /inside the skill's folder/],
    ["/etc/passwd", /inside the skill's folder/],
    ["references/../../../../outside.md", /inside the skill's folder/],
    ["references/link.md", /leads out of the skill's folder/],
    ["references/none.md", /there is no references\/none\.md/],
    ["references", /is no file/],
    [".git/config", /hidden files/],
  ])("%s is not read: one line, exit 1", async (path, text) => {
    const { code, out, err } = await run(withResources(), ["skills", "show", "forms", "--resource", path]);
    expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 1, out: "", lines: 1 });
    expect(err).toMatch(text);
  });

  it("are printed on demand without control characters, and that does not count as loading the skill", async () => {
    const project = withResources();
    const { out } = await run(project, [
      "skills",
      "show",
      "forms",
      "--session",
      "s1",
      "--resource",
      "references/codes.md",
    ]);
    expect(out).toBe("Text of references/codes.md \n");
    expect((await run(project, ["skills", "show", "forms", "--session", "s1"])).out).toContain("How to forms.");
    expect((await run(project, ["skills", "show", "forms", "--session", "s1"])).out).toMatch(
      /^Skill 'forms' is already in this window[^\n]*reload[^\n]*\n$/,
    );
    expect((await run(project, ["skills", "show", "forms", "--session", "s1", "--reload"])).out).toContain(
      "How to forms.",
    );
  });
});

describe("list, search, show, check, index, new", () => {
  const some = () => {
    const project = scratchProject();
    skill(project, ".claude/skills", "pdf-forms", "Fills PDF forms.", {
      more: "metadata:\n  domain: papers\n  requires: base-text\n",
    });
    skill(project, ".claude/skills", "base-text", "Reads plain text.");
    return project;
  };

  it("print the keys that their help names", async () => {
    const project = some();
    const keys = async (words: string[]) => Object.keys((await run(project, [...words, "--json"])).json());
    expect(await keys(["skills", "list"])).toEqual(["skills", "problems"]);
    expect(Object.keys((await run(project, ["skills", "list", "--json"])).json().skills[1])).toEqual(
      "id name description brief path source domain deferred modelInvocable requires".split(" "),
    );
    const [found] = (await run(project, ["skills", "search", "pdf", "--json"])).json();
    expect(Object.keys(found).sort()).toEqual("brief confidence disclosure id name reasons".split(" "));
    expect(found).toMatchObject({ id: "pdf-forms", disclosure: "none" });
    const [discovered] = (await run(project, ["discover", "--json"], { stdin: "fill this pdf form" })).json();
    expect(Object.keys(discovered)).toEqual("id name confidence reasons parts disclosure verdict".split(" "));
    expect(Object.keys(discovered.reasons[0])).toEqual(["feature", "text", "strength"]);
    expect(await keys(["skills", "show", "pdf-forms"])).toEqual(
      "kind id text hash tokens resources requires hasChanged".split(" "),
    );
    expect(await keys(["skills", "check"])).toEqual(["skills", "problems"]);
    expect(await keys(["skills", "index"])).toEqual(["skills", "read", "problems", "ms"]);
    expect(await keys(["skills", "stats"])).toEqual(["prompts", "tokens", "answers", "skills"]);
    expect((await run(project, ["skills", "stats", "--json"])).json()).toMatchObject({
      prompts: 1,
      answers: { full: 1, none: 0, names: 0, incremental: 0 },
    });
    expect(Object.keys((await run(project, ["why", "--json"])).json().prompts[0])).toEqual(
      "sessionId agentId promptNumber at prompt explanation".split(" "),
    );
  });

  it("find by a part of a word what the ranking does not know", async () => {
    const project = some();
    expect((await run(project, ["skills", "search", "fil"])).out).toContain("pdf-forms");
    expect(await run(project, ["skills", "search", "qqqq"])).toMatchObject({
      code: 1,
      out: "No skill has any of these words.\n",
    });
    expect((await run(project, ["skills", "search", "pdf", "text", "--limit", "1", "--json"])).json()).toHaveLength(1);
  });

  it("show required skills first, and nearest names for an unknown one", async () => {
    const project = some();
    const { out } = await run(project, ["skills", "show", "PDF-Forms"]);
    expect(out.indexOf("How to base-text.")).toBeLessThan(out.indexOf("How to pdf-forms."));
    const unknown = await run(project, ["skills", "show", "pdf-from"]);
    expect({ code: unknown.code, out: unknown.out }).toEqual({ code: 1, out: "" });
    expect(unknown.err).toContain("Skill 'pdf-from' not found. Did you mean 'pdf-forms'?");
    expect((await run(project, ["skills", "show", "pdf-from", "--json"])).json()).toMatchObject({
      kind: "unknown",
      nearest: ["pdf-forms"],
    });
  });

  it("say the same number of problems", async () => {
    const project = some();
    project.write(
      ".claude/skill-rules.json",
      '{"skills": {"pdf-forms": {"promptTriggers": {"intentPatterns": ["("]}}}}',
    );
    expect((await run(project, ["skills", "list"])).out).toContain(
      "2 skills; 1 problem, `haversack skills check` shows it.",
    );
    const { code, out } = await run(project, ["skills", "check"]);
    expect(code).toBe(0);
    expect(out).toContain("skill-rules.json\n  warning: (: no valid regular expression");
    expect((await run(project, ["skills", "check", "--strict"])).code).toBe(1);
  });

  it("make a skill that passes the check", async () => {
    const project = scratchProject();
    expect(
      (await run(project, ["skills", "new", "api-errors", "--description", "Use when an endpoint reports errors."]))
        .code,
    ).toBe(0);
    expect(await run(project, ["skills", "check", "--strict"])).toMatchObject({
      code: 0,
      out: "1 skill checked, nothing wrong.\n",
    });
    expect((await run(project, ["skills", "new", "api-errors"])).code).toBe(1);
    expect((await run(project, ["skills", "new", "../evil"])).code).toBe(2);
    expect((await run(project, ["skills", "list"])).out).toContain("api-errors");
  });
});

describe("eval", () => {
  const withCases = () => {
    const project = scratchProject();
    skill(project, "pool/one", "pdf-forms", "Fills PDF forms and reads their fields.");
    skill(project, "pool/two", "pod-restart", "Restarts pods of a kubernetes cluster.");
    const cases = [
      { id: "a", prompt: "fill the fields of this PDF form", expected: ["one/pdf-forms"] },
      {
        id: "b",
        prompt: "restart the kubernetes pods",
        expected: ["two/pod-restart"],
        negative_for: ["one/pdf-forms"],
      },
      { id: "c", prompt: "read the fields of the PDF form", negative_for: ["one/pdf-forms"], expected: [] },
      { id: "d", prompt: "bake bread with rye", expected: [], negative_for: ["two/pod-restart"] },
      { id: "e", prompt: "bake bread with rye", expected: ["two/pod-restart"] },
    ];
    project.write("cases.jsonl", `${cases.map((line) => JSON.stringify(line)).join("\n")}\nnot json\n`);
    return { project, cases };
  };

  it("prints rates that anyone can compute from --results", async () => {
    const { project, cases } = withCases();
    const words = ["skills", "eval", "--skills", "pool", "--cases", "cases.jsonl", "--results", "out.jsonl", "--json"];
    const found = (await run(project, words)).json();
    const lines = readFileSync(join(project.root, "out.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; ranked: { id: string; confidence: number; shown: boolean }[] });
    expect(lines.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
    const judged = cases.map(({ expected, negative_for = [] }, at) => {
      const { ranked } = lines[at]!;
      const rank = ranked.findIndex(({ id }) => expected.includes(id)) + 1;
      const top = ranked.slice(0, 3).filter(({ shown }) => shown);
      return {
        positive: expected.length > 0,
        rank,
        hit: top.some(({ id }) => expected.includes(id)),
        wrong: top.some(({ id }) => negative_for.includes(id)),
        any: ranked.some(({ shown }) => shown),
      };
    });
    const positives = judged.filter(({ positive }) => positive);
    const negatives = judged.filter(({ positive }) => !positive);
    const share = (list: typeof judged, holds: (entry: (typeof judged)[number]) => boolean) =>
      list.filter(holds).length / list.length;
    expect(found).toMatchObject({
      skills: 2,
      cases: 5,
      positives: 3,
      negatives: 2,
      recall_at_1: share(positives, ({ rank }) => rank === 1),
      recall_at_3: share(positives, ({ rank }) => rank > 0 && rank <= 3),
      true_positive_rate: share(positives, ({ hit }) => hit),
      false_trigger_rate: share(negatives, ({ wrong }) => wrong),
      any_shown_rate: share(negatives, ({ any }) => any),
    });
    expect(found.mrr).toBeCloseTo(
      positives.reduce((sum, { rank }) => sum + (rank > 0 ? 1 / rank : 0), 0) / positives.length,
    );
    expect(Object.keys(found)).toEqual(
      "skills cases positives negatives recall_at_1 recall_at_3 recall_at_5 mrr true_positive_rate false_trigger_rate any_shown_rate p50_ms p95_ms sources mean misses problems".split(
        " ",
      ),
    );
    expect(found.problems).toMatchObject([{ where: "line 6" }]);
    expect(found.misses.map(({ id }: { id: string }) => id)).toEqual(["c", "e"]);
  });

  it("takes an author's list for one skill, and shows misses in plain words", async () => {
    const { project } = withCases();
    project.write(
      "evals.json",
      JSON.stringify([
        { query: "fill the fields of this PDF form", should_trigger: true },
        { query: "bake bread with rye", should_trigger: true },
        { query: "restart the kubernetes pods", should_trigger: false },
      ]),
    );
    const words = ["skills", "eval", "--skills", "pool", "--cases", "evals.json"];
    const found = await run(project, [...words, "--skill", "one/pdf-forms"]);
    expect(found.code).toBe(0);
    expect(found.out).toContain('"bake bread with rye": one/pdf-forms is not among the first');
    const without = await run(project, words);
    expect(without.code).toBe(3);
    expect(without.err).toContain("name it with --skill");
  });

  it.each([
    [["skills", "eval"], 2, "needs --skills"],
    [["skills", "eval", "--skills", "none", "--cases", "x"], 1, "there is no folder none"],
  ])("%j: exit %i", async (words, code, text) => {
    const ran = await run(scratchProject(), words);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(text);
  });
});

it("skills eval reads its cases from a pipe too", () => {
  const project = scratchProject();
  skill(project, ".claude/skills", "forms", "Fills PDF forms.");
  const bin = `'${process.execPath}' '${join(DIST, "haversack.cjs")}'`;
  const cases = `<(echo '{"prompt": "fill the pdf forms", "expected": ["forms"]}')`;
  const { stdout } = spawnSync("bash", ["-c", `${bin} skills eval --skills .claude/skills --cases ${cases} --json`], {
    cwd: project.root,
    env: { PATH: process.env["PATH"] ?? "", HOME: project.home },
    encoding: "utf8",
  });
  expect(JSON.parse(stdout)).toMatchObject({ cases: 1, positives: 1, recall_at_1: 1 });
});
