import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openMemoryStore } from "../../store/sqlite/open.ts";
import { SqliteLocalStore } from "../../store/sqlite/sessions/sqlite-local-store.ts";
import { SqliteWorkStore } from "../../store/sqlite/work/sqlite-work-store.ts";
import type { Actor } from "../../store/work-store.ts";
import { NOW, projectIn } from "../work/memory-work.suite.ts";
import { createTask } from "../work/tasks.ts";
import { addAgent } from "./agents.ts";
import { readInbox, sendMessage } from "./messages.ts";
import { notePrompted, type PromptParts, previewPrompt, promptAgent, type ReadyAgent } from "./prompt-agent.ts";
import { wakeAgent } from "./wake-agent.ts";

const SPACE = "here";

function place(): PromptParts & { seen(minutesAgo: number, more?: object): void; as(by: Partial<Actor>): PromptParts } {
  const handle = openMemoryStore();
  const root = mkdtempSync(join(tmpdir(), "haversack-wake-"));
  onTestFinished(() => {
    handle.db.close();
    rmSync(root, { recursive: true });
  });
  const project = projectIn(handle, root);
  const parts: PromptParts = {
    ...project,
    store: new SqliteWorkStore(handle),
    by: { name: "june", at: NOW },
    settings: { leaseMs: 3_600_000 },
    project,
    isAlive: ({ id, space }) => (space === SPACE ? id === 1 : undefined),
  };
  return {
    ...parts,
    seen: (minutesAgo, more = {}) => {
      const at = new Date(NOW.getTime() - minutesAgo * 60_000);
      const touch = { sessionId: "s1", client: "claude-code", cwd: root, at, ...more };
      new SqliteLocalStore(handle).touchSession(touch);
    },
    as: (by) => ({ ...parts, by: { ...parts.by, ...by } }),
  };
}

async function agentIn(parts: PromptParts, sessionId?: string): Promise<void> {
  await addAgent({ name: "backend", role: "implementer", client: "claude-code" }, parts);
  if (sessionId) await parts.store.seeAgent({ name: "backend", sessionId }, NOW);
}

describe("promptAgent", () => {
  it("stores the message and has a packet with it for a new session", async () => {
    const parts = place();
    await agentIn(parts);
    const ready = (await promptAgent({ agent: "@backend", text: "Check task 2" }, parts)) as ReadyAgent;
    expect(ready).toMatchObject({ kind: "ready", cwd: parts.paths.root });
    expect(ready).not.toHaveProperty("resume");
    expect(ready.woken.packet.text).toContain('@june: "Check task 2"');
    expect(ready.woken.packet.text).toContain("Deal with the new message from @june first");
    expect((await readInbox({ agent: "backend", keepUnread: true }, parts)).total).toBe(1);

    await notePrompted(ready, parts, NOW);
    expect((await readInbox({ agent: "backend" }, parts)).total).toBe(0);
  });

  it("leaves what does not fit into the packet unread", async () => {
    const parts = place();
    await agentIn(parts);
    const text = `${"long ".repeat(3000)}end`;
    const ready = (await promptAgent({ agent: "backend", text }, parts)) as ReadyAgent;
    await notePrompted(ready, parts, NOW);
    expect((await readInbox({ agent: "backend" }, parts)).messages[0]?.text).toBe(text);
  });

  it.each<[what: string, minutesAgo: number, more: object, isRunning: boolean]>([
    ["has ended", 0, { event: "end" }, false],
    ["was heard of a moment ago", 0.5, {}, true],
    ["was not heard of for a while", 2, {}, false],
    ["has a process that lives, quiet as it is", 500, { process: { id: 1, space: SPACE } }, true],
    ["has a process that is gone", 0, { process: { id: 2, space: SPACE } }, false],
    ["has a process on another machine, and was heard of", 0.5, { process: { id: 2, space: "there" } }, true],
    ["has a process on another machine, and is quiet", 9, { process: { id: 1, space: "there" } }, false],
  ])("knows whether a session runs that %s", async (_, minutesAgo, more, isRunning) => {
    const parts = place();
    await agentIn(parts, "s1");
    parts.seen(minutesAgo, more);
    const prompted = await promptAgent({ agent: "backend", text: "x" }, parts);
    expect(prompted).toMatchObject(
      isRunning ? { kind: "running" } : { kind: "ready", resume: "s1", cwd: parts.paths.root },
    );
    // The message is stored in either case.
    expect((await readInbox({ agent: "backend" }, parts)).total).toBe(1);
  });

  it("starts a new session when asked, when the session is unknown here, and where its folder is gone", async () => {
    const parts = place();
    await agentIn(parts, "s1");
    expect(await promptAgent({ agent: "backend", text: "x" }, parts)).not.toHaveProperty("resume");
    parts.seen(9, { cwd: join(parts.paths.root, "gone") });
    expect(await promptAgent({ agent: "backend", text: "x" }, parts)).toMatchObject({
      resume: "s1",
      cwd: parts.paths.root,
    });
    expect(await promptAgent({ agent: "backend", text: "x", isNew: true }, parts)).not.toHaveProperty("resume");
  });

  it("stores nothing for an agent that nobody knows, and nothing for a preview", async () => {
    const parts = place();
    await agentIn(parts);
    await expect(promptAgent({ agent: "bakcend", text: "x" }, parts)).rejects.toThrow("did you mean @backend?");
    const { packet } = await previewPrompt({ agent: "backend", text: "Look \u0007here" }, parts);
    expect(packet.text).toContain('@june: "Look here"');
    expect((await readInbox({ agent: "backend" }, parts)).total).toBe(0);
  });
});

