/** A linked git worktree: Claude Code reads the main checkout's settings there, so one `init` wires every worktree. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testServer } from "./claude-test.ts";
import { FITTING, haversack, haversackRepo, ours } from "./haversack-repo.ts";
import { runClaude } from "./run-claude.ts";

it("a session in a linked worktree is wired by the main checkout's init, and no longer after its uninstall", async () => {
  const repo = haversackRepo();
  const side = join(repo.base, "side");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo.root });
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one");
  git("worktree", "add", "-q", side);
  const there = { ...repo, root: side };
  const server = await testServer();
  const wired = await runClaude({ repo: there, server, prompt: FITTING });
  expect(wired).toMatchObject({ exitCode: 0, stderr: "" });
  expect(
    ours(server.of("main")[0])
      .map(({ text }) => text)
      .join("\n"),
  ).toContain("release-notes");

  haversack(repo, "uninstall", "--yes");
  const after = await runClaude({ repo: there, server, prompt: FITTING });
  expect(after).toMatchObject({ exitCode: 0, stderr: "" });
  expect(ours(server.of("main").at(-1))).toEqual([]);
});
