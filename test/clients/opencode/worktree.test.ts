/** A linked git worktree: opencode looks for plugins only up to the worktree's root, so `init` there writes a file of its own. */
import { execFileSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { haversack } from "./haversack-repo.ts";
import { testServer } from "./opencode-test.ts";
import { runOpencode } from "./run-opencode.ts";
import { scratchOpencode } from "./scratch-opencode.ts";

const RELEASE = "Write the release notes for version 2.4 from the merged pull requests.";

it("a session in a linked worktree is wired by an init in that worktree", async () => {
  const repo = scratchOpencode();
  const description = "Writes release notes and changelog entries from merged pull requests and the git log.";
  repo.writeSkill(".claude/skills", "release-notes", { description });
  const side = join(repo.base, "side");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo.root });
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one");
  git("worktree", "add", "-q", side);
  const there = {
    ...repo,
    root: side,
    writeConfig(config: Record<string, unknown>) {
      repo.writeConfig(config);
      copyFileSync(join(repo.root, "opencode.json"), join(side, "opencode.json"));
    },
  };
  const server = await testServer();
  haversack(there, "init", "--yes", "--client", "opencode");
  const run = await runOpencode({ repo: there, server, prompt: RELEASE });
  expect(run.exitCode).toBe(0);
  expect(server.of("main").at(-1)?.lastUserText).toContain("release-notes");
});
