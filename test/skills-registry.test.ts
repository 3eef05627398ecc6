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
    (await run(project, ["skill", "list", "--json"])).json().skills as {
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
    const { problems } = (await run(project, ["skill", "check", "--json"])).json();
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
    expect((await run(project, ["skill", "show", "tools:deploy"])).out).toContain("How to deploy.");
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
    expect((await run(project, ["skill", "search", "zebras", "zoo"])).out).toContain("people-only");
    expect((await run(project, ["skill", "show", "people-only"])).code).toBe(0);
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
    expect(await say("plain")).toContain("Activate: haversack skill show ours");
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
    const { out } = await run(project, ["skill", "show", "forms"]);
    const folder = join(project.root, ".claude/skills/forms");
    expect(out.split(folder)).toHaveLength(2);
    expect(out).toContain(
      `In ${folder}:\n\n**Reference Documentation:**\n  - quick-reference.md\n  - references/codes.md\n\n**Assets & Templates:**\n  - assets/form.txt\n\n**Executable Scripts:**\n  - scripts/fill.sh`,
    );
    expect(out).not.toMatch(/link\.md|hidden\.md/);
    expect((await run(project, ["skill", "show", "forms", "--no-resources"])).out).not.toContain("Available Resources");
    expect((await run(project, ["skill", "show", "forms", "--json"])).json().resources).toEqual({
      reference: ["quick-reference.md", "references/codes.md"],
      assets: ["assets/form.txt"],
      scripts: ["scripts/fill.sh"],
    });
    expect((await run(project, ["skill", "check"])).out).toContain("the link leads out of the skill's folder");
  });

  it.each([
    ["../../../../../../etc/passwd", /inside the skill's folder/],
    ["/etc/passwd", /inside the skill's folder/],
    ["references/../../../../outside.md", /inside the skill's folder/],
    ["references/link.md", /leads out of the skill's folder/],
    ["references/none.md", /there is no references\/none\.md/],
    ["references", /is not a file/],
    [".git/config", /hidden files/],
  ])("%s is not read: one error, one hint, exit 1", async (path, text) => {
    const { code, out, err } = await run(withResources(), ["skill", "show", "forms", "--resource", path]);
    expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 1, out: "", lines: 2 });
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
    expect((await run(project, ["skill", "show", "forms", "--session", "s1"])).out).toContain("How to forms.");
    expect((await run(project, ["skill", "show", "forms", "--session", "s1"])).out).toMatch(
      /^Skill 'forms' is already in this window[^\n]*reload[^\n]*\n$/,
    );
    expect((await run(project, ["skill", "show", "forms", "--session", "s1", "--reload"])).out).toContain(
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
    expect(await keys(["skill", "list"])).toEqual(["skills", "problems"]);
    expect(Object.keys((await run(project, ["skill", "list", "--json"])).json().skills[1])).toEqual(
      "id name description brief path source domain deferred model_invocable requires".split(" "),
    );
    const [found] = (await run(project, ["skill", "search", "pdf", "--json"])).json();
    expect(Object.keys(found).sort()).toEqual("brief confidence disclosure id name reasons".split(" "));
    expect(found).toMatchObject({ id: "pdf-forms", disclosure: "none" });
    const [discovered] = (await run(project, ["discover", "--json"], { stdin: "fill this pdf form" })).json();
    expect(Object.keys(discovered)).toEqual("id name confidence reasons parts disclosure verdict".split(" "));
    expect(Object.keys(discovered.reasons[0])).toEqual(["feature", "text", "strength"]);
    expect(await keys(["skill", "show", "pdf-forms"])).toEqual(
      "kind id text hash tokens resources requires has_changed".split(" "),
    );
    expect(await keys(["skill", "check"])).toEqual(["skills", "problems"]);
    expect(await keys(["skill", "index"])).toEqual(["skills", "read", "problems", "ms"]);
    expect(await keys(["skill", "stats"])).toEqual(["prompts", "tokens", "answers", "skills"]);
    expect((await run(project, ["skill", "stats", "--json"])).json()).toMatchObject({
      prompts: 1,
      answers: { full: 1, none: 0, names: 0, incremental: 0 },
    });
    expect(Object.keys((await run(project, ["why", "--json"])).json().prompts[0])).toEqual(
      "session_id agent_id prompt_number at prompt explanation".split(" "),
    );
  });

  it("find by a part of a word what the ranking does not know", async () => {
    const project = some();
    expect((await run(project, ["skill", "search", "fil"])).out).toContain("pdf-forms");
    expect(await run(project, ["skill", "search", "qqqq"])).toMatchObject({
      code: 1,
      out: "No skill has any of these words.\n",
    });
    expect((await run(project, ["skill", "search", "pdf", "text", "--limit", "1", "--json"])).json()).toHaveLength(1);
  });

  it("show required skills first, and nearest names for an unknown one", async () => {
    const project = some();
    const { out } = await run(project, ["skill", "show", "PDF-Forms"]);
    expect(out.indexOf("How to base-text.")).toBeLessThan(out.indexOf("How to pdf-forms."));
    const unknown = await run(project, ["skill", "show", "pdf-from"]);
    expect({ code: unknown.code, out: unknown.out }).toEqual({ code: 1, out: "" });
    expect(unknown.err).toContain('there is no skill "pdf-from"\nhaversack: hint: did you mean pdf-forms?');
    expect((await run(project, ["skill", "show", "pdf-from", "--json"])).json()).toMatchObject({
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
    expect((await run(project, ["skill", "list"])).out).toContain(
      "2 skills; 1 problem, `haversack skill check` shows it.",
    );
    const { code, out } = await run(project, ["skill", "check"]);
    expect(code).toBe(0);
    expect(out).toContain("skill-rules.json\n  warning: (: not a valid regular expression");
    expect((await run(project, ["skill", "check", "--strict"])).code).toBe(1);
  });

  it("make a skill that passes the check", async () => {
    const project = scratchProject();
    expect(
      (await run(project, ["skill", "new", "api-errors", "--description", "Use when an endpoint reports errors."]))
        .code,
    ).toBe(0);
    expect(await run(project, ["skill", "check", "--strict"])).toMatchObject({
      code: 0,
      out: "1 skill checked, nothing wrong.\n",
    });
    expect((await run(project, ["skill", "new", "api-errors"])).code).toBe(1);
    expect((await run(project, ["skill", "new", "../evil"])).code).toBe(2);
    expect((await run(project, ["skill", "list"])).out).toContain("api-errors");
  });
});

interface Ranked {
  id: string;
  confidence: number;
  shown: "card" | "name" | false;
}

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
    const words = ["skill", "eval", "--skills", "pool", "--cases", "cases.jsonl", "--results", "out.jsonl", "--json"];
    const found = (await run(project, words)).json();
    const lines = readFileSync(join(project.root, "out.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: string; ranked: Ranked[]; tokens: number });
    expect(lines.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
    const judged = cases.map(({ expected, negative_for = [] }, at) => {
      const { ranked } = lines[at]!;
      const rank = ranked.findIndex(({ id }) => expected.includes(id)) + 1;
      const top = ranked.filter(({ shown }) => shown === "card");
      expect(ranked.every(({ shown }) => shown === "card" || shown === "name" || shown === false)).toBe(true);
      return {
        positive: expected.length > 0,
        rank,
        hit: top.some(({ id }) => expected.includes(id)),
        wrong: top.some(({ id }) => negative_for.includes(id)),
        front: ranked.some(({ id, shown }) => shown && expected.includes(id)),
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
      cards: share(positives, ({ hit }) => hit),
      in_front: share(positives, ({ front }) => front),
      wrong_cards: share(negatives, ({ wrong }) => wrong),
      mean_tokens: lines.reduce((sum, { tokens }) => sum + tokens, 0) / lines.length,
      hidden_skills: 0,
      hidden_cases: 0,
      macro: { sources: 0 },
      pools: { all: { cases: 5 } },
      lengths: { up_to_6: { cases: 3 }, up_to_12: { cases: 2 } },
      false_trigger_rate: share(negatives, ({ wrong }) => wrong),
      any_shown_rate: share(negatives, ({ any }) => any),
    });
    expect(found.mrr).toBeCloseTo(
      positives.reduce((sum, { rank }) => sum + (rank > 0 ? 1 / rank : 0), 0) / positives.length,
    );
    expect(Object.keys(found)).toEqual(
      "skills hidden_skills hidden_cases cases positives negatives recall_at_1 recall_at_3 recall_at_5 mrr in_front cards names wrong_cards wrong_shown any_card_rate any_shown_rate mean_tokens mean_answer_tokens true_positive_rate false_trigger_rate p50_ms p95_ms sources mean macro pools lengths misses problems".split(
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
    const words = ["skill", "eval", "--skills", "pool", "--cases", "evals.json"];
    const found = await run(project, [...words, "--skill", "one/pdf-forms"]);
    expect(found.code).toBe(0);
    expect(found.out).toContain('"bake bread with rye": one/pdf-forms is not among the first');
    const without = await run(project, words);
    expect(without.code).toBe(1);
    expect(without.err).toContain("name it with --skill");
  });

  it("tells an author which words are missing, and tries the sentence that it offers", async () => {
    const { project } = withCases();
    const ask = async () => {
      const words = ["skill", "eval", "--skills", "pool", "--cases", "one.jsonl", "--json"];
      return (await run(project, words)).json();
    };
    project.write("one.jsonl", '{"id": "e", "prompt": "bake bread with rye", "expected": ["two/pod-restart"]}\n');
    const [miss] = (await ask()).misses;
    expect(miss).toMatchObject({
      skill: "two/pod-restart",
      missing_words: ["bake", "bread", "rye"],
      shown_then: "card",
    });
    expect(miss.add).toBe("Use for requests about bake, bread or rye.");
    expect(miss.text).toContain(`Add: "${miss.add}" (then it is shown as a card)`);
    // With the suggested text added, the skill is shown as a card.
    skill(project, "pool/two", "pod-restart", `Restarts pods of a kubernetes cluster. ${miss.add}`);
    expect(await ask()).toMatchObject({ cards: 1, misses: [] });
  });

  it("leaves out what can only find skills that their author hides", async () => {
    const { project } = withCases();
    project.write(
      "pool/one/pdf-forms/SKILL.md",
      "---\nname: pdf-forms\ndescription: Fills PDF forms and reads their fields.\ndisable-model-invocation: true\n---\nText\n",
    );
    const words = ["skill", "eval", "--skills", "pool", "--cases", "cases.jsonl", "--results", "out.jsonl", "--json"];
    const found = (await run(project, words)).json();
    expect(found).toMatchObject({ hidden_skills: 1, hidden_cases: 2, cases: 3, positives: 2, negatives: 1 });
    expect(readFileSync(join(project.root, "out.jsonl"), "utf8").trimEnd().split("\n")).toHaveLength(5);
  });

  it("measures random parts of the pool, the same ones for the same seed, and fits 80 columns", async () => {
    const project = scratchProject();
    const subjects = ["invoice", "kubernetes", "typography", "geology", "sailing", "pottery", "beekeeping", "chess"];
    for (const subject of subjects)
      skill(project, "pool/a-source-with-a-rather-long-name", subject, `Helps with ${subject} questions.`);
    const cases = subjects.flatMap((subject, at) => [
      { id: `${at}`, prompt: `help me with ${subject}`, expected: [`a-source-with-a-rather-long-name/${subject}`] },
      { id: `n${at}`, prompt: "go on", expected: [], source: "none" },
    ]);
    project.write("cases.jsonl", cases.map((line) => JSON.stringify(line)).join("\n"));
    const words = ["skill", "eval", "--skills", "pool", "--cases", "cases.jsonl", "--leave-one-out"];
    const found = (await run(project, [...words, "--json"])).json();
    expect(Object.keys(found.pools)).toEqual(["5", "all"]);
    expect(found.pools["5"]).toMatchObject({ cases: 16, positives: 8, recall_at_1: 1 });
    expect(found.macro).toMatchObject({ sources: 1, cases: 8 });
    expect(Object.keys(found.leave_one_out.left_out.thresholds)).toHaveLength(2);
    expect((await run(project, [...words, "--json"])).json().pools).toEqual(found.pools);
    const { out } = await run(project, [...words, "--seed", "7"]);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(out).toContain("thresholds chosen");
  });

  it("measures one half of one small pool of this repository", async () => {
    const relevance = join(import.meta.dirname, "relevance");
    const words = ["skill", "eval", "--skills", join(relevance, "pools/storefront-web"), "--json"];
    const half = ["--cases", join(relevance, "cases.jsonl"), "--where", "pool=storefront-web", "--where", "half=tune"];
    const found = (await run(scratchProject(), [...words, ...half])).json();
    const all = readFileSync(join(relevance, "cases.jsonl"), "utf8").trimEnd().split("\n");
    const own = all
      .map((line) => JSON.parse(line))
      .filter(({ pool, half: is }) => pool === "storefront-web" && is === "tune");
    expect(found).toMatchObject({ cases: own.length, positives: own.filter((one) => one.expect.length > 0).length });
    const wrong = await run(scratchProject(), [...words, "--cases", join(relevance, "cases.jsonl"), "--where", "pool"]);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain("--where needs KEY=VALUE, not pool");
  });

  it("refuses to leave out the only source", async () => {
    const { project } = withCases();
    project.write("one.jsonl", '{"prompt": "x", "expected": ["one/pdf-forms"]}\n');
    const ran = await run(project, ["skill", "eval", "--skills", "pool", "--cases", "one.jsonl", "--leave-one-out"]);
    expect(ran).toMatchObject({ code: 2 });
    expect(ran.err).toContain("needs cases of two sources or more");
  });

  it.each([
    [["skill", "eval"], 2, "needs --skills"],
    [["skill", "eval", "--skills", "none", "--cases", "x"], 1, "there is no folder none"],
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
