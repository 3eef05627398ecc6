/**
 * Who holds a claim in the real Codex: a session has the same name everywhere, still holds its tasks after a resume, and its fork takes them over
 * once it has ended.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { sessionName } from "../../../packages/haversack/src/work/agent-name.ts";
import { claimsOf, taskWip } from "../claims-of.ts";
import { namespaceCall } from "../responses-api.ts";
import { type Reply, type Rule, steps, toolCall } from "../script.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { DIST, haversack, haversackRepo, ours } from "./haversack-repo.ts";
import { runCodex } from "./run-codex.ts";
import { patch } from "./tour.ts";

const ORDINARY = "Thanks, that looks good. Please go on.";
const ofSession = (sessionId: string) => ({ agent: sessionName("codex", { sessionId }), sessionId });
const byTool = (id: string): Reply => ({
  tools: [namespaceCall("mcp__haversack", "update_task_status", { task_id: id, status: "in_progress" })],
});
const byShell = (id: string): Reply => ({
  tools: [toolCall("exec_command", { cmd: `${process.execPath} ${join(DIST, "haversack.cjs")} task start ${id}` })],
});

function taskRepo(): { repo: CodexRepo; id: string } {
  const repo = haversackRepo("user");
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json")) as { id: string };
  return { repo, id };
}

it.each([
  ["MCP tool", byTool],
  ["shell", byShell],
])("a claim by %s is its session's, under the name that hooks use, also after a resume", async (_, claim) => {
  const { repo, id } = taskRepo();
  const server = await testServer(steps([claim(id), patch("*** Add File: limit.txt", "+five")]));
  const first = await runCodex({ repo, server, prompt: ORDINARY });
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.threadId) });
  server.setScript(steps([claim(id), patch("*** Add File: more.txt", "+six")]));
  await runCodex({ repo, server, prompt: ORDINARY, resume: first.threadId });
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.threadId) });
  expect((await taskWip(repo, id))?.["files_modified"]).toEqual(["limit.txt", "more.txt"]);
  const { text } = JSON.parse(haversack(repo, "wake", "--session", first.threadId, "--json")) as { text: string };
  expect(text).toContain(`@${ofSession(first.threadId).agent}`);
});

it("sessions of one minute have names of their own", async () => {
  const { repo, id } = taskRepo();
  const { id: other } = JSON.parse(haversack(repo, "task", "create", "Log logins", "--json")) as { id: string };
  for (const task of [id, other]) {
    const server = await testServer(steps([byTool(task)]));
    await runCodex({ repo, server, prompt: ORDINARY });
  }
  const claims = JSON.parse(haversack(repo, "activity", "--kind", "task-claimed", "--json")) as { actor: string }[];
  expect(new Set(claims.map(({ actor }) => actor)).size).toBe(2);
});

it("a fork holds what its origin held once that is over, and is told in a line", async () => {
  const { repo, id } = taskRepo();
  const server = await testServer(steps([byTool(id)]));
  const first = await runCodex({ repo, server, prompt: ORDINARY });
  server.setScript(steps([patch("*** Add File: more.txt", "+six")]));
  const at = server.requests.length;
  const fork = await runCodex({ repo, server, prompt: ORDINARY, fork: first.threadId });
  expect(fork.threadId).not.toBe(first.threadId);
  expect(ours(server.requests[at])).toEqual([
    `From Haversack: this session was forked from one that is over, and now holds its tasks: ${id} "Limit logins".`,
  ]);
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(fork.threadId) });
  expect((await taskWip(repo, id))?.["files_modified"]).toEqual(["more.txt"]);
});

it("a fork of a session that still runs leaves the task there, and is told so", async () => {
  const { repo, id } = taskRepo();
  const slow: Rule = { when: ({ toolResults }) => toolResults.length > 0, reply: { text: "late", delayMs: 50_000 } };
  const server = await testServer(steps([byTool(id)], slow));
  let stop: () => void = () => undefined;
  const running = runCodex({
    repo,
    server,
    prompt: ORDINARY,
    onStart: ({ kill }) => {
      stop = kill;
    },
  });
  try {
    // The answer to the claim is on its way to the model.
    while (!server.requests.some(({ toolResults }) => toolResults.length > 0)) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const [held] = Object.values(await claimsOf(repo));
    const first = held?.sessionId ?? "";
    const other = await testServer();
    await runCodex({ repo, server: other, prompt: ORDINARY, fork: first });
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first) });
    expect(ours(other.requests[0])).toEqual([
      `From Haversack: the session this one was forked from, @${ofSession(first).agent}, is still open and holds ${id} "Limit logins".`,
    ]);
  } finally {
    stop();
    await running;
  }
});
