import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitBytes, formatCodexAnswer, MAX_CONTEXT_BYTES } from "./adapter.ts";

const payload = { hook_event_name: "UserPromptSubmit" };
const parsed = (text: string) => JSON.parse(text) as Record<string, unknown>;

describe("an answer", () => {
  it("is nothing where there is nothing to say", () => {
    expect(formatCodexAnswer(payload, {})).toBe("");
  });

  it("names its event", () => {
    expect(parsed(formatCodexAnswer(payload, { context: "TEXT" }))).toEqual({
      hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "TEXT" },
    });
  });

  it.each(["PreCompact", "PostCompact", "SessionEnd"])("is nothing at %s, where no text arrives", (event) => {
    expect(formatCodexAnswer({ hook_event_name: event }, { context: "TEXT" })).toBe("");
  });

  it("makes a turn go on by a reason alone", () => {
    const text = formatCodexAnswer({ hook_event_name: "Stop" }, { context: "TEXT" });
    expect(parsed(text)).toEqual({ decision: "block", reason: "TEXT" });
    expect(formatCodexAnswer({ hook_event_name: "Stop" }, {})).toBe("");
  });

  it("refuses a call", () => {
    expect(parsed(formatCodexAnswer({ hook_event_name: "PreToolUse" }, { deny: "no" }))).toEqual({
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" },
    });
  });

  it("changes a sub-agent's task only together with allowing it", () => {
    const spawn = { hook_event_name: "PreToolUse", tool_input: { agent_type: "default", message: "a" } };
    expect(parsed(formatCodexAnswer(spawn, { prompt: "b" }))["hookSpecificOutput"]).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { agent_type: "default", message: "b" },
    });
  });

  it("replaces a result by a reason", () => {
    expect(parsed(formatCodexAnswer({ hook_event_name: "PostToolUse" }, { result: "short" }))).toMatchObject({
      decision: "block",
      reason: "short",
    });
  });
});

describe("a text", () => {
  it("of any letters has at most the bytes that the client lets through, and loses none below", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 400 }),
        fc.integer({ min: 40, max: 800 }),
        (text, maxBytes) => {
          const well = text.toWellFormed();
          const fitted = fitBytes(well, maxBytes);
          expect(Buffer.byteLength(fitted)).toBeLessThanOrEqual(maxBytes);
          if (Buffer.byteLength(well) <= maxBytes) expect(fitted).toBe(well);
          else expect(well.startsWith(fitted.slice(0, fitted.lastIndexOf("\n")))).toBe(true);
        },
      ),
    );
  });

  it("is cut by bytes, not by characters", () => {
    const answer = parsed(formatCodexAnswer(payload, { context: "é".repeat(6000) }));
    const { additionalContext } = answer["hookSpecificOutput"] as { additionalContext: string };
    expect(Buffer.byteLength(additionalContext)).toBeLessThanOrEqual(MAX_CONTEXT_BYTES);
    expect(additionalContext).toMatch(/é\n\[cut to fit\]$/);
  });
});
