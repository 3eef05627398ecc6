/** Haversack in the real Gemini CLI: skills at prompts, work in progress, packets, and a session that no fault of ours can harm. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../packages/haversack/src/store/sqlite/open.ts";
import { SessionState } from "../../../packages/haversack/src/store/sqlite/sessions/session-state.ts";
import { firstChange, messagesText } from "../request-text.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./gemini-test.ts";
import { haversack, wire } from "./haversack-repo.ts";
import { runGemini } from "./run-gemini.ts";
import { type ScratchGemini, scratchGemini } from "./scratch-gemini.ts";

const RELEASE = "Write the release notes for version 2.4 from the merged pull requests.";
const PDF = "Fill in the PDF form of the tax office.";
const ORDINARY = "Thanks, please go on.";
const AGAIN = ["--resume", "latest"];

/** A skill that Gemini CLI lists itself, and one that it does not. */
function haversackRepo(): ScratchGemini {
  const repo = scratchGemini();
  const notes = "Writes release notes and changelog entries from merged pull requests and the git log.";
  repo.writeSkill(".agents/skills", "release-notes", { description: notes });
  repo.writeSkill(".claude/skills", "pdf-forms", { description: "Fills in PDF forms." });
  haversack(repo, "skill", "index");
  wire(repo, "project");
  return repo;
}

function wipOf(repo: ScratchGemini, sessionId: string): Record<string, unknown> | undefined {
  const handle = openDatabase(join(repo.root, ".haversack/haversack.db"), { durability: "normal" });
  const wip = new SessionState(handle).wip({ sessionId });
  handle.db.close();
  return wip?.data;
}

describe("a prompt", () => {
  it("brings the right skill once, and an ordinary one nothing", async () => {
    const repo = haversackRepo();
    const server = await testServer();
    await runGemini({ repo, server, prompt: ORDINARY });
    await runGemini({ repo, server, prompt: RELEASE, args: AGAIN });
    await runGemini({ repo, server, prompt: ORDINARY, args: AGAIN });
    const [before, asked, after] = server
      .of("main")
      .map((request) => messagesText(request).split("# Skill Recommendations"));
    expect(before).toHaveLength(1);
    expect(asked).toHaveLength(2);
    expect(asked?.[1]).toContain('Activate: activate_skill(name: "release-notes")');
    expect(asked?.[1]).not.toContain("pdf-forms (");
    // The same text as before, which the history still holds.
    expect(after).toHaveLength(2);
    for (let n = 0; n < 2; n++) await runGemini({ repo, server, prompt: RELEASE, args: AGAIN });
    expect(messagesText(server.of("main").at(-1)!).split("# Skill Recommendations")).toHaveLength(2);
    expect(firstChange(server.of("main")[1]!, server.of("main")[2]!)).toBeUndefined();
  });

  it("names our tool for a skill that the client does not list, and that tool loads it", async () => {
    const repo = haversackRepo();
    const load = toolCall("mcp_haversack_skill", { name: "pdf-forms" });
    const server = await testServer(steps([{ tools: [load] }, { text: "end" }]));
    await runGemini({ repo, server, prompt: PDF, skipPermissions: false });
    const [first, second] = server.of("main");
    expect(messagesText(first!)).toContain('mcp_haversack_skill(name: "pdf-forms")');
    expect(second?.toolResults[0]).toMatchObject({
      isError: false,
      text: expect.stringContaining("BODY-OF-pdf-forms"),
    });
  });
});

it("keeps what tools did as work in progress", async () => {
  const repo = haversackRepo();
  repo.write("check.sh", 'echo "FAIL BAD-THING"; exit 1\n');
  const server = await testServer(
    steps([
      { tools: [toolCall("write_file", { file_path: "limit.txt", content: "five" })] },
      { tools: [toolCall("run_shell_command", { command: "sh check.sh" })] },
      { text: "end" },
    ]),
  );
  const { sessionId } = await runGemini({ repo, server, prompt: ORDINARY });
  expect(wipOf(repo, sessionId)).toMatchObject({
    files_modified: ["limit.txt"],
    errors: [{ message: expect.stringContaining("BAD-THING") }],
  });
});

