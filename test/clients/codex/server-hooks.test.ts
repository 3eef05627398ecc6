/** Prompts and tool calls answered by the MCP server that runs already, as `init --hooks server` wires a client that can. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { namespaceCall, textCall } from "../responses-api.ts";
import type { ResponsesServer } from "../responses-server.ts";
import { type Reply, type Script, steps } from "../script.ts";
import { startAppServer, trustAllHooks } from "./app-server.ts";
import type { CodexRepo } from "./codex-repo.ts";
import { codexOnce, testServer } from "./codex-test.ts";
import { haversack, haversackRepo, killServers, ours, send, wipOf } from "./haversack-repo.ts";
import { codexProgram } from "./install.ts";
import { listHooks } from "./list-hooks.ts";
import { CODE_MODEL, runCodex } from "./run-codex.ts";
import { patch, shell, spawnAgent } from "./tour.ts";

const FITTING = "Make the slow SQL queries of the report fast.";
const ORDINARY = "Thanks, that looks good. Please go on.";

const serverRepo = () => haversackRepo("user", {}, { asksServer: true });
const add = (file: string): Reply => patch(`*** Add File: ${file}`, "+x");
/** What the client tells the person besides the work itself. */
const complaints = (run: { events: { item?: { type: string; message?: unknown } }[] }) =>
  run.events
    .flatMap(({ item }) => (item?.type === "error" ? [String(item.message)] : []))
    .filter((text) => !/hook-trust/.test(text));

it("brings the skill that fits and records what tools did, with quotes and dollars intact", async () => {
  const repo = serverRepo();
  const script = steps([add("new.txt"), shell("printf 5"), shell("false")]);
  const { run, server } = await codexOnce(`${FITTING} Quotes " and $& and \${cwd} stay.`, script, { repo });
  expect(complaints(run)).toEqual([]);
  expect(ours(server.requests[0]).join()).toContain("## sql-tuning\n");
  expect(wipOf(repo, run)).toMatchObject({ files_modified: ["new.txt"] });
  const events = Object.entries<{ hooks: { type: string }[] }[]>(hooksOf(repo));
  const asked = events.filter(([, groups]) => groups[0]?.hooks[0]?.type === "mcp_tool").map(([event]) => event);
  expect(asked).toEqual(["UserPromptSubmit", "PostToolUse"]);
});

it("knows what tools did that were called from JavaScript", async () => {
  const repo = serverRepo();
  const code = 'text(await tools.apply_patch("*** Begin Patch\\n*** Add File: c.txt\\n+x\\n*** End Patch"))';
  const { run } = await codexOnce("Go.", steps([{ tools: [textCall("exec", code)] }]), { repo, model: CODE_MODEL });
  expect(wipOf(repo, run)).toMatchObject({ files_modified: ["c.txt"] });
});

it("tells a sub-agent's work from the session's, though the hook names no agent", async () => {
  const repo = serverRepo();
  const script = steps([add("main.txt"), spawnAgent(FITTING), shell("sleep 3")], {
    ...{ kind: "sub-agent", n: 1 },
    reply: add("agent.txt"),
  });
  const { run, server } = await codexOnce("Go.", script, { repo });
  const [request] = server.of("sub-agent");
  expect(ours(request).join()).toContain("## sql-tuning\n");
  expect(wipOf(repo, run)).toMatchObject({ files_modified: ["main.txt"] });
  expect(wipOf(repo, run, request?.agentId)).toMatchObject({ files_modified: ["agent.txt"] });
});

it("gives an agent with a name its messages after a tool, and the task back after a compaction", async () => {
  const repo = serverRepo();
  const { id } = JSON.parse(haversack(repo, "task", "create", "Limit logins", "--json"));
  const claim = {
    tools: [namespaceCall("mcp__haversack", "update_task_status", { task_id: id, status: "in_progress" })],
  };
  const answers = [claim, shell("true"), { ...add("limit.txt"), usage: { inputTokens: 120_000 } }];
  const script: Script = ({ kind }, n) => {
    if (kind !== "main") return undefined;
    return n === 2 ? { ...answers[1], after: send(repo, "june", "MESSAGE-ONE") } : answers[n - 1];
  };
  const { server } = await codexOnce("Begin.", script, {
    ...{ repo, env: { HAVERSACK_AGENT: "june" }, config: { model_auto_compact_token_limit: 100_000 } },
  });
  expect(ours(server.of("main")[2]).join()).toContain("MESSAGE-ONE");
  const packets = ours(server.requests.at(-1)).filter((text) => text.includes("after a compaction"));
  expect(packets).toHaveLength(1);
  expect(packets[0]).toContain("limit.txt");
});

it("loses nothing that the session's file has when the server is killed in the middle", async () => {
  const repo = serverRepo();
  const answers = [add("one.txt"), add("two.txt"), shell("sh check.sh"), add("three.txt")];
  repo.write("check.sh", 'echo "FAIL src/add.test.ts > adds"; exit 1\n');
  const script: Script = ({ kind }, n) => {
    if (kind !== "main") return undefined;
    if (n === 2) expect(killServers(repo)).toBe(1);
    return answers[n - 1];
  };
  const { run, server } = await codexOnce("Go.", script, { repo });
  expect(run).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(complaints(run)).toEqual([]);
  expect(wipOf(repo, run)).toMatchObject({ files_modified: ["one.txt", "two.txt", "three.txt"] });
  expect(JSON.stringify(wipOf(repo, run))).toContain("check.sh");
  const before = JSON.stringify(wipOf(repo, run));
  // Once: the session goes on with a new server, and nothing comes a second time.
  await runCodex({ repo, server, prompt: ORDINARY, resume: run.threadId });
  expect(JSON.stringify(wipOf(repo, run))).toBe(before);
});

