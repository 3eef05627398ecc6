import { describe, expect, it } from "vitest";
import { setHandoff } from "../work/handoffs.ts";
import { memoryWork } from "../work/memory-work.suite.ts";
import { createTask } from "../work/tasks.ts";
import { addAgent, askingAgent, requireAsking, showAgent } from "./agents.ts";
import { readInbox, sendMessage } from "./messages.ts";

async function agents(...names: string[]) {
  const work = memoryWork({ name: "june" });
  for (const name of names) await addAgent({ name, role: "implementer" }, work);
  return work;
}

describe("sendMessage", () => {
  it("masks secrets, strips control characters, and reaches those whom the text names", async () => {
    const work = await agents("ann", "bob");
    const key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    const sent = await sendMessage(
      { to: ["@ann"], text: `\u001b[31mkey ${key}\u0000, ask @bob not @eve\u202e ` },
      work,
    );
    expect(sent).toMatchObject({ to: ["ann", "bob"] });
    const { messages } = await readInbox({ agent: "bob" }, work);
    expect(messages[0]?.text).toMatch(/^key \S+, ask @bob not @eve$/);
    expect(messages[0]?.text).not.toContain(key);
  });

  it("takes 20,000 characters and no more, and no empty text", async () => {
    const work = await agents("ann");
    await sendMessage({ to: ["ann"], text: "x".repeat(20_000) }, work);
    await expect(sendMessage({ to: ["ann"], text: "x".repeat(20_001) }, work)).rejects.toThrow(
      "text has 20001 characters; at most 20000 (put the rest into a file or a task, and name it)",
    );
    await expect(sendMessage({ to: ["ann"], text: " \u0007\n" }, work)).rejects.toThrow("text must not be empty");
    expect((await readInbox({ agent: "ann" }, work)).total).toBe(1);
  });

  it("keeps what it is about by its whole id", async () => {
    const work = await agents("ann");
    const { id } = await createTask({ title: "T" }, work);
    await sendMessage({ to: ["ann"], text: "see", subject: id.slice(0, -1) }, work);
    expect((await readInbox({ agent: "ann" }, work)).views).toEqual([
      { id: expect.stringMatching(/^M\d{4,12}$/), from: "june", at: work.by.at, about: id, text: "see" },
    ]);
    await expect(sendMessage({ to: ["ann"], text: "see", subject: "T000000000009" }, work)).rejects.toThrow(
      "nothing has the id",
    );
  });
});

describe("readInbox", () => {
  it("marks what it shows as read, unless it is only looked at", async () => {
    const work = await agents("ann");
    for (const text of ["one", "two", "three"]) await sendMessage({ to: ["ann"], text }, work);
    const read = async (more: object = {}) =>
      (await readInbox({ agent: "ann", ...more }, work)).messages.map(({ text }) => text);
    expect(await read({ keepUnread: true })).toEqual(["one", "two", "three"]);
    expect(await read({ limit: 2 })).toEqual(["one", "two"]);
    expect(await read()).toEqual(["three"]);
    expect(await read()).toEqual([]);
    expect(await read({ includeRead: true })).toEqual(["three", "two", "one"]);
  });

  it("stops before the room is used up, says how many are left, and always gives one", async () => {
    const work = await agents("ann");
    for (let count = 0; count < 4; count++) await sendMessage({ to: ["ann"], text: "word ".repeat(300) }, work);
    expect(await readInbox({ agent: "ann", maxTokens: 900 }, work)).toMatchObject({ total: 4, leftOut: 2 });
    // Shown messages are read; the next call continues with the rest.
    const next = await readInbox({ agent: "ann", maxTokens: 1 }, work);
    expect(next).toMatchObject({ total: 2, leftOut: 1 });
    expect(next.messages).toHaveLength(1);
  });
});

describe("who asks", () => {
  it("is the one named, else the name of the actor, else the agent of its session", async () => {
    const work = await agents("ann", "bob");
    await work.store.seeAgent({ name: "bob", sessionId: "s1" }, work.by.at);
    const nameOf = async (by: Parameters<typeof work.as>[0], agent?: string) =>
      (await askingAgent({ agent }, work.as(by)))?.name;
    expect(await nameOf({ name: "eve" }, "@ann")).toBe("ann");
    expect(await nameOf({ name: "ann", sessionId: "s1" })).toBe("ann");
    expect(await nameOf({ name: "claude-code-1234", sessionId: "s1" })).toBe("bob");
    // A sub-agent shares the session but is a different agent.
    expect(await nameOf({ name: "bob.a1", sessionId: "s1", agentId: "a1" })).toBeUndefined();
    await expect(requireAsking({}, work.as({ name: "eve" }))).rejects.toThrow("agent is missing");
  });
});

describe("a handoff that names somebody", () => {
  it("reaches them once, with the task it is about", async () => {
    const work = await agents("ann", "bob", "june");
    const { id } = await createTask({ title: "T" }, work);
    const handoff = {
      taskId: id,
      status: "FAIL",
      summary: "Ann@example.com no, @Bob yes, @media no; @june",
      attempt: 1,
    };
    await setHandoff(handoff, work);
    // Setting the same handoff again changes nothing and notifies nobody.
    await setHandoff(handoff, work.as({ at: new Date(work.by.at.getTime() + 5000) }));
    expect(await readInbox({ agent: "bob" }, work)).toMatchObject({
      total: 1,
      views: [{ from: "june", about: id, text: `FAIL as implementer: ${handoff.summary}` }],
    });
    for (const agent of ["ann", "june"]) expect((await readInbox({ agent }, work)).total).toBe(0);
  });

  it("is stored although it names only the sender or nobody", async () => {
    const work = await agents("june");
    const { id } = await createTask({ title: "T" }, work);
    const { handoff } = await setHandoff({ taskId: id, status: "PASS", summary: "Done by @June, see @eve" }, work);
    expect(handoff.status).toBe("PASS");
    expect((await readInbox({ agent: "june" }, work)).total).toBe(0);
  });
});

describe("showAgent", () => {
  it("has what the agent holds, its unread messages and its skills", async () => {
    const work = await agents("ann");
    const { id } = await createTask({ title: "T" }, work);
    await work.store.claim({ taskId: id, leaseMs: 60_000 }, work.as({ name: "ann" }).by);
    await work.store.recordSkill(
      { agent: "ann", taskId: id, skill: "tdd", hash: "0123456789abcdef", because: "named by the task" },
      work.by.at,
    );
    await sendMessage({ to: ["ann"], text: "hi" }, work);
    expect((await showAgent({ name: "@ann" }, work)).view).toEqual({
      name: "ann",
      role: "implementer",
      created_at: work.by.at,
      tasks: [{ id, title: "T", status: "in_progress" }],
      unread: 1,
      skill_history: [
        { at: work.by.at, skill: "tdd", version: "0123456789ab", because: "named by the task", task_id: id },
      ],
    });
  });
});
