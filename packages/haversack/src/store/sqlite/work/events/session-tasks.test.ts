/** Which task an agent's tool calls belong to, and what they do to its claim. */
import { beforeEach, describe, expect, it } from "vitest";
import { mergeWip } from "../../../../work/wip/merge-wip.ts";
import type { Actor } from "../../../work-store.ts";
import type { StoreHandle } from "../../access.ts";
import { openMemoryStore } from "../../open.ts";
import { SessionState } from "../../sessions/session-state.ts";
import { addAlias } from "../ids.ts";
import { SqliteWorkStore } from "../sqlite-work-store.ts";
import { SessionTasks, Spawns } from "./session-tasks.ts";

const MINUTE = 60_000;
const LEASE_MS = 60 * MINUTE;
const SESSION = "session-1";
const START = new Date("2026-03-02T09:00:00Z");
const later = (minutes: number) => new Date(START.getTime() + minutes * MINUTE);

let handle: StoreHandle;
let work: SqliteWorkStore;
let state: SessionState;
let tasks: SessionTasks;
let spawns: Spawns;

beforeEach(() => {
  handle = openMemoryStore();
  work = new SqliteWorkStore(handle);
  state = new SessionState(handle);
  tasks = new SessionTasks(handle);
  spawns = new Spawns(handle);
});

const by = (agentId = "", at = START): Actor => ({
  name: `agent-${agentId || "main"}`,
  sessionId: SESSION,
  agentId,
  at,
});
const newTask = async (title: string) => (await work.createTask({ title }, by())).id;
const claim = (taskId: string, agentId = "", at = START) => work.claim({ taskId, leaseMs: LEASE_MS }, by(agentId, at));
const touch = (
  file: string,
  { agentId = "", at = START, sessionId = SESSION, name = undefined as string | undefined } = {},
) =>
  state.recordTool({
    sessionId,
    agentId,
    name,
    client: "claude-code",
    cwd: "/",
    at,
    file,
    merge: (current) => mergeWip(current, { files_modified: [file] }, { at }),
    leaseMs: () => LEASE_MS,
  });
const filesOf = async (taskId: string) => (await work.getTask(taskId, START)).wip?.files_modified;
const sessionFiles = (agentId = "") => state.wip({ sessionId: SESSION, agentId })?.data["files_modified"];

describe("a claim under a name, in no session", () => {
  const june = { name: "june", isNamed: true, at: START };
  const named = async (title: string, at = START) => {
    const taskId = await newTask(title);
    await work.claim({ taskId, leaseMs: LEASE_MS }, { ...june, at });
    return taskId;
  };

  it("becomes the claim of the first session of that name that works, with its lease", async () => {
    const id = await named("one");
    touch("nameless.ts", { sessionId: "other" });
    touch("mays.ts", { sessionId: "other", name: "may" });
    touch("sub-agents.ts", { agentId: "a1", name: "june" });
    touch("one.ts", { name: "june", at: later(30) });
    touch("second.ts", { sessionId: "session-2", name: "june", at: later(31) });
    const { claim: held, wip } = await work.getTask(id, later(31));
    expect(held).toMatchObject({ agent: "june", sessionId: SESSION, leaseUntil: later(90) });
    expect(wip?.files_modified).toEqual(["one.ts"]);
  });

  it("is what the session works on when it is the newest", async () => {
    const one = await named("one");
    touch("one.ts", { name: "june" });
    const two = await named("two", later(1));
    touch("two.ts", { name: "june", at: later(2) });
    expect(await filesOf(one)).toEqual(["one.ts"]);
    expect(await filesOf(two)).toEqual(["two.ts"]);
  });

  it("gets a sign of life from a call that changes nothing", async () => {
    const id = await named("one");
    const call = { sessionId: SESSION, client: "claude-code", cwd: "/", name: "june", leaseMs: () => LEASE_MS };
    state.recordTool({ ...call, at: later(5) });
    expect((await work.getTask(id, later(5))).claim).toMatchObject({ sessionId: SESSION, leaseUntil: later(65) });
  });
});

