import { describe, expect, it } from "vitest";
import { isAgentGone, resumeCall, resumeName, resumeWay } from "./resume-prompt.ts";

const SESSION = "01234567-89ab-4def-8123-456789abcdef";

describe("resumeCall", () => {
  it("wakes a sub-agent of Claude Code by its tool, and sessions of both clients by a command", () => {
    expect(resumeCall("claude-code", { agentId: "a1", description: "spec-reviewer: Spec" })).toMatchObject({
      way: "sub-agent",
      tool: { name: "SendMessage", to: "a1", summary: "spec-reviewer: Spec" },
      text: expect.stringContaining('to "a1"'),
    });
    expect(resumeCall("claude-code", { agentId: SESSION, description: "x" })).toMatchObject({
      way: "session",
      command: ["claude", "-p", "--resume", SESSION],
    });
    expect(resumeCall("codex", { agentId: SESSION, description: "x" })).toMatchObject({ way: "session" });
  });

  it.each([
    ["codex", "a1"],
    ["gemini", SESSION],
    ["toString", SESSION],
    ["claude-code", ""],
    ["claude-code", "--dangerously-skip-permissions"],
    ["claude-code", 'a1" and more'],
    ["claude-code", "a1\nb"],
  ])("knows no way for %s with the id %j", (client, agentId) => {
    expect(resumeWay(client, agentId)).toBeUndefined();
    expect(resumeCall(client, { agentId, description: "x" })).toBeUndefined();
  });
});

it("keeps trials of the two ways apart", () => {
  expect(resumeName("claude-code", "sub-agent")).not.toBe(resumeName("claude-code", "session"));
});

it.each([
  ['Agent "a1" could not be resumed: No transcript found for agent ID: a1.', true],
  ["No conversation found with session ID: 0123", true],
  ["API Error: 400 tool_use ids were found without tool_result blocks", false],
  ["", false],
])("%j is about one agent: %s", (failure, expected) => {
  expect(isAgentGone(failure)).toBe(expected);
});
