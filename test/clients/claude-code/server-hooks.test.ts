/** Events that the running MCP server answers, as `init` wires clients that support it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { messagesText } from "../request-text.ts";
import { onPath } from "../run-haversack.ts";
import { steps, toolCall } from "../script.ts";
import { HAS_TMUX, startTerminal, type Terminal } from "../terminal.ts";
import { testServer } from "./claude-test.ts";
import { count, FITTING, haversack, haversackRepo, ORDINARY, ours, SKILL_TOOL, wipOf } from "./haversack-repo.ts";
import { claudeProgram } from "./install.ts";
import { environment, runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

const ways = (repo: ScratchRepo): string[] =>
  Object.values<{ hooks: { type: string }[] }[]>(
    JSON.parse(readFileSync(join(repo.root, ".claude/settings.local.json"), "utf8")).hooks,
  ).flatMap((groups) => groups.flatMap(({ hooks }) => hooks.map(({ type }) => type)));

it("brings skills, records what tools did, and survives a compaction, like a process for each event", async () => {
  const repo = haversackRepo();
  expect(ways(repo).filter((type) => type === "mcp_tool")).toHaveLength(7);
  const write = toolCall("Write", { file_path: join(repo.root, "src/a.ts"), content: "a\n" });
  const bash = toolCall("Bash", { command: "false" });
  const server = await testServer(steps([{ tools: [write] }, { tools: [bash] }, { text: "done" }]));
  const { exitCode, stderr, sessionId } = await runClaude({
    ...{ repo, server },
    prompt: [`${FITTING} Quotes " and $& and \${cwd} stay.`, ORDINARY, "/compact", ORDINARY],
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const [first] = ours(server.of("main")[0]);
  expect(first?.event).toBe("UserPromptSubmit");
  expect(first?.text).toContain('Activate: Skill(skill: "release-notes")');
  expect(wipOf(repo, sessionId)).toMatchObject({ files_modified: ["src/a.ts"] });
  const why = haversack(repo, "why", "--session", sessionId);
  expect(why).toContain("release-notes");
  // The packet restores the state of the work, once.
  expect(count(messagesText(server.of("main").at(-1)!), "src/a.ts")).toBeGreaterThan(0);
});

it("loses nothing when the server is killed: what it was not told comes from the transcript, once", async () => {
  const repo = haversackRepo();
  const bin = onPath(repo.base, "npm", [process.execPath, join(import.meta.dirname, "kill-server.cjs"), repo.root]);
  const kill = toolCall("Bash", { command: "npm test" });
  const file = (name: string) => toolCall("Write", { file_path: join(repo.root, name), content: "x\n" });
  const script = [{ tools: [file("a.ts")] }, { tools: [kill] }, { tools: [file("b.ts")] }, { tools: [kill] }];
  const server = await testServer(steps([...script, { text: "done" }, { text: "done again" }]));
  const run = await runClaude({
    ...{ repo, server, prompt: ["Go.", ORDINARY] },
    env: { PATH: `${bin}:${repo.env["PATH"]}` },
  });
  expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["done", "done again"] });
  const wip = wipOf(repo, run.sessionId);
  expect(wip).toMatchObject({ files_modified: ["a.ts", "b.ts"], test_results: { passed: 2, failed: 1 } });
});

it("loses nothing when the server was removed; the next session starts processes instead", async () => {
  const repo = haversackRepo();
  const state = join(repo.configDir, ".claude.json");
  const settings = JSON.parse(readFileSync(state, "utf8"));
  delete settings.projects[repo.root].mcpServers.haversack;
  writeFileSync(state, JSON.stringify(settings));
  const write = toolCall("Write", { file_path: join(repo.root, "a.ts"), content: "a\n" });
  const server = await testServer(steps([{ tools: [write] }, { text: "done" }]));
  const { sessionId, exitCode } = await runClaude({ repo, server, prompt: "Go." });
  expect(exitCode).toBe(0);
  expect(wipOf(repo, sessionId)).toMatchObject({ files_modified: ["a.ts"] });
  expect(ways(repo)).not.toContain("mcp_tool");
  const next = await runClaude({ repo, server, prompt: FITTING });
  expect(next).toMatchObject({ exitCode: 0, stderr: "" });
  expect(JSON.stringify(next.events)).not.toContain("each event starts a process");
  expect(ours(server.requests.at(-1))[0]?.text).toContain("release-notes");
});

/** As a team commits it: the server is in .mcp.json, and each user decides whether to start it. */
function offeredServer() {
  const repo = haversackRepo();
  const state = join(repo.configDir, ".claude.json");
  const before = JSON.parse(readFileSync(state, "utf8"));
  repo.writeMcpServers({ haversack: before.projects[repo.root].mcpServers.haversack });
  const setState = (more: object) => writeFileSync(state, JSON.stringify({ ...before, projects: {}, ...more }));
  setState({});
  return { repo, setState };
}

/** The line below the prompt. */
const READY = /auto mode on|\? for shortcuts/;

