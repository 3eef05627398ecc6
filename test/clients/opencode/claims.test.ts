/** Claims in the real opencode belong to their session or sub-agent: by MCP tool and by shell, over compaction, resume and fork. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionName } from "../../../packages/haversack/src/work/agent-name.ts";
import { claimsOf, taskWip } from "../claims-of.ts";
import { messagesText } from "../request-text.ts";
import { meeting, type Reply, type Rule, steps, toolCall } from "../script.ts";
import { BIN, haversack, haversackRepo } from "./haversack-repo.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import type { ScratchOpencode } from "./scratch-opencode.ts";
import { serveOpencode } from "./serve-opencode.ts";

const ORDINARY = "Thanks, please go on.";

function createTask(repo: ScratchOpencode, title: string): string {
  const given = ["task", "create", title, "--skill", "release-notes", "--json"];
  return (JSON.parse(haversack(repo, ...given)) as { id: string }).id;
}

const shell = (command: string): Reply => ({ tools: [toolCall("bash", { command, description: "Run it" })] });
const byTool = (id: string): Reply => ({
  tools: [toolCall("haversack_update_task_status", { task_id: id, status: "in_progress" })],
});
const byShell = (id: string): Reply => shell(`${process.execPath} ${BIN} task start ${id}`);
const write = (repo: ScratchOpencode, name: string): Reply => ({
  tools: [toolCall("write", { filePath: join(repo.root, name), content: "five\n" })],
});
const ofSession = (sessionId: string) => ({ agent: sessionName("opencode", { sessionId }), sessionId });

/** Several runs of the client in each test. */
const LONG = { timeout: 300_000 };

describe.each([
  ["MCP tool", byTool],
  ["shell", byShell],
])("a claim by %s", LONG, (_, claim) => {
  it("is its session's, with what it does, after a compaction and a resume; a new session hears of it", async () => {
    const repo = haversackRepo();
    repo.write("check.sh", 'echo "FAIL BAD-THING"; exit 1\n');
    const id = createTask(repo, "Limit logins");
    const read = toolCall("read", { filePath: join(repo.root, "limit.txt") });
    const server = await testServer(
      steps([
        claim(id),
        write(repo, "limit.txt"),
        shell("sh check.sh"),
        { tools: [read], usage: { inputTokens: 195_000 } },
        { tools: [read], usage: { inputTokens: 2_000 } },
        { text: "end" },
      ]),
    );
    const first = await runOpencode({ repo, server, prompt: ORDINARY });
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId) });
    expect(await taskWip(repo, id)).toMatchObject({
      files_modified: ["limit.txt"],
      errors: [{ message: expect.stringContaining("BAD-THING") }],
    });
    expect(server.of("compaction")).toHaveLength(1);
    const packet = server.of("main")[4]?.lastUserText;
    expect(packet).toContain("From Haversack, after a compaction");
    for (const part of [`${id} "Limit logins"`, "limit.txt", "BODY-OF-release-notes"]) expect(packet).toContain(part);

    server.setScript(steps([claim(id), write(repo, "more.txt")]));
    const again = await runOpencode({ repo, server, prompt: ORDINARY, args: ["-s", first.sessionId] });
    expect(again.sessionId).toBe(first.sessionId);
    const results = server.of("main").flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
    expect(results.join("\n")).not.toContain("held by");
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId) });
    expect(await changedFiles(repo, id)).toEqual(["limit.txt", "more.txt"]);

    server.setScript([]);
    await runOpencode({ repo, server, prompt: ORDINARY });
    const heard = messagesText(server.of("main").at(-1)!);
    for (const part of [`${id} "Limit logins"`, "more.txt"]) expect(heard).toContain(part);
  });

  it("of a sub-agent is the sub-agent's, with what it does", async () => {
    const repo = haversackRepo();
    const id = createTask(repo, "Limit logins");
    const spawn = toolCall("task", { description: "do it", prompt: "Do it.", subagent_type: "general" });
    const inside = [claim(id), write(repo, "limit.txt")].map(
      (reply, at): Rule => ({ kind: "sub-agent", n: at + 1, reply }),
    );
    const server = await testServer(steps([{ tools: [spawn] }, { text: "end" }], ...inside));
    const run = await runOpencode({ repo, server, prompt: "Go." });
    const agentId = server.of("sub-agent")[0]?.agentId ?? "";
    const name = sessionName("opencode", { sessionId: run.sessionId, agentId });
    expect(claimers(repo, id)).toEqual([name]);
    expect((await taskWip(repo, id))?.["files_modified"]).toEqual(["limit.txt"]);
    // It has ended: the task is free for the next one.
    expect(await claimsOf(repo)).toEqual({});
  });
});

