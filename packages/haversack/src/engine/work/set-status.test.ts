import { describe, expect, it } from "vitest";
import { addActivity, listActivity } from "./activity.ts";
import { claimTask, heartbeat, listClaims, releaseTask } from "./claims.ts";
import { addDependency, listDependencies, removeDependency } from "./dependencies.ts";
import { createEpic, createStory } from "./groups.ts";
import { memoryWork, NOW } from "./memory-work.suite.ts";
import { projectStatus } from "./session-context.ts";
import { listFailures, recordFailure, resolveBlockers, setBlocker, setStatus } from "./set-status.ts";
import { createTask, getTask, listBlocked } from "./tasks.ts";

describe("setStatus", () => {
  it("claims with in_progress, and tells whose it is to the next one", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    const started = await setStatus({ taskId: id, status: "in_progress" }, work);
    expect(started).toMatchObject({ kind: "changed", claim: { agent: "ann" }, view: { id, status: "in_progress" } });
    expect(started).not.toHaveProperty("view.boundaries");
    const refused = await setStatus({ taskId: id, status: "in_progress" }, work.as({ name: "bob" }));
    expect(refused).toMatchObject({ kind: "refused", refusal: { kind: "held" } });
    expect(refused).toHaveProperty(
      "text",
      expect.stringMatching(`^${id} is held by ann until 2031-05-06T08:00:00.000Z; `),
    );
    const forPerson = await setStatus(
      { taskId: id, status: "in_progress" },
      { ...work.as({ name: "bob" }), for: "person" },
    );
    expect(forPerson).toHaveProperty("text", expect.stringContaining("`haversack claim"));
  });

  it("answers with the boundaries when a story and its epic are complete", async () => {
    const work = memoryWork();
    const epic = await createEpic({ title: "E" }, work);
    const story = await createStory({ title: "S", epicId: epic.id }, work);
    const [a, b] = [
      await createTask({ title: "A", storyId: story.id }, work),
      await createTask({ title: "B", storyId: story.id }, work),
    ];
    expect(await setStatus({ taskId: a.id, status: "done" }, work)).toHaveProperty("view.boundaries", {
      story_completed: false,
      epic_completed: false,
    });
    expect(await setStatus({ taskId: b.id, status: "done" }, work)).toHaveProperty("view.boundaries", {
      story_completed: true,
      epic_completed: true,
      story_id: story.id,
      epic_id: epic.id,
    });
  });

  it("says what may follow, and what a task waits for", async () => {
    const work = memoryWork();
    const [a, b] = [await createTask({ title: "A" }, work), await createTask({ title: "B" }, work)];
    await addDependency({ taskId: b.id, dependsOnId: a.id }, work);
    expect(await setStatus({ taskId: b.id, status: "in_progress" }, work)).toHaveProperty(
      "text",
      expect.stringContaining(`${b.id} waits for ${a.id} (todo: A)`),
    );
    await setStatus({ taskId: a.id, status: "done" }, work);
    expect(await setStatus({ taskId: a.id, status: "review" }, work)).toHaveProperty(
      "text",
      `${a.id} is done and cannot become review; from done it can go to todo or archived.`,
    );
    expect((await getTask({ taskId: a.id }, work)).view["status"]).toBe("done");
  });

  it.each([
    ["doing", 'status must be one of todo, in_progress, review, done, blocked, archived, but is "doing"'],
    ["in-progress", "did you mean in_progress?"],
  ])("%s is no status", async (status, text) => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await expect(setStatus({ taskId: id, status }, work)).rejects.toThrow(text);
  });

  it("names the nearest id for one that does not exist", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    const wrong = `${id.slice(0, -1)}${id.endsWith("0") ? 1 : 0}`;
    await expect(setStatus({ taskId: wrong, status: "done" }, work)).rejects.toThrow(`did you mean ${id}?`);
  });
});