describe("an agent's own claim", () => {
  it("takes its tool calls from the session to the task, the newest claim first, until it is over", async () => {
    const [one, two] = [await newTask("one"), await newTask("two")];
    touch("before.ts");
    await claim(one, "", later(1));
    touch("one.ts");
    await claim(two, "", later(2));
    touch("two.ts");
    await work.setStatus({ taskId: two, status: "review", leaseMs: LEASE_MS }, by("", later(3)));
    touch("one-again.ts");
    await work.release({ taskId: one }, by("", later(4)));
    touch("after.ts");
    expect(await filesOf(one)).toEqual(["one.ts", "one-again.ts"]);
    expect(await filesOf(two)).toEqual(["two.ts"]);
    expect(sessionFiles()).toEqual(["before.ts", "after.ts"]);
  });

  it("is its own alone: not its sub-agents', not another session's", async () => {
    const id = await newTask("one");
    await claim(id);
    touch("sub.ts", { agentId: "a1" });
    expect(tasks.taskOf({ sessionId: "session-2" })).toBeUndefined();
    expect(await filesOf(id)).toBeUndefined();
    expect(sessionFiles("a1")).toEqual(["sub.ts"]);
  });

  it("keeps what a change replaces, under the holder's name", async () => {
    const id = await newTask("one");
    await claim(id);
    for (const phase of ["red", "green"]) {
      state.recordTool({
        sessionId: SESSION,
        client: "claude-code",
        cwd: "/",
        at: START,
        merge: (current) => mergeWip(current, { phase }, { at: START }),
        leaseMs: () => LEASE_MS,
      });
    }
    expect(await work.wipHistory({ taskId: id, limit: 10 })).toMatchObject([
      { actor: "agent-main", path: "phase", before: "red", after: "green" },
    ]);
  });

  it("is prolonged by tool calls, at most once a minute, also by those that leave no trace", async () => {
    const id = await newTask("one");
    await claim(id);
    const leaseEnd = async () => (await work.getTask(id, START)).claim?.leaseUntil.getTime();
    const silent = (at: Date) =>
      state.recordTool({ sessionId: SESSION, client: "claude-code", cwd: "/", at, leaseMs: () => LEASE_MS });
    silent(new Date(START.getTime() + 59_000));
    expect(await leaseEnd()).toBe(START.getTime() + LEASE_MS);
    silent(later(50));
    expect(await leaseEnd()).toBe(later(50).getTime() + LEASE_MS);
    touch("a.ts", { at: later(100) });
    expect(await leaseEnd()).toBe(later(100).getTime() + LEASE_MS);
  });
});

describe("a sub-agent that was started for a task", () => {
  const spawn = (toolUseId: string, taskId: string) =>
    spawns.noteSpawn(SESSION, { toolUseId, agentType: "general-purpose", taskId }, START);

  it("works on it once the call is known, without a claim, until the task is done", async () => {
    const [one, two] = [await newTask("one"), await newTask("two")];
    spawn("call-1", one);
    spawn("call-2", two);
    const key = { sessionId: SESSION, agentId: "a2" };
    expect(tasks.isUnplaced(key)).toBe(true);
    expect(tasks.taskOf(key)).toBeUndefined();
    tasks.placeAgent(key, "call-2", START);
    expect(tasks.isUnplaced(key)).toBe(false);
    // A second hook at the same moment finds no call left.
    tasks.placeAgent(key, "call-2", START);
    expect(tasks.taskOf(key)).toMatchObject({ id: two });
    touch("two.ts", { agentId: "a2" });
    expect(await filesOf(two)).toEqual(["two.ts"]);
    await work.setStatus({ taskId: two, status: "done", leaseMs: LEASE_MS }, by());
    expect(tasks.taskOf(key)).toBeUndefined();
    expect(tasks.isUnplaced({ sessionId: SESSION, agentId: "a1" })).toBe(true);
  });

  it("prefers what it claims itself", async () => {
    const [one, two] = [await newTask("one"), await newTask("two")];
    spawn("call-1", one);
    tasks.placeAgent({ sessionId: SESSION, agentId: "a1" }, "call-1", START);
    await claim(two, "a1");
    expect(tasks.taskOf({ sessionId: SESSION, agentId: "a1" })).toMatchObject({ id: two, holder: "agent-a1" });
  });

  it("keeps its coordinator's claim alive", async () => {
    const id = await newTask("one");
    await claim(id);
    spawn("call-1", id);
    tasks.placeAgent({ sessionId: SESSION, agentId: "a1" }, "call-1", START);
    touch("a.ts", { agentId: "a1", at: later(30) });
    expect((await work.getTask(id, START)).claim?.heartbeatAt).toEqual(later(30));
  });

  it("by a call that names no task is asked once", async () => {
    spawn("call-1", await newTask("one"));
    const key = { sessionId: SESSION, agentId: "other" };
    tasks.placeAgent(key, "call-of-no-task", START);
    expect(tasks.isUnplaced(key)).toBe(false);
    expect(tasks.taskOf(key)).toBeUndefined();
  });

  it("is no matter of the main agent", async () => {
    spawn("call-1", await newTask("one"));
    expect(tasks.isUnplaced({ sessionId: SESSION })).toBe(false);
  });
});

it("finds the first open task among ids", async () => {
  const [one, two] = [await newTask("one"), await newTask("two")];
  await work.setStatus({ taskId: one, status: "done", leaseMs: LEASE_MS }, by());
  expect(spawns.firstOpen(["T000000000000", one, two])).toBe(two);
  expect(spawns.firstOpen([one])).toBeUndefined();
  expect(spawns.firstOpen([])).toBeUndefined();
});

it("finds an open task by an alias, but not past a task that has the id itself, nor where two have the alias", async () => {
  const [one, two, three] = [await newTask("one"), await newTask("two"), await newTask("three")];
  addAlias(handle.db, "T0001", two);
  addAlias(handle.db, one, two);
  expect(spawns.firstOpen(["T0001"])).toBe(two);
  expect(spawns.firstOpen([one])).toBe(one);
  await work.setStatus({ taskId: one, status: "done", leaseMs: LEASE_MS }, by());
  expect(spawns.firstOpen([one])).toBeUndefined();
  addAlias(handle.db, "T0001", three);
  expect(spawns.firstOpen(["T0001", three])).toBe(three);
});
