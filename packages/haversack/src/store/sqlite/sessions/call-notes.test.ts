import { expect, it } from "vitest";
import { callKey, noteOfCall } from "../../../engine/call-key.ts";
import { openMemoryStore } from "../open.ts";
import { isCallAwaited, SessionState, sessionAbove, takeCall } from "./session-state.ts";
import { SqliteLocalStore } from "./sqlite-local-store.ts";

const START = new Date("2031-05-06T07:00:00.000Z");
const later = (seconds: number) => new Date(START.getTime() + seconds * 1000);
const CALL = callKey("claim_task", {});

function world() {
  const handle = openMemoryStore();
  const sessions = new SqliteLocalStore(handle);
  const state = new SessionState(handle);
  const above = (...ids: number[]) => ({ ids, space: "here" });
  return {
    handle,
    above,
    begin: (sessionId: string, processId: number, more: object = {}) =>
      sessions.touchSession({
        ...{ sessionId, client: "opencode", cwd: "/", at: START, process: { id: processId, space: "here" } },
        ...more,
      }),
    note: (sessionId: string, callId: string, { call = CALL, at = START, agentId = "" } = {}) =>
      state.noteToolCall({ sessionId, agentId }, noteOfCall(call, callId), at),
    take: (call = CALL, ids = [7], at = START) => takeCall(handle, call, { above: above(...ids), at }),
  };
}

it("gives each note once, the newest first", () => {
  const { begin, note, take } = world();
  begin("a", 7);
  begin("b", 7);
  note("a", "c1");
  note("b", "c2", { at: later(1), agentId: "sub" });
  expect(take()).toEqual({ sessionId: "b", agentId: "sub" });
  expect(take()).toEqual({ sessionId: "a", agentId: "" });
  expect(take()).toBeUndefined();
});

it("gives two of the same call by one session, one each", () => {
  const { begin, note, take } = world();
  begin("a", 7);
  note("a", "c1");
  note("a", "c2");
  expect([take(), take(), take()].map((found) => found?.sessionId)).toEqual(["a", "a", undefined]);
});

it("leaves alone what another client has noted, another call, and what is too old", () => {
  const { begin, note, take } = world();
  begin("a", 8);
  begin("b", 7, { process: { id: 7, space: "another machine" } });
  for (const id of ["a", "b"]) note(id, "c1");
  expect(take()).toBeUndefined();
  begin("c", 7);
  note("c", "c1");
  expect(take(callKey("get_task", {}))).toBeUndefined();
  expect(take(CALL, [7], later(3600))).toBeUndefined();
  // There may be wrapper processes between the server and its client.
  expect(take(CALL, [99, 7])).toEqual({ sessionId: "c", agentId: "" });
});

it("takes a note whose arguments the client changed on the way, where only one caller waits for that tool", () => {
  const { begin, note, take } = world();
  begin("a", 7);
  begin("b", 7);
  const sent = callKey("claim_task", { fields: "full" });
  note("a", "c1");
  expect(take(sent)).toEqual({ sessionId: "a", agentId: "" });
  note("a", "c2");
  note("b", "c3");
  expect(take(sent)).toBeUndefined();
});

it("knows that another makes the same call and has not been heard yet, for a moment", () => {
  const { handle, above, begin, note, take } = world();
  begin("a", 7);
  begin("b", 7);
  note("a", "c1");
  const isAwaited = (sessionId: string, at = START, call = CALL) =>
    isCallAwaited(handle, call, { by: { sessionId, agentId: "" }, above: above(7), at });
  expect(isAwaited("b")).toBe(true);
  expect(isAwaited("a")).toBe(false);
  expect(isAwaited("b", later(60))).toBe(false);
  expect(isAwaited("b", START, callKey("claim_task", { fields: "full" }))).toBe(false);
  take();
  expect(isAwaited("b")).toBe(false);
});

it("finds the only session of the nearest client above", () => {
  const { handle, above, begin } = world();
  expect(sessionAbove(handle, above(7))).toBeUndefined();
  begin("a", 7, { client: "gemini" });
  begin("outer", 5, { client: "claude-code" });
  expect(sessionAbove(handle, above(9, 7, 5))).toMatchObject({ sessionId: "a", client: "gemini" });
  expect(sessionAbove(handle, above(9, 5))).toMatchObject({ sessionId: "outer" });
  expect(sessionAbove(handle, { ids: [7], space: "elsewhere" })).toBeUndefined();
  // A process ID does not identify one of two sessions, nor one agent of a session.
  begin("b", 7);
  expect(sessionAbove(handle, above(7, 5))).toBeUndefined();
  begin("b", 7, { event: "end" });
  expect(sessionAbove(handle, above(7))).toMatchObject({ sessionId: "a" });
  begin("a", 7, { agentId: "sub" });
  expect(sessionAbove(handle, above(7))).toBeUndefined();
});
