/** How sub-agents of the real client are identified in hooks, requests and MCP calls. */
import { expect, it } from "vitest";
import { namespaceCall, textCall } from "../responses-api.ts";
import { developerTexts } from "../responses-request.ts";
import { steps } from "../script.ts";
import { type CodexRepo, codexRepo, echoServer } from "./codex-repo.ts";
import { codexOnce } from "./codex-test.ts";
import { CODE_MODEL, DIRECT_MODEL } from "./run-codex.ts";
import { collaborate, shell, spawnAgent } from "./tour.ts";

function agentRepo(): CodexRepo {
  const repo = codexRepo();
  repo.addConfig(echoServer(repo, 'default_tools_approval_mode = "approve"'));
  repo.recordHooks({ SessionStart: "CTX-SESSION", UserPromptSubmit: "CTX-PROMPT", SubagentStart: "CTX-AGENT" });
  return repo;
}

const direct = { tools: [namespaceCall("mcp__echo", "recall", { handle: "sub" })] };
const scripted = { tools: [textCall("exec", 'text(await tools.mcp__echo__recall({ handle: "sub" }))')] };

it.each([
  ["directly", DIRECT_MODEL, [spawnAgent("Look around."), shell("sleep 2")], direct],
  ["in JavaScript", CODE_MODEL, collaborate("Look around."), scripted],
])(
  "have a thread of their own in the session's hooks, requests and calls; tools called %s",
  async (_, model, main, inside) => {
    const repo = agentRepo();
    const script = steps([...main, { text: "end" }], { kind: "sub-agent", n: 1, reply: inside });
    const { run, server } = await codexOnce("Go.", script, { repo, model });
    expect(run.lastMessage).toBe("end");

    const agentId = repo.hooks("SubagentStart")[0]?.payload.agent_id;
    expect(agentId).toMatch(/./);
    expect(agentId).not.toBe(run.threadId);
    for (const event of ["SubagentStart", "SubagentStop"]) {
      expect(repo.hooks(event)[0]?.payload).toMatchObject({ session_id: run.threadId, agent_id: agentId });
    }
    const [request] = server.of("sub-agent");
    expect(request).toMatchObject({ sessionId: run.threadId, agentId });
    const texts = developerTexts(request!);
    expect(texts).toContain("CTX-AGENT");
    expect(texts).not.toContain("CTX-SESSION");

    const call = repo.mcp().find(({ message }) => message?.method === "tools/call")?.message?.params?.["_meta"];
    const before = repo.hooks("PreToolUse").find(({ payload }) => payload.tool_name === "mcp__echo__recall")?.payload;
    expect(call).toMatchObject({
      sessionId: run.threadId,
      threadId: agentId,
      windowId: `${agentId}:0`,
      callId: before?.tool_use_id,
    });
    expect(before?.agent_id).toBe(agentId);
  },
);

it("are named in the older tool's result", async () => {
  const { repo } = await codexOnce("Go.", steps([spawnAgent("Look around."), shell("sleep 1")]));
  const { tool_response } = repo
    .hooks("PostToolUse")
    .find(({ payload }) => payload.tool_name === "spawn_agent")!.payload;
  expect(JSON.parse(String(tool_response))).toMatchObject({
    agent_id: repo.hooks("SubagentStart")[0]?.payload.agent_id,
  });
});

it("get a task from the newer tool that is marked as encrypted", async () => {
  const { server } = await codexOnce("Go.", steps(collaborate("Look around.")), { model: CODE_MODEL });
  const tools = server.requests[0]!.tools.flatMap(({ tools: inner }) => (inner ?? []) as Record<string, unknown>[]);
  const spawn = tools.find(({ name }) => name === "spawn_agent");
  expect(spawn).toMatchObject({ parameters: { properties: { message: { encrypted: true } } } });
});
