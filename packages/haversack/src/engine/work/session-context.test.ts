import { describe, expect, it } from "vitest";
import { countTokens } from "../../tokens/count.ts";
import { releaseTask } from "./claims.ts";
import { createStory } from "./groups.ts";
import { memoryWork, NOW } from "./memory-work.suite.ts";
import { sessionContext } from "./session-context.ts";
import { setBlocker, setStatus, updateWip } from "./set-status.ts";
import { createTask } from "./tasks.ts";
import type { WorkParts } from "./work-parts.ts";

const start = (taskId: string, work: WorkParts) => setStatus({ taskId, status: "in_progress" }, work);

describe("sessionContext", () => {
  it("is nothing but a number where there is no work", async () => {
    expect(await sessionContext({}, memoryWork())).toEqual({ view: { ready: 0 } });
  });

  it("says in one line where to go on", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "Tokens" }, work);
    await start(id, work);
    expect((await sessionContext({}, work)).resume).toBe(`Resuming ${id}`);
    await updateWip(
      {
        taskId: id,
        wip: { phase: "testing", test_results: { ran: true, passed: 1, failed: 1, failing_test: "auth" } },
      },
      work,
    );
    expect((await sessionContext({}, work)).resume).toBe(
      `Resuming ${id} from testing, next: fix the failing test auth`,
    );
    await updateWip({ taskId: id, wip: { next_step: "fix the\nfailing test" } }, work);
    const { view } = await sessionContext({}, work);
    expect(view.resume).toBe(`Resuming ${id} from testing, next: fix the failing test`);
    // The resume line contains the rest.
    expect(view.in_progress).toEqual([{ id, title: "Tokens", status: "in_progress" }]);
  });

  it("puts the session's own first, then what came back, then what others hold", async () => {
    const work = memoryWork({ sessionId: "s1" });
    const other = work.as({ name: "bob", sessionId: "s2" });
    const [theirs, back, mine] = [
      await createTask({ title: "Theirs" }, work),
      await createTask({ title: "Back" }, work),
      await createTask({ title: "Mine" }, work),
    ];
    await start(theirs.id, other);
    await start(back.id, work.as({ name: "gone", sessionId: "s0", at: new Date(NOW.getTime() - 7_200_000) }));
    await updateWip({ taskId: back.id, wip: { phase: "coding" } }, work);
    await start(mine.id, work.as({ agentId: "a1", name: "ann.a1" }));
    const { view } = await sessionContext({}, work);
    expect(view.in_progress?.map(({ id }) => id)).toEqual([mine.id, back.id, theirs.id]);
    expect(view.in_progress?.[1]).toMatchObject({ status: "todo", note: expect.stringContaining("expired") });
    expect(view.in_progress?.[2]).toMatchObject({ held_by: "bob" });
    expect(view.resume).toBe(`Resuming ${mine.id}`);
  });

  it("leaves out a task with WIP that was never claimed or was released", async () => {
    const work = memoryWork();
    const noted = await createTask({ title: "Noted" }, work);
    await updateWip({ taskId: noted.id, wip: { phase: "planning" } }, work);
    const released = await createTask({ title: "Released" }, work);
    await start(released.id, work);
    await updateWip({ taskId: released.id, wip: { phase: "coding" } }, work);
    await releaseTask({ taskId: released.id }, work);
    const { view } = await sessionContext({}, work);
    expect(view).not.toHaveProperty("in_progress");
    expect(view).not.toHaveProperty("resume");
    expect(view.ready).toBe(2);
  });

  it("names the holder when all that is begun is another's", async () => {
    const work = memoryWork();
    const { id } = await createTask({ title: "A" }, work);
    await start(id, work.as({ name: "bob" }));
    expect((await sessionContext({}, work)).resume).toBe(
      `In progress elsewhere: ${id} (held by bob until 2031-05-06T08:00:00.000Z)`,
    );
  });

  it("finds the session's own behind any number of others, within its scope", async () => {
    const work = memoryWork({ sessionId: "s1" });
    const story = await createStory({ title: "S" }, work);
    for (let number = 0; number < 30; number++) {
      const { id } = await createTask({ title: `Other ${number}`, priority: "P0" }, work);
      const other = work.as({ name: `agent-${number}`, sessionId: `o${number}` });
      await start(id, other);
      await updateWip({ taskId: id, wip: { phase: "coding" } }, other);
    }
    const mine = await createTask({ title: "Mine", priority: "P3" }, work);
    await start(mine.id, work);
    const { view } = await sessionContext({}, work);
    expect(view.resume).toBe(`Resuming ${mine.id}`);
    expect(view.in_progress?.[0]).toMatchObject({ id: mine.id });
    expect((await sessionContext({ storyId: story.id }, work)).view).not.toHaveProperty("in_progress");
  });

  it("suggests what is in nobody's way; where all are, it says in whose", async () => {
    const work = memoryWork();
    const running = await createTask({ title: "Running", files: ["src/a.ts"] }, work);
    await start(running.id, work);
    const same = await createTask({ title: "Same", files: ["src/*.ts"], priority: "P0" }, work);
    expect((await sessionContext({}, work)).view.suggested_next).toMatchObject({
      id: same.id,
      note: `${same.id} is ready, but touches src/*.ts, as does ${running.id} (in progress)`,
    });
    const apart = await createTask({ title: "Apart", files: ["docs/a.md"], priority: "P3" }, work);
    expect((await sessionContext({}, work)).view.suggested_next).toMatchObject({ id: apart.id });
  });

  it("is at most 400 tokens with three begun, three blocked and the next, and says what was left out", async () => {
    const work = memoryWork({ sessionId: "s1" });
    for (let number = 1; number <= 5; number++) {
      const { id } = await createTask({ title: `Validate the login form, part ${number}` }, work);
      await start(id, work);
      await updateWip({ taskId: id, wip: { phase: "testing", next_step: "fix the failing test of the parser" } }, work);
      const blocked = await createTask({ title: `Send the mail, part ${number}` }, work);
      await setBlocker({ taskId: blocked.id, reason: "waits for the key of the mail provider" }, work);
    }
    await createTask({ title: "Next", description: "Write the migration and its test.", skill: "sql" }, work);
    const { view } = await sessionContext({}, work);
    expect(view.in_progress).toHaveLength(3);
    expect(view.in_progress?.[1]).toMatchObject({ phase: "testing", next_step: "fix the failing test of the parser" });
    expect(view.blocked).toHaveLength(3);
    expect(view.blocked?.[0]).toMatchObject({ reason: "waits for the key of the mail provider" });
    expect(view.suggested_next).toMatchObject({ title: "Next", description: "Write the migration and its test." });
    expect(view.more).toBe("get_tasks: 2 more in_progress, 2 more blocked");
    expect(await countTokens(JSON.stringify(view))).toBeLessThanOrEqual(400);
  });

  it("stays within the tokens that are given, however long the texts are", async () => {
    const work = memoryWork();
    const long = "word ".repeat(59);
    for (let number = 1; number <= 3; number++) {
      const { id } = await createTask({ title: long }, work);
      await start(id, work);
      await updateWip({ taskId: id, wip: { phase: long, next_step: long.repeat(20) } }, work);
      const blocked = await createTask({ title: long }, work);
      await setBlocker({ taskId: blocked.id, reason: long.repeat(20) }, work);
    }
    await createTask({ title: "Next", description: long.repeat(100) }, work);
    for (const maxTokens of [50, 100, 200, 400, 800]) {
      const { view } = await sessionContext({ maxTokens }, work);
      expect(await countTokens(JSON.stringify(view))).toBeLessThanOrEqual(maxTokens);
      if (maxTokens >= 400) expect(view.suggested_next).toMatchObject({ title: "Next" });
    }
    await expect(sessionContext({ maxTokens: 0 }, work)).rejects.toThrow("max_tokens must be");
  });
});
