/** Tests the payload readers against what the real client sent (recorded by test/clients/codex/record-fixtures.ts). */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EventProject } from "../../engine/events/event-project.ts";
import { profileOf } from "../../skills/showing/activation.ts";
import { captureEvent } from "../../work/capture/capture.ts";
import { codex, readCodexBase, readCodexEvent, readCodexPrompt, readCodexTool } from "./adapter.ts";
import { endedCommand, readFill } from "./rollout.ts";

const FOLDER = join(import.meta.dirname, "../../../../../test/fixtures/codex");
const names = readdirSync(FOLDER).filter((file) => file.endsWith(".json") && file !== "mcp-server.json");
const payload = (name: string) =>
  (JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8")) as { payload: Record<string, unknown> }).payload;
const event = (name: string) => {
  const found = payload(name);
  return readCodexEvent(found, { ...readCodexBase(found, "/")!, client: profileOf("codex") });
};
const rollout = join(FOLDER, "rollout.jsonl");
const tool = (name: string) => readCodexTool({ ...payload(name), transcript_path: rollout });

describe("every recorded payload", () => {
  it.each(names)("%s has a session and a folder, and no reader fails on it", (file) => {
    const found = payload(file.slice(0, -".json".length));
    expect(readCodexBase(found, "/nowhere")).toMatchObject({ sessionId: expect.stringMatching(/./), cwd: "/repo" });
    readCodexPrompt(found);
    readCodexTool(found);
    event(file.slice(0, -".json".length));
  });
});

it("knows a sub-agent by the thread of the call where the hook names none", () => {
  const { agent_id: _, ...common } = payload("post-tool-use.bash.in-sub-agent");
  const { sessionId } = readCodexBase(common, "/")!;
  expect(readCodexBase({ ...common, thread_id: "t1" }, "/")).toMatchObject({ sessionId, agentId: "t1" });
  expect(readCodexBase({ ...common, thread_id: sessionId }, "/")).toMatchObject({ sessionId, agentId: "" });
  expect(readCodexBase(common, "/")).toMatchObject({ sessionId, agentId: "" });
});

describe("sessions, agents and calls", () => {
  const agentId = expect.stringMatching(/^0{8}-/);
  it.each([
    ["session-start.startup", { kind: "session-start", source: "startup", agentId: "" }],
    ["session-start.resume", { kind: "session-start", source: "resume" }],
    ["session-start.compact", { kind: "session-start", source: "compact", agentId: "" }],
    // Its window is empty, and no text of ours would reach it.
    ["post-compact.auto.in-sub-agent", { kind: "session-start", source: "clear", agentId }],
    ["subagent-start", { kind: "agent-start", agentId, agentType: "default" }],
    ["subagent-stop", { kind: "agent-stop", agentId }],
    ["session-end", { kind: "session-end" }],
    ["pre-tool-use.bash", { kind: "before-tool", toolName: "Bash", isOwnTool: false }],
    ["pre-tool-use.bash.in-sub-agent", { kind: "before-tool", agentId }],
    [
      "pre-tool-use.apply-patch",
      { kind: "before-tool", path: "/repo/new.txt", paths: ["/repo/new.txt", "/repo/a.txt"] },
    ],
    ["pre-tool-use.apply-patch.move", { kind: "before-tool", paths: ["/repo/new.txt", "/repo/a.txt", "/repo/b.txt"] }],
    ["pre-tool-use.mcp-echo-recall", { kind: "before-tool", isOwnTool: false }],
    ["pre-tool-use.spawn-agent", { kind: "before-spawn", prompt: "Look around.", agentType: "default" }],
    ["post-tool-use.spawn-agent", { kind: "after-spawn", isDone: false, childId: agentId }],
  ])("%s", (name, wanted) => {
    expect(event(name)).toMatchObject(wanted);
  });

  it.each([
    "pre-compact.auto",
    // For the main agent, SessionStart reports the compaction.
    "post-compact.auto",
    "stop",
    "permission-request.mcp-echo-recall",
    // Encrypted, and without an id.
    "pre-tool-use.collaborationspawn-agent",
    "post-tool-use.collaborationspawn-agent",
  ])("%s is no event of ours", (name) => {
    expect(event(name)).toBeUndefined();
  });

  it("knows our own tools by their name", () => {
    const own = { ...payload("pre-tool-use.mcp-echo-recall"), tool_name: "mcp__haversack__skill" };
    const base = { ...readCodexBase(own, "/")!, client: profileOf("codex") };
    expect(readCodexEvent(own, base)).toMatchObject({ isOwnTool: true });
  });
});

describe("prompts", () => {
  it("are what a person typed, and what an agent told another, but for a task that came with its packet", () => {
    expect(readCodexPrompt(payload("user-prompt-submit"))).toBe("Use all tools, and $knots.");
    const told = payload("user-prompt-submit.in-sub-agent");
    expect(readCodexPrompt(told)).toBe("Look around.");
    const packet = "Look around.\n\n---\n# Wake-up\n\nFrom Haversack, for a sub-agent; times are UTC.\n";
    expect(readCodexPrompt({ ...told, prompt: packet })).toBeUndefined();
    // Typed by a person, it is an ordinary prompt.
    expect(readCodexPrompt({ ...payload("user-prompt-submit"), prompt: packet })).toBe(packet);
  });

  it("have the id of their turn", () => {
    const prompt = payload("user-prompt-submit");
    const base = { ...readCodexBase(prompt, "/")!, client: profileOf("codex") };
    expect(codex().readEvents(prompt, base, {} as EventProject)).toMatchObject([
      { promptId: expect.stringMatching(/./) },
    ]);
    expect(prompt["turn_id"]).toBe(payload("stop")["turn_id"]);
  });
});

describe("what a tool did", () => {
  it.each([
    ["post-tool-use.bash", { tool: "read", path: "/repo/a.txt" }],
    ["post-tool-use.bash.failing", { tool: "shell", command: "sh check.sh", exitCode: 1, isError: true }],
    ["post-tool-use.bash.git-commit", { tool: "shell", exitCode: 0, isError: false }],
    ["post-tool-use.apply-patch", { tool: "edit", path: "new.txt", paths: ["new.txt", "a.txt"] }],
    ["post-tool-use.apply-patch.move", { tool: "edit", paths: ["new.txt", "a.txt", "b.txt"] }],
  ])("%s", (name, wanted) => {
    expect(tool(name).tool).toMatchObject(wanted);
  });

  it("leaves the exit code open when the session's file does not say it", () => {
    const found = readCodexTool({ ...payload("post-tool-use.bash.failing"), transcript_path: "/none" }).tool;
    expect(found).toMatchObject({ tool: "shell", output: expect.stringContaining("FAIL") });
    expect(found).not.toHaveProperty("exitCode");
    expect(found).not.toHaveProperty("isError");
  });

  it("is a place in the plan", () => {
    const found = tool("post-tool-use.update-plan").tool;
    expect(captureEvent(found!)).toMatchObject({ next_step: "Write it" });
  });

  it("becomes changed files and a commit", () => {
    const edit = { ...tool("post-tool-use.apply-patch").tool!, root: "/repo", cwd: "/repo" };
    expect(captureEvent(edit)).toMatchObject({ uncommitted_files: ["new.txt", "a.txt"] });
    const commit = { ...tool("post-tool-use.bash.git-commit").tool!, root: "/repo", cwd: "/repo" };
    expect(captureEvent(commit)).toMatchObject({ last_commit: "abc1234" });
  });

  it.each(["post-tool-use.mcp-echo-recall", "post-tool-use.spawn-agent", "pre-tool-use.bash", "stop"])(
    "%s is not kept",
    (name) => {
      expect(tool(name)).toEqual({});
    },
  );
});

describe("the session's file", () => {
  it("says how a command ended", () => {
    expect(endedCommand(rollout, "call_1_0")).toEqual({ exitCode: 1 });
    expect(endedCommand(rollout, "call_0_0")).toEqual({ exitCode: 0, readPath: "a.txt" });
    expect(endedCommand(rollout, "call_99_0")).toBeUndefined();
    expect(endedCommand(undefined, "call_1_0")).toBeUndefined();
    expect(endedCommand(rollout, '"')).toBeUndefined();
  });

  it("says how full the window is, after a compaction less", () => {
    expect(readFill(rollout)).toEqual({ usedTokens: 1010, windowTokens: 258_400 });
    expect(readFill(join(FOLDER, "rollout.compacted.jsonl"))).toMatchObject({ usedTokens: 1010 });
    expect(readFill("/none")).toBeUndefined();
  });
});
