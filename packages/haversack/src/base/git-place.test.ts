import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { gitPlace, isSameFolder, workPlace } from "./project-root.ts";

function scratch(): { base: string; git(...args: string[]): string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-git-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"];
  return { base, git: (...args) => execFileSync("git", [...who, ...args], { cwd: base, encoding: "utf8" }) };
}

it("says the work tree and the branch, in a linked one too", () => {
  const { base, git } = scratch();
  git("init", "--quiet", "--initial-branch=main", "repo");
  git("-C", "repo", "commit", "--quiet", "--allow-empty", "-m", "Begin");
  git("-C", "repo", "worktree", "add", "--quiet", "-b", "feature/auth", "../tree");
  mkdirSync(join(base, "tree/src/deep"), { recursive: true });
  expect(gitPlace(join(base, "repo"))).toEqual({ worktree: join(base, "repo"), branch: "main" });
  expect(gitPlace(join(base, "tree/src/deep"))).toEqual({ worktree: join(base, "tree"), branch: "feature/auth" });
  git("-C", "tree", "checkout", "--quiet", "--detach");
  expect(gitPlace(join(base, "tree"))).toEqual({ worktree: join(base, "tree") });
});

it.each([
  ["ref: refs/heads/main\n", "main"],
  ["ref:\trefs/heads/main\n", "main"],
  ["ref:refs/heads/feature/x\r\n", "feature/x"],
  ["ref:   refs/heads/main", "main"],
  ["ref: refs/heads/main\nmore\n", "main"],
  ["ref: refs/heads/\n", undefined],
  ["ref: refs/remotes/origin/main\n", undefined],
  ["0123456789012345678901234567890123456789\n", undefined],
])("reads HEAD as git does: %j", (head, branch) => {
  const { base, git } = scratch();
  git("init", "--quiet", "repo");
  writeFileSync(join(base, "repo/.git/HEAD"), head);
  expect(gitPlace(join(base, "repo")).branch).toBe(branch);
});

it("says nothing outside of git", () => {
  const { base } = scratch();
  mkdirSync(join(base, ".git"));
  expect(gitPlace(base)).toEqual({});
  expect(gitPlace("/nowhere/at/all")).toEqual({});
});

it("names a place of work in any folder: the work tree, else the project's folder", () => {
  const { base, git } = scratch();
  git("init", "--quiet", "--initial-branch=main", "repo");
  mkdirSync(join(base, "plain/.haversack"), { recursive: true });
  mkdirSync(join(base, "plain/deep"));
  expect(workPlace(join(base, "repo"))).toEqual({ worktree: join(base, "repo"), branch: "main" });
  expect(workPlace(join(base, "plain/deep"))).toEqual({ worktree: join(base, "plain") });
});

it("knows a folder by another name", () => {
  const { base } = scratch();
  mkdirSync(join(base, "one"));
  symlinkSync(join(base, "one"), join(base, "two"));
  expect(isSameFolder(join(base, "one"), join(base, "two"))).toBe(true);
  expect(isSameFolder(join(base, "one"), base)).toBe(false);
  expect(isSameFolder(join(base, "gone"), join(base, "gone"))).toBe(true);
  expect(isSameFolder(join(base, "gone"), join(base, "one"))).toBe(false);
});
