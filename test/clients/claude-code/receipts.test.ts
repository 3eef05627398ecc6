/** Receipts in the real client: a sub-agent has read what its tool calls have shown, whatever its answer claims. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sampleDocuments, sampleText } from "../../../packages/haversack/src/artifacts/sample-feature.suite.ts";
import { messagesText } from "../request-text.ts";
import { type Reply, type Rule, steps, type ToolCall, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { BIN, count, haversack, haversackRepo } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";
import { firstPrompt } from "./work-scenario.ts";

const FOLDER = "docs/features/031-uploads";
const ROLE = "plan-reviewer";
/** Names all three documents with their true numbers of lines, whether they were read or not. */
const CLAIM = `Files read: prd.md (7 lines), spec.md (7 lines), design.md (16 lines)

{"approved": true, "issues": [], "summary": "Fine."}`;

interface Report {
  total: number;
  missing: number;
  rates: { role: string; file: string; total: number; missing: number; share: number; from_events: number }[];
}

describe("a sub-agent that must read three documents", () => {
  it("and reads two, one of them in two parts, leaves one warning that names the third, although it claims all", async () => {
    const repo = featureRepo();
    const { run } = await review(repo, [
      { tools: [read(repo, "prd.md")] },
      { tools: [read(repo, "spec.md", { offset: 1, limit: 4 })] },
      { tools: [read(repo, "spec.md", { offset: 5, limit: 20 })] },
      { text: CLAIM },
    ]);
    expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["ALL-DONE"] });

    const history = historyOf(repo);
    expect(count(history, "LAZY-LOAD-WARNING")).toBe(1);
    expect(history).toContain(
      "LAZY-LOAD-WARNING: plan-reviewer did not confirm artifact reads: design.md (0 of 16 lines seen)\n",
    );
    const { rates, ...all } = receipts(repo);
    expect(all).toMatchObject({ total: 3, missing: 1 });
    expect(byFile(rates)).toEqual({ "prd.md": 1, "spec.md": 1, "design.md": 0 });
    for (const { role, total, from_events } of rates) expect([role, total, from_events]).toEqual([ROLE, 1, 1]);

    // Recording the answer finds the same evidence and does not repeat a warning.
    const recorded = spawnSync(
      process.execPath,
      [BIN, "review", "record", ROLE, "--feature", FOLDER, "--iteration", "1"],
      {
        cwd: repo.root,
        env: { ...repo.env, PATH: process.env["PATH"] },
        input: CLAIM,
        encoding: "utf8",
      },
    );
    expect(recorded).toMatchObject({ status: 0 });
    expect(count(historyOf(repo), "LAZY-LOAD-WARNING")).toBe(1);
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 1 });
  });

  it("and reads all, also in the shell, leaves none", async () => {
    const repo = featureRepo();
    const folder = join(repo.root, FOLDER);
    await review(repo, [
      { tools: [read(repo, "prd.md"), toolCall("Bash", { command: `cd ${folder} && cat spec.md` })] },
      { tools: [toolCall("Bash", { command: `sed -n 1,20p ${folder}/design.md` })] },
      { text: "Done, without a word about files." },
    ]);
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 0 });
    expect(existsSync(historyPath(repo))).toBe(false);
  });

  it("and searches them counts the lines that were shown, and none where only files are named", async () => {
    const repo = featureRepo();
    const folder = join(repo.root, FOLDER);
    const search = (input: Record<string, unknown>) => toolCall("Grep", { pattern: "", ...input });
    const { run } = await review(
      repo,
      [
        { tools: [search({ path: `${folder}/prd.md`, output_mode: "content" })] },
        { tools: [search({ path: folder, glob: "spec.md", output_mode: "content", "-n": false, "-C": 1 })] },
        { tools: [search({ path: `${folder}/design.md` })] },
        { tools: [search({ path: folder, glob: "design.md", output_mode: "content", head_limit: 3 })] },
        { text: CLAIM },
      ],
      // Without this the client has no such tool.
      ["--tools", "Agent,Grep,Read"],
    );
    expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["ALL-DONE"] });
    expect(historyOf(repo)).toContain("did not confirm artifact reads: design.md (3 of 16 lines seen)\n");
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 1 });
  });

  it("and calls no tool, or what fails, has read nothing", async () => {
    const repo = featureRepo();
    await review(repo, [
      { tools: [toolCall("Bash", { command: `cat ${FOLDER}/spec.md > /dev/null; cat ${FOLDER}/prd.md; false` })] },
      { text: CLAIM },
    ]);
    await review(repo, [{ text: CLAIM }]);
    expect(receipts(repo)).toMatchObject({ total: 6, missing: 6 });
    expect(count(historyOf(repo), "LAZY-LOAD-WARNING")).toBe(2);
  });

  it.each([false, true])(
    "is told apart from others that work at the same time (background: %s)",
    async (isBackground) => {
      const repo = featureRepo();
      const prompt = dispatch(repo);
      const call = (mark: string, text: string) => agentCall(`${mark}\n${text}`, isBackground);
      const rule = (mark: string, files: string[]): Rule[] => [
        ...files.map(
          (file, at): Rule => ({
            kind: "sub-agent",
            n: at + 1,
            when: (request) => messagesText(request).includes(mark),
            reply: { tools: [read(repo, file)] },
          }),
        ),
        { kind: "sub-agent", when: (request) => messagesText(request).includes(mark), reply: { text: mark } },
      ];
      const tools = [call("RED", prompt), call("GREEN", "Just look at the design."), call("BLUE", prompt)];
      const server = await testServer(
        steps(
          [{ tools }, { text: "ALL-DONE" }],
          ...rule("RED", ["prd.md", "spec.md"]),
          ...rule("GREEN", ["design.md"]),
          ...rule("BLUE", ["design.md", "prd.md"]),
        ),
      );
      await runClaude({ repo, server, prompt: "Have it reviewed." });
      expect(receipts(repo)).toMatchObject({ total: 6, missing: 2 });
      expect(
        historyOf(repo)
          .match(/LAZY.*/g)
          ?.map((line) => line.split(": ").at(-1))
          .sort(),
      ).toEqual(["design.md (0 of 16 lines seen)", "spec.md (0 of 7 lines seen)"]);
    },
  );
});

