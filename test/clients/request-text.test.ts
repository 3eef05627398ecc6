/** Tests the helpers for recorded requests, on made-up requests. */
import { describe, expect, it } from "vitest";
import { type Message, type ModelRequest, parseModelRequest } from "./model-request.ts";
import { firstChange, injected, isPrefixOf, textOf } from "./request-text.ts";

const TOOL = { name: "Read", input_schema: {} };

function request(messages: Message[], more: Record<string, unknown> = {}, headers = {}): ModelRequest {
  const body = { model: "m", system: [{ type: "text", text: "SYSTEM" }], tools: [TOOL], messages, ...more };
  return parseModelRequest(0, headers, JSON.stringify(body));
}

const user = (content: Message["content"]): Message => ({ role: "user", content });
const system = (content: Message["content"]): Message => ({ role: "system", content });

describe("parseModelRequest", () => {
  it("passes over trailing system messages to find the last user turn", () => {
    const result = {
      type: "tool_result",
      tool_use_id: "t1",
      content: [{ type: "text", text: "RESULT" }],
      is_error: true,
    };
    const { lastUserText, toolResults } = request([
      user("old"),
      user([result, { type: "text", text: "asked" }]),
      system("injected"),
    ]);
    expect(lastUserText).toBe("asked");
    expect(toolResults).toEqual([{ toolUseId: "t1", text: "RESULT", isError: true }]);
  });

  it("tells the conversations apart", () => {
    const summary = "Write an <analysis> and then a <summary>.";
    expect(request([user("hi")]).kind).toBe("main");
    expect(request([user("hi")], { tools: [] }).kind).toBe("side");
    expect(request([user("hi")], {}, { "x-claude-code-agent-id": "a1" })).toMatchObject({
      kind: "sub-agent",
      agentId: "a1",
    });
    expect(request([user(summary), system("x")]).kind).toBe("compaction");
    expect(request([user(summary)], {}, { "x-claude-code-agent-id": "a1" }).kind).toBe("compaction");
    expect(request([user(summary), user("hi")]).kind).toBe("main");
  });
});

describe("isPrefixOf", () => {
  const first = request([user("one"), system([{ type: "text", text: "two", cache_control: { type: "ephemeral" } }])]);

  it("holds when messages are only added; cache marks and string against block do not count", () => {
    const later = request([user([{ type: "text", text: "one" }]), system("two"), user("three")]);
    expect(isPrefixOf(first, later)).toBe(true);
    expect(isPrefixOf(first, first)).toBe(true);
  });

  it("fails on a changed, missing or moved byte, and says where", () => {
    expect(firstChange(first, request([user("one "), system("two")]))).toBe("message 0");
    expect(firstChange(first, request([user("one")]))).toBe("message 1");
    expect(firstChange(first, request([user("one"), user("two")]))).toBe("message 1");
    expect(firstChange(first, request(first.messages, { system: "OTHER" }))).toBe("system");
    expect(firstChange(first, request(first.messages, { tools: [TOOL, { name: "Write" }] }))).toBe("tools");
  });

  it("allows a tool that is only announced", () => {
    const announced = { tools: [TOOL, { name: "mcp__x", defer_loading: true }] };
    expect(isPrefixOf(first, request(first.messages, announced))).toBe(true);
  });
});

describe("textOf", () => {
  it("has a deferred tool only once it is loaded", () => {
    const tools = [{ name: "mcp__x", description: "SCHEMA-OF-X", defer_loading: true }];
    const reference = {
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "tool_reference", tool_name: "mcp__x" }],
    };
    expect(textOf(request([user("hi")], { tools }))).not.toContain("SCHEMA-OF-X");
    expect(textOf(request([user([reference])], { tools }))).toContain("SCHEMA-OF-X");
  });

  it("keeps the order: tools, system prompt, messages", () => {
    const text = textOf(request([user("FIRST"), system("SECOND")]));
    const places = ["Read", "SYSTEM", "FIRST", "SECOND"].map((word) => text.indexOf(word));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});

describe("injected", () => {
  const joined =
    "SessionStart hook additional context: A\n\nB\n\n# Environment\nmore\n\nUserPromptSubmit hook additional context: C";

  it("cuts at the given text, else at the next label", () => {
    const asked = request([user("hi"), system(joined)]);
    expect(injected(asked, ["A\n\nB", "C"]).map(({ text }) => text)).toEqual(["A\n\nB", "C"]);
    expect(injected(asked)[0]?.text).toBe("A\n\nB\n\n# Environment\nmore");
    expect(injected(asked).map(({ event, message }) => [event, message])).toEqual([
      ["SessionStart", 1],
      ["UserPromptSubmit", 1],
    ]);
  });

  it("reads a reminder of its own up to its end", () => {
    const reminder =
      "<system-reminder>\nPostToolUse:mcp__a__b hook additional context: A\n\nB\n</system-reminder>\nrest";
    expect(injected(request([user(reminder)]))).toEqual([
      { event: "PostToolUse:mcp__a__b", text: "A\n\nB", message: 0 },
    ]);
  });

  it("finds nothing where hooks gave nothing", () => {
    expect(injected(request([user("What is a hook additional context: tell me")]))).toEqual([]);
  });
});
