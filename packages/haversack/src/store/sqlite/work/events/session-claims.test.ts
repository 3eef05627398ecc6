/** A session's claims: who keeps them, who gets them, what the next operation of the work store does, and who is told. */
import { expect, it } from "vitest";
import { openMemoryStore } from "../../open.ts";
import { SqliteLocalStore } from "../../sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../sqlite-work-store.ts";
import { brokenTruths } from "../work-truths.suite.ts";
import { hasWorkToFind, letGo, letGoOfAgent, type StartingSession, takeBack, takeOver } from "./session-claims.ts";

const START = new Date("2026-03-02T09:00:00Z");
const later = (minutes: number) => new Date(START.getTime() + minutes * 60_000);
const HOUR_MS = 3_600_000;

async function world() {
  const handle = openMemoryStore();
  const store = new SqliteWorkStore(handle);
  const sessions = new SqliteLocalStore(handle);
  const touch = { client: "claude-code", cwd: "/repo", at: START };
  const session = (sessionId: string, processId: number | undefined, space = "here") =>
    sessions.touchSession({ ...touch, sessionId, process: processId ? { id: processId, space } : undefined });
  const end = (sessionId: string, at = START) => {
    letGo(handle, { sessionId }, at);
    sessions.touchSession({ ...touch, sessionId, at, event: "end" });
  };
  const claim = async (name: string, sessionId: string, at = START) => {
    const { id } = await store.createTask({ title: `of ${name}` }, { name: "ann", at });
    await store.claim({ taskId: id, leaseMs: HOUR_MS }, { name, sessionId, at });
    return id;
  };
  const start = (over: Partial<StartingSession> = {}) =>
    takeOver(handle, {
      sessionId: "new",
      place: { worktree: "/repo" },
      worktreeOf: (cwd) => cwd,
      processSpace: "here",
      isAlive: (id) => id === 1,
      leaseMs: () => HOUR_MS,
      at: later(1),
      ...over,
    }).left;
  const holder = async (id: string, at: Date) => (await store.getTask(id, at)).claim?.agent;
  return { handle, store, session, end, claim, start, holder };
}

it("frees what a session held whose process is gone; the next operation returns it with a note", async () => {
  const { store, session, claim, start } = await world();
  session("old", 2);
  const id = await claim("claude-code-old", "old");
  expect(start()).toEqual([
    {
      taskId: id,
      title: "of claude-code-old",
      agent: "claude-code-old",
      because: "gone",
      isOpen: false,
      worktree: "/repo",
      isHere: true,
      lastSeenAt: START,
      endedAt: START,
    },
  ]);
  const task = await store.getTask(id, later(1));
  expect(task).toMatchObject({ status: "todo", note: expect.stringMatching(/^The claim of .* expired at .*Z\.$/) });
});

it("gives a session what was claimed under its name in no session, and nobody else", async () => {
  const { store, start } = await world();
  const { id: taskId } = await store.createTask({ title: "of june" }, { name: "ann", at: START });
  await store.claim({ taskId, leaseMs: HOUR_MS }, { name: "june", isNamed: true, at: START });
  start({ sessionId: "nameless" });
  start({ sessionId: "mays", name: "may" });
  expect((await store.getTask(taskId, later(1))).claim?.sessionId).toBeUndefined();
  start({ sessionId: "junes", name: "june" });
  start({ sessionId: "second", name: "june" });
  const { claim: held } = await store.getTask(taskId, later(1));
  expect(held).toMatchObject({ agent: "june", sessionId: "junes", leaseUntil: later(61) });
});

it.each([
  ["it runs", 1, "here"],
  ["its number belongs to another machine or container", 2, "there"],
  ["its process is not known", undefined, "here"],
])("leaves a claim alone when %s", async (_, processId, space) => {
  const { session, claim, start, holder } = await world();
  session("old", processId, space);
  const id = await claim("a", "old");
  expect(start()).toEqual([]);
  expect(start({ processSpace: "" })).toEqual([]);
  expect(await holder(id, later(2))).toBe("a");
});

