/** What `init` writes for opencode, and the package, in the real client: loaded, our server's tools called, `/work` known. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { opencode } from "../../../packages/haversack/src/clients/opencode/wiring.ts";
import { readText } from "../../../packages/haversack/src/engine/init.ts";
import type { Scope } from "../../../packages/haversack/src/engine/wiring.ts";
import { textOf } from "../request-text.ts";
import { type Rule, steps, toolCall } from "../script.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import { type ScratchOpencode, scratchOpencode } from "./scratch-opencode.ts";

const ROOT = join(import.meta.dirname, "../../..");
const BIN = join(ROOT, "packages/haversack/dist/haversack.cjs");
const NODE_ON_PATH = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}` };

const load = { tools: [toolCall("haversack_skill", { name: "sql-tuning" })] };
const next = { tools: [toolCall("haversack_get_next_batch", {})] };

it.each(["project", "user"] as const)("wired for the %s: skill and get_next_batch answer", async (scope) => {
  const repo = haversackRepo();
  haversack(repo, "task", "create", "Mend the index");
  wire(repo, scope);
  const server = await testServer(steps([load, next, { text: "end" }]));
  const run = await runOpencode({ repo, server, prompt: "Go." });
  expect(run.exitCode).toBe(0);
  const [, skill, batch] = server.of("main").map(({ toolResults }) => toolResults[0]);
  expect(skill).toMatchObject({ isError: false, text: expect.stringContaining("BODY-OF-sql-tuning") });
  expect(batch).toMatchObject({ isError: false, text: expect.stringContaining("Mend the index") });
  expect(repo.git("status", "--porcelain")).not.toContain("haversack.js");
});

it("knows /work, and its agents have our tools", async () => {
  const repo = haversackRepo();
  wire(repo, "project");
  const inside: Rule = { kind: "sub-agent", n: 1, reply: load };
  const spawn = toolCall("task", { description: "x", prompt: "Task x", subagent_type: "haversack-implementer" });
  const server = await testServer(steps([{ tools: [spawn] }, { text: "end" }], inside));
  await runOpencode({ repo, server, prompt: "2", args: ["--command", "work"] });
  expect(server.of("main")[0]?.lastUserText).toContain("Arguments: 2");
  expect(textOf(server.of("sub-agent")[0]!)).toContain("You implement the one task");
  expect(server.of("sub-agent")[1]?.toolResults[0]?.text).toContain("BODY-OF-sql-tuning");
});

it("adds nothing in a project that does not use Haversack, nor when the package is gone", async () => {
  const repo = scratchOpencode();
  wire(repo, "user");
  const server = await testServer();
  await runOpencode({ repo, server, prompt: "Go." });
  const other = haversackRepo();
  wire(other, "project", join(other.base, "nowhere"));
  await runOpencode({ repo: other, server, prompt: "Go." });
  expect(server.of("main")).toHaveLength(2);
  for (const { tools } of server.of("main")) expect(tools.map(({ name }) => name).join()).not.toContain("haversack");
});

it("works as a package that opencode.json names", async () => {
  const repo = haversackRepo();
  const folder = join(repo.base, "package");
  buildInto(folder);
  repo.writeConfig({ plugin: [pathToFileURL(folder).href] });
  const server = await testServer(steps([load, { text: "end" }]));
  await runOpencode({ repo, server, prompt: "Go.", env: { PATH: `${NODE_ON_PATH.PATH}` } });
  expect(server.of("main")[1]?.toolResults[0]?.text).toContain("BODY-OF-sql-tuning");
});

it("works once where the project, the user and a package bring it", async () => {
  const repo = haversackRepo();
  const folder = join(repo.base, "package");
  buildInto(folder);
  repo.writeConfig({ plugin: [pathToFileURL(folder).href] });
  wire(repo, "user");
  wire(repo, "project");
  const server = await testServer(steps([load, { text: "end" }]));
  const run = await runOpencode({ repo, server, prompt: "Make the slow SQL queries fast.", env: NODE_ON_PATH });
  const [first, second] = server.of("main");
  expect(first?.lastUserText.split("# Skill Recommendations")).toHaveLength(2);
  expect(first?.tools.filter(({ name }) => name.endsWith("_skill"))).toHaveLength(1);
  expect(second?.toolResults[0]?.text).toContain("BODY-OF-sql-tuning");
  const { prompts } = JSON.parse(haversack(repo, "why", "--session", run.sessionId, "--limit", "9", "--json"));
  expect(prompts).toHaveLength(1);
});

function haversackRepo(): ScratchOpencode {
  const repo = scratchOpencode();
  repo.writeSkill(".claude/skills", "sql-tuning", { description: "Makes slow SQL queries fast." });
  haversack(repo, "skill", "index");
  return repo;
}

function haversack(repo: ScratchOpencode, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: repo.root,
    env: { ...repo.env, PATH: process.env["PATH"] },
    encoding: "utf8",
    timeout: 30_000,
  });
  if (status !== 0) throw new Error(`haversack ${args.join(" ")}: exit ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

/** As `init` does. The plugin is built beside the repository: the package's own may be of another state of the sources. */
function wire(repo: ScratchOpencode, scope: Scope, folder = join(repo.base, "installed")): void {
  if (!folder.endsWith("nowhere")) buildInto(folder);
  const installed = { node: process.execPath, hook: join(folder, "hook.cjs"), bin: BIN };
  const env = { ...repo.env, PATH: process.env["PATH"] ?? "" };
  for (const file of opencode.files({ scope, cwd: repo.root, env, installed, hasGuards: false })) {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, file.wire(readText(file.path) ?? file.blank).text);
  }
}

function buildInto(folder: string): void {
  const built = spawnSync(process.execPath, [join(ROOT, "scripts/build-opencode.mjs"), folder], { encoding: "utf8" });
  expect(built).toMatchObject({ status: 0, stderr: "" });
}
