import { expect, it } from "vitest";
import { formatGeminiAnswer } from "./adapter.ts";

const before = { hook_event_name: "BeforeTool", tool_input: { agent_name: "generalist", prompt: "Look." } };
const read = (text: string) => (text === "" ? undefined : JSON.parse(text));

it.each(["SessionStart", "BeforeAgent", "AfterTool"])("gives text to the model after %s", (event) => {
  expect(read(formatGeminiAnswer({ hook_event_name: event }, { context: "TEXT" }))).toEqual({
    hookSpecificOutput: { hookEventName: event, additionalContext: "TEXT" },
  });
});

it("is silent where the client would drop the text, and where there is none", () => {
  expect(formatGeminiAnswer(before, { context: "TEXT" })).toBe("");
  expect(formatGeminiAnswer({ hook_event_name: "SessionEnd" }, { context: "TEXT" })).toBe("");
  expect(formatGeminiAnswer({ hook_event_name: "BeforeAgent" }, {})).toBe("");
  expect(formatGeminiAnswer({ hook_event_name: "AfterTool" }, { result: "R" })).toBe("");
});

it("refuses a call with the reason", () => {
  expect(read(formatGeminiAnswer(before, { deny: "no" }))).toEqual({ decision: "deny", reason: "no" });
});

it("changes a prompt within the whole input: the client replaces it as a whole", () => {
  expect(read(formatGeminiAnswer(before, { prompt: "More." })).hookSpecificOutput.tool_input).toEqual({
    agent_name: "generalist",
    prompt: "More.",
  });
});
