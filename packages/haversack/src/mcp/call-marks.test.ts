import { expect, it } from "vitest";
import { callKey, noteOfCall } from "../engine/call-key.ts";
import { callerOfCall, windowOfCall } from "../engine/window-of-call.ts";
import { openMemoryStore } from "../store/sqlite/open.ts";
import { SessionState } from "../store/sqlite/sessions/session-state.ts";
import { SqliteLocalStore } from "../store/sqlite/sessions/sqlite-local-store.ts";
import { readCallMarks } from "./server.ts";

const meta = (threadId: string, sessionId?: string) => ({ threadId, sessionId, windowId: `${threadId}:0` });
const read = (of: Record<string, unknown> | undefined, env: Record<string, string>, client?: string) =>
  readCallMarks({ name: "get_next_batch", arguments: {}, meta: of, client }, env);
const INSIDE_CLAUDE = { CLAUDE_CODE_SESSION_ID: "outer" };

it("takes the session of a call from the call, whoever started the server", () => {
  expect(read(meta("t", "s"), INSIDE_CLAUDE)).toEqual({ sessionId: "s", threadId: "t", windowId: "t:0" });
  expect(read(meta("t"), INSIDE_CLAUDE)).toEqual({ threadId: "t", windowId: "t:0" });
  expect(read(undefined, INSIDE_CLAUDE)).toEqual({ sessionId: "outer" });
  expect(read({ threadId: "", sessionId: "s", callId: "c" }, INSIDE_CLAUDE)).toEqual({ sessionId: "outer" });
  expect(read({ ...meta("t", "s"), callId: "exec-1" }, {})).toMatchObject({ callId: "exec-1" });
});

it("knows a client that says nothing by the call, and not by the session around it", () => {
  for (const client of ["gemini-cli-mcp-client", "opencode"]) {
    expect(read(undefined, INSIDE_CLAUDE, client)).toEqual({ call: callKey("get_next_batch", {}) });
  }
  expect(read(undefined, INSIDE_CLAUDE, "claude-code")).toEqual({ sessionId: "outer" });
});

it.each([
  ["opencode", { sessionId: "s", agentId: "a1" }],
  // Its sub-agents use the session's ID, but have their own windows.
  ["gemini", undefined],
])("in %s takes the caller from the hook's note, once; its window is known or not", (client, window) => {
  const handle = openMemoryStore();
  const [sessions, state] = [new SqliteLocalStore(handle), new SessionState(handle)];
  const parts = { handle, sessions, state, above: () => ({ ids: [7], space: "here" }) };
  const touch = { client, cwd: "/repo", at: new Date(), process: { id: 7, space: "here" } };
  sessions.touchSession({ ...touch, sessionId: "s" });
  sessions.touchSession({ ...touch, sessionId: "s", agentId: "a1" });
  state.noteToolCall({ sessionId: "s", agentId: "a1" }, noteOfCall(callKey("get_next_batch", {}), "c1"), new Date());
  const marks = read(undefined, {}, client);
  expect(callerOfCall(marks, parts)).toEqual({ sessionId: "s", agentId: "a1" });
  expect(callerOfCall(marks, parts)).toEqual({ sessionId: "s", agentId: "a1" });
  expect(windowOfCall(marks, parts)).toEqual(window);
  // No note is left and a sub-agent is running, so the process alone does not identify the caller.
  expect(callerOfCall(read(undefined, {}, client), parts)).toBeUndefined();
});

it("knows a thread of its own as an agent of the session, and without hooks by its window", () => {
  const handle = openMemoryStore();
  const parts = { handle, sessions: new SqliteLocalStore(handle), state: new SessionState(handle) };
  const of = (threadId: string, sessionId?: string) => windowOfCall(read(meta(threadId, sessionId), {}), parts);
  expect(of("s", "s")).toEqual({ sessionId: "s:0" });
  const touch = { client: "codex", cwd: "/repo", at: new Date(0) };
  parts.sessions.touchSession({ ...touch, sessionId: "s", event: "seen" });
  expect(of("s", "s")).toEqual({ sessionId: "s" });
  expect(of("s")).toEqual({ sessionId: "s" });
  expect(of("child", "s")).toEqual({ sessionId: "child:0" });
  parts.sessions.touchSession({ ...touch, sessionId: "s", agentId: "child", event: "seen" });
  expect(of("child", "s")).toEqual({ sessionId: "s", agentId: "child" });
});
