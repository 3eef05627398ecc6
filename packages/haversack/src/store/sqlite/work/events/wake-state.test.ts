/** Reading an agent's work where order and limits matter. Tests of the packet itself are in engine/wake and src/wake. */
import { describe, expect, it } from "vitest";
import { openMemoryStore } from "../../open.ts";
import { SqliteLocalStore } from "../../sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../sqlite-work-store.ts";
import { noteRole, SessionTasks, Spawns } from "./session-tasks.ts";
import { becomeKnown, readWake } from "./wake-state.ts";

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
  // The fourth task's handoff is left out: that task is not done.
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
  // Of two equal times, the later row wins.
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
  // An agent of another branch is a different agent, with its own messages.
  const onC = become("newer", "c", 3);
  expect(onC.read.agent).toMatchObject({ branch: "c" });
  expect(onC.read.agentSeq).not.toBe(onB.read.agentSeq);
  expect(readWake(handle.db, { name: "june", branch: "d" }).agentSeq).toBe(onC.read.agentSeq);
  // The process of the last session is unknown.
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

describe("the role of a session", () => {
  it("is none without a task, the implementer with one, and no orchestrator's for having asked for a batch", async () => {
    const { handle, store, ids } = await story(3);
    const me = { name: "claude-code-s1", sessionId: "s1", at: START };
    await store.recordBatch({ receiver: "s1", size: 2, taskIds: ids }, me);
    const read = () => readWake(handle.db, { sessionId: "s1", client: "claude-code" });
    expect(read()).toMatchObject({ agent: { name: "", role: "" }, alsoHolds: [] });
    expect(read()).not.toHaveProperty("task");
    await store.claim({ taskId: ids[1] ?? "", leaseMs: HOUR_MS }, me);
    expect(read()).toMatchObject({ agent: { role: "implementer", isSolo: true }, task: { id: ids[1] }, alsoHolds: [] });
    expect(read()).not.toHaveProperty("isCoordinating");
    expect(read()).not.toHaveProperty("alsoSent");
  });

  it("is the orchestrator's once it has sent sub-agents to tasks, not once one has looked something up", async () => {
    const { handle, store, ids } = await story(3);
    const [first = "", second = ""] = ids;
    const tasks = new SessionTasks(handle);
    const start = (agentId: string, taskId: string, role?: string) => {
      new Spawns(handle).noteSpawn("s1", { toolUseId: agentId, agentType: "x", taskId }, START);
      tasks.placeAgent({ sessionId: "s1", agentId }, agentId, START);
      if (role) noteRole(handle.db, { sessionId: "s1", agentId }, role);
    };
    const read = (agentId?: string) =>
      readWake(handle.db, { sessionId: "s1", client: "claude-code", ...(agentId && { agentId }) });
    start("a1", first);
    expect(read()).toMatchObject({ agent: { role: "" } });
    expect(read("a1")).toMatchObject({ agent: { role: "" }, task: { id: first } });
    start("a2", second, "spec-reviewer");
    expect(read()).toMatchObject({ agent: { role: "orchestrator" }, task: { id: second }, isCoordinating: true });
    expect(read("a2")).toMatchObject({ agent: { role: "spec-reviewer" }, task: { id: second } });
    // A task that it holds and works on itself comes first and is not coordinated.
    await store.claim({ taskId: first, leaseMs: HOUR_MS }, { name: "claude-code-s1", sessionId: "s1", at: START });
    expect(read()).toMatchObject({ task: { id: first }, alsoSent: [{ id: second }], alsoHolds: [] });
    expect(read()).not.toHaveProperty("isCoordinating");
  });

  it("of a name is the one that somebody gave it, and not the default of whoever merely claimed", async () => {
    const { handle, store, ids, by } = await story(1);
    await store.seeAgent({ name: "june", sessionId: "s1" }, START);
    const read = () => readWake(handle.db, { name: "june" });
    expect(read().agent).toMatchObject({ name: "june", role: "" });
    await store.claim({ taskId: ids[0] ?? "", leaseMs: HOUR_MS }, { name: "june", at: START });
    expect(read().agent).toMatchObject({ role: "implementer", isSolo: true });
    await store.addAgent({ name: "june", role: "orchestrator" }, by());
    expect(read().agent).toMatchObject({ role: "orchestrator" });
    expect(read().agent).not.toHaveProperty("isSolo");
  });
});

it("brings the task that a part belongs to, with its plan, its work and what was handed off for it", async () => {
  const { store, by, handle } = await story(0);
  const files = ["a.ts", "b.ts"];
  const { id: whole } = await store.createTask(
    { title: "Log in", acceptanceCriteria: "401", files, planFile: "plan.md", planSection: "Task 2" },
    by(),
  );
  const part = async (title: string) => (await store.createTask({ title, parentId: whole }, by())).id;
  const [spec, quality] = [await part("Spec review"), await part("Code quality review")];
  await store.updateWip({ taskId: whole, merge: () => ({ wip: { files_modified: files }, changes: [] }) }, by());
  await store.setHandoff({ taskId: whole, role: "implementer", status: "PASS", summary: "built" }, by(1));
  await store.setHandoff({ taskId: quality, role: "quality-reviewer", status: "FAIL", summary: "slow" }, by(2));
  const read = readWake(handle.db, { taskId: spec });
  expect(read).toMatchObject({
    task: { id: spec, files: [] },
    whole: { id: whole, title: "Log in", acceptanceCriteria: "401", files },
    planFile: "plan.md",
    planSection: "Task 2",
    wip: { files_modified: files },
    handoffs: [
      { taskId: quality, summary: "slow" },
      { taskId: whole, summary: "built" },
    ],
  });
  expect(read.tree.map(({ id }) => id)).toEqual([whole, spec, quality]);
  expect(readWake(handle.db, { taskId: whole })).not.toHaveProperty("whole");
});

