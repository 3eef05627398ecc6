/** Artifacts through the built bins: the commands as a person or an orchestrator runs them, and the MCP tools. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleDocuments, sampleText } from "../packages/haversack/src/artifacts/sample-feature.suite.ts";
import { type Scratch, scratchProject } from "./bins.ts";
import { startServer } from "./mcp-client.ts";

const FOLDER = "docs/features/031-uploads";
const ANSWER = `I have read everything.
Files read: prd.md (7 lines), spec.md (7 lines)

{"approved": false, "issues": [{"severity": "blocker", "description": "Chunks have no owner", "location": "design.md:3"}], "summary": "Not yet."}
`;

function featureProject(): Scratch & { say(...words: string[]): string } {
  const project = scratchProject();
  for (const { file } of sampleDocuments()) project.write(`${FOLDER}/${file}`, sampleText(file));
  const say = (...words: string[]): string => {
    const { code, out, err } = project.haversack(words);
    expect({ code, err }).toMatchObject({ code: 0 });
    return out;
  };
  return { ...project, say };
}

describe("dispatch", () => {
  it("prints the prompt alone, and its tokens beside those of the pasted version on standard error", () => {
    const project = featureProject();
    const { code, out, err } = project.haversack(["review", "dispatch", "design-reviewer", "--feature", FOLDER]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Review the design as a sceptic/);
    expect(out).toContain(`- Spec: ${project.root}/${FOLDER}/spec.md (7 lines, sha256 `);
    expect(err).toMatch(/^haversack: note: \d+ tokens sent, \d+ to be read; pasted it would be \d+\n$/);
  });

  it("cites the text about the project by a path that every folder knows", () => {
    const project = featureProject();
    project.write("docs/context.md", "A line about the project.\n".repeat(400));
    const words = ["review", "dispatch", "design-reviewer", "--feature", FOLDER, "--context", "docs/context.md"];
    expect(project.say(...words)).toContain(`${project.root}/docs/context.md`);
  });

  it("gives a script the call, the references and the cost", () => {
    const project = featureProject();
    const words = ["review", "dispatch", "implementer", "--feature", "031-uploads", "--task", "1", "--json"];
    const found = project.haversack(words).json();
    expect(found).toMatchObject({
      feature: FOLDER,
      phase: "implementing",
      role: "implementer",
      iteration: 1,
      how: "fresh",
      call: { description: "Implement task 1: Store a chunk", subagent_type: "iflow:implementer", model: "opus" },
      references: [{ file: "prd.md", state: "present", lines: 7 }, { file: "spec.md" }],
      inlined: [
        { file: "design.md", what: "sections", lines: 5 },
        { file: "plan.md", what: "sections", lines: 2 },
      ],
    });
    expect(Object.keys(found.tokens)).toEqual(["sent", "reads", "pasted", "pasted_unpruned"]);
  });

  it.each([
    [["spec-reviwer", "--feature", FOLDER], 1, 'no role "spec-reviwer"\nhaversack: hint: did you mean spec-reviewer?'],
    [["phase-reviewer", "--feature", FOLDER], 2, "specify, design, create-plan, create-tasks"],
    [["phase-reviewer", "--feature", FOLDER, "--phase", "desing"], 1, "did you mean design?"],
    [["spec-reviewer", "--feature", "031-upload"], 1, "did you mean 031-uploads?"],
    [["spec-reviewer", "--feature", "../elsewhere"], 2, "outside of the repository"],
    [["spec-reviewer"], 2, "dispatch needs --feature DIR"],
    [
      ["implementer", "--feature", FOLDER, "--task", "Remove old chunk"],
      1,
      'did you mean "Task 2: Remove old chunks"?',
    ],
    [["implementer", "--feature", FOLDER, "--phase", "implementing"], 1, "works on one task"],
    [["spec-reviewer", "--feature", FOLDER, "--iteration", "0"], 2, "at least 1"],
  ])("%j: says what is wrong", (words, code, text) => {
    const project = featureProject();
    mkdirSync(join(project.root, "../elsewhere"));
    const ran = project.haversack(["review", "dispatch", ...words]);
    expect(ran).toMatchObject({ code, out: "" });
    expect(ran.err).toContain(text);
    expect(ran.err).not.toContain("internal fault");
  });

  it.each(["design.md#C1", "Design #C1", "design.md#c1-chunk-store", "docs/features/031-uploads/design.md#C1"])(
    "finds the section that a task names as %s, in tasks.md and in the store",
    (reference) => {
      const project = featureProject();
      const inlined = (task: string) => {
        const words = ["review", "dispatch", "implementer", "--feature", FOLDER, "--task", task, "--json"];
        const { call, problems } = project.haversack(words).json();
        expect(problems?.filter((line: string) => line.startsWith("design.md")) ?? []).toEqual([]);
        return call.prompt;
      };
      const text = `- **Traceability:** ${reference}; Plan Step 1.1\n\nStore it.\n`;
      project.write(`${FOLDER}/tasks.md`, `# Tasks\n\n### Task 7: Keep it\n${text}`);
      expect(inlined("7")).toContain("Chunks are files named by offset.");
      expect(inlined("tasks.md#7")).toContain("Chunks are files named by offset.");
      const { id } = project.haversack(["task", "create", "Keep it", "--description", text, "--json"]).json();
      expect(inlined(id)).toContain("Chunks are files named by offset.");
    },
  );

  it("bears documents of every bad kind", () => {
    const project = featureProject();
    const file = (name: string) => join(project.root, FOLDER, name);
    writeFileSync(file("prd.md"), `# PRD\n${"A line of some words, again and again.\n".repeat(125_000)}`);
    writeFileSync(file("spec.md"), Buffer.from([0xff, 0, 1]));
    rmSync(file("plan.md"));
    writeFileSync(file("design.md"), "");
    const { code, out, err } = project.haversack(["review", "dispatch", "task-reviewer", "--feature", FOLDER]);
    expect(code).toBe(0);
    expect(out).toContain(`- PRD: ${file("prd.md")} (125001 lines, sha256 `);
    expect(out).toContain("read it in parts, to the end");
    expect(out.length).toBeLessThan(10_000);
    for (const text of ["spec.md: is no text", "design.md: is empty", "plan.md: does not exist"])
      expect(err).toContain(text);
    symlinkSync("/etc/hostname", file("plan.md"));
    const plan = project.haversack(["review", "dispatch", "plan-reviewer", "--feature", FOLDER]);
    expect(plan).toMatchObject({ code: 1, out: "" });
    expect(plan.err).toContain("leads out of the repository");
  });
});

describe("artifacts", () => {
  it("prints references and sections, and offers the nearest heading", () => {
    const project = featureProject();
    const design = `${FOLDER}/design.md`;
    expect(project.say("artifacts", "refs", "spec-reviewer", "--feature", FOLDER)).toBe(
      `## Required Artifacts
You MUST read the following files before beginning your review.
After reading, confirm: "Files read: {name} ({N} lines), ..." in a single line.
- PRD: ${project.root}/${FOLDER}/prd.md (7 lines, sha256 9db0f8b84751)
`,
    );
    expect(project.say("artifacts", "section", design, "C1")).toMatch(
      /^## C1: Chunk store\n[\s\S]*### Errors\n.*dropped\.\n$/,
    );
    const named = project.say("artifacts", "section", design, "C1");
    for (const words of [[design, "#C1"], [`${design}#C1`], [`${design}#c1-chunk-store`], [design, "design.md#C1"]])
      expect(project.say("artifacts", "section", ...words)).toBe(named);
    expect(project.haversack(["artifacts", "section", design])).toMatchObject({
      code: 2,
      err: expect.stringContaining("the heading is missing"),
    });
    const none = project.haversack(["artifacts", "section", design, "Chunk stroe"]);
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toContain('has no heading "Chunk stroe"\nhaversack: hint: did you mean "C1: Chunk store"');
    project.write("twice.md", "# A\n## Setup\n1\n## Setup\n2\n");
    const twice = project.haversack(["artifacts", "section", "twice.md", "Setup"]);
    expect(twice).toMatchObject({ code: 2, out: "" });
    expect(twice.err).toContain('2 headings fit "Setup" (lines 2, 4)');
    expect(project.say("artifacts", "section", "twice.md", "Setup:2")).toBe("## Setup\n2\n");
    expect(project.haversack(["artifacts", "section", "nowhere.md", "A"])).toMatchObject({ code: 1 });
  });

  it("writes a map to start from once, and checks it", () => {
    const project = featureProject();
    expect(project.say("artifacts", "check")).toContain("The shipped roles");
    project.say("artifacts", "init");
    const file = join(project.root, ".haversack/artifacts.json");
    expect(project.say("artifacts", "check")).toContain(`${file}: 15 roles in 6 sets, 5 documents. No problems.`);
    const own = '{ "extends": "iflwo", "sets": { "x": { "roles": { "y": {} } } } }';
    writeFileSync(file, own);
    expect(project.haversack(["artifacts", "init"])).toMatchObject({ code: 1 });
    expect(readFileSync(file, "utf8")).toBe(own);
    const { code, out } = project.haversack(["artifacts", "check"]);
    expect(code).toBe(1);
    expect(out).toContain("did you mean iflow?");
    expect(out).toContain("sets.x.roles.y.documents: the role has no documents");
    writeFileSync(file, "{ not json");
    const broken = project.haversack(["review", "dispatch", "spec-reviewer", "--feature", FOLDER]);
    expect(broken).toMatchObject({ code: 1, out: "" });
    expect(broken.err).toContain(`${file}: line 1`);
  });

  it("lists what templates paste, with its cost", () => {
    const project = featureProject();
    project.write("commands/review.md", "## Spec\n{content of spec.md}\n\nThe old `{content of plan.md}` is gone.\n");
    const { code, out } = project.haversack(["artifacts", "check", "commands", "--feature", FOLDER]);
    expect(code).toBe(1);
    expect(out).toMatch(/commands\/review\.md:2:1 +paste +\d+ tokens +\{content of spec\.md\}/);
    expect(out).toMatch(/1 file: 1 place pastes documents, \d+ tokens/);
    project.write("clean/a.md", "nothing here\n");
    expect(project.haversack(["artifacts", "check", "clean"])).toMatchObject({ code: 0 });
    expect(project.haversack(["artifacts", "check", "nowhere"])).toMatchObject({ code: 1, out: "" });
  });
});

describe("review", () => {
  const record = (project: Scratch, iteration: string, stdin: string, ...more: string[]) =>
    project.haversack(["review", "record", "design-reviewer", "--feature", FOLDER, "--iteration", iteration, ...more], {
      stdin,
    });

  it("records, shows, decides, and hands on", () => {
    const project = featureProject();
    const first = record(project, "1", ANSWER);
    expect(first.code).toBe(0);
    expect(first.out).toContain(
      "design-reviewer, iteration 1: rejected; 1 open issue; 2 of 2 documents read, by its own word.",
    );
    const prompt = project.say("review", "dispatch", "design-reviewer", "--feature", FOLDER);
    expect(prompt).toContain(
      "This is iteration 2 of 3.\nPrevious issues to re-evaluate:\n- R1 [blocker] Chunks have no owner (at: design.md:3)\n",
    );
    project.say("review", "decide", "design-reviewer", "R1", "The session owns them", "--feature", FOLDER);
    expect(project.say("review", "show", "--feature", FOLDER)).toMatch(
      /design-reviewer \(design\)\n {2}1 {2}rejected {2}1 found .*\n {2}R1 {2}accepted {2}\[blocker\] Chunks have no owner — The session owns them\n/,
    );
    const second = record(project, "2", '{"approved": true, "issues": []}', "--json");
    expect(second.json()).toMatchObject({
      verdict: "approved",
      open_issues: [],
      receipts: {
        source: "claim",
        documents: [
          { file: "prd.md", status: "unread" },
          { file: "spec.md", status: "unread" },
        ],
      },
    });
    const history = readFileSync(join(project.root, FOLDER, ".review-history.md"), "utf8");
    expect(history.match(/^## Design Review - Iteration \d - \S+Z$/gm)).toHaveLength(2);
    expect(history.match(/^LAZY-LOAD-WARNING: design-reviewer did not confirm artifact reads: .*$/gm)).toHaveLength(1);

    const { code, out } = project.haversack(["review", "receipts"]);
    expect(code).toBe(1);
    expect(out).toContain("2 of 4 receipts are missing (50%). More than 20% are missing");
    expect(out).toMatch(/design-reviewer +1 dispatch +\d+ sent/);
    expect(project.haversack(["review", "receipts", "--since", "2999-01-01"])).toMatchObject({ code: 0 });
    expect(project.haversack(["review", "receipts", "--since", "soon"])).toMatchObject({ code: 2 });
    const other = ["review", "dispatch", "spec-reviewer", "--feature", "031-uploads", "--client", "cluade-code"];
    expect(project.haversack(other)).toMatchObject({ code: 2 });
  });

  it("keeps a hand-edited history and refuses what cannot be right", () => {
    const project = featureProject();
    const before = "no heading at all\n\n```\n## Design Review - Iteration 1\nleft open";
    const file = project.write(`${FOLDER}/.review-history.md`, before);
    for (const [iteration, stdin, text] of [
      ["1", "", "the answer is empty"],
      ["1", "It is fine, I think.", "cannot be read as a review"],
    ] as const) {
      const ran = record(project, iteration, stdin);
      expect(ran).toMatchObject({ code: 1, out: "" });
      expect(ran.err).toContain(text);
    }
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(record(project, "1", ANSWER)).toMatchObject({ code: 0 });
    expect(record(project, "1", ANSWER.replace("Not yet", "No"))).toMatchObject({ code: 1, out: "" });
    const after = readFileSync(file, "utf8");
    expect(after.startsWith(before)).toBe(true);
    expect(after.slice(before.length)).toMatch(/^\n```\n\n## Design Review - Iteration 1 - /);
    expect(project.haversack(["review", "record", "design-reviewer", "--feature", FOLDER])).toMatchObject({ code: 2 });
    const unknown = project.haversack(["review", "decide", "design-reviewer", "R7", "x", "--feature", FOLDER]);
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.err).toContain('there is no issue "R7"\nhaversack: hint: did you mean R1?');
  });

  it("looking makes no folder", () => {
    const project = featureProject();
    project.say("review", "show", "--feature", FOLDER);
    project.say("review", "receipts");
    project.say("artifacts", "refs", "spec-reviewer", "--feature", FOLDER);
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);
  });
});

describe("the tools", () => {
  it("dispatch, give references and sections, and record", async () => {
    const project = featureProject();
    const { call } = await startServer(project, { args: ["--tools", "all"] });
    const refs = await call("artifact_refs", { role: "design-reviewer", feature: FOLDER });
    expect(refs.text).toContain(`- Spec: ${project.root}/${FOLDER}/spec.md (7 lines`);
    const section = await call("artifact_section", { file: `${FOLDER}/design.md`, heading: "C3" });
    expect(section).toEqual({ text: "## C3: Cleanup\nChunks older than a day go.", isError: false });
    const outside = await call("artifact_section", { file: "/etc/hostname", heading: "x" });
    expect(outside).toMatchObject({ isError: true, text: expect.stringContaining("leads out of the repository") });
    expect(existsSync(join(project.root, ".haversack"))).toBe(false);

    const recorded = await call("record_review", {
      role: "design-reviewer",
      feature: FOLDER,
      iteration: 1,
      answer: ANSWER,
    });
    expect(JSON.parse(recorded.text)).toMatchObject({ verdict: "rejected", open_issues: [{ id: "R1" }] });
    const history = readFileSync(join(project.root, FOLDER, ".review-history.md"), "utf8");
    expect(history.split("Chunks have no owner")).toHaveLength(2);
    const next = await call("dispatch", { role: "design-reviewer", feature: FOLDER });
    expect(JSON.parse(next.text)).toMatchObject({
      iteration: 2,
      call: { prompt: expect.stringContaining("- R1 [blocker]") },
    });
    const unknown = await call("dispatch", { role: "desing-reviewer", feature: FOLDER });
    expect(unknown).toMatchObject({ isError: true, text: expect.stringContaining("did you mean design-reviewer") });
    const refused = await call("record_review", {
      role: "design-reviewer",
      feature: FOLDER,
      iteration: 2,
      answer: "hm",
    });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("cannot be read as a review") });
  });

  it("work in the project of the server's folder, as all tools do", async () => {
    const project = featureProject();
    const options = { args: ["--tools", "all"], cwd: join(project.root, FOLDER) };
    const { call } = await startServer(project, { ...options, env: { CLAUDE_PROJECT_DIR: "/nowhere/at/all" } });
    const next = await call("dispatch", { role: "design-reviewer", feature: "." });
    expect(JSON.parse(next.text)).toMatchObject({ feature: FOLDER, how: "fresh" });
    await call("create_task", { title: "in the same store" });
    expect(project.say("task", "list")).toContain("in the same store");
    const { dispatches } = project.haversack(["review", "receipts", "--json"]).json();
    expect(dispatches).toMatchObject([{ role: "design-reviewer", dispatches: 1 }]);
  });
});
