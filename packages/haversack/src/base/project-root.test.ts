import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findProjectRoot } from "./project-root.ts";

let base: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-root-")));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...identity, ...args], { cwd, stdio: "pipe" });
}

function folder(...parts: string[]): string {
  const path = join(base, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

function repository(name: string): string {
  const path = folder(name);
  git(path, "init", "-q");
  git(path, "commit", "-q", "--allow-empty", "-m", "first");
  return path;
}

describe("findProjectRoot", () => {
  it("takes the nearest .haversack, also inside a repository", () => {
    const repo = repository("nearest");
    folder("nearest", "packages", "api", ".haversack");
    const deep = folder("nearest", "packages", "api", "src", "deep");
    expect(findProjectRoot(deep)).toEqual({ root: join(repo, "packages/api"), because: "haversack-folder" });
    expect(findProjectRoot(folder("nearest", "packages", "web"))).toEqual({ root: repo, because: "git-root" });
  });

  it("takes the main repository from a linked worktree, although the worktree has its own copy of .haversack", () => {
    const repo = repository("main");
    const tree = join(base, "linked");
    git(repo, "worktree", "add", "-q", tree);
    folder("linked", ".haversack");
    folder("linked", "src");
    expect(findProjectRoot(join(tree, "src"))).toEqual({ root: repo, because: "main-repository", worktree: tree });
  });

  it("finds the twin of a nested project in the main repository", () => {
    const repo = repository("mono");
    folder("mono", "api", ".haversack");
    const tree = join(base, "mono-linked");
    git(repo, "worktree", "add", "-q", tree);
    folder("mono-linked", "api", ".haversack");
    expect(findProjectRoot(join(tree, "api"))).toMatchObject({ root: join(repo, "api"), worktree: join(tree, "api") });
  });

  it("keeps a submodule apart from its parent", () => {
    const child = repository("child");
    const parent = repository("parent");
    git(parent, "submodule", "add", "-q", child, "lib");
    expect(findProjectRoot(join(parent, "lib"))).toEqual({ root: join(parent, "lib"), because: "git-root" });
  });

  it("gives a submodule the .haversack of the repository around it, also from a worktree of that", () => {
    const child = repository("part");
    const parent = repository("whole");
    git(parent, "submodule", "add", "-q", child, "lib");
    git(parent, "commit", "-q", "-m", "lib");
    folder("whole", ".haversack");
    expect(findProjectRoot(join(parent, "lib"))).toEqual({ root: parent, because: "haversack-folder" });
    const tree = join(base, "whole-linked");
    git(parent, "worktree", "add", "-q", tree);
    git(tree, "submodule", "update", "-q", "--init");
    expect(findProjectRoot(join(tree, "lib"))).toEqual({ root: parent, because: "main-repository", worktree: tree });
  });

  it("is not captured by a .haversack above the repository", () => {
    folder("shared", ".haversack");
    const repo = repository("shared/repo");
    expect(findProjectRoot(folder("shared", "repo", "src"))).toEqual({ root: repo, because: "git-root" });
    folder("shared", "repo", ".haversack");
    expect(findProjectRoot(join(repo, "src"))).toEqual({ root: repo, because: "haversack-folder" });
    // A clone inside another repository is its own project.
    folder("outer", ".haversack");
    repository("outer");
    const inner = repository("outer/vendor/inner");
    expect(findProjectRoot(inner)).toEqual({ root: inner, because: "git-root" });
    // Without git the folder above still counts.
    expect(findProjectRoot(folder("shared", "notes"))).toMatchObject({ root: join(base, "shared") });
  });

  it("takes the main repository from a worktree below it", () => {
    const repo = repository("around");
    folder("around", ".haversack");
    const tree = join(repo, "trees/one");
    git(repo, "worktree", "add", "-q", tree);
    expect(findProjectRoot(tree)).toEqual({ root: repo, because: "main-repository", worktree: tree });
  });

  it("shares one root among the worktrees of a bare repository", () => {
    const origin = repository("origin");
    folder("bare");
    git(base, "clone", "-q", "--bare", origin, join(base, "bare/repo.git"));
    git(join(base, "bare/repo.git"), "worktree", "add", "-q", join(base, "bare/one"));
    expect(findProjectRoot(join(base, "bare/one")).root).toBe(join(base, "bare/repo.git"));
  });

  it("takes the working folder where there is neither", () => {
    const lonely = folder("lonely");
    expect(findProjectRoot(lonely)).toEqual({ root: lonely, because: "working-folder" });
  });
});
