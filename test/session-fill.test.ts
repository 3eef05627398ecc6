/** `session list` shows how full live sessions are, from each client's own files, which are never written. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openDatabase } from "../packages/haversack/src/store/sqlite/open.ts";
import { SqliteLocalStore } from "../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { type Repo, repository, snapshot } from "./wiring-repo.ts";

const FIXTURES = join(import.meta.dirname, "fixtures");

interface Listed {
  session_id: string;
  agent_id: string;
  context?: { used_tokens: number; window_tokens?: number; percent?: number; at: string };
}

function sessionsRepo(...sessions: { client: string; sessionId: string; agentId?: string; isOver?: boolean }[]): Repo {
  const repo = repository();
  repo.run("skill", "index");
  const handle = openDatabase(join(repo.root, ".haversack/haversack.db"), { durability: "normal" });
  const store = new SqliteLocalStore(handle);
  for (const { isOver, ...session } of sessions) {
    store.touchSession({ ...session, cwd: repo.root, at: new Date(), ...(isOver && { event: "end" as const }) });
  }
  handle.db.close();
  return repo;
}

const contexts = (repo: Repo) =>
  Object.fromEntries(
    (JSON.parse(repo.run("session", "list", "--json").out) as { sessions: Listed[] }).sessions.map(
      ({ session_id, agent_id, context }) => [agent_id || session_id, context],
    ),
  );

const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
const answer = (input: number, more: object = {}) => ({
  type: "assistant",
  isSidechain: false,
  timestamp: new Date(Date.now() - 5 * 60_000).toISOString(),
  message: {
    usage: { input_tokens: input, cache_read_input_tokens: 100, cache_creation_input_tokens: 10, output_tokens: 5 },
  },
  ...more,
});

it("Claude Code: the last answer of the agent itself, nothing right after a compaction, nothing of one that is over", () => {
  const client = "claude-code";
  const repo = sessionsRepo(
    { client, sessionId: "live" },
    { client, sessionId: "live", agentId: "a1" },
    { client, sessionId: "compacted" },
    { client, sessionId: "over", isOver: true },
    { client, sessionId: "unknown" },
  );
  const folder = join(repo.home, ".claude/projects/-some-where");
  const write = (name: string, text: string) => repo.write(join(folder, name), text);
  write(
    "live.jsonl",
    `${lines(answer(1), answer(2000), { type: "user" }, answer(7, { isSidechain: true }))}{"type":"assi`,
  );
  write("live/subagents/agent-a1.jsonl", lines(answer(300, { isSidechain: true })));
  write("compacted.jsonl", lines(answer(9000), { type: "system", subtype: "compact_boundary" }, { type: "user" }));
  write("over.jsonl", lines(answer(5)));
  const before = snapshot(repo.home);
  expect(contexts(repo)).toEqual({
    live: { used_tokens: 2115, at: expect.any(String) },
    a1: { used_tokens: 415, at: expect.any(String) },
    compacted: undefined,
    over: undefined,
    unknown: undefined,
  });
  expect(repo.run("session", "list").out).toMatch(/live .*context 2,115 tokens \(5 min ago\)/);
  expect(snapshot(repo.home)).toEqual(before);
});

it("Codex: the session's file, with the window's size", () => {
  const repo = sessionsRepo({ client: "codex", sessionId: "thread-1" });
  const day = new Date().toISOString().slice(0, 10).replaceAll("-", "/");
  const rollout = readFileSync(join(FIXTURES, "codex/rollout.jsonl"), "utf8");
  repo.write(join(repo.home, `.codex/sessions/${day}/rollout-x-thread-1.jsonl`), rollout);
  expect(contexts(repo)["thread-1"]).toMatchObject({ used_tokens: 1010, window_tokens: 258_400, percent: 0 });
  expect(repo.run("session", "list").out).toContain("context 1,010 tokens, 0% of 258,400");
});

it("Gemini CLI: the chat file of the session", () => {
  const repo = sessionsRepo({ client: "gemini", sessionId: "0123456789abcdef" });
  const chat = readFileSync(join(FIXTURES, "gemini/transcript.jsonl"), "utf8");
  repo.write(join(repo.home, ".gemini/tmp/project/chats/session-2026-01-01-01234567.jsonl"), chat);
  expect(contexts(repo)["0123456789abcdef"]).toMatchObject({ used_tokens: 3_040 });
});

it("opencode: the last answer in its database, a sub-agent's session too", () => {
  const repo = sessionsRepo(
    { client: "opencode", sessionId: "ses_1" },
    { client: "opencode", sessionId: "ses_1", agentId: "ses_2" },
    { client: "opencode", sessionId: "ses_3" },
  );
  const file = repo.write(join(repo.home, ".local/share/opencode/opencode.db"), "");
  const db = new DatabaseSync(file);
  db.exec(
    "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT)",
  );
  const insert = db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
  const said = (input: number, more: object = {}) =>
    JSON.stringify({
      role: "assistant",
      tokens: { input, output: 20, cache: { read: 100, write: 0 } },
      providerID: "p",
      modelID: "m",
      ...more,
    });
  insert.run("1", "ses_1", 1, 1, said(5000));
  insert.run("2", "ses_1", 2, Date.now(), said(9880));
  insert.run("3", "ses_1", 3, 3, JSON.stringify({ role: "user" }));
  insert.run("4", "ses_2", 1, Date.now(), said(30));
  insert.run("5", "ses_3", 1, Date.now(), said(90_000, { mode: "compaction" }));
  db.close();
  repo.write(
    join(repo.home, ".cache/opencode/models.json"),
    '{"p": {"models": {"m": {"limit": {"context": 100000}}}}}',
  );
  expect(contexts(repo)).toMatchObject({
    ses_1: { used_tokens: 10_000, window_tokens: 100_000, percent: 10 },
    ses_2: { used_tokens: 150 },
    ses_3: { used_tokens: 20 },
  });
});

it("a client's files that are broken or of another form are nothing known, not a fault", () => {
  const repo = sessionsRepo({ client: "opencode", sessionId: "ses_1" }, { client: "unknown", sessionId: "x" });
  repo.write(join(repo.home, ".local/share/opencode/opencode.db"), "no database");
  expect(repo.run("session", "list")).toMatchObject({ code: 0, err: "" });
});