it("finds in a sub-agent's own file what its server has missed", async () => {
  const repo = serverRepo();
  const script: Script = ({ kind }, n) => {
    if (kind === "main") return [spawnAgent("Look around."), shell("sleep 4")][n - 1];
    if (kind !== "sub-agent") return undefined;
    if (n === 1) killServers(repo);
    return n === 1 ? add("agent.txt") : { text: "looked" };
  };
  const { run, server } = await codexOnce("Go.", script, { repo });
  const [request] = server.of("sub-agent");
  expect(wipOf(repo, run, request?.agentId)).toMatchObject({ files_modified: ["agent.txt"] });
});

it("refuses a model that calls the tool for events itself, and records nothing", async () => {
  const repo = serverRepo();
  const forged = { client: "codex", hook_event_name: "UserPromptSubmit", session_id: "forged", prompt: FITTING };
  const call = { tools: [namespaceCall("mcp__haversack", "hook", { ...forged, cwd: repo.root })] };
  const { server } = await codexOnce(ORDINARY, steps([call]), { repo });
  expect(server.requests[1]?.toolResults.map(({ text }) => text).join()).toMatch(
    /unsupported|unknown|not found|no such/i,
  );
  expect(haversack(repo, "session", "list", "--json")).not.toContain("forged");
});

it("shows the person no failed hook while Haversack is off, nor after uninstall", async () => {
  const repo = serverRepo();
  const server = await testServer();
  const asked = "userPromptSubmit mcpTool completed";
  expect(await hookRuns(repo, server)).toEqual(["sessionStart command completed", asked, "stop command completed"]);
  expect(ours(server.requests[0])).toHaveLength(1);
  haversack(repo, "off");
  expect(await hookRuns(repo, server)).toContain(asked);
  haversack(repo, "on");
  haversack(repo, "uninstall", "--yes", "--user", "--client", "codex");
  expect(await hookRuns(repo, server)).toEqual([]);
  expect(server.requests.slice(1).flatMap((request) => ours(request))).toEqual([]);
});

it("shows no failed hook either when our files are gone", async () => {
  const gone = { bin: "/nowhere/haversack.cjs", hook: "/nowhere/hook.cjs" };
  const repo = haversackRepo("user", gone, { asksServer: true });
  const runs = await hookRuns(repo, await testServer());
  expect(runs).toContain("userPromptSubmit mcpTool completed");
  expect(runs.filter((run) => !run.endsWith(" completed"))).toEqual([]);
});

it("goes on without its server", async () => {
  const repo = serverRepo();
  writeFileSync(join(repo.codexHome, "config.toml"), "");
  const { run } = await codexOnce(FITTING, steps([add("new.txt")]), { repo });
  expect(run).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(complaints(run)).toEqual([]);
  expect(wipOf(repo, run)).toMatchObject({ files_modified: ["new.txt"] });
});

it("waits for the person's review like any hook", async () => {
  const repo = serverRepo();
  const listed = await listHooks(repo, { plugins: false });
  expect(new Set(listed.map(({ trustStatus }) => trustStatus))).toEqual(new Set(["untrusted"]));
  expect(listed).toHaveLength(Object.keys(hooksOf(repo)).length);
  const { server } = await codexOnce(FITTING, [], { repo, trustHooks: false });
  expect(ours(server.requests[0])).toEqual([]);
});

it("leaves no errors when the server was removed: the next session starts processes, once they are reviewed", async () => {
  const repo = serverRepo();
  const server = await testServer();
  const place = { root: repo.root, env: repo.env, server, program: codexProgram() };
  await trustAllHooks(place);
  const config = join(repo.codexHome, "config.toml");
  writeFileSync(config, readFileSync(config, "utf8").replace(/^\[mcp_servers\.haversack\]\n(?:(?!\[).*\n)*/m, ""));

  const app = await startAppServer(place);
  await app.turn(await app.startThread(), FITTING);
  await app.end();
  const told = app.hookRuns.flatMap(({ entries }) => entries.map(({ text }) => text)).join("\n");
  expect(told).toContain("its MCP server was removed from Codex's settings");
  expect(JSON.stringify(hooksOf(repo))).not.toContain("mcp_tool");

  const next = await startAppServer(place);
  await next.turn(await next.startThread(), FITTING);
  await next.end();
  expect(next.hookRuns.filter(({ status }) => status !== "completed")).toEqual([]);

  const reviewed = await codexOnce(FITTING, [], { repo });
  expect(complaints(reviewed.run)).toEqual([]);
  expect(ours(reviewed.server.requests.at(-1)).join()).toContain("## sql-tuning\n");
});

/** How the hooks of one prompt ended, as the client tells other programs. */
async function hookRuns({ root, env }: CodexRepo, server: ResponsesServer): Promise<string[]> {
  const place = { root, env, server, program: codexProgram() };
  await trustAllHooks(place);
  const app = await startAppServer(place);
  try {
    await app.turn(await app.startThread(), FITTING);
    return app.hookRuns.map(({ eventName, handlerType, status }) => `${eventName} ${handlerType} ${status}`);
  } finally {
    await app.end();
  }
}

function hooksOf(repo: CodexRepo): Record<string, { hooks: { type: string }[] }[]> {
  return JSON.parse(readFileSync(join(repo.codexHome, "hooks.json"), "utf8")).hooks;
}
