/** What the real opencode does, as far as Haversack relies on it. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { textOf } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { pinnedVersion } from "./install.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode, spawnOpencode } from "./run-opencode.ts";
import { echoServer, scratchOpencode } from "./scratch-opencode.ts";

it("is the pinned version, and goes on without the registry that it asks for its plugin package", async () => {
  const repo = scratchOpencode();
  repo.recordHooks();
  const server = await testServer();
  const { stdout } = await spawnOpencode(["--version"], { repo, server });
  expect(stdout.trim()).toBe(pinnedVersion());
  const run = await runOpencode({ repo, server, prompt: "Hello." });
  expect(run).toMatchObject({ exitCode: 0, isTimedOut: false });
  const hosts = [...new Set(server.strayHosts.map((host) => host.replace(/:\d+$/, "")))];
  expect(hosts).toEqual([expect.stringMatching(/npm/)]);
  expect(repo.hooks("chat.message")).toHaveLength(1);
});

describe("text of the plugin", () => {
  it("stands behind the prompt, a sub-agent's too, and behind results of built-in and MCP tools", async () => {
    const repo = scratchOpencode();
    repo.writeConfig({ mcp: { echo: echoServer(repo) } });
    repo.recordHooks({
      "chat.message": "BEHIND-PROMPT",
      "after:bash": "BEHIND-BASH",
      "after:echo_recall": "BEHIND-MCP",
    });
    const server = await testServer(
      steps([
        { tools: [toolCall("bash", { command: "true", description: "x" })] },
        { tools: [toolCall("echo_recall", { handle: "h1" })] },
        { tools: [toolCall("task", { description: "look", prompt: "Look.", subagent_type: "general" })] },
        { text: "end" },
      ]),
    );
    await runOpencode({ repo, server, prompt: "Go." });
    const [first, second, third] = server.of("main");
    expect(first?.lastUserText).toBe("Go.\nBEHIND-PROMPT");
    expect(second?.toolResults[0]?.text).toContain("BEHIND-BASH");
    expect(third?.toolResults[0]?.text).toBe("RECALLED h1BEHIND-MCP");
    expect(server.of("sub-agent")[0]?.lastUserText).toBe("Look.\nBEHIND-PROMPT");
  });

  it("comes whole with 60,000 characters", async () => {
    const repo = scratchOpencode();
    repo.recordHooks({ "chat.message": `${"word ".repeat(12_000)}LAST` });
    const server = await testServer();
    await runOpencode({ repo, server, prompt: "Go." });
    expect(textOf(server.of("main")[0]!)).toContain(`${"word ".repeat(12_000)}LAST`);
  });

  it("reaches the summary's prompt", async () => {
    const repo = scratchOpencode();
    const file = repo.write("a.txt", "alpha\n");
    repo.recordHooks({ "session.compacting": "FOR-THE-SUMMARY" });
    const read = { tools: [toolCall("read", { filePath: file })], usage: { inputTokens: 195_000 } };
    const server = await testServer(steps([read, { text: "end" }]));
    await runOpencode({ repo, server, prompt: "Go." });
    expect(server.of("compaction")[0]?.lastUserText).toContain("FOR-THE-SUMMARY");
    const order = repo
      .hooks()
      .map(({ hook, input }) => (input["event"] as { type?: string } | undefined)?.type ?? hook);
    const signs = order.filter((name) => /compact/.test(name));
    expect(signs).toEqual(["session.compacting", "compaction.autocontinue", "session.compacted"]);
  });
});

describe("a call", () => {
  it("is refused by an error, and one that fails tells nothing afterwards", async () => {
    const repo = scratchOpencode();
    repo.recordHooks({ "before:write": { deny: "NOT-THAT-FILE" } });
    const server = await testServer(
      steps([
        { tools: [toolCall("write", { filePath: join(repo.root, "x"), content: "x" })] },
        { tools: [toolCall("read", { filePath: join(repo.root, "gone") })] },
        { text: "end" },
      ]),
    );
    await runOpencode({ repo, server, prompt: "Go." });
    expect(server.of("main")[1]?.toolResults).toMatchObject([{ isError: true, text: "NOT-THAT-FILE" }]);
    expect(repo.hooks("tool.execute.before").map(({ input }) => input["tool"])).toEqual(["write", "read"]);
    expect(repo.hooks("tool.execute.after")).toEqual([]);
  });

  it("to an MCP server says nothing of who makes it", async () => {
    const repo = scratchOpencode();
    repo.writeConfig({ mcp: { echo: echoServer(repo) } });
    const server = await testServer(steps([{ tools: [toolCall("echo_recall", { handle: "h1" })] }, { text: "end" }]));
    await runOpencode({ repo, server, prompt: "Go." });
    const call = repo.mcp().find(({ message }) => message?.method === "tools/call")?.message;
    expect(Object.keys(call?.params?.["_meta"] ?? {})).toEqual(["progressToken"]);
  });
});

it("is unharmed by a plugin that cannot be loaded", async () => {
  const repo = scratchOpencode();
  repo.write(
    ".opencode/plugin/broken.js",
    'export const Broken = async () => (await import("file:///nowhere.mjs")).x;\n',
  );
  const server = await testServer();
  expect(await runOpencode({ repo, server, prompt: "Go." })).toMatchObject({ exitCode: 0, isTimedOut: false });
  expect(server.of("main")).toHaveLength(1);
});