it("keeps the tasks of an ended session for ten minutes, unless a new session comes or it comes back", async () => {
  const { handle, session, claim, end, start, holder } = await world();
  session("old", 1);
  const id = await claim("a", "old");
  end("old");
  expect(await holder(id, later(9))).toBe("a");
  takeBack(handle, { sessionId: "old" }, { leaseMs: HOUR_MS, at: later(9) });
  expect(await holder(id, later(60))).toBe("a");
  expect(start({ at: later(61) })).toMatchObject([{ taskId: id, because: "ended" }]);
  expect(await holder(id, later(61))).toBeUndefined();
  expect(start({ at: later(62) })).toMatchObject([{ taskId: id, because: "ended" }]);
});

it("leaves a named agent its tasks when its session has ended, and gives them to its next one", async () => {
  const { handle, store, session, claim, end, start, holder } = await world();
  await store.seeAgent({ name: "june", sessionId: "old" }, START);
  session("old", 1);
  const id = await claim("june", "old");
  end("old");
  expect(start()).toEqual([]);
  expect(await holder(id, later(30))).toBe("june");
  expect(start({ name: "june", at: later(30) })).toEqual([]);
  expect(handle.db.prepare("SELECT session_id FROM claims").get()).toMatchObject({ session_id: "new" });
  expect(await holder(id, later(89))).toBe("june");
});

it("names the task with the newest work first", async () => {
  const { store, session, claim, start } = await world();
  session("x", 2);
  session("y", 3);
  const first = await claim("x", "x");
  const second = await claim("y", "y", later(0.1));
  const merge = () => ({ wip: { next_step: "a" }, changes: [] });
  await store.updateWip({ taskId: first, merge }, { name: "x", sessionId: "x", at: later(0.5) });
  expect(start().map(({ taskId }) => taskId)).toEqual([first, second]);
});

it("frees at once what a sub-agent still held when it ended, and nothing of its siblings", async () => {
  const { handle, store, holder } = await world();
  const ids: string[] = [];
  for (const agentId of ["a1", "a2"]) {
    const { id } = await store.createTask({ title: agentId }, { name: "ann", at: START });
    await store.claim({ taskId: id, leaseMs: HOUR_MS }, { name: `s.${agentId}`, sessionId: "s", agentId, at: START });
    ids.push(id);
  }
  letGoOfAgent(handle, { sessionId: "s", agentId: "a1" }, later(1));
  letGoOfAgent(handle, { sessionId: "s" }, later(1));
  expect(await store.getTask(ids[0] ?? "", later(1))).toMatchObject({ status: "todo" });
  expect(await holder(ids[1] ?? "", later(1))).toBe("s.a2");
});

it("frees what was left once, and names it to every session that starts until somebody takes it", async () => {
  const { handle, session, end, claim, start } = await world();
  session("old", 1);
  const id = await claim("claude-code-old", "old");
  end("old");
  const written = () => handle.db.prepare("SELECT total_changes() AS rows").get()?.["rows"];
  const before = written();
  expect(start()).toMatchObject([{ taskId: id, because: "ended" }]);
  const after = written();
  expect(after).not.toBe(before);
  expect(start({ sessionId: "newer", at: later(2) })).toMatchObject([{ taskId: id, because: "ended" }]);
  expect(written()).toBe(after);
});

const WEEK_MINUTES = 7 * 24 * 60;

it("names what was left long after its claim is gone, until it is finished or taken", async () => {
  const { handle, store, session, end, claim, start } = await world();
  expect(hasWorkToFind(handle)).toBe(false);
  session("old", 1);
  const id = await claim("claude-code-old", "old");
  end("old");
  await store.listTasks({ limit: 1, at: later(30) });
  expect(handle.db.prepare("SELECT count(*) AS n FROM claims").get()).toMatchObject({ n: 0 });
  const week = { at: later(WEEK_MINUTES) };
  expect(start(week)).toMatchObject([{ taskId: id, because: "ended", isOpen: false, lastSeenAt: START }]);
  // The session itself takes it back, see below.
  expect(start({ ...week, sessionId: "old" })).toEqual([]);
  await store.setStatus({ taskId: id, status: "done", leaseMs: 1 }, { name: "ann", isPerson: true, ...week });
  expect(start(week)).toEqual([]);
  expect(hasWorkToFind(handle)).toBe(false);
});

