import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { diffTrees, dirtyFiles, keepChanges, snapshot } from "./keep-changes.ts";
import { addWorktree, catchUp, commitWork, mergeBack, removeWorktree, undoHalfMerge } from "./worktrees.ts";

function repository() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "haversack-keep-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [cwd, scratch] = [join(base, "it's a $project"), join(base, "scratch")];
  mkdirSync(cwd);
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.invalid", ...words], {
      cwd,
      encoding: "utf8",
    });
  const write = (path: string, text: string) => writeFileSync(join(cwd, path), text);
  git("init", "--quiet", "--initial-branch=main");
  write("a.txt", "one\n");
  git("add", "--all");
  git("commit", "--quiet", "-m", "first");
  const keep = (number: number) => keepChanges({ cwd, scratch, runId: "R1", number, way: "ref", message: "kept" });
  return { base, cwd, scratch, git, write, keep };
}

describe("keepChanges", () => {
  it("keeps changed, new and deleted files, and touches neither index nor branch nor our state", () => {
    const { cwd, git, write, keep } = repository();
    write("new file.txt", "new");
    mkdirSync(join(cwd, "sub/.haversack"), { recursive: true });
    write("sub/.haversack/haversack.db", "state");
    rmSync(join(cwd, "a.txt"));
    const before = [git("status", "--porcelain"), git("rev-parse", "HEAD")];
    expect(keep(1)).toMatchObject({ ref: "refs/haversack/runs/R1/1", files: 2 });
    expect(git("ls-tree", "-r", "--name-only", "refs/haversack/runs/R1/1").trim()).toBe("new file.txt");
    expect([git("status", "--porcelain"), git("rev-parse", "HEAD")]).toEqual(before);
  });

  it("keeps nothing when nothing is uncommitted, and the same only once", () => {
    const { write, keep } = repository();
    expect(keep(1)).toBeUndefined();
    write("b.txt", "b");
    const first = keep(2);
    expect(keep(2)).toEqual(first);
  });

  it("keeps the files of a repository that a session made inside, with and without a commit", () => {
    const { cwd, git, write, keep } = repository();
    for (const folder of ["made here", "cloned"]) {
      mkdirSync(join(cwd, folder));
      git("-C", folder, "init", "--quiet");
      write(`${folder}/inner.txt`, folder);
    }
    git("-C", "cloned", "add", "--all");
    git("-C", "cloned", "commit", "--quiet", "-m", "inner");
    mkdirSync(join(cwd, "empty"));
    git("-C", "empty", "init", "--quiet");
    write("b.txt", "b");
    const before = git("status", "--porcelain");
    keep(1);
    const files = git("ls-tree", "-r", "--name-only", "refs/haversack/runs/R1/1").trim().split("\n");
    expect(files).toEqual(["a.txt", "b.txt", "cloned/inner.txt", "made here/inner.txt"]);
    expect(git("show", "refs/haversack/runs/R1/1:made here/inner.txt")).toBe("made here");
    expect(git("status", "--porcelain")).toBe(before);
  });

  it("keeps changes inside a submodule there, under the same ref", () => {
    const { git, write, keep } = withSubmodule();
    write("sub/inner.txt", "changed");
    keep(1);
    expect(git("-C", "sub", "show", "refs/haversack/runs/R1/1:inner.txt")).toBe("changed");
    expect(git("status", "--porcelain")).toBe(" M sub\n");
  });

  it("throws when git fails", () => {
    const { cwd, write, keep } = repository();
    write("b.txt", "b");
    rmSync(join(cwd, ".git/objects"), { recursive: true });
    expect(() => keep(1)).toThrow(/git/);
  });
});

it("a snapshot tells states of the files apart, and shows new files in the difference", () => {
  const { cwd, scratch, write } = repository();
  const before = snapshot(cwd, scratch);
  expect(snapshot(cwd, scratch)).toBe(before);
  write("b.txt", "two\n");
  const after = snapshot(cwd, scratch);
  expect(diffTrees(cwd, before, after, 10_000)).toContain("+two");
  expect(diffTrees(cwd, before, after, 10)).toContain("more characters");
});

