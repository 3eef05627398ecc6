import { expect, it } from "vitest";
import { formatClaudeAnswer } from "./adapter.ts";

const answer = (payload: Record<string, unknown>, parts: Parameters<typeof formatClaudeAnswer>[1]) =>
  JSON.parse(formatClaudeAnswer(payload, parts));

it("prints nothing for nothing", () => {
  expect(formatClaudeAnswer({ hook_event_name: "PreToolUse" }, {})).toBe("");
});

it("changes a sub-agent's prompt and nothing else of the call, and decides on no permission", () => {
  const payload = { hook_event_name: "PreToolUse", tool_input: { prompt: "Task 1", run_in_background: false } };
  expect(answer(payload, { prompt: "Task 1 and more" })).toEqual({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      updatedInput: { prompt: "Task 1 and more", run_in_background: false },
    },
  });
});

it("gives a result in the whole shape of the tool's own", () => {
  const payload = {
    hook_event_name: "PostToolUse",
    tool_response: { status: "completed", agentId: "a1", content: [{ type: "text", text: "long" }] },
  };
  expect(answer(payload, { result: "short" })).toEqual({
    hookSpecificOutput: {
      hookEventName: "PostToolUse",
      updatedToolOutput: { status: "completed", agentId: "a1", content: [{ type: "text", text: "short" }] },
    },
  });
});

it("sends a sub-agent back with a reason, outside of what is said to a model by event", () => {
  expect(answer({ hook_event_name: "SubagentStop" }, { sendBack: "Read it." })).toEqual({
    decision: "block",
    reason: "Read it.",
  });
});
