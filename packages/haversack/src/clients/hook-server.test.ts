import { describe, expect, it } from "vitest";
import { readPayload } from "./hook-server.ts";

describe("the fields of a call for an event", () => {
  it("of Claude Code are texts that hold JSON, and empty where they are missing", () => {
    const input = { client: "claude-code", prompt: "5", agent_id: "", tool_input: '{"a":1}', tool_response: "plain" };
    expect(readPayload(input)).toEqual({
      ...{ client: "claude-code", prompt: "5", tool_input: { a: 1 }, tool_response: "plain" },
    });
  });

  it("of Codex are as they are: what a command printed stays a text, though it is a number or JSON", () => {
    for (const tool_response of ["5\n", "", '{"agent_id":"t1"}', "null"]) {
      const input = { client: "codex", tool_response, tool_input: { command: "printf 5" } };
      expect(readPayload(input)).toEqual(input);
    }
  });

  it("of Codex come with the thread that the call is about; a model's own word for it does not count", () => {
    const input = { client: "codex", session_id: "s1", thread_id: "forged" };
    expect(readPayload(input, { threadId: "t1", progressToken: 3 })).toEqual({ ...input, thread_id: "t1" });
    expect(readPayload({ client: "claude-code", session_id: "s1" }, { threadId: "t1" })).toEqual({
      ...{ client: "claude-code", session_id: "s1" },
    });
  });

  it("may be anything at all", () => {
    for (const input of [undefined, null, 5, "text", []]) expect(readPayload(input)).toEqual({});
  });
});