it("reads a new file once, not for every snapshot: git would compress a large one each time", () => {
  const { base, cwd, scratch, git, write } = repository();
  write(".gitattributes", "*.bin filter=count\n");
  git("config", "filter.count.clean", `sh -c 'echo read >> "${base}/reads"; cat'`);
  write("large.bin", "large");
  // A file as new as the index could have changed since; git reads it again.
  utimesSync(join(cwd, "large.bin"), 1_000_000_000, 1_000_000_000);
  const trees = [snapshot(cwd, scratch), snapshot(cwd, scratch), snapshot(cwd, scratch)];
  expect(new Set(trees).size).toBe(1);
  expect(readFileSync(join(base, "reads"), "utf8")).toBe("read\n");
  write("large.bin", "larger");
  expect(diffTrees(cwd, trees[0] ?? "", snapshot(cwd, scratch), 10_000)).toContain("+larger");
});

it("sees what the user has added, removed or reset since the last snapshot, ignored files too", () => {
  const { cwd, scratch, git, write } = repository();
  const files = () => git("ls-tree", "-r", "--name-only", snapshot(cwd, scratch)).trim().split("\n");
  write(".gitignore", "secret.txt\n");
  write("secret.txt", "secret");
  expect(files()).toEqual([".gitignore", "a.txt"]);
  git("add", "--force", "secret.txt");
  expect(files()).toEqual([".gitignore", "a.txt", "secret.txt"]);
  git("rm", "--quiet", "--cached", "secret.txt");
  rmSync(join(cwd, "a.txt"));
  expect(files()).toEqual([".gitignore"]);
  git("reset", "--quiet", "--hard");
  expect(files()).toEqual([".gitignore", "a.txt"]);
});

it("removes what a runner that was killed has left", () => {
  const { cwd, scratch } = repository();
  mkdirSync(scratch);
  const left = ["index-999999999-0", "index-999999999-0.lock"].map((name) => join(scratch, name));
  for (const file of left) writeFileSync(file, "");
  snapshot(cwd, scratch);
  expect(left.map((file) => existsSync(file))).toEqual([false, false]);
});

/** With a submodule at `sub`. */
function withSubmodule() {
  const made = repository();
  const { base, git } = made;
  const origin = join(base, "origin");
  mkdirSync(origin);
  git("-C", origin, "init", "--quiet");
  writeFileSync(join(origin, "inner.txt"), "inner");
  git("-C", origin, "add", "--all");
  git("-C", origin, "commit", "--quiet", "-m", "inner");
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin, "sub");
  git("commit", "--quiet", "-m", "submodule");
  return made;
}

