import { describe, expect, it } from "vitest";
import { profileOf } from "../../skills/showing/activation.ts";
import { codex, readCodexBase, readCodexTool } from "./adapter.ts";
import { codexTranscripts, readCodexCalls } from "./rollout.ts";

const FILE = { path: "/home/user/.codex/sessions/rollout-1.jsonl", agentId: "" };
const EVENT = { session_id: "s1", cwd: "/repo", hook_event_name: "Stop" };
const AT = "2026-01-01T00:00:00.000Z";

const ended = (item: object) => ({
  ...{ timestamp: AT, ordinal: 1, type: "event_msg" },
  payload: { type: "item_completed", thread_id: "s1", turn_id: "t1", item },
});
const command = (id: string, more: object = {}) =>
  ended({
    ...{ type: "CommandExecution", id, process_id: "1", command: ["/bin/bash", "-lc", "npm test"] },
    ...{ cwd: "file:///repo", parsed_cmd: [{ type: "unknown", cmd: "npm test" }], status: "failed" },
    ...{ aggregated_output: "FAIL a.test.ts\n", exit_code: 1, ...more },
  });
const change = (id: string, changes: object, status = "completed") =>
  ended({ type: "FileChange", id, changes, status, stdout: "", stderr: "" });
const plan = (id: string) => ({
  ...{ timestamp: AT, type: "response_item" },
  payload: { type: "function_call", id: "fc", name: "update_plan", arguments: '{"plan":[{"step":"A"}]}', call_id: id },
});
const spawned = (id: string) =>
  ended({
    ...{ type: "CollabAgentToolCall", id, tool: "spawn_agent", status: "completed" },
    ...{ receiver_thread_ids: ["t2"], prompt: "Look around." },
  });

function read(records: readonly unknown[], seen: readonly string[] = [], file = FILE) {
  let from = 0;
  const lines = records.map((record) => {
    const bytes = Buffer.from(typeof record === "string" ? record : JSON.stringify(record));
    const line = { from, bytes };
    from += bytes.length + 1;
    return line;
  });
  return readCodexCalls(EVENT, lines, file, (id) => seen.includes(id));
}

describe("the calls in a session's file", () => {
  it("are told as the events would have told them", () => {
    const { missed } = read([
      command("c1"),
      change("c2", {
        "/repo/a.txt": { type: "add", content: "x" },
        "/repo/b": { type: "update", move_path: "/repo/c" },
      }),
      plan("c3"),
      spawned("c4"),
    ]);
    expect(missed.map(({ toolUseId }) => toolUseId)).toEqual(["c1", "c2", "c3", "c4"]);
    const [shell, patch, todo] = missed.map(({ payload }) => readCodexTool(payload).tool);
    // The exit code is in the line itself, so the file is not read again.
    expect(shell).toMatchObject({ tool: "shell", command: "npm test", exitCode: 1, isError: true });
    expect(patch).toMatchObject({ tool: "edit", paths: ["/repo/a.txt", "/repo/b", "/repo/c"] });
    expect(todo).toMatchObject({ tool: "todo", todos: { plan: [{ step: "A" }] } });
    const { payload } = missed[3]!;
    const base = { ...readCodexBase(payload, "/")!, client: profileOf("codex") };
    expect(codex().readEvents(payload, base, {} as never)).toMatchObject([{ kind: "after-spawn", childId: "t2" }]);
  });

  it("are a read where the command only showed a file", () => {
    const parsed_cmd = [{ type: "read", cmd: "cat a", name: "a", path: "skills/a/SKILL.md" }];
    const [call] = read([command("c1", { parsed_cmd, exit_code: 0, status: "completed" })]).missed;
    expect(readCodexTool(call!.payload).tool).toEqual({ tool: "read", path: "/repo/skills/a/SKILL.md" });
  });

  it("that were seen are passed, with where they stand", () => {
    const { missed, seen, openFrom } = read([command("c1"), command("c2")], ["c1"]);
    expect(missed.map(({ toolUseId }) => toolUseId)).toEqual(["c2"]);
    expect(seen).toEqual([{ toolUseId: "c1", from: 0 }]);
    expect(openFrom).toBeUndefined();
  });

  it("are a sub-agent's in its file", () => {
    const [call] = read([command("c1")], [], { ...FILE, agentId: "t2" }).missed;
    expect(readCodexBase(call!.payload, "/")).toEqual({ sessionId: "s1", agentId: "t2", cwd: "/repo" });
  });

  it("that changed nothing, or that nobody allowed, are none; nor is what only looks like one", () => {
    const none = [
      command("c1", { status: "declined" }),
      change("c2", { "/repo/a": { type: "add" } }, "failed"),
      ended({ type: "CollabAgentToolCall", id: "c3", tool: "wait", status: "completed", receiver_thread_ids: [] }),
      ended({ type: "AgentMessage", id: "m1", content: [{ type: "Text", text: JSON.stringify(command("c4")) }] }),
      JSON.stringify(command("c5")).slice(0, 300),
      "",
      "not JSON",
      { ...command("c6"), timestamp: "no time" },
    ];
    expect(read(none)).toEqual({ missed: [], seen: [] });
  });
});

describe("the files to look in", () => {
  const at = (hook_event_name: string, more: object = {}, agentId = "") =>
    codexTranscripts({ hook_event_name, transcript_path: FILE.path, ...more }, { sessionId: "s1", agentId, cwd: "/" });

  it.each(["UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"])("are the session's at %s", (event) => {
    expect(at(event)).toEqual([FILE]);
    expect(at(event, {}, "t2")).toEqual([]);
    expect(at(event, { transcript_path: null })).toEqual([]);
  });

  it("are a sub-agent's own at its end, and none after a tool", () => {
    const own = { agent_transcript_path: "/r/rollout-2.jsonl" };
    expect(at("SubagentStop", own, "t2")).toEqual([{ path: "/r/rollout-2.jsonl", agentId: "t2" }]);
    expect(at("PostToolUse")).toEqual([]);
  });
});
