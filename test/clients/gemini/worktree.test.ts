/** A linked git worktree: Gemini CLI reads settings only from the folder in which a session starts, so `init` there writes its own. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { messagesText } from "../request-text.ts";
import { testServer } from "./gemini-test.ts";
import { haversack } from "./haversack-repo.ts";
import { runGemini } from "./run-gemini.ts";
import { scratchGemini } from "./scratch-gemini.ts";

const RELEASE = "Write the release notes for version 2.4 from the merged pull requests.";

it("a session in a linked worktree is wired by an init in that worktree", async () => {
  const repo = scratchGemini();
  const description = "Writes release notes and changelog entries from merged pull requests and the git log.";
  repo.writeSkill(".agents/skills", "release-notes", { description });
  const side = join(repo.base, "side");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo.root });
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one");
  git("worktree", "add", "-q", side);
  const there = { ...repo, root: side };
  const server = await testServer();
  haversack(there, "init", "--yes", "--client", "gemini");
  await runGemini({ repo: there, server, prompt: RELEASE });
  expect(messagesText(server.of("main").at(-1)!)).toContain("release-notes");
});
