/** Haversack in the real opencode, as `init` wires it: skills at prompts, work in progress, packets, and a session that no fault of ours can harm. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../../../packages/haversack/src/store/sqlite/open.ts";
import { SessionState } from "../../../packages/haversack/src/store/sqlite/sessions/session-state.ts";
import { firstChange, messagesText } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import { haversack, haversackRepo } from "./haversack-repo.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import type { ScratchOpencode } from "./scratch-opencode.ts";

const RELEASE = "Write the release notes for version 2.4 from the merged pull requests.";
const ORDINARY = "Thanks, please go on.";

it("brings the right skill once, nothing to an ordinary prompt, and keeps what tools did", async () => {
  const repo = haversackRepo();
  const server = await testServer(
    steps([
      { tools: [toolCall("write", { filePath: join(repo.root, "limit.txt"), content: "five\n" })] },
      { text: "end" },
    ]),
  );
  const run = await runOpencode({ repo, server, prompt: RELEASE });
  await runOpencode({ repo, server, prompt: ORDINARY, args: ["--session", run.sessionId] });
  expect(run.exitCode).toBe(0);
  expect(server.of("main")[0]?.lastUserText).toContain('skill(name: "release-notes")');
  const last = server.of("main").at(-1)!;
  expect(last.lastUserText).toContain("Thanks");
  expect(messagesText(last).split("# Skill Recommendations")).toHaveLength(2);
  expect(logOf(repo)).toBe("");
  const handle = openDatabase(join(repo.root, ".haversack/haversack.db"), { durability: "normal" });
  const wip = new SessionState(handle).wip({ sessionId: run.sessionId });
  handle.db.close();
  expect(wip?.data).toMatchObject({ files_modified: ["limit.txt"] });
});

it("names a skill once in four similar prompts", async () => {
  const repo = haversackRepo();
  const server = await testServer();
  const run = await runOpencode({ repo, server, prompt: RELEASE });
  for (let part = 2; part <= 4; part++) {
    await runOpencode({ repo, server, prompt: `${RELEASE} Now part ${part}.`, args: ["--session", run.sessionId] });
  }
  const text = messagesText(server.of("main").at(-1)!);
  expect(text).toContain("Now part 4.");
  expect(text.split("# Skill Recommendations")).toHaveLength(2);
  expect(text.split("## release-notes\n")).toHaveLength(2);
}, 240_000);

it("follows a rule's pattern that is proven linear, and leaves out one that is not", async () => {
  const repo = haversackRepo();
  const intent = (pattern: string) => ({ promptTriggers: { intentPatterns: [pattern] } });
  repo.writeSkill(".claude/skills", "knots", { description: "Ropes." });
  repo.writeSkill(".claude/skills", "sails", { description: "Wind." });
  const skills = { knots: intent("zebra (at|on) the crossing"), sails: intent("zebra.*crossing") };
  repo.write(".claude/skills/skill-rules.json", JSON.stringify({ version: "1.0", skills }));
  haversack(repo, "skill", "index");
  const server = await testServer();
  const run = await runOpencode({ repo, server, prompt: "zebra at the crossing" });
  expect(run.exitCode).toBe(0);
  expect(server.of("main")[0]?.lastUserText).toContain('skill(name: "knots")');
  expect(server.of("main")[0]?.lastUserText).not.toContain('skill(name: "sails")');
});

it("gives a session the packet of what its agent holds, with its first prompt", async () => {
  const repo = haversackRepo();
  const env = { HAVERSACK_AGENT: "june" };
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json")) as { id: string };
  const claim = toolCall("haversack_update_task_status", { task_id: id, status: "in_progress" });
  const server = await testServer(steps([{ tools: [claim] }, { text: "end" }]));
  await runOpencode({ repo, server, prompt: "Begin.", env });
  server.setScript([]);
  await runOpencode({ repo, server, prompt: ORDINARY, env });
  const text = server.of("main").at(-1)?.lastUserText;
  expect(text).toContain("From Haversack, at the start of this session; times are UTC.");
  expect(text).toContain(`**Current position:** ${id} "Limit logins" is in progress`);
});

it("gives a compacted session the packet of what it did, before it goes on, and the skill may come again", async () => {
  const repo = haversackRepo();
  const write = toolCall("write", { filePath: join(repo.root, "limit.txt"), content: "five\n" });
  const read = toolCall("read", { filePath: join(repo.root, "limit.txt") });
  const server = await testServer(
    steps([
      { tools: [write] },
      { tools: [read], usage: { inputTokens: 195_000 } },
      { tools: [read], usage: { inputTokens: 2_000 } },
      { text: "end" },
    ]),
  );
  const run = await runOpencode({ repo, server, prompt: RELEASE });
  expect(run.exitCode).toBe(0);
  expect(server.of("compaction")).toHaveLength(1);
  const [, before, after, later] = server.of("main");
  expect(messagesText(before!)).not.toContain("From Haversack");
  expect(after?.lastUserText).toContain("From Haversack, after a compaction; times are UTC.");
  expect(after?.lastUserText).toContain("limit.txt");
  // The text stays in its place: the next request begins with the same bytes, and contains it only once.
  expect(firstChange(after!, later!)).toBeUndefined();
  expect(messagesText(later!).split("From Haversack")).toHaveLength(2);
  server.setScript([]);
  await runOpencode({ repo, server, prompt: RELEASE, args: ["--session", run.sessionId] });
  expect(server.of("main").at(-1)?.lastUserText).toContain('skill(name: "release-notes")');
  expect(logOf(repo)).toBe("");
});

it("keeps receipts of what sub-agents read, and warns of one that did not", async () => {
  const repo = haversackRepo();
  const spec = repo.write("docs/031/spec.md", "one\ntwo\nthree\nfour\n");
  const block = `\n\n## Required Artifacts\n- Spec: ${spec} (4 lines)`;
  const spawn = (prompt: string) =>
    toolCall("task", { description: "look", prompt: `${prompt}${block}`, subagent_type: "general" });
  const reads: Rule = { kind: "sub-agent", n: 1, reply: { tools: [toolCall("read", { filePath: spec })] } };
  const server = await testServer(steps([{ tools: [spawn("Read it.")] }, { text: "one" }], reads));
  const run = await runOpencode({ repo, server, prompt: "Go." });
  expect(server.of("sub-agent")[1]?.toolResults[0]?.text).toContain("three");
  const history = join(repo.root, "docs/031/.review-history.md");
  expect(existsSync(history)).toBe(false);
  server.setScript(steps([{ tools: [spawn("Guess.")] }, { text: "two" }]));
  await runOpencode({ repo, server, prompt: "Again.", args: ["--session", run.sessionId] });
  expect(readFileSync(history, "utf8")).toContain("general did not confirm artifact reads: spec.md");
  expect(logOf(repo)).toBe("");
});

it("leaves the session unharmed when the store is broken", async () => {
  const repo = haversackRepo();
  writeFileSync(join(repo.root, ".haversack/haversack.db"), "no database, and long enough to look like none at all");
  const read = toolCall("read", { filePath: repo.write("a.txt", "STILL-HERE\n") });
  const server = await testServer(steps([{ tools: [read] }, { text: "end" }]));
  const run = await runOpencode({ repo, server, prompt: RELEASE });
  expect(run.exitCode).toBe(0);
  expect(server.of("main")[1]?.toolResults[0]?.text).toContain("STILL-HERE");
  expect(messagesText(server.of("main")[0]!)).not.toContain("# Skill Recommendations");
  expect(logOf(repo)).not.toBe("");
});

function logOf(repo: ScratchOpencode): string {
  const file = join(repo.root, ".haversack/log/haversack.log");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

it("session list says how full the context of the running session is", async () => {
  const repo = haversackRepo();
  let listed: { client: string; context?: { used_tokens: number } }[] = [];
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    if (n === 1)
      return {
        tools: [toolCall("bash", { command: "true", description: "x" })],
        usage: { inputTokens: 5_000, outputTokens: 20 },
      };
    if (n === 2) listed = JSON.parse(haversack(repo, "session", "list", "--json")).sessions;
    return { text: "end" };
  });
  await runOpencode({ repo, server, prompt: ORDINARY });
  expect(listed).toMatchObject([{ client: "opencode", context: { used_tokens: 5_020 } }]);
});
