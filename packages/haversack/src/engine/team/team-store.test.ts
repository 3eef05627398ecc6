import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Scratch, scratch, server } from "../../store/postgres/scratch-postgres.suite.ts";
import { backupStore, restoreStore } from "../../store/sqlite/maintenance/backup.ts";
import { listConflicts, noteOffline, readSnapshotState } from "../../store/sqlite/outbox/outbox.ts";
import { addToSpool } from "../../store/sqlite/spool/spool-files.ts";
import { readInSpool } from "../../store/sqlite/spool/take-in.ts";
import { letGo, takeBack } from "../../store/sqlite/work/events/session-claims.ts";
import type { Actor } from "../../store/work-store.ts";
import { LEASE_MS, type Machine, openMachine, rowsOf, rowsOnServer } from "./team-machine.suite.ts";
import { isDue, teamState } from "./team-state.ts";

const HOUR_MS = 3_600_000;
const agent = (name: string, sessionId = `session of ${name}`): Actor => ({ name, sessionId, at: new Date() });
const person: Actor = { name: "pat", isPerson: true, at: new Date() };
const claim = (taskId?: string) => ({ leaseMs: LEASE_MS, ...(taskId !== undefined && { taskId }) });

describe.skipIf(!server)("a project that a team shares", () => {
  let place: Scratch;
  const machines: Machine[] = [];
  const machine = async () => {
    const made = openMachine(place.url);
    machines.push(made);
    await made.online.catchUp();
    return made;
  };
  beforeEach(() => {
    place = scratch();
  });
  afterEach(async () => {
    for (const each of machines.splice(0)) await each.close();
    await place.close();
  });
  /** The snapshot has the rows of the server, no more and no less. */
  const expectSame = async ({ online, handle }: Machine) => {
    await online.catchUp({ isPatient: true });
    expect(rowsOf(handle)).toEqual(await rowsOnServer(place.url));
  };

  it("shows each machine what the others did, and hooks see it in the snapshot", async () => {
    const [one, two] = [await machine(), await machine()];
    const epic = await one.online.createEpic({ title: "Release" }, person);
    const story = await one.online.createStory({ title: "Login", epicId: epic.id }, person);
    const task = await one.online.createTask({ title: "Build it", storyId: story.id, files: ["src/a.ts"] }, person);
    await one.online.createTask({ title: "Test it", storyId: story.id, dependsOn: [task.id] }, person);
    await two.online.catchUp();
    expect(rowsOf(two.handle)).toEqual(await rowsOnServer(place.url));
    expect(await two.online.claim(claim(), agent("ann"))).toMatchObject({ kind: "claimed", task: { id: task.id } });
    expect(rowsOf(two.handle)["claims"]).toHaveLength(1);
    two.tool("session of ann", { files_modified: ["src/a.ts"], phase: "coding" });
    expect(readSnapshotState(two.handle).backlog.count).toBe(1);
    await expectSame(two);
    expect(readSnapshotState(two.handle).backlog.count).toBe(0);
    expect((await one.online.getTask(task.id, new Date())).wip).toMatchObject({ phase: "coding" });
    await two.online.setHandoff(
      { taskId: task.id, role: "implementer", status: "PASS", summary: "built", details: "all of it" },
      agent("ann"),
    );
    await two.online.setStatus({ taskId: task.id, status: "done", leaseMs: LEASE_MS }, agent("ann"));
    await two.online.addAgent({ name: "zoe", role: "reviewer" }, person);
    await two.online.sendMessage({ to: ["zoe"], text: "look at it" }, agent("ann"));
    await expectSame(one);
    await expectSame(two);
  });

  it("sends what hooks wrote: signs of life, the end of a session, its return", async () => {
    const one = await machine();
    const task = await one.online.createTask({ title: "Build it" }, person);
    await one.online.claim(claim(task.id), agent("ann", "s1"));
    one.tool("s1", { phase: "coding" });
    letGo(one.handle, { sessionId: "s1" }, new Date());
    await expectSame(one);
    expect(rowsOf(one.handle)["last_holders"]).toMatchObject([{ ended_as: "ended" }]);
    takeBack(one.handle, { sessionId: "s1" }, { leaseMs: LEASE_MS, at: new Date() });
    await expectSame(one);
    expect(rowsOf(one.handle)["last_holders"]).toMatchObject([{ ended_as: null, session_id: "s1" }]);
    expect(listConflicts(one.handle, { limit: 10 })).toEqual([]);
  });

  it("goes on without the server, and confirms the claims on return", async () => {
    const one = await machine();
    const task = await one.online.createTask({ title: "Build it" }, person);
    const claimed = await one.offline.claim(claim(), agent("ann", "s1"));
    expect(claimed).toMatchObject({ kind: "claimed", claim: { taskId: task.id, isUnconfirmed: true } });
    expect(one.notes[0]).toMatch(/127\.0\.0\.1:1.* cannot be reached.*snapshot/);
    const more = await one.offline.createTask({ title: "And this", dependsOn: [task.id] }, agent("ann", "s1"));
    one.tool("s1", { phase: "coding" });
    await one.offline.setHandoff(
      { taskId: task.id, role: "implementer", status: "PASS", summary: "built" },
      agent("ann", "s1"),
    );
    await one.offline.setStatus({ taskId: task.id, status: "done", leaseMs: LEASE_MS }, agent("ann", "s1"));
    expect(await one.offline.claim(claim(more.id), agent("ann", "s1"))).toMatchObject({ kind: "claimed" });
    expect((await one.offline.getTask(more.id, new Date())).claim).toMatchObject({ isUnconfirmed: true });
    expect(await one.offline.listClaims({ at: new Date() })).toMatchObject([{ taskId: more.id, isUnconfirmed: true }]);
    expect(readSnapshotState(one.handle)).toMatchObject({
      backlog: { count: 6 },
      offline: { reason: expect.stringContaining("reached") },
    });

    await expectSame(one);
    expect(listConflicts(one.handle, { limit: 10 })).toEqual([]);
    const there = await one.online.getTask(more.id, new Date());
    expect(there).toMatchObject({ title: "And this", status: "in_progress", claim: { agent: "ann" } });
    expect(there.claim?.isUnconfirmed).toBeUndefined();
    expect(await one.online.getTask(task.id, new Date())).toMatchObject({ status: "done" });
    expect(readSnapshotState(one.handle).offline).toBeUndefined();
  });

  it("tells what the others were faster with, and goes on with the rest", async () => {
    const [one, two] = [await machine(), await machine()];
    const first = await one.online.createTask({ title: "First" }, person);
    const second = await one.online.createTask({ title: "Second" }, person);
    await two.online.catchUp();
    expect(await two.offline.claim(claim(first.id), agent("bob", "s2"))).toMatchObject({ kind: "claimed" });
    two.tool("s2", { phase: "coding" });
    two.tool("s2", { phase: "testing" });
    await two.offline.createTask({ title: "Third" }, agent("bob", "s2"));
    await one.online.claim(claim(first.id), agent("ann", "s1"));
    expect(await two.offline.claim(claim(second.id), agent("bob", "s2"))).toMatchObject({ kind: "claimed" });

    await expectSame(two);
    const conflicts = listConflicts(two.handle, { limit: 10 });
    expect(conflicts.map(({ op, taskId, agent: who, reason }) => [op, taskId, who, reason])).toEqual([
      ["claim", first.id, "bob", `${first.id} is held by ann`],
      ["tool", first.id, "bob", expect.stringContaining(`${first.id} is held by ann`)],
      ["tool", first.id, "bob", expect.stringContaining(`${first.id} is held by ann`)],
    ]);
    expect(conflicts[1]?.args).toContain("coding");
    expect(two.notes).toContain("3 changes of this machine could not be made: see `haversack store conflicts`.");
    const claims = await two.online.listClaims({ at: new Date() });
    expect(claims.map(({ taskId, agent: who }) => [taskId, who]).sort()).toEqual(
      [
        [first.id, "ann"],
        [second.id, "bob"],
      ].sort(),
    );
    const { items } = await two.online.listTasks({ limit: 10, at: new Date() });
    expect(items.map(({ title }) => title)).toContain("Third");
    // One message, not three.
    const inbox = await two.online.inbox({ agent: "bob", limit: 10 });
    expect(inbox.items.map(({ text }) => text)).toEqual([
      expect.stringContaining(`Not saved in the shared store: ${first.id} is held by ann`),
    ]);
  });

  it("gives a new ID to what was made offline if somebody else has used it, also in later entries", async () => {
    const [one, two] = [await machine(), await machine()];
    const mine = await one.offline.createTask({ title: "Mine" }, agent("ann", "s1"));
    await one.offline.claim(claim(mine.id), agent("ann", "s1"));
    one.tool("s1", { phase: "coding" });
    const theirs = await two.online.createTask({ title: "Theirs" }, person);
    const { server: there } = place.open();
    await there.write((db) => db.exec(`UPDATE tasks SET id = '${mine.id}' WHERE id = '${theirs.id}'`));
    await expectSame(one);
    const { items } = await one.online.listTasks({ limit: 10, at: new Date() });
    const found = items.find(({ title }) => title === "Mine");
    expect(found?.id).not.toBe(mine.id);
    expect(one.notes).toContain(`${mine.id} is now ${found?.id}: somebody else used its ID meanwhile.`);
    const { activity } = await one.online.listActivity({ limit: 1, kind: "id-changed" });
    expect(activity).toMatchObject([{ actor: "ann", subject: found?.id }]);
    expect(await one.online.getTask(found?.id ?? "", new Date())).toMatchObject({
      status: "in_progress",
      wip: { phase: "coding" },
    });
    expect(await one.online.getTask(mine.id, new Date())).toMatchObject({ title: "Theirs", status: "todo" });
  });

  it("keeps a session's task if its lease ended while it worked offline and nobody took it", async () => {
    const one = await machine();
    const task = await one.online.createTask({ title: "Long" }, person);
    await one.online.claim({ taskId: task.id, leaseMs: 50 }, agent("ann", "s1"));
    one.tool("s1", { phase: "coding" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    // Somebody looks: the claim is over.
    const two = await machine();
    expect(await two.online.listClaims({ at: new Date() })).toEqual([]);
    await expectSame(one);
    expect(await two.online.listClaims({ at: new Date() })).toMatchObject([{ taskId: task.id, agent: "ann" }]);
    expect(listConflicts(one.handle, { limit: 10 })).toEqual([]);
  });

  it("gets what a hook had to put into the spool because the store was locked", async () => {
    const one = await machine();
    const task = await one.online.createTask({ title: "Build it" }, person);
    await one.online.claim(claim(task.id), agent("ann", "s1"));
    const args = { sessionId: "s1", client: "claude-code", cwd: "/", patch: { phase: "locked" }, leaseMs: LEASE_MS };
    const entry = { kind: "tool" as const, args: { ...args, at: new Date() } };
    expect(addToSpool(one.handle.file, { entry, isBlind: false })).toBeUndefined();
    readInSpool(one.handle);
    expect(readSnapshotState(one.handle).backlog.count).toBe(1);
    await expectSame(one);
    expect((await one.online.getTask(task.id, new Date())).wip).toMatchObject({ phase: "locked" });
  });

  it("takes entries of a copied store once, and those of both after it", async () => {
    const one = await machine();
    const task = await one.online.createTask({ title: "Build it" }, person);
    await one.online.claim(claim(task.id), agent("ann", "s1"));
    one.tool("s1", { phase: "sent" });
    await one.online.catchUp();
    one.tool("s1", { phase: "in both" });
    const copy = openMachine(place.url, {}, (to) => backupStore(one.handle.file, to));
    machines.push(copy);
    one.tool("s1", { phase: "original" });
    await expectSame(one);
    copy.tool("s1", { phase: "copy" });
    await expectSame(copy);
    const history = await one.online.wipHistory({ taskId: task.id, limit: 10 });
    expect(history.map(({ after }) => after).reverse()).toEqual(["in both", "original", "copy"]);
  });

  it("takes what is written after an older copy of the store was restored", async () => {
    const one = await machine();
    const task = await one.online.createTask({ title: "Build it" }, person);
    await one.online.claim(claim(task.id), agent("ann", "s1"));
    one.tool("s1", { phase: "one" });
    const backup = `${one.folder}/backup.db`;
    backupStore(one.handle.file, backup);
    one.tool("s1", { phase: "two" });
    await one.online.catchUp();
    restoreStore(one.handle.file, backup);
    one.tool("s1", { phase: "three" });
    await expectSame(one);
    const history = await one.online.wipHistory({ taskId: task.id, limit: 10 });
    expect(history.map(({ after }) => after).reverse()).toEqual(["two", "three"]);
  });

  it("refuses an import without the server", async () => {
    const one = await machine();
    const fault = await one.offline
      .importPlan({ file: "plan.md", title: "Plan", tasks: [] }, person)
      .catch((error: Error) => error);
    expect(String(fault)).toMatch(/cannot be reached/);
  });

  it("does not wait again for a server that did not answer a moment ago", async () => {
    const one = await machine();
    await one.offline.listAgents();
    const { offline } = readSnapshotState(one.handle);
    expect(offline?.until.getTime()).toBeGreaterThan(Date.now());
    // The same mark holds for every process: this one could reach it.
    await one.online.createTask({ title: "Later" }, person);
    expect(readSnapshotState(one.handle).backlog.count).toBe(1);
    await expectSame(one);
  });

  it("asks the server again when the clock was set back, whatever was noted before", async () => {
    const one = await machine();
    await one.offline.listAgents();
    const [since, until] = [new Date(Date.now() + HOUR_MS), new Date(Date.now() + HOUR_MS + 1000)];
    noteOffline(one.handle, { since, until, reason: "gone" });
    const state = teamState(one.handle);
    if (!state) throw new Error("not shared");
    expect(isDue({ ...state, takenAt: since }, Date.now())).toBe(true);
    await one.online.createTask({ title: "Now" }, person);
    expect(readSnapshotState(one.handle)).toMatchObject({ backlog: { count: 0 } });
    expect(readSnapshotState(one.handle).offline).toBeUndefined();
  });
});