it.each([
  ["its process is gone", 2, "here", { because: "gone", isOpen: false }],
  ["its process runs", 1, "here", { because: "expired", isOpen: true }],
  ["its process cannot be asked for", 2, "there", { because: "expired", isOpen: false }],
  ["nobody knows its process", undefined, "", { because: "expired", isOpen: false }],
])("tells of a claim that expired whether somebody may go on: %s", async (_, processId, space, expected) => {
  const { store, session, claim, start } = await world();
  session("old", processId, space);
  const taskId = await claim("a", "old");
  await store.listTasks({ limit: 1, at: later(61) });
  expect(start({ at: later(61) })).toMatchObject([{ taskId, ...expected }]);
});

it("leaves it to a coordinator that runs what its sub-agent left", async () => {
  const { handle, store, session, start } = await world();
  session("s", 1);
  const { id } = await store.createTask({ title: "t" }, { name: "ann", at: START });
  await store.claim({ taskId: id, leaseMs: HOUR_MS }, { name: "s.a1", sessionId: "s", agentId: "a1", at: START });
  letGoOfAgent(handle, { sessionId: "s", agentId: "a1" }, later(1));
  expect(start({ at: later(2) })).toEqual([]);
  expect(start({ at: later(2), isAlive: () => false })).toMatchObject([{ taskId: id, because: "gone" }]);
});

it("knows the worktree from the claim, from the end of the session, else from where hooks saw it", async () => {
  const { handle, store, session, claim, start } = await world();
  session("old", 2);
  const id = await claim("a", "old");
  const here = () => start().map(({ isHere, worktree, branch }) => ({ isHere, worktree, branch }));
  expect(here()).toEqual([{ isHere: true, worktree: "/repo" }]);
  const by = { name: "a", sessionId: "old", at: later(0.5), place: { worktree: "/wt/one", branch: "one" } };
  await store.claim({ taskId: id, leaseMs: HOUR_MS }, by);
  expect(here()).toEqual([{ isHere: false, worktree: "/wt/one", branch: "one" }]);
  letGo(handle, { sessionId: "old" }, later(0.6), () => ({ worktree: "/wt/two", branch: "two" }));
  expect(here()).toEqual([{ isHere: false, worktree: "/wt/two", branch: "two" }]);
  expect(start({ place: { worktree: "/wt/two" } })).toMatchObject([{ isHere: true }]);
});

it("gives a session back what it held until its lease ended, unless somebody took it", async () => {
  const { handle, store, session, claim, end, holder } = await world();
  session("old", 1);
  const kept = await claim("a", "old");
  const lost = await claim("a", "old", later(0.1));
  end("old", later(1));
  await store.claim({ taskId: lost, leaseMs: HOUR_MS }, { name: "b", sessionId: "other", at: later(30) });
  const back = takeBack(handle, { sessionId: "old" }, { leaseMs: HOUR_MS, at: later(31) });
  expect(back).toMatchObject([{ id: kept, title: "of a" }]);
  expect(await holder(kept, later(89))).toBe("a");
  expect(await holder(lost, later(32))).toBe("b");
  expect(await store.getTask(kept, later(89))).toMatchObject({ status: "in_progress" });
  expect(brokenTruths(handle.db, later(89))).toEqual([]);
  expect(takeBack(handle, { sessionId: "old" }, { leaseMs: HOUR_MS, at: later(90) })).toEqual([]);
});

it("offers a named agent what its name left before what others left, once the lease is over", async () => {
  const { store, session, claim, end, start } = await world();
  await store.seeAgent({ name: "june", sessionId: "old" }, START);
  session("old", 1);
  session("newer", 1);
  const own = await claim("june", "old");
  end("old");
  const others = await claim("x", "newer", later(0.2));
  end("newer");
  expect(start({ name: "june", at: later(61) }).map(({ taskId }) => taskId)).toEqual([own, others]);
  expect(start({ at: later(61) }).map(({ taskId }) => taskId)).toEqual([others, own]);
});
