/** The plugin in the real client: it installs from its own folder, and its hooks, its MCP server and its skills work from there. */
import { execFile, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { codexPlaces, readCodexPlugin, trustFile } from "../../../packages/haversack/src/clients/codex/places.ts";
import { hookKey } from "../../../packages/haversack/src/clients/codex/trust.ts";
import { namespaceCall } from "../responses-api.ts";
import { developerTexts } from "../responses-request.ts";
import type { ResponsesServer } from "../responses-server.ts";
import { type Reply, type Script, steps } from "../script.ts";
import { type CodexRepo, codexRepo } from "./codex-repo.ts";
import { testServer } from "./codex-test.ts";
import { DIST, haversack, ours } from "./haversack-repo.ts";
import { codexProgram } from "./install.ts";
import { listHooks } from "./list-hooks.ts";
import { type CodexRun, environment, runCodex } from "./run-codex.ts";
import { shell } from "./tour.ts";

const FITTING = "Make the slow SQL queries of the report fast.";
/** The plugin takes the first Node on the PATH that is new enough. */
const NODE_ON_PATH = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };

const load = (name: string): Reply => ({ tools: [namespaceCall("mcp__haversack", "skill", { name })] });

it("brings the skill that fits and serves it, in a project that uses Haversack", async () => {
  const { repo, server } = await pluginRepo(steps([load("pdf-forms"), shell("true")]));
  haversack(repo, "skill", "index");
  const run = await withPlugin(repo, server, { prompt: FITTING });
  expect(run, run.stderr).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(ours(server.requests[0]).join()).toContain("sql-tuning");
  expect(server.requests[1]?.toolResults[0]?.text).toContain("BODY-OF-pdf-forms");
  expect(haversack(repo, "session", "list")).toContain(run.threadId);
});

it("has an MCP server that answers before the hooks are trusted, and no hook that runs", async () => {
  const { repo, server } = await pluginRepo(steps([load("pdf-forms")]));
  haversack(repo, "skill", "index");
  await withPlugin(repo, server, { prompt: FITTING, trustHooks: false, skipApprovals: false });
  expect(ours(server.requests[0])).toEqual([]);
  expect(server.requests[1]?.toolResults[0]?.text).toContain("BODY-OF-pdf-forms");
});

it("has skills that cost no session anything until they are called by name", async () => {
  const { repo, server } = await pluginRepo(steps([{ text: "one" }]));
  const { threadId } = await withPlugin(repo, server, { prompt: "Hello." });
  expect(developerTexts(server.requests[0]!).join()).not.toMatch(/haversack:(?:start|doctor|work)/);
  await withPlugin(repo, server, { prompt: "$haversack:start", resume: threadId });
  expect(JSON.stringify(server.requests.at(-1)?.input)).toContain("haversack.cjs skill index");
  await withPlugin(repo, server, { prompt: "$haversack:work -n 2", resume: threadId });
  expect(JSON.stringify(server.requests.at(-1)?.input)).toContain("You coordinate work on the task queue.");
});

it("starts the project's use of Haversack by the line that its skill names", async () => {
  // The client's shell is a login shell, with the PATH of this machine's profile.
  const line = (folder: string) =>
    `PATH='${NODE_ON_PATH.PATH}' sh "${folder}/skills/start/../../node.sh" haversack.cjs skill index`;
  const { repo, server, folder } = await pluginRepo((request, n) =>
    request.kind === "main" && n === 1 ? shell(line(folder)) : undefined,
  );
  await withPlugin(repo, server, { prompt: "$haversack:start" });
  expect(server.requests[1]?.toolResults[0]?.text).toContain("2 skills");
  await withPlugin(repo, server, { prompt: FITTING });
  expect(ours(server.requests.at(-1)).join()).toContain("sql-tuning");
});

it("adds nothing of its hooks in a project that does not use Haversack", async () => {
  const { repo, server } = await pluginRepo();
  await withPlugin(repo, server, { prompt: FITTING });
  expect(server.requests.flatMap((request) => ours(request))).toEqual([]);
  expect(repo.git("status", "--porcelain")).not.toContain(".haversack");
});