describe("a fork", LONG, () => {
  it("holds what the session held that it was forked from, once that is over", async () => {
    const repo = haversackRepo();
    const id = createTask(repo, "Limit logins");
    const server = await testServer(steps([byTool(id), write(repo, "limit.txt")]));
    const first = await runOpencode({ repo, server, prompt: "Begin." });
    server.setScript(steps([byTool(id), write(repo, "more.txt")]));
    const fork = await runOpencode({ repo, server, prompt: "Go on.", args: ["-s", first.sessionId, "--fork"] });
    expect(fork.sessionId).not.toBe(first.sessionId);
    const asked = server.of("main").find(({ lastUserText }) => lastUserText.includes("Go on."));
    expect(asked?.lastUserText).toContain(
      `this session was forked from one that is over, and now holds its tasks: ${id}`,
    );
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(fork.sessionId) });
    expect(await changedFiles(repo, id)).toEqual(["limit.txt", "more.txt"]);
  });

  it("in the same process leaves the task where it is, and is told so in a line", async () => {
    const repo = haversackRepo();
    const id = createTask(repo, "Limit logins");
    const server = await testServer(steps([byTool(id), { text: "one" }]));
    const opencode = await serveOpencode({ repo, server });
    const first = await opencode.createSession();
    await opencode.prompt(first, "Begin.");
    const fork = await opencode.fork(first);
    await opencode.prompt(fork, "Go on.");
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first) });
    const told = server.of("main").at(-1)?.lastUserText ?? "";
    expect(told.match(/From Haversack.*/g)).toEqual([
      `From Haversack: the session this one was forked from, @${ofSession(first).agent}, is still open and holds ${id} "Limit logins".`,
    ]);
  });
});

it("tells two sessions of one process apart that make the same call at the same time", async () => {
  const repo = haversackRepo();
  const ids = ["Limit logins", "Log logins"].map((title) => createTask(repo, title));
  repo.writeConfig({
    mcp: { haversack: { type: "local", command: [process.execPath, BIN, "mcp", "--tools", "all"], enabled: true } },
  });
  // Both get their call together: the first request waits for the second.
  const both = meeting(2);
  const claim: Rule = {
    kind: "main",
    n: 1,
    reply: () => ({ tools: [toolCall("haversack_claim_task", {})], after: both() }),
  };
  const server = await testServer([claim]);
  const opencode = await serveOpencode({ repo, server });
  const sessions = [await opencode.createSession(), await opencode.createSession()];
  await Promise.all(sessions.map((id) => opencode.prompt(id, "Claim one.")));
  const held = await claimsOf(repo);
  expect(Object.keys(held).sort()).toEqual([...ids].sort());
  expect(new Set(Object.values(held).map(({ sessionId }) => sessionId))).toEqual(new Set(sessions));
  for (const { agent, sessionId } of Object.values(held)) expect(agent).toBe(ofSession(sessionId ?? "").agent);
  // Each was given the task that it holds according to the store.
  for (const { sessionId, toolResults } of server.of("main").filter((request) => request.toolResults.length > 0)) {
    const [id] = Object.entries(held).find(([, claimed]) => claimed.sessionId === sessionId) ?? [];
    expect(toolResults[0]?.text).toContain(id);
  }
});

/** Who claimed it, in order. */
function claimers(repo: ScratchOpencode, id: string): string[] {
  const events = JSON.parse(haversack(repo, "activity", id, "--kind", "task-claimed", "--json"));
  return (events as { actor: string }[]).map(({ actor }) => actor).reverse();
}

/** Without the client's own config, which every run of a test writes anew: git shows it as changed. */
async function changedFiles(repo: ScratchOpencode, id: string): Promise<string[]> {
  const files = (await taskWip(repo, id))?.["files_modified"] as string[];
  return files.filter((file) => file !== "opencode.json");
}
