/** Claude Code 2.1.90, which ignores every hook of a file if one of them asks an MCP server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { installClient } from "../install-client.ts";
import { onPath } from "../run-haversack.ts";
import { steps, toolCall } from "../script.ts";
import { testServer } from "./claude-test.ts";
import { FITTING, haversack, haversackRepo, ours, skillRepo, wipOf } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";
import type { ScratchRepo } from "./scratch-repo.ts";

const FOLDER = join(import.meta.dirname, "older");
const PACKAGE = "@anthropic-ai/claude-code";
const OLDER: [string, string] = [process.execPath, join(FOLDER, "node_modules", PACKAGE, "cli.js")];

beforeAll(() => installClient({ folder: FOLDER, packageName: PACKAGE, title: "Claude Code" }), 300_000);

/** The older client replaces the one that the repository was made with. */
function downgrade(repo: ScratchRepo): void {
  repo.env["PATH"] = `${onPath(repo.base, "claude", OLDER)}:${process.env["PATH"]}`;
}

async function session(repo: ScratchRepo, file: string) {
  const write = toolCall("Write", { file_path: join(repo.root, file), content: "a\n" });
  const server = await testServer(steps([{ tools: [write] }, { text: "done" }]));
  const run = await runClaude({ repo, server, prompt: FITTING, program: OLDER });
  return { ...run, told: server.requests.flatMap(ours), wip: () => wipOf(repo, run.sessionId) };
}

const settings = (repo: ScratchRepo) => readFileSync(join(repo.root, ".claude/settings.local.json"), "utf8");

it("gets commands from `init`, and its events are answered", async () => {
  const repo = skillRepo();
  downgrade(repo);
  haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
  expect(settings(repo)).not.toContain("mcp_tool");
  const { exitCode, stderr, told, wip } = await session(repo, "a.ts");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(told[0]?.text).toContain("release-notes");
  expect(wip()).toMatchObject({ files_modified: ["a.ts"] });
});

it("works on in a project that a newer one was wired for; `doctor` says what is wrong, and `init` repairs it", async () => {
  const repo = haversackRepo();
  expect(settings(repo)).toContain("mcp_tool");
  downgrade(repo);
  const before = await session(repo, "a.ts");
  expect(before).toMatchObject({ exitCode: 0, stderr: "", results: ["done"], told: [] });
  expect(() => haversack(repo, "doctor")).toThrow(/FAIL {2}claude-code hooks: .*too old/);
  haversack(repo, "init", "--yes", "--project", "--client", "claude-code");
  const after = await session(repo, "b.ts");
  expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  expect(after.told[0]?.text).toContain("release-notes");
  expect(after.wip()).toMatchObject({ files_modified: ["b.ts"] });
});
