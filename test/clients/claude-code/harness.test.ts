/** The harness itself, on the real client: prompts, tools, hooks, resume. A failure here is not a fault of Haversack. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { firstChange, injected, messagesText, textOf, tokens } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { claudeOnce, testServer } from "./claude-test.ts";
import { runClaude } from "./run-claude.ts";
import { scratchRepo } from "./scratch-repo.ts";

describe("a prompt", () => {
  it("gets the scripted answer, and nothing is asked of any other host", async () => {
    const { run, server } = await claudeOnce("Say something.", steps([{ text: "something" }]));
    expect(run).toMatchObject({ exitCode: 0, isTimedOut: false, results: ["something"], stderr: "" });
    expect(server.requests.map(({ kind }) => kind)).toEqual(["main"]);
    expect(server.requests[0]?.lastUserText).toContain("Say something.");
    expect(server.strayHosts).toEqual([]);
    expect(await tokens(server.requests[0]!)).toBeGreaterThan(2_000);
  });

  it("that the server refuses ends the run with an error, not a hang", async () => {
    const error = { status: 400, type: "invalid_request_error", message: "NOT-TODAY" };
    const { run } = await claudeOnce("Say something.", [{ reply: { error } }]);
    expect(run.exitCode).not.toBe(0);
    expect(run.events.at(-1)).toMatchObject({ type: "result", is_error: true });
    expect(run.results[0]).toContain("NOT-TODAY");
  });

  it("that takes longer than its limit is killed", async () => {
    const repo = scratchRepo();
    const server = await testServer([{ reply: { text: "late", delayMs: 20_000 } }]);
    const run = await runClaude({ repo, server, prompt: "Wait.", timeLimitMs: 3_000 });
    expect(run).toMatchObject({ isTimedOut: true, results: [] });
  });
});

describe("tools", () => {
  it("are executed and their results come back, each turn a continuation of the one before", async () => {
    const repo = scratchRepo();
    const file = join(repo.root, "new.txt");
    const server = await testServer(
      steps([
        { tools: [toolCall("Write", { file_path: file, content: "written\n" })] },
        { tools: [toolCall("Bash", { command: "cat new.txt; exit 3" }), toolCall("Read", { file_path: file })] },
        { text: "finished" },
      ]),
    );
    const run = await runClaude({ repo, server, prompt: "Use tools." });
    expect(run.results).toEqual(["finished"]);
    expect(readFileSync(file, "utf8")).toBe("written\n");
    const [first, second, third] = server.of("main");
    expect(second?.toolResults).toMatchObject([{ toolUseId: "toolu_0_0", isError: false }]);
    expect(third?.toolResults).toMatchObject([
      { toolUseId: "toolu_1_0", isError: true, text: "Exit code 3\nwritten" },
      { toolUseId: "toolu_1_1", isError: false, text: expect.stringContaining("written") },
    ]);
    expect(firstChange(first!, second!)).toBeUndefined();
    expect(firstChange(second!, third!)).toBeUndefined();
    expect(firstChange(third!, second!)).toBe(`message ${second!.messages.length}`);
  });
});

describe("hooks", () => {
  it("put their text into the request, and get what happened", async () => {
    const repo = scratchRepo();
    const given = {
      SessionStart: "TEXT-AT-START",
      UserPromptSubmit: "TEXT-AT-PROMPT",
      "PostToolUse:Bash": "TEXT-AT-TOOL",
    };
    repo.recordHooks(given);
    const server = await testServer(steps([{ tools: [toolCall("Bash", { command: "true" })] }, { text: "ok" }]));
    await runClaude({ repo, server, prompt: "Hello." });
    const [first, second] = server.of("main");
    expect(injected(first!, Object.values(given)).map(({ event, text }) => [event, text])).toEqual([
      ["SessionStart", "TEXT-AT-START"],
      ["UserPromptSubmit", "TEXT-AT-PROMPT"],
    ]);
    expect(injected(second!, Object.values(given)).map(({ event }) => event)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PostToolUse:Bash",
    ]);
    expect(repo.hooks().map(({ payload }) => payload.hook_event_name)).toEqual(
      "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolBatch MessageDisplay Stop SessionEnd".split(" "),
    );
    const [prompt] = repo.hooks("UserPromptSubmit");
    expect(prompt?.payload).toMatchObject({ prompt: "Hello.", cwd: repo.root });
    expect(prompt?.env).toMatchObject({
      CLAUDE_PROJECT_DIR: repo.root,
      CLAUDE_CODE_SESSION_ID: prompt?.payload.session_id,
    });
  });

  it("reach an older model in the same way, though the client writes them elsewhere", async () => {
    const repo = scratchRepo();
    const given = { SessionStart: "TEXT-AT-START", UserPromptSubmit: "TEXT-AT-PROMPT", PostToolUse: "TEXT-AT-TOOL" };
    repo.recordHooks(given);
    const server = await testServer(steps([{ tools: [toolCall("Bash", { command: "true" })] }, { text: "ok" }]));
    await runClaude({ repo, server, prompt: "Hello.", args: ["--model", "claude-sonnet-4-5"] });
    const [first, second] = server.of("main");
    expect(injected(second!).map(({ event, text }) => [event, text])).toEqual([
      ["SessionStart", "TEXT-AT-START"],
      ["UserPromptSubmit", "TEXT-AT-PROMPT"],
      ["PostToolUse:Bash", "TEXT-AT-TOOL"],
    ]);
    expect(firstChange(first!, second!)).toBeUndefined();
  });

  it("may give 10,000 characters; one more and the model gets a file name instead", async () => {
    for (const [length, isWhole] of [
      [10_000, true],
      [10_001, false],
    ] as const) {
      const repo = scratchRepo();
      const text = `${"é".repeat(length - 3)}END`;
      repo.recordHooks({ UserPromptSubmit: text });
      const server = await testServer();
      await runClaude({ repo, server, prompt: "Hello." });
      expect(messagesText(server.requests[0]!).includes(text)).toBe(isWhole);
    }
  });

  it("that fail or print nothing leave the request as it was", async () => {
    const repo = scratchRepo();
    repo.recordHooks({ UserPromptSubmit: { stdout: "DROPPED", exitCode: 1 } });
    const server = await testServer();
    await runClaude({ repo, server, prompt: "Hello." });
    expect(repo.hooks("UserPromptSubmit")).toHaveLength(1);
    expect(injected(server.requests[0]!)).toEqual([]);
    expect(textOf(server.requests[0]!)).not.toContain("DROPPED");
  });
});

describe("a session", () => {
  it("goes on with --resume in a new process, with the same id, and its first request is a prefix of the next", async () => {
    const repo = scratchRepo();
    repo.recordHooks({ SessionStart: "START", UserPromptSubmit: "PROMPT" });
    const server = await testServer(steps([{ text: "first answer" }, { text: "second answer" }]));
    const first = await runClaude({ repo, server, prompt: "One." });
    const second = await runClaude({ repo, server, prompt: "Two.", args: ["--resume", first.sessionId] });
    expect(second.sessionId).toBe(first.sessionId);
    const [one, two] = server.of("main");
    expect(messagesText(two!)).toContain("first answer");
    expect(firstChange(one!, two!)).toBeUndefined();
    expect(repo.hooks("SessionStart").map(({ payload }) => payload.source)).toEqual(["startup", "resume"]);
    // Text that the session already has from SessionStart is not added again; other text is.
    expect(injected(two!, ["START", "PROMPT"]).map(({ event, message }) => [event, message])).toEqual([
      ["SessionStart", 1],
      ["UserPromptSubmit", 1],
      ["UserPromptSubmit", 4],
    ]);
  });

  it("takes several prompts in one process; /clear begins another session id", async () => {
    const repo = scratchRepo();
    repo.recordHooks();
    const server = await testServer(steps([{ text: "one" }, { text: "two" }, { text: "three" }]));
    const run = await runClaude({ repo, server, prompt: ["First.", "Second.", "/clear", "Third."] });
    expect(run.results).toEqual(["one", "two", "", "three"]);
    expect(repo.hooks("SessionStart").map(({ payload }) => payload.source)).toEqual(["startup", "clear"]);
    const ids = repo.hooks("UserPromptSubmit").map(({ payload }) => payload.session_id);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(messagesText(server.of("main")[2]!)).not.toContain("First.");
  });
});
