/** The harness itself: the real client talks to nobody but the scripted server, and what it sends is understood. */
import { expect, it } from "vitest";
import { firstChange, messagesText, tokens } from "../request-text.ts";
import { namespaceCall, textCall } from "../responses-api.ts";
import { steps, toolCall } from "../script.ts";
import { codexRepo, echoServer } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { CODE_MODEL } from "./run-codex.ts";

it("runs one prompt, reaches no other host, and records what the model got", async () => {
  const { run, server, repo } = await codexOnce("Say hello.", [{ says: "Say hello.", reply: { text: "Hello." } }]);
  expect(run).toMatchObject({ exitCode: 0, isTimedOut: false, lastMessage: "Hello." });
  expect(server.strayHosts).toEqual([]);
  expect(server.otherCalls).toEqual([]);
  const [request] = server.requests;
  expect(request).toMatchObject({
    kind: "main",
    sessionId: run.threadId,
    agentId: undefined,
    lastUserText: "Say hello.",
  });
  expect(await tokens(request!)).toBeGreaterThan(1_000);
  expect(repo.hooks().map(({ payload }) => payload.hook_event_name)).toEqual([
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
  ]);
  expect(new Set(repo.hooks().map(({ payload }) => payload.session_id))).toEqual(new Set([run.threadId]));
});

it("answers with tools of every form, and each request goes on from the one before", async () => {
  const repo = codexRepo();
  repo.addConfig(echoServer(repo, 'default_tools_approval_mode = "approve"'));
  const { run, server } = await codexOnce(
    "Go.",
    steps([
      { tools: [toolCall("exec_command", { cmd: "echo one; exit 3" })] },
      { tools: [textCall("apply_patch", "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch")] },
      { tools: [namespaceCall("mcp__echo", "recall", { handle: "h1" })] },
      { text: "finished" },
    ]),
    { repo },
  );
  expect(run.lastMessage).toBe("finished");
  const results = server.requests.slice(1).map(({ toolResults }) => toolResults[0]?.text);
  expect(results).toEqual([
    expect.stringMatching(/exited with code 3[\s\S]*one/),
    expect.stringContaining("new.txt"),
    expect.stringContaining("RECALLED h1"),
  ]);
  const [first, ...others] = server.requests;
  for (const later of others) expect(firstChange(first!, later)).toBeUndefined();
});

it("runs a model that calls its tools from JavaScript", async () => {
  const { run, server, repo } = await codexOnce(
    "Go.",
    steps([
      { tools: [textCall("exec", 'text(await tools.exec_command({ cmd: "echo inside" }))')] },
      { text: "finished" },
    ]),
    { model: CODE_MODEL },
  );
  expect(run.lastMessage).toBe("finished");
  expect(messagesText(server.requests[1]!)).toContain("inside");
  expect(server.requests[0]?.tools.length).toBeGreaterThan(0);
  expect(repo.hooks("PostToolUse")[0]?.payload).toMatchObject({
    tool_name: "Bash",
    tool_input: { command: "echo inside" },
    tool_use_id: expect.stringMatching(/^exec-/),
  });
});