describe("wakeAgent", () => {
  const textOf = async (input: Parameters<typeof wakeAgent>[0], parts: PromptParts) => {
    const woken = await wakeAgent(input, parts);
    return woken.kind === "packet" ? woken.packet.text : `(${woken.text})`;
  };

  it("speaks of whoever claimed a task under the name, added or not", async () => {
    const parts = place();
    const { id } = await createTask({ title: "Log in" }, parts);
    await expect(wakeAgent({ agent: "ann" }, parts)).rejects.toThrow('there is no agent "ann"');
    await parts.store.claim({ taskId: id, leaseMs: 60_000 }, { name: "ann", at: NOW });
    expect(await textOf({ agent: "@ann" }, parts)).toContain(`${id} "Log in" is in progress`);
    // The task's holder is woken.
    expect(await textOf({ taskId: id.slice(0, -1) }, parts)).toContain("You are @ann");
    expect(await textOf({}, parts.as({ name: "ann" }))).toContain("You are @ann");
  });

  it("has nothing for an agent without a task or a message, and says what is ready", async () => {
    const parts = place();
    await agentIn(parts);
    expect(await textOf({ agent: "backend" }, parts)).toBe(
      "(nothing to resume: @backend holds no task and has no unread message)",
    );
    await createTask({ title: "Free" }, parts);
    expect(await textOf({ agent: "backend" }, parts)).toMatch(/; 1 task is ready\)$/);
    await expect(wakeAgent({}, parts.as({ name: "paula", isPerson: true }))).rejects.toThrow("agent is missing");
  });

  it("marks nothing as read", async () => {
    const parts = place();
    await agentIn(parts);
    await sendMessage({ to: ["backend"], text: "look at this" }, parts);
    for (let times = 0; times < 2; times++) {
      expect(await textOf({ agent: "backend" }, parts)).toContain("look at this");
    }
  });

  it("keeps to a budget in tokens", async () => {
    const parts = place();
    await agentIn(parts);
    const { id } = await createTask({ title: "T", description: "word ".repeat(5000) }, parts);
    await parts.store.claim({ taskId: id, leaseMs: 60_000 }, { name: "backend", at: NOW });
    for (const budgetTokens of [60, 300, 1000]) {
      const woken = await wakeAgent({ agent: "backend", budgetTokens }, parts);
      expect(woken.kind === "packet" && woken.packet.used).toBeLessThanOrEqual(budgetTokens);
    }
    expect(await textOf({ agent: "backend", budgetTokens: 2 }, parts)).toMatch(/^\(2 tokens are too few/);
    await expect(wakeAgent({ agent: "backend", budgetTokens: 0 }, parts)).rejects.toThrow("max_tokens must be");
  });

  it("says which tasks an agent of two sessions holds in the other one", async () => {
    const parts = place();
    await agentIn(parts, "s2");
    const ids: string[] = [];
    for (const sessionId of ["s1", "s2"]) {
      const { id } = await createTask({ title: `In ${sessionId}` }, parts);
      await parts.store.claim({ taskId: id, leaseMs: 60_000 }, { name: "backend", at: NOW, sessionId });
      ids.push(id);
    }
    const woken = await wakeAgent({ agent: "backend" }, parts);
    const line = `@backend is also at work in session s1, which holds ${ids[0]}: leave that to it, unless it has stopped.`;
    expect(woken).toMatchObject({ packet: { text: expect.stringContaining(line) }, view: { other_sessions: ["s1"] } });
    expect(woken.kind === "packet" && woken.packet.state.task?.id).toBe(ids[1]);
  });

  it("reads plans of the project and of no other place", async () => {
    const parts = place();
    await agentIn(parts);
    mkdirSync(join(parts.paths.root, "docs"));
    writeFileSync(join(parts.paths.root, "docs/plan.md"), "# Plan\n\n## Task 1\n\nIN-THE-PLAN\n");
    const outside = mkdtempSync(join(tmpdir(), "haversack-out-"));
    onTestFinished(() => rmSync(outside, { recursive: true }));
    writeFileSync(join(outside, "plan.md"), "# Plan\n\n## Task 1\n\nELSEWHERE\n");
    symlinkSync(join(outside, "plan.md"), join(parts.paths.root, "docs/link.md"));
    const wakeFor = async (traceabilityRef: string) => {
      const { id } = await createTask({ title: "T", traceabilityRef }, parts);
      return textOf({ agent: "backend", taskId: id }, parts);
    };
    expect(await wakeFor("docs/plan.md#Task 1")).toContain("IN-THE-PLAN");
    for (const path of ["docs/link.md", `${outside}/plan.md`, "docs/../../x.md", "gone.md"]) {
      const text = await wakeFor(`${path}#Task 1`);
      expect(text).not.toContain("ELSEWHERE");
      expect(text).toContain("cannot be read");
    }
  });
});