it("loses nothing when the user refused the server that .mcp.json offers; the next session starts processes", async () => {
  const { repo } = offeredServer();
  const write = (name: string) => toolCall("Write", { file_path: join(repo.root, name), content: "a\n" });
  const go = async (name: string) => {
    const server = await testServer(steps([{ tools: [write(name)] }, { text: "done" }, { text: "done again" }]));
    const run = await runClaude({ repo, server, prompt: [FITTING, ORDINARY] });
    const servers = run.events.find(({ subtype }) => subtype === "init")?.["mcp_servers"];
    const told = server.requests.flatMap(ours).filter(({ event }) => event === "UserPromptSubmit");
    return { ...run, servers, told };
  };

  // Control: the server is started, and its hooks answer.
  const approved = await go("a.ts");
  expect(approved.servers).toMatchObject([{ name: "haversack" }]);
  expect(approved.told.length).toBeGreaterThan(0);
  expect(ways(repo)).toContain("mcp_tool");

  const settings = join(repo.root, ".claude/settings.local.json");
  const refusal = { ...JSON.parse(readFileSync(settings, "utf8")), disabledMcpjsonServers: ["haversack"] };
  writeFileSync(settings, JSON.stringify(refusal));
  const refused = await go("b.ts");
  expect(refused).toMatchObject({ exitCode: 0, results: ["done", "done again"] });
  expect(JSON.stringify(refused.servers ?? [])).not.toContain("connected");
  // The process at the end of the session reads from the transcript what happened.
  expect(wipOf(repo, refused.sessionId)).toMatchObject({ files_modified: ["b.ts"] });
  expect(ways(repo)).not.toContain("mcp_tool");
  expect((await go("c.ts")).told.length).toBeGreaterThan(0);
});

it.skipIf(!HAS_TMUX)("shows a person who refuses the server in the client's dialog what follows, once", async () => {
  const { repo, setState } = offeredServer();
  setState({
    ...{ hasCompletedOnboarding: true, theme: "dark", bypassPermissionsModeAccepted: true },
    customApiKeyResponses: { approved: ["not-a-key"], rejected: [] },
    projects: { [repo.root]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  });
  const server = await testServer(() => ({ text: "All done." }));
  const open = () =>
    startTerminal([claudeProgram()], { cwd: repo.root, env: environment({ repo, server }), base: repo.base });
  const ask = async (terminal: Terminal) => {
    terminal.type(FITTING);
    await terminal.until(/Write the release notes/);
    return terminal.press("Enter", /All done\./);
  };

  const first = open();
  expect(await first.until(/New MCP server found in this project: haversack/)).toContain("Continue without");
  await first.press("Escape", READY);
  // The client has read the hooks before this session's start could change them.
  expect(await ask(first)).toMatch(
    /Haversack: Claude Code does not start its MCP\s+server, which was removed or not approved/,
  );
  first.close();
  expect(ways(repo)).not.toContain("mcp_tool");

  const next = open();
  await next.until(READY);
  const shown = await ask(next);
  expect(shown).not.toMatch(/hook error|not connected|New MCP server/);
  expect(server.of("main").flatMap(ours).at(-1)?.text).toContain("release-notes");
});

it.each(["command", "server"])("says each text once where all projects are wired too, by %s", async (way) => {
  const repo = haversackRepo();
  haversack(repo, "init", "--yes", "--user", "--client", "claude-code", "--hooks", way);
  const write = toolCall("Write", { file_path: join(repo.root, "src/a.ts"), content: "a\n" });
  const server = await testServer(steps([{ tools: [write] }, { text: "done" }]));
  const { sessionId } = await runClaude({ repo, server, prompt: FITTING });
  expect(ours(server.of("main")[0]).map(({ event }) => event)).toEqual(["UserPromptSubmit"]);
  expect(wipOf(repo, sessionId)).toMatchObject({ files_modified: ["src/a.ts"] });
  const db = new DatabaseSync(join(repo.root, ".haversack/haversack.db"), { readOnly: true });
  const { prompts } = db.prepare("SELECT prompt_count AS prompts FROM sessions WHERE session_id = ?").get(sessionId)!;
  db.close();
  expect(prompts).toBe(1);
});

it("ties a claim to its session: what is edited next belongs to the task", async () => {
  const repo = haversackRepo();
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json"));
  const claim = toolCall("mcp__haversack__update_task_status", { task_id: id, status: "in_progress" });
  const write = toolCall("Write", { file_path: join(repo.root, "src/b.ts"), content: "b\n" });
  const server = await testServer(steps([{ tools: [claim] }, { tools: [write] }, { text: "claimed" }]));
  await runClaude({ repo, server, prompt: "Claim it." });
  // The edit reaches the task, so the claim was known to be this session's.
  expect(JSON.parse(haversack(repo, "wip", id, "--json")).wip).toMatchObject({ files_modified: ["src/b.ts"] });
});

it("refuses a model that calls the tool for events itself, and records nothing", async () => {
  const repo = haversackRepo();
  const forged = { client: "claude-code", hook_event_name: "UserPromptSubmit", session_id: "forged", prompt: FITTING };
  const call = toolCall(SKILL_TOOL.replace("skill", "hook"), { ...forged, cwd: repo.root });
  const server = await testServer(steps([{ tools: [call] }, { text: "tried" }]));
  await runClaude({ repo, server, prompt: ORDINARY });
  expect(
    server
      .of("main")[1]
      ?.toolResults.map(({ text }) => text)
      .join(),
  ).toMatch(/No such tool/i);
  expect(haversack(repo, "session", "list", "--json")).not.toContain("forged");
});

it("is silent while Haversack is off, and leaves nothing behind that the client could stumble over", async () => {
  const repo = haversackRepo();
  haversack(repo, "off");
  const server = await testServer();
  const off = await runClaude({ repo, server, prompt: FITTING });
  expect(off).toMatchObject({ exitCode: 0, stderr: "" });
  expect(ours(server.of("main")[0])).toEqual([]);
  haversack(repo, "on");
  haversack(repo, "uninstall", "--yes", "--project");
  const after = await runClaude({ repo, server, prompt: FITTING });
  expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  expect(server.requests.flatMap(ours)).toEqual([]);
});