it("stands back where init has wired the client: one text for a prompt, and the tools still answer", async () => {
  const { repo, server } = await pluginRepo(steps([load("pdf-forms"), shell("true")]));
  haversack(repo, "init", "--yes", "--user", "--client", "codex");
  const run = await withPlugin(repo, server, { prompt: FITTING });
  expect(run, run.stderr).toMatchObject({ exitCode: 0, lastMessage: "DONE" });
  expect(ours(server.requests[0])).toEqual([expect.stringContaining("sql-tuning")]);
  expect(server.requests[1]?.toolResults[0]?.text).toContain("BODY-OF-pdf-forms");
  const { prompts } = JSON.parse(haversack(repo, "why", "--session", run.threadId, "--limit", "9", "--json"));
  expect(prompts).toHaveLength(1);
});

it("is what doctor finds, tries, and wants to have reviewed", async () => {
  const { repo } = await pluginRepo();
  haversack(repo, "skill", "index");
  const { stdout } = spawnSync(process.execPath, [join(DIST, "haversack.cjs"), "doctor", "--json"], {
    cwd: repo.root,
    env: { ...repo.env, ...NODE_ON_PATH },
    encoding: "utf8",
  });
  const { findings } = JSON.parse(stdout) as { findings: { part: string; level: string; text: string }[] };
  const found = Object.fromEntries(findings.map(({ part, level, text }) => [part, `${level}: ${text}`]));
  expect(found).toMatchObject({
    "codex plugin": expect.stringMatching(/^ok: haversack@haversack, in .*0\.1\.0$/),
    "codex trust": expect.stringMatching(/^fail: .*not reviewed the hooks for SessionStart/),
    "codex events": expect.stringMatching(/^ok: 9 test events/),
    "codex MCP server": expect.stringMatching(/^ok: starts/),
  });
  expect(found).not.toHaveProperty("codex hooks");

  // As the client writes it after the review; the hash is none.
  const plugin = readCodexPlugin(codexPlaces(repo.root, repo.env));
  for (const hook of plugin!.hooks) {
    repo.addConfig(`[hooks.state.${JSON.stringify(hookKey(trustFile(plugin!), hook))}]\ntrusted_hash = "sha256:none"`);
  }
  const listed = await listHooks(repo);
  expect(listed).toHaveLength(9);
  expect(new Set(listed.map(({ trustStatus }) => trustStatus))).toEqual(new Set(["modified"]));
});

interface PluginRepo {
  repo: CodexRepo;
  server: ResponsesServer;
  /** Where the client keeps the installed plugin. */
  folder: string;
}

/** A repository with two skills, and the plugin installed as its README says. */
async function pluginRepo(script?: Script): Promise<PluginRepo> {
  const repo = codexRepo();
  const server = await testServer(script);
  repo.writeSkill("sql-tuning", { description: "Makes slow SQL queries fast." });
  repo.writeSkill("pdf-forms", { description: "Fills in PDF forms.", folder: ".claude/skills" });
  await codexPlugin(repo, server, "marketplace", "add", join(DIST, "codex"));
  const answer = await codexPlugin(repo, server, "add", "haversack@haversack", "--json");
  return { repo, server, folder: (JSON.parse(answer) as { installedPath: string }).installedPath };
}

/** With plugins switched on the client asks other hosts for catalogues: the scripted server is its proxy and refuses. */
function withPlugin(
  repo: CodexRepo,
  server: ResponsesServer,
  options: { prompt: string; resume?: string; trustHooks?: boolean; skipApprovals?: boolean },
): Promise<CodexRun> {
  return runCodex({ repo, server, ...options, config: { "features.plugins": true }, env: NODE_ON_PATH });
}

/** `codex plugin …`: what it printed; anything but exit 0 is a fault. */
async function codexPlugin(repo: CodexRepo, server: ResponsesServer, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(codexProgram(), ["plugin", ...args], {
    cwd: repo.root,
    env: environment({ repo, server }),
    timeout: 30_000,
  });
  return stdout;
}
