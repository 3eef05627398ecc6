/** After a compaction the model gets its skill and the state of the work again, once. */
import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../model-request.ts";
import { firstChange, messagesText } from "../request-text.ts";
import { type Reply, type Rule, steps, toolCall } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { testServer } from "./claude-test.ts";
import { count, haversack, haversackRepo, NAMING, NODE_ON_PATH, ORDINARY, ours, SKILL_TOOL } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

const AUTO = ["--autocompact", "100000"];

describe("/compact", () => {
  it("brings back the skill that Haversack loaded and the work; --resume doubles neither", async () => {
    const repo = failingRepo();
    const server = await testServer(steps([write(repo), runTests(), { text: "one" }, { text: "two" }]));
    const prompt = [NAMING, ORDINARY, "/compact", ORDINARY, NAMING];
    const { sessionId } = await runClaude({ repo, server, prompt, env: NODE_ON_PATH });
    const [afterwards, named] = server.of("main").slice(-2);
    expectRestored(afterwards!, server);
    expect(ours(afterwards)).toHaveLength(1);
    expect(ours(afterwards)[0]?.event).toBe("SessionStart");
    expectRestored(named!, server);
    expect(firstChange(afterwards!, named!)).toBeUndefined();

    await runClaude({ repo, server, prompt: ORDINARY, args: ["--resume", sessionId] });
    expectRestored(server.of("main").at(-1)!, server);
  });

  it("leaves a skill that the client loaded to the client", async () => {
    const repo = haversackRepo();
    const skill = { tools: [toolCall("Skill", { skill: "sql-tuning" })] };
    const server = await testServer(steps([skill, write(repo), { text: "one" }]));
    await runClaude({ repo, server, prompt: ["Begin.", ORDINARY, "/compact", ORDINARY] });
    const after = server.of("main").at(-1)!;
    expect(count(messagesText(after), "BODY-OF-sql-tuning")).toBe(1);
    expect(ours(after)[0]?.text).toContain("notes.txt");
    expect(ours(after)[0]?.text).not.toContain("sql-tuning");
  });

  it("brings back what our tool loaded, after every compaction once", async () => {
    const repo = haversackRepo();
    const server = await testServer(steps([{ tools: [toolCall(SKILL_TOOL, { name: "pdf-forms" })] }, { text: "one" }]));
    const prompt = ["Begin.", ORDINARY, "/compact", ORDINARY, ORDINARY, "/compact", ORDINARY, NAMING];
    await runClaude({ repo, server, prompt });
    expect(server.of("compaction")).toHaveLength(2);
    const after = server
      .of("main")
      .slice(2)
      .map((request) => count(messagesText(request), "BODY-OF-pdf-forms"));
    expect(after).toEqual([1, 1, 1, 1, 1]);
  });

  it("leaves a skill whose file was read to the client, which brings the few files back that it read", async () => {
    const repo = haversackRepo();
    const read = toolCall("Read", { file_path: `${repo.root}/.claude/skills/sql-tuning/SKILL.md` });
    const server = await testServer(steps([{ tools: [read] }, { text: "one" }]));
    await runClaude({ repo, server, prompt: ["Begin.", ORDINARY, "/compact", ORDINARY] });
    const after = server.of("main").at(-1)!;
    expect(count(messagesText(after), "BODY-OF-sql-tuning")).toBe(1);
    expect(ours(after)).toEqual([]);
  });

  it("brings nothing where nothing was in hand", async () => {
    const repo = haversackRepo();
    const server = await testServer();
    await runClaude({ repo, server, prompt: [ORDINARY, ORDINARY, "/compact", ORDINARY] });
    expect(ours(server.of("main").at(-1))).toEqual([]);
  });
});

describe("automatic compaction", () => {
  it("in the middle of a turn", async () => {
    const repo = failingRepo();
    const server = await testServer(steps([write(repo), runTests(), work(97_000), { text: "end" }]));
    await runClaude({ repo, server, prompt: NAMING, args: AUTO, env: NODE_ON_PATH });
    expect(server.of("compaction")).toHaveLength(1);
    expectRestored(server.of("main").at(-1)!, server);
  });

  it("in the middle of a turn that left no trace in the work", async () => {
    const repo = haversackRepo();
    const server = await testServer(steps([work(10_000), work(20_000), work(97_000), { text: "end" }]));
    await runClaude({ repo, server, prompt: NAMING, args: AUTO });
    expect(server.of("compaction")).toHaveLength(1);
    expect(ours(server.of("main").at(-1)).map(({ event }) => event)).toEqual(["SessionStart"]);
    expect(count(messagesText(server.of("main").at(-1)!), "BODY-OF-pdf-forms")).toBe(1);
  });

  it("before a turn", async () => {
    const repo = failingRepo();
    const server = await testServer(steps([write(repo), runTests(), { text: "one" }, full()]));
    await runClaude({ repo, server, prompt: [NAMING, ORDINARY, ORDINARY], args: AUTO, env: NODE_ON_PATH });
    expect(server.of("compaction")).toHaveLength(1);
    expectRestored(server.of("main").at(-1)!, server);
  });

  it("before the turn whose own prompt names the skill: the client keeps what that prompt was given", async () => {
    const repo = failingRepo();
    const server = await testServer(steps([write(repo), runTests(), { text: "one" }, full()]));
    await runClaude({ repo, server, prompt: [ORDINARY, ORDINARY, NAMING], args: AUTO, env: NODE_ON_PATH });
    expect(server.of("compaction")).toHaveLength(1);
    const after = server.of("main").at(-1)!;
    expect(count(messagesText(after), "BODY-OF-pdf-forms")).toBe(1);
    expect(count(messagesText(after), "Not committed: notes.txt")).toBe(1);
  });

  it("of a sub-agent: its own work comes back to it, and nothing to the main agent", async () => {
    const repo = haversackRepo();
    const agent = toolCall("Agent", {
      description: "write",
      prompt: "Write it down.",
      subagent_type: "general-purpose",
      run_in_background: false,
    });
    const inside: Rule[] = [write(repo), work(20_000), work(97_000)].map((reply, at) => ({
      kind: "sub-agent",
      n: at + 1,
      reply,
    }));
    const server = await testServer(steps([{ tools: [agent] }, { text: "end" }], ...inside));
    await runClaude({ repo, server, prompt: "Delegate.", args: AUTO });
    expect(server.of("compaction")).toHaveLength(1);
    expect(ours(server.of("sub-agent").at(-1)).map(({ text }) => text)).toEqual([
      expect.stringContaining("Not committed: notes.txt"),
    ]);
    expect(ours(server.of("main").at(-1))).toEqual([]);
  });
});

