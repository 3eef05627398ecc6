/** The WIP has what the session's tools did, resolved items are removed, and sub-agents are kept apart. */
import { expect, it } from "vitest";
import { type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { haversack, haversackRepo, NODE_ON_PATH, wipOf } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";

const TEST =
  'const { test } = require("node:test");\ntest("adds two numbers", () => require("node:assert").equal(1 + 1, SUM));\n';

const bash = (command: string) => ({ tools: [toolCall("Bash", { command })] });

it("a write, a failing test and a commit are captured; a green run and the commit settle them", async () => {
  const repo = haversackRepo();
  const write = (name: string, content: string) => ({
    tools: [toolCall("Write", { file_path: `${repo.root}/${name}`, content })],
  });
  const session = { repo, env: NODE_ON_PATH };
  const broken = await testServer(
    steps([write("sum.test.js", TEST.replace("SUM", "3")), bash("node --test"), { text: "it fails" }]),
  );
  const { sessionId, exitCode } = await runClaude({ ...session, server: broken, prompt: "Add a test." });
  expect(exitCode).toBe(0);
  expect(wipOf(repo, sessionId)).toMatchObject({
    files_modified: ["sum.test.js"],
    uncommitted_files: ["sum.test.js"],
    test_results: { ran: true, failed: 1, failing_test: "adds two numbers" },
  });

  const mended = await testServer(
    steps([
      { tools: [toolCall("Read", { file_path: `${repo.root}/sum.test.js` })] },
      write("sum.test.js", TEST.replace("SUM", "2")),
      bash("node --test"),
      { text: "green" },
    ]),
  );
  const resume = ["--resume", sessionId];
  await runClaude({ ...session, server: mended, prompt: "Mend it.", args: resume });
  const green = wipOf(repo, sessionId);
  expect(green).toMatchObject({
    uncommitted_files: ["sum.test.js"],
    test_results: { ran: true, passed: 1, failed: 0 },
  });
  expect(JSON.stringify(green)).not.toContain("adds two numbers");

  const committing = await testServer(
    steps([bash("git add sum.test.js && git commit -m 'test: sums'"), { text: "committed" }]),
  );
  await runClaude({ ...session, server: committing, prompt: "Commit it.", args: resume });
  const wip = wipOf(repo, sessionId);
  expect(wip?.["uncommitted_files"] ?? []).toEqual([]);
  const sha = repo.git("rev-parse", "--short", "HEAD").trim();
  expect(String(wip?.["last_commit"])).toContain(sha);
});

it("three sub-agents in parallel keep their own", async () => {
  const repo = haversackRepo();
  const names = ["red", "green", "blue"];
  const calls = names.map((name) =>
    toolCall("Agent", {
      description: `write ${name}`,
      prompt: `TASK-${name}`,
      subagent_type: "general-purpose",
      run_in_background: false,
    }),
  );
  const inside = names.map((name): Rule => {
    const file_path = `${repo.root}/${name}.txt`;
    return {
      kind: "sub-agent",
      says: `TASK-${name}`,
      times: 1,
      reply: { tools: [toolCall("Write", { file_path, content: name })] },
    };
  });
  const own = { tools: [toolCall("Write", { file_path: `${repo.root}/main.txt`, content: "main" })] };
  const server = await testServer(steps([own, { tools: calls }, { text: "all done" }], ...inside));
  const { sessionId } = await runClaude({ repo, server, prompt: "Delegate." });

  for (const name of names) {
    const request = server.of("sub-agent").find(({ lastUserText }) => lastUserText.includes(`TASK-${name}`));
    expect(wipOf(repo, sessionId, request?.agentId)).toMatchObject({ uncommitted_files: [`${name}.txt`] });
  }
  expect(wipOf(repo, sessionId)).toMatchObject({ uncommitted_files: ["main.txt"] });
  const sessions = JSON.parse(haversack(repo, "session", "list", "--json"));
  expect(JSON.stringify(sessions)).toContain(sessionId);
});
