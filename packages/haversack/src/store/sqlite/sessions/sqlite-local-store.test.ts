import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoreHandle } from "../access.ts";
import { openDatabase } from "../open.ts";
import { SqliteLocalStore } from "./sqlite-local-store.ts";

describe("sessions in the local store", () => {
  let folder: string;
  let handle: StoreHandle;
  let store: SqliteLocalStore;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "haversack-local-"));
    handle = openDatabase(join(folder, "haversack.db"), { durability: "normal" });
    store = new SqliteLocalStore(handle);
  });
  afterEach(() => {
    handle.db.close();
    rmSync(folder, { recursive: true });
  });

  const minute = (number: number) => new Date(Date.UTC(2031, 0, 1, 10, number));
  const base = { sessionId: "s1", client: "claude-code", cwd: "/repo" };

  it("makes a session on first sight", () => {
    const touched = store.touchSession({ ...base, at: minute(0) });
    expect(touched).toEqual({
      session: { ...base, agentId: "", startedAt: minute(0), lastSeenAt: minute(0), window: 1, promptCount: 0 },
    });
    expect(store.getSession({ sessionId: "s1" })).toEqual(touched.session);
  });

  it("counts prompts and says how it was before", () => {
    store.touchSession({ ...base, at: minute(0), event: "prompt" });
    const { session, before } = store.touchSession({ ...base, at: minute(40), event: "prompt" });
    expect(before).toMatchObject({ promptCount: 1, lastPromptAt: minute(0), lastSeenAt: minute(0) });
    expect(session).toMatchObject({ promptCount: 2, lastPromptAt: minute(40), startedAt: minute(0) });
  });

  it("keeps the time of the last prompt when something else is seen", () => {
    store.touchSession({ ...base, at: minute(0), event: "prompt" });
    const { session } = store.touchSession({ ...base, at: minute(5) });
    expect(session).toMatchObject({ promptCount: 1, lastPromptAt: minute(0), lastSeenAt: minute(5) });
  });

  it("opens a new window after a compaction", () => {
    store.touchSession({ ...base, at: minute(0) });
    expect(store.touchSession({ ...base, at: minute(1), event: "window" }).session.window).toBe(2);
    expect(store.touchSession({ ...base, at: minute(2), event: "prompt" }).session.window).toBe(2);
  });

  it("ends a session and brings it back when it is resumed", () => {
    store.touchSession({ ...base, at: minute(0) });
    expect(store.touchSession({ ...base, at: minute(1), event: "end" }).session.endedAt).toEqual(minute(1));
    expect(store.touchSession({ ...base, at: minute(2) }).session).not.toHaveProperty("endedAt");
  });

  it("never turns the last sight back when hooks commit in the other order", () => {
    store.touchSession({ ...base, at: minute(9) });
    expect(store.touchSession({ ...base, at: minute(3) }).session.lastSeenAt).toEqual(minute(9));
  });

  it("says of every touch what the store then holds", () => {
    const events = ["seen", "prompt", "window", "end", "seen", "prompt"] as const;
    for (const [number, event] of events.entries()) {
      const { session } = store.touchSession({ ...base, at: minute(number), event });
      expect(store.getSession({ sessionId: "s1" })).toEqual(session);
    }
  });

  it("keeps the client's process when a touch does not say it, and what it knows nothing of", () => {
    const row = () => handle.db.prepare("SELECT process_id, process_space, domain_history FROM sessions").get();
    store.touchSession({ ...base, at: minute(0), process: { id: 7, space: "here" } });
    handle.db.exec("UPDATE sessions SET domain_history = '[\"tests\"]'");
    store.touchSession({ ...base, at: minute(1) });
    expect(row()).toEqual({ process_id: 7, process_space: "here", domain_history: '["tests"]' });
    store.touchSession({ ...base, at: minute(2), process: { id: 8, space: "" } });
    expect(row()).toMatchObject({ process_id: 8, process_space: "" });
  });

  it("keeps a sub-agent apart from its parent", () => {
    store.touchSession({ ...base, at: minute(0), event: "prompt" });
    store.touchSession({ ...base, agentId: "a1", at: minute(1) });
    expect(store.getSession({ sessionId: "s1" })?.promptCount).toBe(1);
    expect(store.getSession({ sessionId: "s1", agentId: "a1" })?.promptCount).toBe(0);
    expect(store.getSession({ sessionId: "s1", agentId: "a2" })).toBeUndefined();
  });

  it("lists the last seen first, within the limit and the time", () => {
    for (const [index, sessionId] of ["a", "b", "c"].entries())
      store.touchSession({ ...base, sessionId, at: minute(index) });
    const ids = (query: { limit: number; seenSince?: Date }) => store.listSessions(query).map((item) => item.sessionId);
    expect(ids({ limit: 10 })).toEqual(["c", "b", "a"]);
    expect(ids({ limit: 2 })).toEqual(["c", "b"]);
    expect(ids({ limit: 10, seenSince: minute(1) })).toEqual(["c", "b"]);
  });
});