it("brings the newest unread messages and counts them all", async () => {
  const { handle, store, by } = await story(0);
  await store.addAgent({ name: "june", role: "writer" }, by());
  for (let number = 1; number <= 61; number++) {
    await store.sendMessage({ to: ["june"], text: `n${number}` }, by(number));
  }
  const { messages, unreadCount } = readWake(handle.db, { name: "june" });
  expect(messages.map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, age) => `n${42 + age}`));
  expect(unreadCount).toBe(61);
});

describe("what an orchestrator without a task looks after", () => {
  async function project() {
    const made = await story(0);
    const { store, by, handle } = made;
    await store.addAgent({ name: "june", role: "orchestrator" }, by());
    const storyOf = async (title: string, titles: string[], planFile?: string) => {
      const { id: storyId } = await store.createStory({ title }, by());
      const ids: string[] = [];
      for (const name of titles) {
        const task = { title: name, storyId, ...(planFile && { planFile, planSection: name }) };
        ids.push((await store.createTask(task, by())).id);
      }
      return ids;
    };
    const claim = (taskId = "", name = "backend", minutes = 1) =>
      store.claim({ taskId, leaseMs: HOUR_MS }, { name, at: at(minutes) });
    const read = () => readWake(handle.db, { name: "june" });
    return { ...made, storyOf, claim, read };
  }

  it("is every story under way, the last changed first, with who does what, verdicts and what is ready", async () => {
    const { store, by, storyOf, claim, read, handoff, done } = await project();
    const auth = await storyOf("Auth", ["Model", "Login", "JWT"], "auth.md");
    const exports = await storyOf("Exports", ["CSV", "XLSX"]);
    await storyOf("Later", ["Something"]);
    await done(auth[0] ?? "");
    await claim(auth[1], "backend", 1);
    const { id: review } = await store.createTask({ title: "Spec review", parentId: auth[1] ?? "" }, by());
    await claim(review, "rev", 3);
    await claim(exports[0], "ann", 2);
    await handoff(auth[1] ?? "", "implementer", "PASS", 2);
    const { stories = [], planFile, handoffs } = read();
    expect(stories).toMatchObject([
      { title: "Auth", done: 1, total: 4, planFile: "auth.md", ready: [{ id: auth[2] }] },
      { title: "Exports", done: 0, total: 2, ready: [{ id: exports[1] }] },
    ]);
    expect(stories[0]?.tree).toMatchObject([
      { title: "Model", status: "done" },
      { title: "Login", agent: "backend", lastVerdict: "PASS" },
      { title: "JWT", status: "todo" },
      { title: "Spec review", agent: "rev", parentId: auth[1] },
    ]);
    expect(planFile).toBe("auth.md");
    expect(handoffs).toMatchObject([{ taskId: auth[1], role: "implementer" }]);
    expect(read().moreStories).toBe(0);
  });

  it("is the first of the queue where nothing is under way, and nothing where nothing is open", async () => {
    const { store, by, storyOf, read, done, claim } = await project();
    expect(read()).not.toHaveProperty("stories");
    const [only = ""] = await storyOf("Auth", ["Model"]);
    expect(read().stories).toMatchObject([{ title: "Auth", ready: [{ id: only }] }]);
    await done(only);
    expect(read()).not.toHaveProperty("stories");
    const { id } = await store.createTask({ title: "Alone" }, by());
    await claim(id);
    expect(read().stories).toMatchObject([{ title: "Tasks of no story", tree: [{ id, agent: "backend" }] }]);
    expect(read().stories?.[0]).not.toHaveProperty("id");
  });

  it("is counted where there is much of it, and is no reason to read it all", async () => {
    const { handle, read } = await project();
    const { db } = handle;
    const time = START.toISOString();
    db.exec("DELETE FROM stories; BEGIN");
    for (let number = 1; number <= 500; number++) {
      db.prepare("INSERT INTO stories VALUES (?, ?, NULL, ?, NULL, NULL, 'in_progress', NULL, ?, ?, NULL)").run(
        number,
        `S${number}`,
        `Story ${number}`,
        time,
        time,
      );
      for (let step = 0; step < 20; step++) {
        const seq = number * 100 + step;
        const status = step < 5 ? "done" : step < 8 ? "in_progress" : "todo";
        db.prepare(
          "INSERT INTO tasks (seq, id, story, title, type, status, priority, created_at, updated_at) VALUES (?, ?, ?, ?, 'feature', ?, 2, ?, ?)",
        ).run(seq, `T${seq}`, number, `Task ${step}`, status, time, time);
        if (status === "todo") db.prepare("INSERT INTO queue VALUES (?, NULL, ?, 1, 0, 0, 1, 1)").run(seq, number);
      }
    }
    db.exec("COMMIT");
    const asked: string[] = [];
    const prepare = db.prepare.bind(db);
    db.prepare = (sql) => {
      asked.push(sql);
      return prepare(sql);
    };
    const { stories = [], moreStories } = read();
    expect(stories).toHaveLength(3);
    expect(moreStories).toBe(497);
    for (const { tree, ready } of stories) {
      expect(tree.length).toBeLessThan(60);
      expect(ready.length).toBeLessThanOrEqual(8);
    }
    expect(asked.length).toBeLessThan(150);
    const scans = [...new Set(asked)].flatMap((sql) =>
      prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .filter((detail) => /^SCAN (t|tasks|stories|handoffs|activity)\b/.test(detail)),
    );
    // The last activity lines are read by key, up to a limit.
    expect(scans.filter((detail) => detail !== "SCAN activity")).toEqual([]);
  });
});
