/** Tasks of a session of the real Claude Code: after a resume it still holds them, and a fork takes them over once the session has ended. */
import { expect, it } from "vitest";
import { sessionName } from "../../../packages/haversack/src/work/agent-name.ts";
import { claimsOf } from "../claims-of.ts";
import { type Reply, type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { haversack, haversackRepo, ORDINARY, ours } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";
import { OURS } from "./work-scenario.ts";

const ofSession = (sessionId: string) => ({ agent: sessionName("claude-code", { sessionId }), sessionId });
const claim = (id: string): Reply => ({
  tools: [toolCall(`${OURS}update_task_status`, { task_id: id, status: "in_progress" })],
});

function taskRepo(): { repo: ScratchRepo; id: string } {
  const repo = haversackRepo();
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json")) as { id: string };
  return { repo, id };
}

it("stays a session's own when it is resumed", async () => {
  const { repo, id } = taskRepo();
  const server = await testServer(steps([claim(id)]));
  const first = await runClaude({ repo, server, prompt: ORDINARY });
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId) });
  server.setScript(steps([claim(id)]));
  await runClaude({ repo, server, prompt: ORDINARY, args: ["--resume", first.sessionId] });
  expect(server.of("main").at(-1)?.toolResults).toMatchObject([{ isError: false }]);
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first.sessionId) });
});

it.each([
  ["named by its id", (id: string) => ["--resume", id, "--fork-session"]],
  ["the last one here", () => ["--continue", "--fork-session"]],
])("becomes the fork's, which is told in a line (%s)", async (_, args) => {
  const { repo, id } = taskRepo();
  const other = await testServer(steps([{ text: "other" }]));
  await runClaude({ repo, server: other, prompt: "Something else." });
  const shell = {
    tools: [toolCall("Bash", { command: "echo one", description: "Say it" })],
    usage: { inputTokens: 4_321 },
  };
  const server = await testServer(steps([claim(id), shell, { text: "end", usage: { inputTokens: 5_432 } }]));
  const first = await runClaude({ repo, server, prompt: ORDINARY });
  server.setScript([]);
  const fork = await runClaude({ repo, server, prompt: ORDINARY, args: args(first.sessionId) });
  expect(fork.sessionId).not.toBe(first.sessionId);
  expect(await claimsOf(repo)).toEqual({ [id]: ofSession(fork.sessionId) });
  const told = ours(server.of("main").at(-1)).map(({ text }) => text);
  expect(told).toEqual([
    `From Haversack: this session was forked from one that is over, and now holds its tasks: ${id} "Limit logins".`,
  ]);
});

it("stays with a session that still runs, and its fork is told so", async () => {
  const { repo, id } = taskRepo();
  const slow: Rule = { kind: "main", says: "WAIT", reply: { text: "late", delayMs: 60_000 } };
  const server = await testServer(steps([claim(id)], slow));
  let stop: () => void = () => undefined;
  let ready: (sessionId: string) => void = () => undefined;
  const begun = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const running = runClaude({
    repo,
    server,
    prompt: ["Begin.", "WAIT"],
    onStart: ({ kill }) => {
      stop = kill;
    },
  });
  const look = setInterval(async () => {
    const [held] = Object.values(await claimsOf(repo));
    const isWaiting = server.of("main").some(({ lastUserText }) => lastUserText.includes("WAIT"));
    if (held?.sessionId && isWaiting) ready(held.sessionId);
  }, 200);
  try {
    const first = await begun;
    const other = await testServer();
    await runClaude({ repo, server: other, prompt: ORDINARY, args: ["--resume", first, "--fork-session"] });
    expect(await claimsOf(repo)).toEqual({ [id]: ofSession(first) });
    expect(ours(other.of("main")[0]).map(({ text }) => text)).toEqual([
      `From Haversack: the session this one was forked from, @${ofSession(first).agent}, is still open and holds ${id} "Limit logins".`,
    ]);
  } finally {
    clearInterval(look);
    stop();
    await running;
  }
});