describe("worktrees", () => {
  const made = (repo: { base: string; cwd: string }) =>
    addWorktree(repo.cwd, { folder: join(repo.base, "trees/T1"), branch: "haversack/R1-T1" });
  const into = { into: "main", title: "T1" };

  it("merges what was made apart", () => {
    const repo = repository();
    const { cwd, git } = repo;
    const tree = made(repo);
    writeFileSync(join(tree.folder, "b.txt"), "b");
    expect(commitWork(tree, "Task 1")).toBeUndefined();
    expect(catchUp(cwd, tree)).toEqual({ kind: "current" });
    expect(mergeBack(cwd, tree, into)).toEqual({ kind: "merged" });
    expect(git("show", "HEAD:b.txt")).toBe("b");
    expect(dirtyFiles(cwd)).toEqual([]);
  });

  it("brings the user's newer commits into the worktree first", () => {
    const repo = repository();
    const { cwd, git, write } = repo;
    const tree = made(repo);
    writeFileSync(join(tree.folder, "b.txt"), "b");
    commitWork(tree, "Task 1");
    write("a.txt", "ours\n");
    git("commit", "--quiet", "-am", "ours");
    expect(catchUp(cwd, tree)).toEqual({ kind: "moved" });
    expect(readFileSync(join(tree.folder, "a.txt"), "utf8")).toBe("ours\n");
    expect(mergeBack(cwd, tree, into)).toEqual({ kind: "merged" });
  });

  it("leaves everything as it was when there is a conflict", () => {
    const repo = repository();
    const { cwd, git, write } = repo;
    const tree = made(repo);
    writeFileSync(join(tree.folder, "a.txt"), "theirs\n");
    commitWork(tree, "Task 1");
    write("a.txt", "ours\n");
    git("commit", "--quiet", "-am", "ours");
    const head = git("rev-parse", "HEAD");
    for (const merge of [() => catchUp(cwd, tree), () => mergeBack(cwd, tree, into)]) {
      expect(merge()).toMatchObject({ kind: "conflict", files: ["a.txt"] });
      expect(git("rev-parse", "HEAD")).toBe(head);
      expect([dirtyFiles(cwd), dirtyFiles(tree.folder)]).toEqual([[], []]);
    }
  });

  it("merges only into the branch that was checked out at the start", () => {
    const repo = repository();
    const { cwd, git } = repo;
    const tree = made(repo);
    writeFileSync(join(tree.folder, "b.txt"), "b");
    commitWork(tree, "Task 1");
    git("switch", "--quiet", "-c", "other");
    expect(mergeBack(cwd, tree, into)).toMatchObject({ kind: "conflict", text: expect.stringContaining("now: other") });
    git("switch", "--quiet", "--detach");
    expect(mergeBack(cwd, tree, into)).toMatchObject({ text: expect.stringContaining("no branch") });
    git("switch", "--quiet", "main");
    expect(mergeBack(cwd, tree, into)).toEqual({ kind: "merged" });
  });

  it("says so where a merge and the end of the worktree would lose something", () => {
    const repo = withSubmodule();
    const { git } = repo;
    const tree = made(repo);
    git("-C", tree.folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
    writeFileSync(join(tree.folder, "sub/inner.txt"), "changed");
    expect(commitWork(tree, "Task 1")).toBe("sub is a repository of its own");
    git("-C", join(tree.folder, "sub"), "commit", "--quiet", "-am", "inner");
    expect(commitWork(tree, "Task 1")).toBe("sub is a repository of its own");
    git("-C", tree.folder, "commit", "--quiet", "-am", "a newer submodule");
    expect(commitWork(tree, "Task 1")).toBe("it changes the submodule sub");
    mkdirSync(join(tree.folder, "new"));
    git("-C", join(tree.folder, "new"), "init", "--quiet");
    expect(commitWork(tree, "Task 1")).toBe("new/ is a repository of its own");
    removeWorktree(repo.cwd, tree);
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  it("undoes its own half merge, and no other", () => {
    const repo = repository();
    const { cwd, git, write } = repo;
    const tree = made(repo);
    writeFileSync(join(tree.folder, "a.txt"), "theirs\n");
    commitWork(tree, "Task 1");
    write("a.txt", "ours\n");
    git("commit", "--quiet", "-am", "ours");
    expect(() => git("merge", tree.branch)).toThrow();
    expect(undoHalfMerge(cwd, () => false)).toBe(false);
    expect(dirtyFiles(cwd)).toEqual(["a.txt"]);
    expect(undoHalfMerge(cwd, (commit) => commit === git("rev-parse", tree.branch).trim())).toBe(true);
    expect(dirtyFiles(cwd)).toEqual([]);
  });

  it("finds one again that a killed runner had made", () => {
    const repo = repository();
    const first = made(repo);
    expect(made(repo)).toEqual(first);
    rmSync(first.folder, { recursive: true });
    expect(made(repo)).toEqual(first);
  });
});
