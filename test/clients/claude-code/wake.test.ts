/** An agent that was compacted, killed, cleared, resumed or messaged knows what it was doing; other sessions get no text. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../packages/haversack/src/store/sqlite/open.ts";
import { SqliteWorkStore } from "../../../packages/haversack/src/store/sqlite/work/sqlite-work-store.ts";
import type { ModelRequest } from "../model-request.ts";
import { firstChange, messagesText } from "../request-text.ts";
import { type Reply, steps, toolCall } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { testServer } from "./claude-test.ts";
import { count, haversack, haversackRepo, ORDINARY, ours, SKILLS } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";
import { OURS } from "./work-scenario.ts";

const AUTO = ["--autocompact", "100000"];
const NAMED = { HAVERSACK_AGENT: "june" };

describe("a task with a skill, in the middle of the work", () => {
  it("comes back after an automatic compaction: skill, task, position, WIP and next action, each once", async () => {
    const { repo, id } = taskRepo();
    const server = await testServer(steps([...begin(repo, id), busy(97_000), { text: "end" }]));
    await runClaude({ repo, server, prompt: "Begin.", args: AUTO });
    expect(server.of("compaction")).toHaveLength(1);
    const after = server.of("main").at(-1)!;
    expectPacket(after, id, "after a compaction");
    expect(ours(after).map(({ event }) => event)).toEqual(["SessionStart"]);
    expect(messagesText(after)).not.toContain("claim it");
  });

  it("comes back in a new session after the client was killed, and says whose it was", async () => {
    const { repo, id } = taskRepo();
    const { server, pid, sessionId } = await killed(repo, begin(repo, id));
    expect(rows(repo, "SELECT process_id, ended_at FROM sessions WHERE session_id = ?", sessionId)).toEqual([
      { process_id: pid, ended_at: null },
    ]);

    const again = await testServer(
      steps([{ tools: [toolCall(`${OURS}update_task_status`, { task_id: id, status: "in_progress" })] }]),
    );
    const run = await runClaude({ repo, server: again, prompt: ORDINARY });
    const [first, second] = again.of("main");
    expectPacket(first!, id, "at the start of this session");
    const holder = `claude-code-${sessionId.slice(0, 8)}`;
    expect(ours(first)[0]?.text).toContain(
      `1. To go on with ${id} "Limit logins", claim it with update_task_status in_progress: it was @${holder}'s, whose client is gone.`,
    );
    expect(second?.toolResults).toMatchObject([
      { isError: false, text: expect.stringContaining("go on from its WIP") },
    ]);
    expect(firstChange(first!, second!)).toBeUndefined();
    expect(rows(repo, "SELECT session_id FROM claims")).toEqual([{ session_id: run.sessionId }]);
    expect(server.of("main").length).toBeGreaterThan(0);
  });

  it("is its own again when the agent has a name, without another claim", async () => {
    const { repo, id } = taskRepo();
    await killed(repo, begin(repo, id), NAMED);
    const server = await testServer();
    const run = await runClaude({ repo, server, prompt: ORDINARY, env: NAMED });
    const [first] = server.of("main");
    expectPacket(first!, id, "at the start of this session");
    expect(ours(first)[0]?.text).toContain("You are @june, the implementer, on branch main");
    expect(ours(first)[0]?.text).not.toContain("claim it");
    expect(rows(repo, "SELECT agent, session_id FROM claims")).toEqual([{ agent: "june", session_id: run.sessionId }]);
  });

  it("comes back after /clear, and in the next session when this one has ended", async () => {
    const { repo, id } = taskRepo();
    const server = await testServer(steps([...begin(repo, id), { text: "one" }]));
    await runClaude({ repo, server, prompt: ["Begin.", "/clear", ORDINARY] });
    expectPacket(server.of("main").at(-1)!, id, "after the window was cleared");
    expect(ours(server.of("main").at(-1))[0]?.text).toContain("whose session has ended");
    await runClaude({ repo, server, prompt: ORDINARY });
    expectPacket(server.of("main").at(-1)!, id, "at the start of this session");
  });

  it("is not doubled by --resume; what others did to it meanwhile is told", async () => {
    const { repo, id } = taskRepo();
    const server = await testServer(steps([...begin(repo, id), { text: "one" }]));
    const { sessionId } = await runClaude({ repo, server, prompt: "Begin." });
    await runClaude({ repo, server, prompt: ORDINARY, args: ["--resume", sessionId] });
    expect(ours(server.of("main").at(-1))).toEqual([]);
    expect(rows(repo, "SELECT session_id FROM claims")).toEqual([{ session_id: sessionId }]);

    haversack(repo, "release", id, "--reason", "NOT-NOW");
    await runClaude({ repo, server, prompt: ORDINARY, args: ["--resume", sessionId] });
    const [news] = ours(server.of("main").at(-1));
    expect(news?.text).toMatch(/^From Haversack, as this session resumes: what others did/);
    expect(news?.text).toContain("NOT-NOW");
    expect(news?.text).toContain(`You no longer hold ${id} "Limit logins"`);
    expect(news?.text).not.toContain("BODY-OF");
  });

  it("shows the version of the skill that the task was begun with, and says that the file has changed", async () => {
    const { repo, id } = taskRepo();
    const server = await testServer(steps([...begin(repo, id), { text: "one" }]));
    await runClaude({ repo, server, prompt: "Begin." });
    repo.writeSkill("pdf-forms", { description: SKILLS["pdf-forms"].description, body: "ANOTHER-TEXT" });
    haversack(repo, "skill", "index");
    await runClaude({ repo, server, prompt: ORDINARY });
    const [packet] = ours(server.of("main").at(-1));
    expect(packet?.text).toContain("BODY-OF-pdf-forms");
    expect(packet?.text).toContain("This is the version you began with; its file has changed since.");
    expect(packet?.text).not.toContain("ANOTHER-TEXT");
  });
});

describe("nothing to resume", () => {
  it("nothing is injected: no task, a task that is done, a task of a session that runs", async () => {
    const { repo, id } = taskRepo();
    const server = await testServer();
    await runClaude({ repo, server, prompt: ORDINARY, env: NAMED });
    expect(ours(server.of("main").at(-1))).toEqual([]);

    const inside = await testServer();
    const claim = { tools: [toolCall(`${OURS}update_task_status`, { task_id: id, status: "in_progress" })] };
    let other: Promise<unknown> | undefined;
    const outer = await testServer((_, n) => {
      if (n === 1) return claim;
      other ??= runClaude({ repo, server: inside, prompt: ORDINARY });
      return { text: "waiting", after: other };
    });
    await runClaude({ repo, server: outer, prompt: "Begin." });
    await other;
    expect(ours(inside.of("main").at(-1))).toEqual([]);

    haversack(repo, "task", "done", id);
    await runClaude({ repo, server, prompt: ORDINARY });
    expect(ours(server.of("main").at(-1))).toEqual([]);
  });
});

describe("a message to a running session", () => {
  it("comes with the next tool event, exactly once", async () => {
    const repo = haversackRepo({});
    const server = await testServer((request, n) => {
      if (request.kind !== "main") return undefined;
      if (n === 2) return { ...busy(1_000), after: send(repo, "june", "MESSAGE-ONE\nin two lines") };
      return n <= 3 ? busy(1_000) : { text: "end" };
    });
    await runClaude({ repo, server, prompt: "Begin.", env: NAMED });
    const requests = server.of("main");
    expect(requests.map((request) => count(messagesText(request), "MESSAGE-ONE"))).toEqual([0, 0, 1, 1]);
    const [message] = ours(requests.at(-1));
    expect(message).toMatchObject({ event: "PostToolUse:Bash" });
    expect(message?.text).toMatch(
      /^From Haversack: a new message for @june; times are UTC\.\n- \d\d:\d\d @backend: MESSAGE-ONE\n {2}in two lines$/,
    );
    expectGrowing(server);
  });

  it("comes with the end of the turn and makes it go on, exactly once; with the next prompt where that has happened", async () => {
    const repo = haversackRepo({});
    const server = await testServer((request, n) => {
      if (request.kind !== "main") return undefined;
      return { text: `answer ${n}`, ...(n <= 2 && { after: send(repo, "june", `MESSAGE-${n}`) }) };
    });
    const run = await runClaude({ repo, server, prompt: ["Begin.", ORDINARY], env: NAMED });
    expect(run.results).toEqual(["answer 2", "answer 3"]);
    expect(server.of("main").map((request) => count(messagesText(request), "MESSAGE-1"))).toEqual([0, 1, 1]);
    expect(server.of("main").map((request) => count(messagesText(request), "MESSAGE-2"))).toEqual([0, 0, 1]);
    expect(ours(server.of("main").at(-1)).map(({ event }) => event)).toEqual(["Stop", "UserPromptSubmit"]);
    expect(rows(repo, "SELECT count(*) AS unread FROM message_recipients WHERE read_at IS NULL")).toEqual([
      { unread: 0 },
    ]);
  });

  it("that came while nobody was there is in the packet of the next session, and not again", async () => {
    const repo = haversackRepo({});
    const server = await testServer();
    await runClaude({ repo, server, prompt: ORDINARY, env: NAMED });
    await send(repo, "june", "WHILE-AWAY");
    await runClaude({ repo, server, prompt: ORDINARY });
    expect(ours(server.of("main").at(-1))).toEqual([]);
    await runClaude({ repo, server, prompt: [ORDINARY, ORDINARY], env: NAMED });
    expect(count(messagesText(server.of("main").at(-1)!), "WHILE-AWAY")).toBe(1);
    expect(ours(server.of("main").at(-1))[0]?.text).not.toContain("Next Action");
  });
});

it("a packet fits the client's cap, whatever the task holds", async () => {
  const { repo, id } = taskRepo();
  repo.writeSkill("pdf-forms", {
    body: `BODY-OF-pdf-forms\n\n${"## Part\n\nlong text about forms\n\n".repeat(8_000)}`,
  });
  haversack(repo, "skill", "index");
  haversack(repo, "task", "update", id, "--description", `DESCRIPTION-OF-THE-TASK ${"word ".repeat(6_000)}`);
  const server = await testServer(steps([...begin(repo, id), { text: "one" }]));
  await runClaude({ repo, server, prompt: ["Begin.", "/clear", ORDINARY] });
  const [shown] = rows(repo, "SELECT length(text) AS chars FROM injections WHERE event = 'clear'") as {
    chars: number;
  }[];
  expect(shown?.chars).toBeGreaterThan(5_000);
  expect(shown?.chars).toBeLessThanOrEqual(9_500);
  const [packet] = ours(server.of("main").at(-1));
  expect(packet?.text).toContain("Go on with: NEXT-STEP-OF-IT");
  expect(packet?.text).toContain(`Its most relevant parts (all of it: Skill(skill: "pdf-forms"))`);
});

/** A wired repository with one task and its skill. */
function taskRepo(): { repo: ScratchRepo; id: string } {
  const repo = haversackRepo();
  const fields = ["--description", "DESCRIPTION-OF-THE-TASK", "--skill", "pdf-forms", "--json"];
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", ...fields)) as { id: string };
  return { repo, id };
}

