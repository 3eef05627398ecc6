/** What is read of an agent's work, where it depends on order and limits. What a packet makes of it is in engine/wake and src/wake. */
import { expect, it } from "vitest";
import { becomeKnown } from "./known-agent.ts";
import { openMemoryStore } from "./memory.ts";
import { SqliteLocalStore } from "./sqlite-local-store.ts";
import { SqliteWorkStore } from "./sqlite-work-store.ts";
import { readWake } from "./wake-state.ts";

const START = new Date("2026-03-02T09:00:00Z");
const HOUR_MS = 3_600_000;
const at = (minutes: number) => new Date(START.getTime() + minutes * 60_000);

async function story(size: number) {
  const handle = openMemoryStore();
  const store = new SqliteWorkStore(handle);
  const by = (minutes = 0) => ({ name: "ann", isPerson: true, at: at(minutes) });
  const { id: storyId } = await store.createStory({ title: "Logins" }, by());
  const ids: string[] = [];
  for (let number = 0; number < size; number++) {
    ids.push((await store.createTask({ title: `Task ${number}`, storyId }, by())).id);
  }
  const handoff = (taskId: string, role: string, status: "PASS" | "FAIL", minutes: number) =>
    store.setHandoff({ taskId, role, status, summary: `${role} at ${minutes}` }, by(minutes));
  const done = (taskId: string) => store.setStatus({ taskId, status: "done", leaseMs: HOUR_MS }, by());
  const read = (taskId: string) => readWake(handle.db, { taskId });
  return { handle, store, by, ids, handoff, done, read };
}

it("reads a stretch of the story around the task, and all of a story that is no longer than that", async () => {
  const { ids, read } = await story(45);
  const titles = (number: number) => read(ids[number] ?? "").tree.map(({ title }) => Number(title.slice(5)));
  expect(titles(20)).toEqual(Array.from({ length: 30 }, (_, number) => 10 + number));
  expect(titles(2)).toEqual(Array.from({ length: 30 }, (_, number) => number));
  expect(titles(44)).toEqual(Array.from({ length: 11 }, (_, number) => 34 + number));
});

it("leaves archived tasks out of the stretch and names one that is in hand all the same", async () => {
  const { store, by, ids, read } = await story(14);
  for (const id of ids.slice(1, 4)) await store.setStatus({ taskId: id, status: "archived", leaseMs: HOUR_MS }, by());
  expect(read(ids[12] ?? "").tree.map(({ id }) => id)).toEqual([ids[0], ...ids.slice(4)]);
  const archived = read(ids[2] ?? "");
  expect(archived.task).toMatchObject({ id: ids[2], status: "archived" });
  expect(archived.tree.map(({ id }) => id)).not.toContain(ids[2]);
});

it("knows the last verdict by its time, and of two at one time the later one", async () => {
  const { ids, handoff, read } = await story(3);
  const [first = "", second = ""] = ids;
  await handoff(first, "spec-reviewer", "FAIL", 9);
  await handoff(first, "implementer", "PASS", 2);
  await handoff(second, "implementer", "PASS", 5);
  await handoff(second, "spec-reviewer", "FAIL", 5);
  const verdicts = read(first).tree.map(({ lastVerdict }) => lastVerdict);
  expect(verdicts).toEqual(["FAIL", "FAIL", undefined]);
});

it("brings its own handoffs first, then the newest eight of done siblings", async () => {
  const { ids, handoff, done, read } = await story(13);
  const [own = "", ...siblings] = ids;
  await handoff(own, "implementer", "FAIL", 1);
  for (const [number, id] of siblings.entries()) {
    await handoff(id, "implementer", "PASS", 100 - number);
    if (number !== 3) await done(id);
  }
  const minutes = read(own).handoffs.map(({ summary }) => Number(summary.split(" at ")[1]));
  // The one of the fourth is left out: that task is not done.
  expect(minutes).toEqual([1, 100, 99, 98, 96, 95, 94, 93, 92]);
});

