import { expect, it, onTestFinished } from "vitest";
import type { Actor } from "../../work-store.ts";
import { openMemoryStore } from "../open.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";

const AT = new Date("2026-03-02T09:00:00Z");
const leaseMs = 60_000;

async function claimed(by: Actor) {
  const handle = openMemoryStore();
  onTestFinished(() => handle.db.close());
  const store = new SqliteWorkStore(handle);
  const { id: taskId } = await store.createTask({ title: "Limit logins" }, { name: "ann", at: AT });
  await store.claim({ taskId, leaseMs }, by);
  return { store, taskId };
}

const RUN: Actor = { name: "run-r1", isNamed: true, at: AT };
const SUB_AGENT: Actor = { name: "s1/a1", sessionId: "s1", agentId: "a1", at: AT };

it("a claim of a name becomes its session's, and a sub-agent of that session may take the task over", async () => {
  const { store, taskId } = await claimed(RUN);
  expect((await store.claim({ taskId, leaseMs }, SUB_AGENT)).kind).toBe("held");
  await store.claim({ taskId, leaseMs }, { ...RUN, sessionId: "s1" });
  expect((await store.getTask(taskId, AT)).claim).toMatchObject({ agent: "run-r1", sessionId: "s1" });
  expect((await store.claim({ taskId, leaseMs }, SUB_AGENT)).kind).toBe("claimed");
});

it("a claim that has a session keeps it", async () => {
  const { store, taskId } = await claimed({ ...RUN, sessionId: "s1" });
  await store.claim({ taskId, leaseMs }, { ...RUN, sessionId: "s2" });
  expect((await store.getTask(taskId, AT)).claim).toMatchObject({ sessionId: "s1" });
});