/** Claims, writes, and says what is next. */
function begin(repo: ScratchRepo, id: string): Reply[] {
  const call = (name: string, input: Record<string, unknown>, inputTokens: number): Reply => ({
    tools: [toolCall(name, input)],
    usage: { inputTokens },
  });
  return [
    call(`${OURS}update_task_status`, { task_id: id, status: "in_progress" }, 10_000),
    call("Write", { file_path: `${repo.root}/limit.txt`, content: "five" }, 20_000),
    call(`${OURS}update_task_wip`, { task_id: id, wip_data: { next_step: "NEXT-STEP-OF-IT" } }, 30_000),
  ];
}

function busy(inputTokens: number): Reply {
  return { tools: [toolCall("Bash", { command: "true" })], usage: { inputTokens } };
}

/** What the model must have to go on. */
function expectPacket(request: ModelRequest, id: string, why: string): void {
  const text = messagesText(request);
  const [packet] = ours(request);
  expect(packet?.text).toContain(`From Haversack, ${why}; times are UTC.`);
  expect(count(text, "BODY-OF-pdf-forms")).toBe(1);
  expect(count(packet?.text ?? "", "You are using `pdf-forms` (named by the task)")).toBe(1);
  expect(count(packet?.text ?? "", "DESCRIPTION-OF-THE-TASK")).toBe(1);
  // Either in progress, or left by a session that has ended or was killed.
  const position = new RegExp(
    `\\*\\*Current position:\\*\\* ${id} "Limit logins" (?:is in progress|was left unfinished)`,
    "g",
  );
  expect(packet?.text.match(position)).toHaveLength(1);
  expect(count(packet?.text ?? "", "Go on with: NEXT-STEP-OF-IT")).toBe(1);
  expect(count(packet?.text ?? "", "limit.txt")).toBe(1);
}

