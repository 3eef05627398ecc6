/** What the real Gemini CLI does, as far as Haversack relies on it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { pinnedVersion } from "./install.ts";
import { runGemini, spawnGemini } from "./run-gemini.ts";
import { echoServer, scratchGemini } from "./scratch-gemini.ts";

const read = { tools: [toolCall("read_file", { file_path: "a.txt" })] };

it("is the pinned version, and reaches no host but ours", async () => {
  const repo = scratchGemini();
  const server = await testServer();
  const { stdout } = await spawnGemini(["--version"], { repo, server });
  expect(stdout.trim()).toBe(pinnedVersion());
  const run = await runGemini({ repo, server, prompt: "Hello." });
  expect(run).toMatchObject({ exitCode: 0, isTimedOut: false });
  expect(server.strayHosts).toEqual([]);
  expect(run.sessionId).toMatch(/^[0-9a-f-]{36}$/);
});

describe("text of a hook", () => {
  it("stands before the prompt, behind it and in the tool's result, with its brackets escaped", async () => {
    const repo = scratchGemini();
    repo.write("a.txt", "alpha\n");
    repo.recordHooks({ SessionStart: "AT-START", BeforeAgent: "<b> & AT-PROMPT", AfterTool: "AT-TOOL" });
    const server = await testServer(steps([read, { text: "end" }]));
    await runGemini({ repo, server, prompt: "Go." });
    const [first, second] = server.of("main");
    const parts = first!.messages.at(-1)!.content as { text: string }[];
    expect(parts.slice(-2).map(({ text }) => text)).toEqual([
      "<hook_context>AT-START</hook_context>\n\nGo.",
      "<hook_context>&lt;b&gt; & AT-PROMPT</hook_context>",
    ]);
    expect(second?.toolResults[0]?.text).toContain("<hook_context>AT-TOOL</hook_context>");
  });

  it("comes whole with 60,000 characters", async () => {
    const repo = scratchGemini();
    repo.recordHooks({ BeforeAgent: `${"word ".repeat(12_000)}LAST` });
    const server = await testServer();
    await runGemini({ repo, server, prompt: "Go." });
    expect(textOf(server.of("main")[0]!)).toContain(`${"word ".repeat(12_000)}LAST`);
  });

  it("is dropped before a tool", async () => {
    const repo = scratchGemini();
    repo.write("a.txt", "alpha\n");
    repo.recordHooks({ BeforeTool: "BEFORE-TOOL" });
    const server = await testServer(steps([read, { text: "end" }]));
    await runGemini({ repo, server, prompt: "Go." });
    expect(repo.hooks("BeforeTool")).toHaveLength(1);
    expect(server.requests.map(textOf).join("\n")).not.toContain("BEFORE-TOOL");
  });

  it("at the session's start makes a custom command plain text in a headless session", async () => {
    const repo = scratchGemini();
    repo.write(".gemini/commands/tie.toml", "prompt = '''\nEXPANDED {{args}}\n'''\n");
    repo.recordHooks({});
    const server = await testServer();
    await runGemini({ repo, server, prompt: "/tie knots" });
    expect(textOf(server.of("main")[0]!)).toContain("EXPANDED knots");
    repo.recordHooks({ SessionStart: "AT-START" });
    await runGemini({ repo, server, prompt: "/tie knots" });
    expect(textOf(server.of("main")[1]!)).not.toContain("EXPANDED knots");
  });
});

describe("a hook that fails", () => {
  it("whose program is gone stops the prompt, so commands must be guarded", async () => {
    const repo = scratchGemini();
    const hook = { type: "command", command: "/nowhere/hook", timeout: 5_000 };
    repo.writeSettings({ hooks: { BeforeAgent: [{ hooks: [hook] }] } });
    const server = await testServer();
    const run = await runGemini({ repo, server, prompt: "Go." });
    expect(server.of("main")).toEqual([]);
    expect(run.stdout).toContain("blocked");
  });

  it("with 1, or with a text that is no JSON, changes nothing for the model", async () => {
    const repo = scratchGemini();
    repo.recordHooks({ BeforeAgent: { stdout: "PLAIN" }, SessionStart: { stdout: "{", exitCode: 1 } });
    const server = await testServer();
    const run = await runGemini({ repo, server, prompt: "Go." });
    expect(run.exitCode).toBe(0);
    expect(textOf(server.of("main")[0]!)).not.toContain("PLAIN");
  });

  it("that takes too long is left behind, its time in milliseconds", async () => {
    const repo = scratchGemini();
    const hook = { type: "command", command: "exec sleep 60", timeout: 500 };
    repo.writeSettings({ hooks: { BeforeAgent: [{ hooks: [hook] }] } });
    const server = await testServer();
    const run = await runGemini({ repo, server, prompt: "Go.", timeLimitMs: 40_000 });
    expect(run).toMatchObject({ exitCode: 0, isTimedOut: false });
    expect(server.of("main")).toHaveLength(1);
  });
});

describe("a call", () => {
  it("is refused with the reason, and its input replaced as a whole", async () => {
    const repo = scratchGemini();
    const changed = { agent_name: "generalist", prompt: "CHANGED" };
    repo.recordHooks({
      "BeforeTool:write_file": { decision: "deny", reason: "NOT-THAT-FILE" },
      "BeforeTool:invoke_agent": { hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: changed } },
    });
    const spawn = toolCall("invoke_agent", { agent_name: "generalist", prompt: "Look." });
    const server = await testServer(
      steps(
        [{ tools: [toolCall("write_file", { file_path: "x", content: "x" })] }, { tools: [spawn] }, { text: "end" }],
        {
          kind: "sub-agent",
          reply: { tools: [toolCall("complete_task", { result: { response: "report" } })] },
        },
      ),
    );
    await runGemini({ repo, server, prompt: "Go." });
    expect(server.of("main")[1]?.toolResults).toMatchObject([
      { isError: true, text: expect.stringContaining("NOT-THAT-FILE") },
    ]);
    expect(server.of("sub-agent")[0]?.lastUserText).toBe("CHANGED");
    // Inside the sub-agent hooks fire with the session's own id, and BeforeAgent does not.
    expect(repo.hooks("BeforeAgent")).toHaveLength(1);
    const inside = repo.hooks("AfterTool").find(({ payload }) => payload["tool_name"] === "complete_task");
    expect(inside?.payload.session_id).toBe(repo.hooks("BeforeAgent")[0]?.payload.session_id);
  });
});

describe("project settings", () => {
  it("are read in a trusted folder only, and not with --skip-trust", async () => {
    const repo = scratchGemini();
    repo.recordHooks({});
    const server = await testServer();
    await runGemini({ repo, server, prompt: "Go.", isTrusted: false, args: ["--skip-trust"] });
    expect(repo.hooks()).toEqual([]);
    writeFileSync(join(repo.home, ".gemini/trustedFolders.json"), JSON.stringify({ [repo.root]: "TRUST_FOLDER" }));
    await runGemini({ repo, server, prompt: "Go.", isTrusted: false });
    expect(repo.hooks("BeforeAgent")).toHaveLength(1);
  });

  it("are not read from a folder below", async () => {
    const repo = scratchGemini();
    repo.recordHooks({});
    mkdirSync(join(repo.root, "sub"));
    const server = await testServer();
    const run = await runGemini({ repo, server, prompt: "Go.", cwd: join(repo.root, "sub") });
    expect(run.exitCode).toBe(0);
    expect(repo.hooks()).toEqual([]);
  });
});

describe("an MCP server", () => {
  it("has its tools in a headless session only with trust, and hears nothing of who calls", async () => {
    const repo = scratchGemini();
    const recall = { tools: [toolCall("mcp_echo_recall", { handle: "h1" })] };
    const server = await testServer(steps([recall, { text: "end" }]));
    repo.writeSettings({ mcpServers: { echo: echoServer(repo) } });
    await runGemini({ repo, server, prompt: "Go.", skipPermissions: false });
    expect(server.of("main")[0]?.tools.map(({ name }) => name)).not.toContain("mcp_echo_recall");
    repo.writeSettings({ mcpServers: { echo: { ...echoServer(repo), trust: true } } });
    server.setScript(steps([recall, { text: "end" }]));
    await runGemini({ repo, server, prompt: "Go.", skipPermissions: false });
    expect(server.of("main").at(-1)?.toolResults[0]?.text).toContain("RECALLED h1");
    const call = repo.mcp().find(({ message }) => message?.method === "tools/call")?.message;
    expect(Object.keys(call?.params?.["_meta"] ?? {})).toEqual(["progressToken"]);
    expect(Object.keys(repo.mcp()[0]?.start?.env ?? {}).filter((name) => name.includes("SESSION"))).toEqual([]);
  });
});

it("neither lists nor activates a skill that its settings disable", async () => {
  const repo = scratchGemini();
  repo.writeSkill(".agents/skills", "knots", { description: "Knows all about KNOTS-IN-ROPES." });
  repo.writeSkill(".agents/skills", "sails", { description: "Knows all about SAILS-AND-WIND." });
  repo.writeSettings({ skills: { disabled: ["knots"] } });
  const server = await testServer(steps([{ tools: [toolCall("activate_skill", { name: "knots" })] }, { text: "end" }]));
  await runGemini({ repo, server, prompt: "Go." });
  const [first, second] = server.of("main");
  expect(textOf(first!)).toContain("SAILS-AND-WIND");
  expect(textOf(first!)).not.toContain("KNOTS-IN-ROPES");
  expect(second?.toolResults[0]?.isError).toBe(true);
});