describe("what a compaction does not bring", () => {
  const ONLY_EXPLAIN = "Only explain, do not change anything.";

  it("orders, to a session without a task: what is red and what changed are facts", async () => {
    const repo = failingRepo();
    haversack(repo, "task", "create", "Something for later");
    const server = await testServer(steps([write(repo), runTests(), { text: "one" }]));
    await runClaude({ repo, server, prompt: ["Begin.", ORDINARY, "/compact", ONLY_EXPLAIN], env: NODE_ON_PATH });
    const [packet, ...more] = ours(server.of("main").at(-1));
    expect(more).toEqual([]);
    expect(packet?.text).toContain("From Haversack, after a compaction");
    expect(packet?.text).toContain("Failing test: adds two numbers (run: node --test)");
    expect(packet?.text).toContain("Not committed: notes.txt");
    expect(packet?.text).not.toMatch(/^\d+\. /m);
    expect(packet?.text).not.toMatch(/You are|orchestrator|Next Action|Fix |Commit |claim|Something for later/);
  });

  it("tasks that the session asked for and did not take", async () => {
    const repo = haversackRepo();
    const ids = ["Limit logins", "Lock accounts", "Log attempts"].map(
      (title) => (JSON.parse(haversack(repo, "task", "create", title, "--json")) as { id: string }).id,
    );
    const [, own = ""] = ids;
    const call = (name: string, input: Record<string, unknown>): Reply => ({ tools: [toolCall(name, input)] });
    const server = await testServer(
      steps([
        call("mcp__haversack__get_next_batch", {}),
        call("mcp__haversack__update_task_status", { task_id: own, status: "in_progress" }),
        write(repo),
        { text: "one" },
      ]),
    );
    await runClaude({ repo, server, prompt: ["Begin.", "/compact", ONLY_EXPLAIN] });
    const asked = server.of("main")[1]?.toolResults[0]?.text ?? "";
    expect(ids.filter((id) => asked.includes(id)).length).toBeGreaterThan(1);
    const [packet] = ours(server.of("main").at(-1));
    expect(packet?.text).toContain(`**Current position:** ${own} "Lock accounts" is in progress`);
    expect(packet?.text).toMatch(/You are @claude-code-\w+, the implementer/);
    expect(packet?.text).toContain(
      `## Your Next Action\nUnless you are asked for something else:\nGo on with ${own} "Lock accounts" from its work in progress.`,
    );
    expect(packet?.text).toContain("Not committed: notes.txt");
    for (const id of ids) if (id !== own) expect(packet?.text).not.toContain(id);
    expect(packet?.text).not.toMatch(/Dispatch|also hold|orchestrator|Guidelines|VERDICT/);
  });
});

/** A repository with one test, which fails. */
function failingRepo(): ScratchRepo {
  const repo = haversackRepo();
  repo.write(
    "sum.test.js",
    'const { test } = require("node:test");\ntest("adds two numbers", () => require("node:assert").equal(1 + 1, 3));\n',
  );
  return repo;
}

/** The request contains the skill, the file and the failing test once each. */
function expectRestored(request: ModelRequest, { requests }: ScriptedServer): void {
  const ran = requests.flatMap(({ toolResults }) => toolResults).find(({ text }) => text.includes("Exit code 1"));
  expect(ran?.text).toContain("✖ adds two numbers");
  const text = messagesText(request);
  expect(count(text, "BODY-OF-pdf-forms")).toBe(1);
  expect(count(text, "You are using `pdf-forms` (in use before).")).toBe(1);
  expect(count(text, "Not committed: notes.txt")).toBe(1);
  expect(count(text, "Failing test: adds two numbers (run: node --test)")).toBe(1);
}

function write(repo: ScratchRepo): Reply {
  const file_path = `${repo.root}/notes.txt`;
  return { tools: [toolCall("Write", { file_path, content: "a note" })], usage: { inputTokens: 10_000 } };
}

function runTests(): Reply {
  return { tools: [toolCall("Bash", { command: "node --test" })], usage: { inputTokens: 20_000 } };
}

function work(inputTokens: number): Reply {
  return { tools: [toolCall("Bash", { command: "true" })], usage: { inputTokens } };
}

/** An answer after which the window is full. */
function full(): Reply {
  return { text: "two", usage: { inputTokens: 97_000 } };
}