it("finds the newest handoffs where one sibling has hundreds", async () => {
  const { handle, ids, done, read } = await story(2);
  const [own = "", sibling = ""] = ids;
  await done(sibling);
  const add = handle.db.prepare(
    `INSERT INTO handoffs (id, task, role, attempt, status, summary, details_chars, actor, created_at)
     SELECT 'H' || ?1, seq, 'implementer', ?1, 'PASS', 'n' || CAST(?1 AS INTEGER), 0, 'x', ?2 FROM tasks WHERE id = ?3`,
  );
  for (let number = 1; number <= 250; number++) add.run(number, at(number).toISOString(), sibling);
  expect(read(own).handoffs.map(({ summary }) => summary)).toEqual(
    Array.from({ length: 8 }, (_, number) => `n${250 - number}`),
  );
});

it("has the last version of each skill that the task was worked on with, the latest first, however many there were", async () => {
  const { handle, ids, read } = await story(1);
  const note = handle.db.prepare(
    "INSERT INTO skill_history (at, agent, task, skill, hash, because) VALUES (?, 'june', ?, ?, ?, '')",
  );
  const noted = (skill: string, minutes: number, hash: string) =>
    note.run(at(minutes).toISOString(), ids[0] ?? "", skill, hash);
  for (let number = 0; number < 150; number++) noted("a", number, `a${number}`);
  noted("z", 3, "z-old");
  noted("z", 999, "z-new");
  noted("z", 4, "z-between");
  // Of one time: the later one.
  noted("m", 5, "m-first");
  noted("m", 5, "m-second");
  expect(read(ids[0] ?? "").pinned).toEqual([
    { skill: "z", hash: "z-new" },
    { skill: "a", hash: "a149" },
    { skill: "m", hash: "m-second" },
  ]);
});

it("notes which agent a session is: of its branch, of all branches, or a new one; and says where it was before", async () => {
  const { handle, store, by } = await story(0);
  const sessions = new SqliteLocalStore(handle);
  const process = { id: 7, space: "here" };
  sessions.touchSession({ sessionId: "old", client: "codex", cwd: "/repo", at: START, process });
  for (const branch of ["a", "b"]) await store.addAgent({ name: "june", role: `role-${branch}`, branch }, by());
  await store.seeAgent({ name: "june", branch: "b", sessionId: "old" }, at(1));
  const become = (sessionId: string, branch: string, minutes: number) => {
    const known = becomeKnown(handle.db, { name: "june", sessionId, branch, worktree: `/${branch}` }, at(minutes));
    return { known, read: readWake(handle.db, { name: "june", sessionId, branch, known }) };
  };
  const onB = become("new", "b", 2);
  expect(onB.known.lastSession).toEqual({ sessionId: "old", process, taskIds: [] });
  expect(onB.read).toMatchObject({ agent: { role: "role-b", worktree: "/b", branch: "b" } });
  // Another branch's agent is not this one, nor are its messages.
  const onC = become("newer", "c", 3);
  expect(onC.read.agent).toMatchObject({ role: "orchestrator", branch: "c" });
  expect(onC.read.agentSeq).not.toBe(onB.read.agentSeq);
  expect(readWake(handle.db, { name: "june", branch: "d" }).agent.role).toBe("orchestrator");
  // Nobody has said which process that of the last one is.
  expect(become("newest", "b", 4).known).not.toHaveProperty("lastSession");
});

it("says of a session that has ended nothing, and keeps who was seen later", async () => {
  const { handle, store } = await story(0);
  const sessions = new SqliteLocalStore(handle);
  const touch = { sessionId: "old", client: "codex", cwd: "/repo", process: { id: 7, space: "here" } };
  sessions.touchSession({ ...touch, at: START });
  await store.seeAgent({ name: "june", sessionId: "old", worktree: "/old" }, at(5));
  expect(becomeKnown(handle.db, { name: "june", sessionId: "new" }, at(1))).toMatchObject({
    row: { session_id: "old", worktree: "/old" },
    lastSession: { sessionId: "old" },
  });
  sessions.touchSession({ ...touch, at: at(6), event: "end" });
  expect(becomeKnown(handle.db, { name: "june", sessionId: "new" }, at(7))).not.toHaveProperty("lastSession");
});
