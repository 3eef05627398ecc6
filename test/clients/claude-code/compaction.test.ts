/** What happens around a manual and an automatic compaction. */
import { describe, expect, it } from "vitest";
import { injected, messagesText } from "../request-text.ts";
import { type Reply, SUMMARY, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { runClaude } from "./run-claude.ts";
import { type ScratchRepo, scratchRepo } from "./scratch-repo.ts";

const ANSWERS = {
  "SessionStart:startup": "AT-STARTUP",
  "SessionStart:compact": "AT-COMPACT",
  UserPromptSubmit: "AT-PROMPT",
};
const GIVEN = Object.values(ANSWERS);
const AROUND_COMPACTION = ["PreCompact", "SubagentStop", "SessionStart", "PostCompact"];

describe("/compact", () => {
  it("drops what was injected before, and the text of SessionStart(compact) is in the next request, once", async () => {
    const repo = compactingRepo();
    const server = await testServer(steps([{ text: "one" }, { text: "two" }, { text: "three" }]));
    const run = await runClaude({ repo, server, prompt: ["First.", "Second.", "/compact keep the gist", "Third."] });
    expect(run.exitCode).toBe(0);
    expect(server.requests.map(({ kind }) => kind)).toEqual(["main", "main", "compaction", "main"]);
    expect(server.of("compaction")[0]?.lastUserText).toContain("keep the gist");

    const after = server.of("main")[2]!;
    expect(messagesText(after)).toContain(SUMMARY);
    expect(injected(after, GIVEN).map(({ text }) => text)).toEqual(["AT-COMPACT", "AT-PROMPT"]);
    expect(eventsFrom(repo, "PreCompact")).toEqual(AROUND_COMPACTION);
    expect(repo.hooks("PreCompact")[0]?.payload).toMatchObject({
      trigger: "manual",
      custom_instructions: "keep the gist",
    });
    // For hooks the summariser is a sub-agent, although its request has no agent ID.
    expect(repo.hooks("SubagentStop")[0]?.payload.agent_type).toBe("");
    expect(repo.hooks("PostCompact")[0]?.payload["compact_summary"]).toContain(SUMMARY);
  });

  it("in a process of its own reaches the next one through --resume", async () => {
    const repo = compactingRepo();
    const server = await testServer();
    const { sessionId } = await runClaude({ repo, server, prompt: ["First.", "Second."] });
    await runClaude({ repo, server, prompt: "/compact", args: ["--resume", sessionId] });
    await runClaude({ repo, server, prompt: "Third.", args: ["--resume", sessionId] });
    const after = server.of("main").at(-1)!;
    expect(messagesText(after)).toContain(SUMMARY);
    expect(injected(after, GIVEN).map(({ text }) => text)).toEqual(["AT-COMPACT", "AT-PROMPT"]);
  });
});

describe("automatic compaction", () => {
  const work = (inputTokens: number): Reply => ({
    tools: [toolCall("Bash", { command: "true" })],
    usage: { inputTokens },
  });

  it("in the middle of a turn: the next request has the summary and the text of SessionStart(compact)", async () => {
    const repo = compactingRepo();
    const server = await testServer(steps([work(10_000), work(20_000), work(97_000), { text: "end" }]));
    const run = await runClaude({ repo, server, prompt: "Work.", args: ["--autocompact", "100000"] });
    expect(run.results).toEqual(["end"]);
    expect(server.requests.map(({ kind }) => kind)).toEqual(["main", "main", "main", "compaction", "main"]);
    const after = server.of("main")[3]!;
    expect(messagesText(after)).toContain(SUMMARY);
    expect(injected(after, GIVEN).map(({ text }) => text)).toEqual(["AT-COMPACT"]);
    expect(repo.hooks("PreCompact")[0]?.payload).toMatchObject({ trigger: "auto", custom_instructions: null });
  });

  it("at a prompt keeps that prompt's injected text: SessionStart(compact) has the same prompt_id", async () => {
    const repo = compactingRepo();
    const server = await testServer(steps([{ text: "one" }, { text: "two", usage: { inputTokens: 97_000 } }]));
    await runClaude({ repo, server, prompt: ["First.", "Second.", "Third."], args: ["--autocompact", "100000"] });
    const after = server.of("main")[2]!;
    expect(injected(after, GIVEN).map(({ text }) => text)).toEqual(["AT-PROMPT", "AT-COMPACT"]);
    expect(eventsFrom(repo, "PreCompact").slice(0, 4)).toEqual(AROUND_COMPACTION);
    const compact = repo.hooks("SessionStart").find(({ payload }) => payload.source === "compact");
    expect(compact?.payload.prompt_id).toBe(repo.hooks("UserPromptSubmit")[2]?.payload.prompt_id);
  });

  it("can fail after PreCompact: then neither SessionStart nor PostCompact fires and the window stays", async () => {
    const repo = compactingRepo();
    const server = await testServer(steps([work(97_000), { text: "end" }]));
    const run = await runClaude({ repo, server, prompt: "Work.", args: ["--autocompact", "100000"] });
    expect(run.events.find((event) => event["compact_result"])).toMatchObject({ compact_result: "failed" });
    expect(repo.hooks("PreCompact")).toHaveLength(1);
    expect(repo.hooks("PostCompact")).toHaveLength(0);
    expect(repo.hooks("SessionStart")).toHaveLength(1);
    expect(injected(server.of("main")[1]!, GIVEN).map(({ text }) => text)).toEqual(["AT-STARTUP", "AT-PROMPT"]);
  });
});

function compactingRepo(): ScratchRepo {
  const repo = scratchRepo();
  repo.recordHooks(ANSWERS, "SessionStart UserPromptSubmit PreCompact PostCompact SubagentStop".split(" "));
  return repo;
}

/** Names of the recorded events from the first of this name on, up to the compaction's end. */
function eventsFrom(repo: ScratchRepo, name: string): string[] {
  const names = repo.hooks().map(({ payload }) => payload.hook_event_name);
  return names.slice(names.indexOf(name)).slice(0, AROUND_COMPACTION.length);
}
