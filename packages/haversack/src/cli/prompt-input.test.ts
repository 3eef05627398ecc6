import { describe, expect, it } from "vitest";
import { readPromptInput } from "./prompt-input.ts";

const read = (value: unknown) => readPromptInput(typeof value === "string" ? value : JSON.stringify(value));
const claude = { session_id: "s", cwd: "/home/me/api", hook_event_name: "UserPromptSubmit", prompt: "hello" };

describe("readPromptInput", () => {
  it.each([
    ["Claude Code", claude, { client: "claude-code", sessionId: "s", cwd: "/home/me/api" }],
    ["its sub-agents", { ...claude, agent_id: "a1" }, { agentId: "a1" }],
    ["Codex", { ...claude, turn_id: "t" }, { client: "codex" }],
    ["Gemini", { ...claude, hook_event_name: "BeforeAgent" }, { client: "gemini" }],
    ["a line of a recording", { event: "UserPromptSubmit:", stdin: claude }, { client: "claude-code" }],
    [
      "opencode",
      {
        input: { sessionID: "s" },
        output: {
          message: { role: "user" },
          parts: [{ type: "text", text: "hello" }, { type: "text", text: "ours", synthetic: true }, { type: "file" }],
        },
      },
      { client: "opencode", sessionId: "s" },
    ],
    ["a payload with a byte order mark and blank lines", `\ufeff\n ${JSON.stringify(claude)}\n`, { sessionId: "s" }],
  ])("takes the prompt of %s", (_, payload, more) => {
    expect(read(payload)).toMatchObject({ kind: "prompt", prompt: "hello", ...more });
  });

  it.each([
    ["another event", { ...claude, hook_event_name: "PreToolUse", prompt: undefined }],
    ["an event that repeats the prompt", { ...claude, hook_event_name: "AfterAgent" }],
    ["the expansion of a command", { ...claude, hook_event_name: "UserPromptExpansion" }],
    ["a background agent's result", { ...claude, prompt: "<task-notification>\ndone" }],
    ["an empty prompt", { ...claude, prompt: "" }],
    ["a prompt that is no text", { ...claude, prompt: ["hello"] }],
    ["a payload without an event or a prompt", { session_id: "s", cwd: "/api" }],
    ["opencode's other hooks", { input: { sessionID: "s", tool: "bash" }, output: { args: { command: "ls" } } }],
    ["a payload that was cut off", JSON.stringify(claude).slice(0, -5)],
  ])("finds no prompt in %s", (_, payload) => {
    expect(read(payload)).toEqual({ kind: "not-a-prompt" });
  });

  it("leaves out what hooks said before Gemini's first prompt", () => {
    const prompt = "<hook_context>use the pdf skill\nnow</hook_context>\n\nhello";
    expect(read({ ...claude, hook_event_name: "BeforeAgent", prompt })).toMatchObject({ prompt: "hello" });
  });

  it.each([
    "",
    "fix it",
    '{"name": "x"} is wrong, fix it',
    "{ braces",
    '{"prompt": "in json", "model": "x"}',
    "[1, 2]",
    "null",
  ])("takes %j as it is", (text) => {
    expect(read(text)).toEqual({ kind: "prompt", prompt: text });
  });
});