describe("claims", () => {
  it("are taken, prolonged, listed, stolen with a reason, lost and released", async () => {
    const work = memoryWork();
    const bob = work.as({ name: "bob" });
    expect(await claimTask({}, work)).toEqual({ kind: "nothing-ready", text: "no task is ready" });
    const { id } = await createTask({ title: "A", description: "d" }, work);
    expect(await claimTask({}, work)).toMatchObject({ kind: "claimed", view: { id, description: "d" } });
    expect(await claimTask({ taskId: id }, bob)).toMatchObject({ kind: "refused", refusal: { kind: "held" } });
    const later = { at: new Date(NOW.getTime() + 60_000) };
    expect(await heartbeat({}, work.as(later))).toMatchObject({
      kind: "prolonged",
      views: [{ id, lease_until: new Date("2031-05-06T08:01:00.000Z") }],
    });
    expect(await releaseTask({ taskId: id }, bob)).toMatchObject({ kind: "refused", refusal: { kind: "held" } });
    expect(await claimTask({ taskId: id, stealReason: "ann is gone" }, bob)).toMatchObject({ kind: "claimed" });
    expect((await listClaims({}, work)).views).toMatchObject([{ id, agent: "bob" }]);
    expect(await heartbeat({ taskId: id }, work)).toHaveProperty(
      "text",
      expect.stringContaining(`Your claim on ${id} is over and bob has it`),
    );
    expect(await heartbeat({}, work)).toEqual({ kind: "none", text: "ann holds no task." });
    expect(await releaseTask({ taskId: id, reason: "enough" }, bob)).toMatchObject({ kind: "released" });
    expect(await releaseTask({ taskId: id }, bob)).toMatchObject({ kind: "refused", refusal: { kind: "not-held" } });
  });

  it("are limited where the settings say so", async () => {
    const work = memoryWork();
    const limited = { ...work, settings: { leaseMs: 1000, maxClaims: 1 } };
    for (const title of ["A", "B"]) await createTask({ title }, work);
    await claimTask({}, limited);
    expect(await claimTask({}, limited)).toHaveProperty("text", expect.stringContaining("No more than 1 task at once"));
  });
});

describe("what stands in the way", () => {
  it("blockers have a reason, and go when they are resolved", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await expect(setBlocker({ taskId: id, reason: " " }, work)).rejects.toThrow("reason must not be empty");
    await setBlocker({ taskId: id, reason: "no key" }, work);
    expect((await listBlocked({}, work)).views).toEqual([{ id, title: "A", status: "blocked", blockers: ["no key"] }]);
    expect(await claimTask({ taskId: id }, work)).toHaveProperty(
      "text",
      `${id} is blocked: no key; once that is settled, update_task_status with status "todo".`,
    );
    expect(await resolveBlockers({ taskId: id }, work)).toMatchObject({ kind: "changed", view: { status: "todo" } });
  });

  it("a cycle of dependencies is refused and shown", async () => {
    const work = memoryWork();
    const [a, b] = [await createTask({ title: "A" }, work), await createTask({ title: "B" }, work)];
    expect(await addDependency({ taskId: a.id, dependsOnId: b.id }, work)).toMatchObject({ kind: "added" });
    expect(await addDependency({ taskId: a.id, dependsOnId: b.id }, work)).toMatchObject({ kind: "unchanged" });
    const refused = await addDependency({ taskId: b.id, dependsOnId: a.id, type: "requires" }, work);
    expect(refused).toHaveProperty("text", expect.stringContaining(`${b.id} -> ${a.id} -> ${b.id}`));
    expect((await listDependencies({ taskId: a.id }, work)).view).toEqual({
      depends_on: [{ id: b.id, title: "B", status: "todo", type: "blocks" }],
    });
    await expect(addDependency({ taskId: a.id, dependsOnId: b.id, type: "needs" }, work)).rejects.toThrow(
      "dependency_type must be one of blocks, requires, relates_to",
    );
    expect(await removeDependency({ taskId: a.id, dependsOnId: b.id }, work)).toEqual({ removed: true });
    expect(await removeDependency({ taskId: a.id, dependsOnId: b.id }, work)).toEqual({ removed: false });
  });
});

describe("history", () => {
  it("has notes and failures, with who and when", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await addActivity({ taskId: id.slice(0, -1), kind: "file_change", text: "split the file" }, work);
    const { views } = await listActivity({ subject: id, limit: 1 }, work);
    expect(views).toEqual([{ at: NOW, actor: "ann", kind: "file-change", text: "split the file" }]);
    await expect(addActivity({ taskId: id, kind: "note", text: "" }, work)).rejects.toThrow("description must not be");
    expect(await recordFailure({ taskId: id, summary: "3 tests red", details: "log" }, work)).toEqual({ count: 1 });
    expect((await listFailures({ taskId: id }, work)).views).toEqual([
      { at: NOW, actor: "ann", summary: "3 tests red", details: "log" },
    ]);
  });

  it("adds up to numbers", async () => {
    const work = memoryWork();
    const [a] = [await createTask({ title: "A" }, work), await createTask({ title: "B" }, work)];
    await setStatus({ taskId: a.id, status: "done" }, work);
    expect((await projectStatus({}, work)).view).toEqual({ tasks: { todo: 1, done: 1, ready: 1 }, done_percent: 50 });
  });
});
