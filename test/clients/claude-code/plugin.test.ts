/** The plugin in the real client: it is valid, installs from its own folder, and its hooks and its MCP server work from there. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { messagesText, textOf } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import type { ScriptedServer } from "../scripted-server.ts";
import { testServer } from "./claude-test.ts";
import {
  DIST,
  FITTING,
  haversack,
  haversackRepo,
  NODE_ON_PATH,
  ORDINARY,
  ours,
  SKILL_TOOL,
  skillRepo,
} from "./haversack-repo.ts";
import { claudeProgram } from "./install.ts";
import { environment, runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

const PLUGIN = join(DIST, "plugin");
/** Our tool's name, as the client names the tools of a plugin. */
const TOOL = "mcp__plugin_haversack_haversack__skill";

it("is valid by the client's own strict check", async () => {
  expect(await claudePlugin(skillRepo(), await testServer(), "validate", PLUGIN, "--strict")).toContain(
    "Validation passed",
  );
});

it("brings the skill that fits and serves it, in a project that uses Haversack", async () => {
  const server = await testServer(
    steps([{ tools: [toolCall(TOOL, { name: "release-notes" })] }, { text: "written" }, { text: "on" }]),
  );
  const repo = await pluginRepo(server);
  haversack(repo, "skill", "index");
  const run = await runClaude({ repo, server, prompt: [FITTING, ORDINARY], env: NODE_ON_PATH });
  expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["written", "on"] });
  const [first, second, third] = server.of("main");
  expect(textOf(first!)).toContain(TOOL);
  expect(ours(first)).toMatchObject([{ event: "UserPromptSubmit", text: expect.stringContaining("release-notes") }]);
  expect(second?.toolResults).toMatchObject([
    { isError: false, text: expect.stringContaining("BODY-OF-release-notes") },
  ]);
  expect(ours(third)).toHaveLength(1);
  expect(haversack(repo, "session", "list")).toContain(run.sessionId);
});

it("recommends a deferred skill by the name that its tool has here", async () => {
  const server = await testServer();
  const repo = await pluginRepo(server);
  haversack(repo, "skill", "index");
  haversack(repo, "skill", "defer", "--all");
  await runClaude({ repo, server, prompt: FITTING, env: NODE_ON_PATH });
  expect(ours(server.of("main")[0])[0]?.text).toContain(`${TOOL}(name: "release-notes")`);
});

it("has /work, which names the agents as they are called here and may call our tools, as they may", async () => {
  const tool = "mcp__plugin_haversack_haversack__get_tasks";
  const agent = { description: "x", prompt: "x", subagent_type: "haversack:implementer", run_in_background: false };
  const inside: Rule = { kind: "sub-agent", n: 1, reply: { tools: [toolCall(tool, {})] } };
  const server = await testServer(
    steps([{ tools: [toolCall(tool, {})] }, { tools: [toolCall("Agent", agent)] }, { text: "end" }], inside),
  );
  const repo = await pluginRepo(server);
  haversack(repo, "skill", "index");
  haversack(repo, "task", "create", "Mend the index");
  haversack(repo, "task", "create", "Tune the report");
  const run = await runClaude({
    repo,
    server,
    prompt: "/haversack:work -n 2",
    env: NODE_ON_PATH,
    skipPermissions: false,
  });
  expect(run).toMatchObject({ exitCode: 0, stderr: "", results: ["end"] });
  for (const answered of [server.of("main")[1], server.of("sub-agent")[1]]) {
    // The model reads only these lines, once.
    expect(answered?.toolResults).toMatchObject([
      { isError: false, text: expect.stringMatching(/^T\d+ Mend the index\nT\d+ Tune the report$/) },
    ]);
  }
  const [request] = server.of("main");
  expect(request?.lastUserText).toContain("Arguments: -n 2");
  const types = ["implementer", "spec-reviewer", "quality-reviewer", "fixer"];
  for (const type of types) {
    expect(request?.lastUserText).toContain(`haversack:${type}`);
    expect(textOf(request!)).toContain(`- haversack:${type}: `);
  }
});

it("stands back where init has wired the project: one text for each prompt and sub-agent, one skill tool", async () => {
  const agent = { description: "x", prompt: FITTING, subagent_type: "general-purpose", run_in_background: false };
  const server = await testServer(
    steps([{ tools: [toolCall("Agent", agent)] }, { tools: [toolCall(SKILL_TOOL, { name: "release-notes" })] }]),
  );
  const repo = haversackRepo();
  haversack(repo, "skill", "defer", "--all");
  const args = ["--plugin-dir", PLUGIN];
  const run = await runClaude({ repo, server, prompt: FITTING, args, env: NODE_ON_PATH });
  expect(run).toMatchObject({ exitCode: 0, stderr: "" });
  const [first] = server.of("main");
  expect(ours(first)).toHaveLength(1);
  expect(ours(first)[0]?.text).toContain(`${SKILL_TOOL}(name: "release-notes")`);
  const skillTools = first!.tools.map(({ name }) => name).filter((name) => name.endsWith("__skill"));
  expect(skillTools).toEqual([SKILL_TOOL]);
  expect(textOf(first!)).not.toContain("mcp__plugin_haversack");
  const [inside] = server.of("sub-agent");
  expect(messagesText(inside!).split("Activate: ")).toHaveLength(2);
  expect(server.of("main")[2]?.toolResults[0]?.text).toContain("BODY-OF-release-notes");
  const { prompts } = JSON.parse(haversack(repo, "why", "--session", run.sessionId, "--limit", "9", "--json"));
  expect(prompts).toHaveLength(2);
});

it("adds nothing of its hooks in a project that does not use Haversack", async () => {
  const server = await testServer();
  const repo = await pluginRepo(server);
  await runClaude({ repo, server, prompt: FITTING, env: NODE_ON_PATH });
  expect(server.requests.flatMap(ours)).toEqual([]);
  expect(repo.git("status", "--porcelain")).not.toContain(".haversack");
});

/** A repository with the three skills, and the plugin installed as the README says. */
async function pluginRepo(server: ScriptedServer): Promise<ScratchRepo> {
  const repo = skillRepo();
  await claudePlugin(repo, server, "marketplace", "add", PLUGIN);
  await claudePlugin(repo, server, "install", "haversack@haversack");
  return repo;
}

/** `claude plugin …`: what it printed; anything but exit 0 is a fault. */
async function claudePlugin(repo: ScratchRepo, server: ScriptedServer, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(claudeProgram(), ["plugin", ...args], {
    cwd: repo.root,
    env: environment({ repo, server }),
    timeout: 30_000,
  });
  return stdout;
}
