/** An MCP server over stdio: deferred tools, the fields of a call, and what the server can know about the session. */
import { describe, expect, it } from "vitest";
import { textOf } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { runClaude } from "./run-claude.ts";
import { echoServer, type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

const TOOL = "mcp__echo__recall";

describe("a deferred tool", () => {
  it("is listed by name, loaded with ToolSearch and then called", async () => {
    const repo = mcpRepo();
    const search = toolCall("ToolSearch", { query: `select:${TOOL}`, max_results: 1 });
    const server = await testServer(
      steps([{ tools: [search] }, { tools: [toolCall(TOOL, { handle: "h1" })] }, { text: "ok" }]),
    );
    await runClaude({ repo, server, prompt: "Recall." });
    const [first, second, third] = server.of("main");
    expect(textOf(first!)).toContain(TOOL);
    expect(textOf(first!)).toContain("ECHO-INSTRUCTIONS");
    expect(textOf(first!)).not.toContain("Recalls the thing");
    expect(textOf(second!)).toContain("Recalls the thing");
    expect(second?.tools.find(({ name }) => name === TOOL)?.defer_loading).toBe(true);
    expect(third?.toolResults).toEqual([{ toolUseId: "toolu_1_0", text: "RECALLED h1", isError: false }]);
  });

  it("can be called without ToolSearch as well, although the listing says that it cannot", async () => {
    const repo = mcpRepo();
    const server = await testServer(steps([{ tools: [toolCall(TOOL, { handle: "h1" })] }, { text: "ok" }]));
    await runClaude({ repo, server, prompt: "Recall." });
    expect(server.of("main")[1]?.toolResults).toMatchObject([{ text: "RECALLED h1", isError: false }]);
  });

  it("is there from the start with alwaysLoad", async () => {
    const repo = mcpRepo({ alwaysLoad: true });
    const server = await testServer();
    await runClaude({ repo, server, prompt: "Recall." });
    expect(server.requests[0]?.tools.find(({ name }) => name === TOOL)?.defer_loading).toBeUndefined();
    expect(textOf(server.requests[0]!)).toContain("Recalls the thing");
  });
});

describe("the server", () => {
  it("sees the tool-use id that the hooks see, and session and project in its environment", async () => {
    const repo = mcpRepo();
    repo.recordHooks();
    const server = await testServer(steps([{ tools: [toolCall(TOOL, { handle: "h1" })] }, { text: "ok" }]));
    const run = await runClaude({ repo, server, prompt: "Recall." });
    const call = repo.mcp().find(({ message }) => message?.method === "tools/call")?.message;
    expect(call?.params?.["_meta"]).toEqual({ "claudecode/toolUseId": "toolu_0_0", progressToken: expect.any(Number) });
    for (const event of ["PreToolUse", "PostToolUse"]) {
      expect(repo.hooks(event)[0]?.payload).toMatchObject({
        tool_name: TOOL,
        tool_use_id: "toolu_0_0",
        mcp_server: { name: "echo", source: "project" },
      });
    }
    const start = repo.mcp()[0]?.start;
    expect(start?.env).toMatchObject({ CLAUDE_CODE_SESSION_ID: run.sessionId, CLAUDE_PROJECT_DIR: repo.root });
    expect(start?.cwd).toBe(repo.root);
  });

  it("keeps running over /clear, so its environment then names the session before", async () => {
    const repo = mcpRepo();
    repo.recordHooks();
    const recall = { tools: [toolCall(TOOL, { handle: "h1" })] };
    const server = await testServer(steps([recall, { text: "one" }, recall, { text: "two" }]));
    await runClaude({ repo, server, prompt: ["First.", "/clear", "Second."] });
    const [before, after] = repo.hooks("PostToolUse").map(({ payload }) => payload.session_id);
    expect(after).not.toBe(before);
    expect(new Set(repo.mcp().map(({ pid }) => pid)).size).toBe(1);
    expect(repo.mcp()[0]?.start?.env["CLAUDE_CODE_SESSION_ID"]).toBe(before);
  });
});

function mcpRepo(more: Record<string, unknown> = {}): ScratchRepo {
  const repo = scratchRepo();
  repo.writeMcpServers({ echo: { ...echoServer(repo), ...more } });
  return repo;
}
