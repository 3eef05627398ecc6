/** Sub-agents: three at once, and what tells them apart. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { injected, messagesText } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { runClaude } from "./run-claude.ts";
import { scratchRepo } from "./scratch-repo.ts";

const NAMES = ["RED", "GREEN", "BLUE"];

const agentCall = (name: string, isBackground: boolean) =>
  toolCall("Agent", {
    description: `look at ${name}`,
    prompt: `TASK-${name}`,
    subagent_type: "general-purpose",
    run_in_background: isBackground,
  });

/** Each sub-agent writes a file of its own, then reports. */
const subAgents: Rule[] = NAMES.flatMap((name): Rule[] => [
  {
    kind: "sub-agent",
    says: `TASK-${name}`,
    times: 1,
    reply: { tools: [toolCall("Bash", { command: `echo ${name}` })] },
  },
  { kind: "sub-agent", says: name, reply: { text: `REPORT-${name}` } },
]);

it("three in parallel have ids of their own in requests and hooks, and get only what SubagentStart gives", async () => {
  const repo = scratchRepo();
  repo.recordHooks({ SessionStart: "AT-START", UserPromptSubmit: "AT-PROMPT", SubagentStart: "AT-SUBAGENT" });
  const calls = NAMES.map((name) => agentCall(name, false));
  const server = await testServer(steps([{ tools: calls }, { text: "all done" }], ...subAgents));
  const run = await runClaude({ repo, server, prompt: "Delegate." });
  expect(run.results).toEqual(["all done"]);

  const started = repo.hooks("SubagentStart").map(({ payload }) => payload.agent_id);
  expect(new Set(started).size).toBe(3);
  expect(new Set(repo.hooks("SubagentStop").map(({ payload }) => payload.agent_id))).toEqual(new Set(started));
  expect(new Set(repo.hooks().map(({ payload }) => payload.session_id)).size).toBe(1);

  for (const name of NAMES) {
    const [first, second] = server.of("sub-agent").filter((request) => messagesText(request).includes(`TASK-${name}`));
    expect(started).toContain(first?.agentId);
    expect(second?.agentId).toBe(first?.agentId);
    expect(injected(first!, ["AT-SUBAGENT"]).map(({ event, text }) => [event, text])).toEqual([
      ["SubagentStart", "AT-SUBAGENT"],
    ]);
    const bash = repo.hooks("PostToolUse").filter(({ payload }) => payload.agent_id === first?.agentId);
    expect(bash.map(({ payload }) => payload.tool_input)).toEqual([{ command: `echo ${name}` }]);
    const stop = repo.hooks("SubagentStop").find(({ payload }) => payload.agent_id === first?.agentId);
    expect(stop?.payload).toMatchObject({ agent_type: "general-purpose", last_assistant_message: `REPORT-${name}` });
    const result = server.of("main")[1]?.toolResults.find(({ text }) => text.includes(`REPORT-${name}`));
    expect(result?.text).toContain(first?.agentId);
  }
});

it("in the background comes back as a prompt that begins with <task-notification>", async () => {
  const repo = scratchRepo();
  repo.recordHooks();
  const server = await testServer(steps([{ tools: [agentCall("RED", true)] }, { text: "started" }], ...subAgents));
  await runClaude({ repo, server, prompt: "Delegate." });
  const prompts = repo.hooks("UserPromptSubmit").map(({ payload }) => payload.prompt);
  expect(prompts).toEqual(["Delegate.", expect.stringMatching(/^<task-notification>[\s\S]*REPORT-RED/)]);
});

it("whose own window fills up is compacted alone: its id is in the hooks, and SessionStart's text goes to it", async () => {
  const repo = scratchRepo();
  repo.recordHooks({
    UserPromptSubmit: "AT-PROMPT",
    SubagentStart: "AT-SUBAGENT",
    "SessionStart:compact": "AT-COMPACT",
  });
  const work = [10_000, 20_000, 97_000].map(
    (inputTokens, place): Rule => ({
      kind: "sub-agent",
      n: place + 1,
      reply: { tools: [toolCall("Bash", { command: "true" })], usage: { inputTokens } },
    }),
  );
  const server = await testServer(steps([{ tools: [agentCall("RED", false)] }, { text: "done" }], ...work));
  await runClaude({ repo, server, prompt: "Delegate.", args: ["--autocompact", "100000"] });

  const agentId = repo.hooks("SubagentStart")[0]?.payload.agent_id;
  expect(agentId).toBeDefined();
  for (const event of ["PreCompact", "PostCompact"]) expect(repo.hooks(event)[0]?.payload.agent_id).toBe(agentId);
  expect(repo.hooks("SessionStart")[1]?.payload).toMatchObject({ source: "compact", agent_id: agentId });
  expect(server.of("compaction")[0]?.agentId).toBe(agentId);
  const given = ["AT-PROMPT", "AT-SUBAGENT", "AT-COMPACT"];
  expect(injected(server.of("sub-agent").at(-1)!, given).map(({ text }) => text)).toEqual(["AT-COMPACT"]);
  expect(injected(server.of("main").at(-1)!, given).map(({ text }) => text)).toEqual(["AT-PROMPT"]);
});

it("has the call that started it in a file beside its transcript", async () => {
  const repo = scratchRepo();
  repo.recordHooks();
  const tools = NAMES.map((name) => agentCall(name, false));
  const server = await testServer(steps([{ tools }, { text: "all done" }], ...subAgents));
  await runClaude({ repo, server, prompt: "Delegate." });
  const calls = repo.hooks("PostToolUse").filter(({ payload }) => payload.tool_name === "Agent");
  expect(calls).toHaveLength(3);
  for (const { payload } of calls) {
    const { agentId } = payload["tool_response"] as { agentId: string };
    const folder = String(payload["transcript_path"]).replace(/\.jsonl$/, "");
    const meta = JSON.parse(readFileSync(`${folder}/subagents/agent-${agentId}.meta.json`, "utf8"));
    expect(meta.toolUseId).toBe(payload.tool_use_id);
  }
});

it("starts with the prompt that PreToolUse gives it, without a permission decision; the coordinator's call stays as it was", async () => {
  const repo = scratchRepo();
  const updatedInput = { ...agentCall("RED", false).input, prompt: "TASK-RED and more" };
  const stdout = JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput } });
  repo.recordHooks({ "PreToolUse:Agent": { stdout } });
  const server = await testServer(steps([{ tools: [agentCall("RED", false)] }, { text: "done" }], ...subAgents));
  await runClaude({ repo, server, prompt: "Delegate." });
  expect(messagesText(server.of("sub-agent")[0]!)).toContain("TASK-RED and more");
  expect(messagesText(server.of("main").at(-1)!)).not.toContain("and more");
});