describe("a sub-agent whose type is a role", () => {
  const prompt = `Review the plan in ${FOLDER}.`;
  const start = async (repo: ScratchRepo) => {
    const server = await testServer(
      steps([{ tools: [agentCall(prompt, false)] }, { text: "ALL-DONE" }], {
        kind: "sub-agent",
        n: 1,
        reply: { tools: [read(repo, "prd.md"), read(repo, "spec.md")] },
      }),
    );
    await runClaude({ repo, server, prompt: "Have the plan reviewed." });
    return server;
  };

  it("and whose prompt only names the feature gets the references, where the project has a role map", async () => {
    const repo = featureRepo();
    repo.write(".haversack/artifacts.json", '{ "extends": "iflow" }');
    const server = await start(repo);
    const given = firstPrompt(server.of("sub-agent")[0]!);
    expect(given).toContain(`${prompt}\n\n## Required Artifacts\n`);
    expect(given).toContain(`- Design: ${repo.root}/${FOLDER}/design.md (16 lines, sha256 `);
    expect(messagesText(server.of("main").at(-1)!)).not.toContain("Required Artifacts");
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 1 });
    expect(historyOf(repo)).toContain("design.md (0 of 16 lines seen)");
  });

  it("starts as it was called where there is none", async () => {
    const repo = featureRepo();
    const server = await start(repo);
    expect(firstPrompt(server.of("sub-agent")[0]!)).not.toContain("Required Artifacts");
    expect(receipts(repo)).toMatchObject({ total: 0 });
  });
});

describe("with artifacts.send_back", () => {
  it("it goes back once with what it has not read, and then all is well", async () => {
    const repo = featureRepo({ sendBack: true });
    const { server } = await review(repo, [
      { tools: [read(repo, "prd.md"), read(repo, "spec.md")] },
      { text: CLAIM },
      { tools: [read(repo, "design.md")] },
      { text: "SECOND-ANSWER" },
    ]);
    const said = server.of("sub-agent").map((request) => messagesText(request));
    expect(said).toHaveLength(4);
    expect(said[1]).not.toContain("You have not read all");
    expect(said[2]).toContain(`${repo.root}/${FOLDER}/design.md (all 16 lines)`);
    expect(messagesText(server.of("main").at(-1)!)).toContain("SECOND-ANSWER");
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 0 });
    expect(existsSync(historyPath(repo))).toBe(false);
  });

  it("one that still does not read may end, with one warning", async () => {
    const repo = featureRepo({ sendBack: true });
    const { server, run } = await review(repo, [{ text: CLAIM }, { text: CLAIM }]);
    expect(run.results).toEqual(["ALL-DONE"]);
    expect(server.of("sub-agent")).toHaveLength(2);
    expect(receipts(repo)).toMatchObject({ total: 3, missing: 3 });
    expect(count(historyOf(repo), "LAZY-LOAD-WARNING")).toBe(1);
  });
});

function featureRepo({ sendBack = false } = {}): ScratchRepo {
  const repo = haversackRepo({});
  for (const { file } of sampleDocuments()) repo.write(`${FOLDER}/${file}`, sampleText(file));
  repo.write(`.claude/agents/${ROLE}.md`, `---\nname: ${ROLE}\ndescription: Reviews plans.\n---\nReview the plan.\n`);
  if (sendBack) haversack(repo, "config", "set", "artifacts.send_back", "true");
  return repo;
}

/** The prompt comes from `haversack review dispatch`; the sub-agent answers with these, in order. */
async function review(repo: ScratchRepo, replies: Reply[], args: string[] = []) {
  const answers = replies.map((reply, at): Rule => ({ kind: "sub-agent", n: at + 1, reply }));
  const server = await testServer(
    steps([{ tools: [agentCall(dispatch(repo), false)] }, { text: "ALL-DONE" }], ...answers),
  );
  return { server, run: await runClaude({ repo, server, prompt: "Have the plan reviewed.", args }) };
}

function dispatch(repo: ScratchRepo): string {
  return haversack(repo, "dispatch", ROLE, "--feature", FOLDER);
}

function agentCall(prompt: string, isBackground: boolean): ToolCall {
  const call = { description: "review the plan", prompt, subagent_type: ROLE, run_in_background: isBackground };
  return toolCall("Agent", call);
}

function read(repo: ScratchRepo, file: string, part: { offset?: number; limit?: number } = {}): ToolCall {
  return toolCall("Read", { file_path: `${repo.root}/${FOLDER}/${file}`, ...part });
}

/** Exits with 1 when too much is missing. */
function receipts(repo: ScratchRepo): Report {
  const { stdout } = spawnSync(process.execPath, [BIN, "receipts", "--json"], {
    cwd: repo.root,
    env: { ...repo.env, PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  return JSON.parse(stdout) as Report;
}

function byFile(rates: Report["rates"]): Record<string, number> {
  return Object.fromEntries(rates.map(({ file, share }) => [file, share]));
}

function historyPath(repo: ScratchRepo): string {
  return join(repo.root, FOLDER, ".review-history.md");
}

function historyOf(repo: ScratchRepo): string {
  return readFileSync(historyPath(repo), "utf8");
}
