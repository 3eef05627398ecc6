/** Lines as the clients print them (test/clients/streams.test.ts runs the real ones), and what no client should print. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { claudeStream } from "./claude-code/stream.ts";
import { codexStream } from "./codex/stream.ts";
import { geminiStream } from "./gemini/stream.ts";
import { opencodeStream } from "./opencode/stream.ts";
import { failureReason } from "./stream-event.ts";

const READERS = { claudeStream, codexStream, geminiStream, opencodeStream };

function read(makeReader: typeof claudeStream, ...events: object[]) {
  const reader = makeReader();
  return events.flatMap((event) => reader.read(JSON.stringify(event)));
}

describe("Claude Code", () => {
  const usage = { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 3000, output_tokens: 1 };
  const block = (text: string, more: object = {}) => ({
    type: "assistant",
    message: { id: "m1", usage, content: [{ type: "text", text }] },
    ...more,
  });

  it("counts a message once, though each of its blocks is an event", () => {
    const events = read(claudeStream, block("a"), block("b"));
    expect(events.filter(({ kind }) => kind === "fill")).toEqual([{ kind: "fill", usedTokens: 3210 }]);
    expect(events.filter(({ kind }) => kind === "said")).toHaveLength(2);
  });

  it("counts what sub-agents use, and leaves it out of the window", () => {
    const events = read(claudeStream, block("a", { parent_tool_use_id: "toolu_1" }));
    expect(events.map(({ kind }) => kind)).toEqual(["usage", "said"]);
    expect(events[1]).toMatchObject({ subAgent: "toolu_1" });
  });

  it("takes an API error for one, though it says success", () => {
    const result = { type: "result", subtype: "success", is_error: true, api_error_status: 529, result: "Overloaded" };
    expect(read(claudeStream, result)).toEqual([
      { kind: "result", isError: true, reason: "overloaded", text: "Overloaded" },
    ]);
  });

  it.each([
    [{ subtype: "error_max_turns" }, "max-turns"],
    [{ subtype: "error_max_budget_usd" }, "budget"],
    [{ subtype: "success", is_error: true, terminal_reason: "prompt_too_long" }, "prompt-too-long"],
    [{ subtype: "error_during_execution", terminal_reason: "aborted_tools" }, "aborted"],
    [{ subtype: "success", is_error: true, result: "Not logged in · Please run /login" }, "auth"],
  ])("%o: %s", (fields, reason) => {
    expect(read(claudeStream, { type: "result", ...fields }).at(-1)).toMatchObject({ isError: true, reason });
  });

  it("knows the window and the point of compaction from the answer to our question, and the rest from its own events", () => {
    const events = read(
      claudeStream,
      { type: "control_response", response: { response: { maxTokens: 1_000_000, autoCompactThreshold: 967_000 } } },
      { type: "system", subtype: "compact_boundary", compact_metadata: { pre_tokens: 80_086, post_tokens: 2_788 } },
      { type: "system", subtype: "api_retry", attempt: 7, max_retries: 10, error_status: 500, error: "server_error" },
      { type: "system", subtype: "permission_denied", tool_name: "Bash", message: "no" },
      { type: "tool_progress" },
    );
    expect(events).toEqual([
      { kind: "window", windowTokens: 1_000_000, compactsAtTokens: 967_000 },
      { kind: "compacted", before: 80_086, after: 2_788 },
      { kind: "retry", attempt: 7, of: 10, status: 500, text: "server_error" },
      { kind: "denied", tool: "Bash", text: "no" },
      { kind: "busy" },
    ]);
  });

  it("keeps to the window that our question was answered with: the result names the model's, which a setting may have made smaller", () => {
    const answer = { maxTokens: 100_000, autoCompactThreshold: 67_000 };
    const events = read(
      claudeStream,
      { type: "control_response", response: { response: answer } },
      { type: "result", subtype: "success", modelUsage: { big: { inputTokens: 10, contextWindow: 1_000_000 } } },
    );
    expect(events.flatMap((event) => (event.kind === "window" ? event.windowTokens : []))).toEqual([100_000]);
  });

  it("takes the totals of all models, sub-agents too, from the result", () => {
    const events = read(claudeStream, {
      type: "result",
      subtype: "success",
      is_error: false,
      result: "end",
      total_cost_usd: 0.39,
      // Of the main agent's last turn alone.
      usage: { input_tokens: 1, output_tokens: 1 },
      modelUsage: {
        big: { inputTokens: 10, cacheReadInputTokens: 100, outputTokens: 5, contextWindow: 1_000_000 },
        small: { inputTokens: 20, outputTokens: 7, contextWindow: 200_000 },
      },
    });
    expect(events).toEqual([
      { kind: "window", windowTokens: 1_000_000 },
      { kind: "usage", isTotal: true, inputTokens: 130, cachedTokens: 100, outputTokens: 12, costUsd: 0.39 },
      { kind: "result", isError: false, text: "end" },
    ]);
  });

  it("knows the session from the first hook on, and says which MCP server did not start", () => {
    const events = read(
      claudeStream,
      { type: "system", subtype: "hook_started", session_id: "s1" },
      { type: "system", subtype: "init", session_id: "s1", mcp_servers: [{ name: "haversack", status: "failed" }] },
    );
    expect(events).toEqual([
      { kind: "session", id: "s1" },
      { kind: "session", id: "s1", problems: ["MCP server haversack did not start"] },
    ]);
  });

  it("takes sub-agents' and shells' events, partial messages, replays and summaries for signs of life", () => {
    const kinds = ["task_started", "task_progress", "task_updated", "task_notification", "background_tasks_changed"];
    const events = read(
      claudeStream,
      { type: "system", subtype: "init", session_id: "s1" },
      ...[...kinds, "status"].map((subtype) => ({ type: "system", subtype, session_id: "s1" })),
      { type: "stream_event", event: {} },
      { type: "rate_limit_event", rate_limit_info: { status: "allowed_warning" } },
      { type: "user", isReplay: true, message: { role: "user", content: "Go." } },
      { type: "user", isSynthetic: true, message: { role: "user", content: "Summary" } },
    );
    expect(events.map(({ kind }) => kind)).toEqual(["session", ...Array(8).fill("busy")]);
  });

  it("keeps the end of what is said: the verdict stands there", () => {
    const events = read(claudeStream, block(`${"x".repeat(50_000)}\nVERDICT: FAIL`));
    expect(events.at(-1)).toMatchObject({ text: expect.stringMatching(/\nVERDICT: FAIL$/) });
  });
});

describe("Codex", () => {
  it("knows that reconnecting is no end, and that usage is the thread's total", () => {
    const events = read(
      codexStream,
      { type: "error", message: "Reconnecting... 2/5" },
      { type: "turn.completed", usage: { input_tokens: 77_232, cached_input_tokens: 13_000, output_tokens: 374 } },
    );
    expect(events).toEqual([
      { kind: "retry", attempt: 2, of: 5, text: "Reconnecting... 2/5" },
      { kind: "usage", isTotal: true, inputTokens: 77_232, cachedTokens: 13_000, outputTokens: 374 },
      { kind: "result", isError: false, text: "" },
    ]);
  });

  it("reads a failed command, and a failed turn", () => {
    const item = { type: "command_execution", command: "exit 3", exit_code: 3, status: "failed" };
    expect(read(codexStream, { type: "item.completed", item })).toEqual([{ kind: "tool-end", isError: true }]);
    const failed = { type: "turn.failed", error: { message: "unexpected status 429 Too Many Requests" } };
    expect(read(codexStream, failed)).toMatchObject([{ kind: "result", isError: true, reason: "rate-limited" }]);
  });
});

it("opencode: the first line names the session; a step that goes on is no result; a compaction is seen", () => {
  const tokens = { total: 150, input: 100, output: 20, reasoning: 5, cache: { read: 20, write: 5 } };
  const step = (reason: string) => ({ type: "step_finish", sessionID: "ses_1", part: { reason, tokens, cost: 0.5 } });
  expect(read(opencodeStream, step("tool-calls")).map(({ kind }) => kind)).toEqual(["session", "fill", "usage"]);
  expect(read(opencodeStream, step("stop")).at(-1)).toMatchObject({ kind: "result", isError: false });
  const text = { type: "text", sessionID: "ses_1", part: { text: "go on", metadata: { compaction_continue: true } } };
  expect(read(opencodeStream, text)).toContainEqual({ kind: "compacted" });
});

it("opencode: a permission that nobody could give ends the run; a rule that forbids a call does not", () => {
  const state = {
    status: "error",
    input: { command: "make" },
    error: "The user rejected permission to use this tool.",
  };
  const denied = { type: "tool_use", sessionID: "ses_1", part: { tool: "bash", state } };
  const events = read(opencodeStream, denied);
  expect(events.map(({ kind }) => kind)).toEqual(["session", "tool", "tool-end", "denied", "result"]);
  expect(events.at(-1)).toMatchObject({ isError: true, reason: "denied" });
  const other = (error: string) =>
    read(opencodeStream, { ...denied, part: { tool: "bash", state: { status: "error", error } } }).at(-1)?.kind;
  expect(other("The user has specified a rule which prevents you from using this tool.")).toBe("denied");
  expect(other("no such file")).toBe("tool-end");
});

it("opencode: an error has the server's status", () => {
  const error = {
    type: "error",
    sessionID: "ses_1",
    error: { name: "APIError", data: { statusCode: 429, message: "slow" } },
  };
  expect(read(opencodeStream, error).at(-1)).toMatchObject({ isError: true, reason: "rate-limited" });
});

it("Gemini CLI: a command that fails has the status success; an error in between is not the end; the result's is", () => {
  const events = read(
    geminiStream,
    { type: "tool_result", tool_id: "t", status: "success", output: "exit 3" },
    { type: "error", severity: "warning", message: "Loop detected" },
    { type: "result", status: "error", error: { type: "ApiError", message: "quota", code: 429 }, stats: {} },
  );
  expect(events.map(({ kind }) => kind)).toEqual(["tool-end", "retry", "usage", "result"]);
  expect(events.at(-1)).toMatchObject({ isError: true, reason: "rate-limited" });
});

it("Codex: what is said, edited and warned of; a blocked write has no item at all", () => {
  const items = ["agent_message", "reasoning", "mcp_tool_call", "file_change", "error"].map((type) => ({
    type: "item.completed",
    item: { type, text: "word", tool: "t", server: "s", message: "warned", status: "completed" },
  }));
  const events = read(codexStream, { type: "thread.started", thread_id: "th_1" }, { type: "turn.started" }, ...items);
  expect(events[0]).toEqual({ kind: "session", id: "th_1" });
  expect(events.filter(({ kind }) => kind === "said")).toEqual([{ kind: "said", text: "word" }]);
  expect(events.filter(({ kind }) => kind === "unknown" || kind === "result")).toEqual([]);
});

it("Gemini CLI: pieces of a message are one, and usage comes at the end", () => {
  const events = read(
    geminiStream,
    { type: "init", session_id: "s" },
    { type: "message", role: "assistant", content: "All ", delta: true },
    { type: "message", role: "assistant", content: "done.", delta: true },
    { type: "result", status: "success", stats: { input_tokens: 10, output_tokens: 2 } },
  );
  expect(events.filter(({ kind }) => kind === "said")).toEqual([{ kind: "said", text: "All done." }]);
  expect(events.at(-1)).toMatchObject({ kind: "result", isError: false });
});

it.each([
  [401, "", "auth"],
  [404, "", "not-found"],
  [429, "", "rate-limited"],
  [500, "", "server-error"],
  [503, "", "overloaded"],
  [529, "", "overloaded"],
  [undefined, "Please set an Auth method in your settings", "auth"],
  [undefined, "quota exceeded", "rate-limited"],
  [undefined, "slow down. Request a quota increase, or switch to another /auth method", "rate-limited"],
  [undefined, "We’re currently experiencing high demand, which may cause temporary errors.", "overloaded"],
  [undefined, "Missing environment variable: `OPENAI_KEY`.", "auth"],
  [undefined, "you must specify the GEMINI_API_KEY environment variable.", "auth"],
  // Gemini CLI, exit 55; Codex outside of git.
  [undefined, "Gemini CLI is not running in a trusted directory. Use --skip-trust", "untrusted"],
  [undefined, "Not inside a trusted directory and --skip-git-repo-check was not specified.", "untrusted"],
  [undefined, "prompt is too long: 210000 tokens", "prompt-too-long"],
  // Gemini CLI, exit 53.
  [undefined, "Reached max session turns for this session.", "max-turns"],
  [undefined, "something else", "other"],
] as const)("%s %s: %s", (status, text, reason) => expect(failureReason(status, text)).toBe(reason));

describe.each(Object.entries(READERS))("%s", (_name, makeReader) => {
  it("never throws, whatever stands in a line", () => {
    const reader = makeReader();
    const types =
      "assistant user system result init message tool_use tool_result error text step_finish turn.failed item.completed";
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({
          type: fc.constantFrom(...types.split(" ")),
          message: fc.anything(),
          part: fc.anything(),
          item: fc.anything(),
          error: fc.anything(),
        })
        .map((one) => JSON.stringify(one) ?? ""),
    );
    fc.assert(
      fc.property(anything, (line) => Array.isArray(reader.read(line))),
      { numRuns: 500 },
    );
  });
});
