/** Tests the payload readers with payloads of the real client (recorded by test/clients/claude-code/record-fixtures.ts). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import { readBase } from "../client-adapter.ts";
import { readClaudeEvent, readClaudePrompt, readClaudeTool, readStart } from "./adapter.ts";

const FOLDER = join(import.meta.dirname, "../../../../../test/fixtures/claude-code");
const names = readdirSync(FOLDER).filter((file) => file.endsWith(".json") && file !== "mcp-server.json");
const payload = (name: string) =>
  (JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as { payload: Record<string, unknown> }).payload;
const event = (name: string) => {
  const found = payload(name);
  const read = found["hook_event_name"] === "SessionStart" ? readStart : readClaudeEvent;
  return read(found, { ...readBase(found, "/")!, client: profileOf("claude-code") });
};

describe("every recorded payload", () => {
  it.each(names)("%s has a session and a folder, and no reader fails on it", (file) => {
    const found = payload(file.slice(0, -".json".length));
    expect(readBase(found, "/nowhere")).toMatchObject({ sessionId: expect.stringMatching(/./), cwd: "/repo" });
    readClaudePrompt(found);
    readClaudeTool(found);
    event(file.slice(0, -".json".length));
  });
});

describe("sessions, agents and calls", () => {
  it.each([
    ["session-start.startup", { kind: "session-start", source: "startup" }],
    ["session-start.resume", { kind: "session-start", source: "resume" }],
    ["session-start.clear", { kind: "session-start", source: "clear" }],
    ["session-start.compact", { kind: "session-start", source: "compact", agentId: "" }],
    [
      "session-start.compact.in-sub-agent",
      { kind: "session-start", source: "compact", agentId: expect.stringMatching(/./) },
    ],
    ["subagent-start", { kind: "agent-start", agentId: expect.stringMatching(/./) }],
    ["subagent-stop", { kind: "agent-stop", agentId: expect.stringMatching(/./) }],
    ["session-end.other", { kind: "session-end" }],
    [
      "pre-tool-use.edit",
      { kind: "before-tool", toolName: "Edit", path: expect.stringContaining("/repo/"), isOwnTool: false },
    ],
    ["pre-tool-use.mcp-echo-recall", { kind: "before-tool", isOwnTool: false }],
    [
      "pre-tool-use.agent",
      {
        kind: "before-spawn",
        prompt: "Look around.",
        agentType: "general-purpose",
        toolUseId: expect.stringMatching(/./),
      },
    ],
    ["post-tool-use.agent.completed", { kind: "after-spawn", isDone: true, childId: expect.stringMatching(/^a\d+$/) }],
    ["post-tool-use.agent.async-launched", { kind: "after-spawn", isDone: false }],
  ])("%s", (name, wanted) => {
    expect(event(name)).toMatchObject(wanted);
  });

  it.each(["subagent-stop.summariser", "pre-compact.auto", "post-compact.manual", "stop", "message-display"])(
    "%s is no event of ours",
    (name) => {
      expect(event(name)).toBeUndefined();
    },
  );
});

it("takes what a person typed for a prompt, and a background agent's report for none", () => {
  expect(readClaudePrompt(payload("user-prompt-submit")).prompt).toMatch(/./);
  expect(readClaudePrompt(payload("user-prompt-submit.task-notification")).prompt).toBeUndefined();
});

describe("what a tool did", () => {
  it.each([
    ["post-tool-use.write.create", { tool: { tool: "write", path: expect.stringContaining("/repo/") } }],
    ["post-tool-use.edit", { tool: { tool: "edit", path: expect.stringContaining("/repo/") } }],
    ["post-tool-use.read", { tool: { tool: "read", path: expect.stringContaining("/repo/") } }],
    ["post-tool-use.bash", { tool: { tool: "shell", exitCode: 0, isError: false } }],
    ["post-tool-use.bash.git-commit", { tool: { tool: "shell", commitSha: "abc1234" } }],
    ["post-tool-use-failure.bash", { tool: { tool: "shell", isError: true, exitCode: expect.any(Number) } }],
    ["post-tool-use.skill", { skill: expect.stringMatching(/./) }],
    [
      "post-tool-use.task-create",
      { tool: { tool: "todo", isPartial: true, todos: [{ subject: expect.any(String), status: "pending" }] } },
    ],
    [
      "post-tool-use.task-update.completed",
      { tool: { tool: "todo", isPartial: true, todos: [{ status: "completed" }] } },
    ],
    ["post-tool-use.todo-write", { tool: { tool: "todo", todos: expect.any(Array) } }],
  ])("%s", (name, wanted) => {
    expect(readClaudeTool(payload(name))).toMatchObject(wanted);
  });

  it.each(["post-tool-use.tool-search", "post-tool-use.agent.completed", "post-tool-use.mcp-echo-recall"])(
    "%s is not kept",
    (name) => {
      expect(readClaudeTool(payload(name))).toEqual({});
    },
  );
});
