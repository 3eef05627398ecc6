import { expect, it } from "vitest";
import { windowOfCall } from "../engine/window-of-call.ts";
import { openMemoryStore } from "../store/sqlite/memory.ts";
import { SessionState } from "../store/sqlite/session-state.ts";
import { SqliteLocalStore } from "../store/sqlite/sqlite-local-store.ts";
import { readCallMarks } from "./call-marks.ts";

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
