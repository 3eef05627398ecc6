/** Which agent a changed file belongs to if several agents work in one worktree. */
import { expect, it } from "vitest";
import { writeStore } from "../../access.ts";
import { openMemoryStore } from "../../open.ts";
import { SqliteWorkStore } from "../sqlite-work-store.ts";
import { keepGitState, whoseFile } from "./session-tasks.ts";

const AT = "2031-05-06T07:08:09.000Z";
const LATER = "2031-05-06T07:18:09.000Z";
const WORKTREE = "/work";
const BEFORE = "2031-05-06T06:00:00.000Z";

/** Two sub-agents of one session, each with its own task, and the edits that tool events reported. */
async function siblings() {
  const handle = openMemoryStore();
  const store = new SqliteWorkStore(handle);
  const session = { name: "lead", sessionId: "s1" };
  const begin = async (
    title: string,
    agentId: string,
    { at = AT, files = [] as string[], worktree = WORKTREE } = {},
  ) => {
    const by = { ...session, agentId, at: new Date(at) };
    const { id } = await store.createTask({ title, files }, by);
    await store.claim({ taskId: id, leaseMs: 3_600_000 }, by);
    keepGitState(handle, { taskId: id, worktree }, { head: "h", files: {} }, by.at);
    return id;
  };
  const touch = (agentId: string, path: string, at = LATER, sessionId = "s1") =>
    writeStore(handle, (db) =>
      db
        .prepare("INSERT INTO session_files (session_id, agent_id, path, at) VALUES (?, ?, ?, ?)")
        .run(sessionId, agentId, path, at),
    );
  const mayBe = (taskId: string, agentId: string, since = AT) =>
    whoseFile(handle, { taskId, worktree: WORKTREE, sessionId: "s1", agentId, since });
  return { handle, store, begin, touch, mayBe };
}

it("gives no sub-agent the file that its sibling was seen to edit", async () => {
  const { begin, touch, mayBe } = await siblings();
  const a = await begin("A", "a1", { files: ["src/"] });
  const b = await begin("B", "b1", { files: ["src/"] });
  touch("a1", "src/a.ts");
  touch("b1", "src/b.ts");
  expect(["src/a.ts", "src/b.ts", "src/c.ts"].map(mayBe(a, "a1"))).toEqual([true, false, true]);
  expect(["src/a.ts", "src/b.ts", "src/c.ts"].map(mayBe(b, "b1"))).toEqual([false, true, true]);
});

it("gives a file that nobody was seen to edit only to the task that names it, while siblings work beside it", async () => {
  const { begin, mayBe } = await siblings();
  const a = await begin("A", "a1", { files: ["src/a.ts", "gen/"] });
  const b = await begin("B", "b1");
  expect(["src/a.ts", "gen/x.ts", "generated.ts", "src/b.ts"].map(mayBe(a, "a1"))).toEqual([true, true, false, false]);
  expect(["src/a.ts", "src/b.ts"].map(mayBe(b, "b1"))).toEqual([false, false]);
});

it("gives everything to the only task in the worktree: others are elsewhere, or were over before", async () => {
  const { store, begin, touch, mayBe } = await siblings();
  const old = await begin("Old", "o1", { at: BEFORE });
  await store.setStatus(
    { taskId: old, status: "done", leaseMs: 1 },
    { name: "lead", sessionId: "s1", agentId: "o1", at: new Date(BEFORE) },
  );
  await begin("Elsewhere", "e1", { worktree: "/other" });
  touch("o1", "src/a.ts", BEFORE);
  const a = await begin("A", "a1");
  expect(["src/a.ts", "src/b.ts"].map(mayBe(a, "a1"))).toEqual([true, true]);
});

it("counts a task that was begun since, also when it is over by now", async () => {
  const { store, begin, mayBe } = await siblings();
  const a = await begin("A", "a1");
  expect(mayBe(a, "a1")("src/b.ts")).toBe(true);
  const b = await begin("B", "b1", { at: LATER });
  await store.setStatus(
    { taskId: b, status: "done", leaseMs: 1 },
    { name: "lead", sessionId: "s1", agentId: "b1", at: new Date(LATER) },
  );
  expect(mayBe(a, "a1")("src/b.ts")).toBe(false);
});

it("leaves out what an agent of another session has touched", async () => {
  const { begin, touch, mayBe } = await siblings();
  const a = await begin("A", "a1");
  touch("", "src/theirs.ts", LATER, "s2");
  expect(["src/theirs.ts", "src/ours.ts"].map(mayBe(a, "a1"))).toEqual([false, true]);
});
