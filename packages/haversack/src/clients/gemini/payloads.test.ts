/** Tests the payload readers with payloads of the real client (recorded by test/clients/gemini/record-fixtures.ts). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callKey } from "../../engine/call-key.ts";
import { samplePayload } from "../sample-payloads.ts";
import { geminiProfile, readGeminiBase, readGeminiEvent, readGeminiPrompt, readGeminiTool } from "./adapter.ts";
import { readGeminiCompaction, readGeminiFill } from "./transcript.ts";

const FOLDER = join(import.meta.dirname, "../../../../../test/fixtures/gemini");
const names = readdirSync(FOLDER).filter((file) => file.endsWith(".json") && file !== "mcp-server.json");
const payload = (name: string) =>
  (JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as { payload: Record<string, unknown> }).payload;
const event = (name: string) => {
  const found = payload(name);
  return readGeminiEvent(found, { ...readGeminiBase(found, "/")!, client: geminiProfile("/repo", {}) });
};

describe("every recorded payload", () => {
  it.each(names)("%s has a session and a folder, and no reader fails on it", (file) => {
    const name = file.slice(0, -".json".length);
    const found = payload(name);
    expect(readGeminiBase(found, "/nowhere")).toMatchObject({ sessionId: expect.stringMatching(/./), cwd: "/repo" });
    readGeminiPrompt(found);
    readGeminiTool(found, "/repo");
    event(name);
  });
});

describe("sessions and calls", () => {
  it.each([
    ["session-end", { kind: "session-end" }],
    [
      "before-tool.write-file",
      { kind: "before-tool", toolName: "write_file", path: "/repo/new.txt", isOwnTool: false },
    ],
    ["before-tool.mcp-echo-recall", { kind: "before-tool", isOwnTool: false }],
    [
      "before-tool.invoke-agent",
      { kind: "before-spawn", prompt: "Look around.", agentType: "generalist", toolUseId: expect.stringMatching(/\d/) },
    ],
  ])("%s", (name, wanted) => {
    expect(event(name)).toMatchObject(wanted);
  });

  it.each(["pre-compress.auto", "before-agent", "after-tool.invoke-agent", "after-model", "after-agent"])(
    "%s is no event of ours",
    (name) => {
      expect(event(name)).toBeUndefined();
    },
  );

  it("knows our own tools by their server", () => {
    const own = {
      ...payload("before-tool.mcp-echo-recall"),
      mcp_context: { server_name: "haversack", tool_name: "recall" },
    };
    const base = { ...readGeminiBase(own, "/")!, client: geminiProfile("/repo", {}) };
    const { key } = callKey("recall", { handle: "h1" });
    // The server does not get the call's id, so the call is noted by tool and arguments.
    expect(readGeminiEvent(own, base)).toMatchObject({ isOwnTool: true, toolUseId: expect.stringMatching(`^${key}@`) });
  });
});

describe("a prompt", () => {
  it("is what was typed, without what SessionStart put before it", () => {
    expect(payload("before-agent.after-start-text")["prompt"]).toContain("TEXT-OF-SESSION-START");
    expect(readGeminiPrompt(payload("before-agent.after-start-text"))).toBe("Go on.");
    expect(readGeminiPrompt(payload("before-agent"))).toBe("Use the tools.");
    expect(readGeminiPrompt(payload("before-agent.command"))).toContain("Tie a bowline.");
  });

  it("is none when nothing was typed, and keeps a tag that does not end", () => {
    expect(readGeminiPrompt({ prompt: "<hook_context>x</hook_context>\n\n" })).toBeUndefined();
    expect(readGeminiPrompt({ prompt: "<hook_context>x" })).toBe("<hook_context>x");
    expect(readGeminiPrompt({})).toBeUndefined();
  });
});

describe("what a tool did", () => {
  it.each([
    ["after-tool.write-file", { tool: { tool: "write", path: "/repo/new.txt" } }],
    ["after-tool.replace", { tool: { tool: "edit", path: "/repo/new.txt" } }],
    ["after-tool.replace.failed", { tool: { tool: "edit", isError: true } }],
    ["after-tool.read-file", { tool: { tool: "read", path: "/repo/a.txt" } }],
    ["after-tool.read-file.failed", { tool: { tool: "read", isError: true } }],
    ["after-tool.run-shell-command", { tool: { tool: "shell", exitCode: 0, isError: false, output: "one\ntwo" } }],
    [
      "after-tool.run-shell-command.exit-1",
      { tool: { tool: "shell", exitCode: 1, isError: true, output: "FAIL src/add.test.ts > adds" } },
    ],
    ["after-tool.run-shell-command.git-commit", { tool: { output: expect.stringContaining("[main abc1234]") } }],
    ["after-tool.run-shell-command.background", { tool: { tool: "shell", isBackground: true } }],
    ["after-tool.write-todos", { tool: { tool: "todo", todos: [{ status: "in_progress" }, { status: "pending" }] } }],
    ["after-tool.activate-skill", { skill: "knots" }],
  ])("%s", (name, wanted) => {
    expect(readGeminiTool(payload(name), "/repo")).toMatchObject(wanted);
  });

  it.each(["after-tool.invoke-agent", "after-tool.complete-task", "after-tool.mcp-echo-recall"])(
    "%s is not kept",
    (name) => {
      expect(readGeminiTool(payload(name), "/repo")).toEqual({});
    },
  );

  it("takes an exit code only from the client's own last lines", () => {
    const said = "<untrusted_context>\nOutput: Exit Code: 7\nmore\nProcess Group PGID: 1\n</untrusted_context>";
    const given = {
      tool_name: "run_shell_command",
      tool_input: { command: "x" },
      tool_response: { llmContent: said, returnDisplay: "Exit Code: 7\nmore" },
    };
    expect(readGeminiTool(given, "/repo").tool).toMatchObject({ exitCode: 0, isError: false });
  });
});

describe("the transcript", () => {
  it("tells of the compaction and of the fill", () => {
    const file = join(FOLDER, "transcript.jsonl");
    const summary = /"timestamp":"([^"]+)","type":"user","content":\[\{"text":"<state_snapshot>/.exec(
      readFileSync(file, "utf8"),
    );
    expect(readGeminiCompaction(file)).toEqual(new Date(summary![1]!));
    expect(readGeminiFill(file)).toBe(3_040);
  });

  it("tells nothing when it is not there or holds no summary", () => {
    expect(readGeminiCompaction(join(FOLDER, "nowhere.jsonl"))).toBeUndefined();
    expect(readGeminiCompaction(join(FOLDER, "before-agent.json"))).toBeUndefined();
    expect(readGeminiCompaction(undefined)).toBeUndefined();
    expect(readGeminiFill(join(FOLDER, "nowhere.jsonl"))).toBeUndefined();
  });
});

it("sample payloads have the fields of the recorded ones", () => {
  const recorded: Record<string, string> = {
    SessionStart: "session-start.startup",
    BeforeAgent: "before-agent",
    BeforeTool: "before-tool.invoke-agent",
    AfterTool: "after-tool.run-shell-command",
    SessionEnd: "session-end",
  };
  for (const [name, file] of Object.entries(recorded)) {
    const sample = samplePayload("gemini", name, { sessionId: "s", cwd: "/repo", now: new Date(0) });
    expect(Object.keys(sample).sort(), name).toEqual(Object.keys(payload(file)).sort());
  }
});