describe("the packet", () => {
  it("comes with the first prompt of a session, once, and a custom command stays one", async () => {
    const repo = haversackRepo();
    repo.write(".gemini/commands/tie.toml", "prompt = '''\nEXPANDED {{args}}\n'''\n");
    const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json")) as { id: string };
    const env = { HAVERSACK_AGENT: "june" };
    const claim = toolCall("mcp_haversack_update_task_status", { task_id: id, status: "in_progress" });
    const server = await testServer(steps([{ tools: [claim] }, { text: "end" }]));
    await runGemini({ repo, server, prompt: "Begin.", env });
    server.setScript([]);
    const at = server.of("main").length;
    await runGemini({ repo, server, prompt: "/tie knots", env });
    await runGemini({ repo, server, prompt: ORDINARY, env, args: AGAIN });
    const [first, second] = server.of("main").slice(at).map(messagesText);
    expect(first).toContain("EXPANDED knots");
    expect(first).toContain("From Haversack, at the start of this session; times are UTC.");
    expect(first).toContain(`**Current position:** ${id} "Limit logins" is in progress`);
    expect(second?.split("From Haversack")).toHaveLength(2);
  });

  it("comes after a compaction, with the next tool result, once", async () => {
    const repo = haversackRepo();
    const write = toolCall("write_file", { file_path: "limit.txt", content: "five" });
    const read = (inputTokens: number) => ({
      tools: [toolCall("read_file", { file_path: "limit.txt" })],
      usage: { inputTokens },
    });
    const server = await testServer(steps([{ tools: [write] }, read(900), read(900), { text: "one" }]));
    await runGemini({ repo, server, prompt: RELEASE });
    // The call that fills the window is reported before the compaction, the next one after it.
    server.setScript(steps([read(900_000), read(2_000), read(2_000), { text: "end" }]));
    await runGemini({ repo, server, prompt: ORDINARY, args: AGAIN });
    expect(server.of("compaction").length).toBeGreaterThan(0);
    const texts = server.of("main").slice(-4).map(messagesText);
    expect(texts.map((text) => text.split("From Haversack, after a compaction").length - 1)).toEqual([0, 0, 1, 1]);
    expect(texts[2]).toContain("limit.txt");
    // The window is new, so a skill that the old window was shown may be recommended again.
    server.setScript([]);
    await runGemini({ repo, server, prompt: RELEASE, args: AGAIN });
    expect(server.of("main").at(-1)?.lastUserText).toContain('Activate: activate_skill(name: "release-notes")');
  });
});

describe("a session is unharmed", () => {
  it("when the store is broken", async () => {
    const repo = haversackRepo();
    writeFileSync(join(repo.root, ".haversack/haversack.db"), "no database, and long enough to look like none at all");
    const shell = { tools: [toolCall("run_shell_command", { command: "echo STILL-HERE" })] };
    const server = await testServer(steps([shell, { text: "end" }]));
    const run = await runGemini({ repo, server, prompt: RELEASE });
    expect(run).toMatchObject({ exitCode: 0, isTimedOut: false });
    expect(server.of("main")[1]?.toolResults[0]?.text).toContain("STILL-HERE");
    expect(messagesText(server.of("main")[0]!)).not.toContain("# Skill");
  });

  it("when the runtime is gone", async () => {
    const repo = haversackRepo();
    const file = join(repo.root, ".gemini/settings.json");
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(process.execPath, "/nowhere/node"));
    const server = await testServer();
    const run = await runGemini({ repo, server, prompt: RELEASE });
    expect(run.exitCode).toBe(0);
    expect(server.of("main")).toHaveLength(1);
  });
});

it("session list says how full the context of the running session is", async () => {
  const repo = haversackRepo();
  let listed: { client: string; context?: { used_tokens: number } }[] = [];
  const server = await testServer((request, n) => {
    if (request.kind !== "main") return undefined;
    if (n === 1)
      return {
        tools: [toolCall("run_shell_command", { command: "true" })],
        usage: { inputTokens: 5_000, outputTokens: 20 },
      };
    if (n === 2) listed = JSON.parse(haversack(repo, "session", "list", "--json")).sessions;
    return { text: "end" };
  });
  await runGemini({ repo, server, prompt: "Thanks, please go on." });
  expect(listed).toMatchObject([{ client: "gemini", context: { used_tokens: 5_020 } }]);
});