/** Does these, and is killed at the request after them. */
async function killed(
  repo: ScratchRepo,
  replies: Reply[],
  env: Record<string, string> = {},
): Promise<{ server: ScriptedServer; pid: number; sessionId: string }> {
  let client: { pid: number; kill(): void } | undefined;
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    const reply = replies[n - 1];
    if (!reply) client?.kill();
    return reply ?? { text: "nobody hears this" };
  });
  const { sessionId, exitCode } = await runClaude({
    repo,
    server,
    prompt: "Begin.",
    env,
    onStart: (started) => {
      client = started;
    },
  });
  expect(exitCode).toBeNull();
  return { server, pid: client?.pid ?? -1, sessionId };
}

async function send(repo: ScratchRepo, to: string, text: string): Promise<void> {
  const handle = openDatabase(join(repo.root, ".haversack/haversack.db"), { durability: "full", busyMs: 5_000 });
  try {
    await new SqliteWorkStore(handle).sendMessage({ to: [to], text }, { name: "backend", at: new Date() });
  } finally {
    handle.db.close();
  }
}

function rows(repo: ScratchRepo, sql: string, ...values: (string | number)[]): unknown[] {
  const db = new DatabaseSync(join(repo.root, ".haversack/haversack.db"), { readOnly: true });
  try {
    return db
      .prepare(sql)
      .all(...values)
      .map((row) => ({ ...row }));
  } finally {
    db.close();
  }
}

/** Each request continues the one before. */
function expectGrowing(server: ScriptedServer): void {
  const requests = server.of("main");
  for (const [at, request] of requests.entries()) {
    if (at > 0) expect(firstChange(requests[at - 1]!, request)).toBeUndefined();
  }
}
