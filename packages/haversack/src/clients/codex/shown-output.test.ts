import { describe, expect, it } from "vitest";
import { readCodexOutput } from "./adapter.ts";

const payload = (output: unknown, tool = "Bash") => ({
  hook_event_name: "PostToolUse",
  tool_name: tool,
  tool_input: { command: "cat spec.md" },
  tool_response: output,
});

describe("what a command showed", () => {
  it("is its output, where it ended well or nobody says how", () => {
    const shown = { command: "cat spec.md", output: "a\nb\n" };
    expect(readCodexOutput(payload("a\nb\n"), () => ({ exitCode: 0 }))).toEqual(shown);
    expect(readCodexOutput(payload("a\nb\n"), () => undefined)).toEqual(shown);
  });

  it("is nothing of one that failed, of another tool, or of a result in another shape", () => {
    expect(readCodexOutput(payload("a\n"), () => ({ exitCode: 1 }))).toBeUndefined();
    expect(readCodexOutput(payload("a\n", "apply_patch"), () => undefined)).toBeUndefined();
    expect(readCodexOutput(payload({ text: "a" }), () => undefined)).toBeUndefined();
  });

  it("is the head of a long output, in whole lines, without the lines that the client puts before it", () => {
    const cut =
      "Warning: truncated output (original token count: 47724)\nTotal output lines: 6000\n\none\ntwo\nthr…37724 tokens truncated…e\nlast\n";
    expect(readCodexOutput(payload(cut), () => undefined)?.output).toBe("one\ntwo\n");
  });
});
