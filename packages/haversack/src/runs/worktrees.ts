/** The git side of isolated tasks: a worktree on its own branch for each, merged into the user's branch or kept. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder, USER } from "../base/safe-write.ts";
import { git, headCommit } from "../engine/artifacts/git-snapshot.ts";
import { AUTHOR, dirtyFiles, isRepository, isSubmodule, NOT_OURS, runGit } from "./keep-changes.ts";

export interface Worktree {
  folder: string;
  branch: string;
  base: string;
}

export function addWorktree(cwd: string, { folder, branch }: Pick<Worktree, "folder" | "branch">): Worktree {
  const base = headCommit(cwd);
  if (base === undefined) throw new Error("the repository has no commit yet");
  makeFolder(join(folder, ".."), { within: USER });
  runGit(cwd, ["worktree", "prune"]);
  // A runner killed at this point may have made the branch already.
  const isMade = git(cwd, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]) !== undefined;
  if (!isMade) runGit(cwd, ["worktree", "add", "--quiet", "-b", branch, folder, base]);
  else if (!existsSync(folder)) runGit(cwd, ["worktree", "add", "--quiet", folder, branch]);
  return { folder, branch, base: isMade ? runGit(cwd, ["merge-base", "HEAD", branch]).trim() : base };
}

/** The branch that is checked out. Undefined: none, HEAD is detached. */
export function currentBranch(cwd: string): string | undefined {
  return git(cwd, ["symbolic-ref", "--quiet", "--short", "HEAD"])?.trim() || undefined;
}

export type Conflict = { kind: "conflict"; files: string[]; text: string };

/** Commits everything in the worktree to its branch. Returns why that would lose something; then the worktree must stay. */
export function commitWork({ folder, branch, base }: Worktree, message: string): string | undefined {
  const inner = dirtyFiles(folder).find((entry) => isRepository(entry) || isSubmodule(folder, entry));
  if (inner !== undefined) return `${inner} is a repository of its own`;
  commitAll(folder, message);
  const [head = "", tip = ""] = ["HEAD", branch].map((name) => git(folder, ["rev-parse", name])?.trim());
  if (head !== tip) {
    // The session has checked out something else: what it committed there is the task's work.
    const where = currentBranch(folder) ?? "a detached HEAD";
    if (git(folder, ["merge-base", "--is-ancestor", tip, head]) === undefined) {
      return `${where}, which its session left it for, does not have all of its commits`;
    }
    runGit(folder, ["update-ref", "-m", "haversack work", `refs/heads/${branch}`, head, tip]);
  }
  const submodule = changedSubmodule(folder, base, "HEAD");
  // Commits inside a submodule exist only in this worktree.
  return submodule === undefined ? undefined : `it changes the submodule ${submodule}`;
}

/** Merges the commits that the user's branch got since into the worktree, so that its tests show what a merge would give. */
export function catchUp(cwd: string, { folder, branch }: Worktree): { kind: "current" } | { kind: "moved" } | Conflict {
  const head = runGit(cwd, ["rev-parse", "HEAD"]).trim();
  if (git(folder, ["merge-base", "--is-ancestor", head, "HEAD"]) !== undefined) return { kind: "current" };
  try {
    const message = `Merge ${currentBranch(cwd) ?? head} into ${branch}`;
    runGit(folder, ["merge", "--quiet", "--no-ff", "--no-verify", "-m", message, head], authorOf(folder));
    return { kind: "moved" };
  } catch (error) {
    return conflictIn(folder, error);
  }
}

/** Merges into `into`, which must still be checked out in `cwd`. Unless it merges, everything in `cwd` stays as it was. */
export function mergeBack(
  cwd: string,
  { branch, base }: Worktree,
  { into, title }: { into: string | undefined; title: string },
): { kind: "merged" } | { kind: "nothing" } | Conflict {
  const now = currentBranch(cwd);
  if (into !== undefined && now !== into) {
    return { kind: "conflict", files: [], text: `${into} is no longer checked out (now: ${now ?? "no branch"})` };
  }
  if (git(cwd, ["rev-parse", branch])?.trim() === base) return { kind: "nothing" };
  try {
    const words = ["merge", "--quiet", "--no-ff", "--no-verify", "-m", `Merge ${branch}: ${title}`, branch];
    runGit(cwd, words, authorOf(cwd));
    return { kind: "merged" };
  } catch (error) {
    return conflictIn(cwd, error);
  }
}

function conflictIn(cwd: string, error: unknown): Conflict {
  const files = (git(cwd, ["diff", "--name-only", "--diff-filter=U", "-z"]) ?? "").split("\0").filter(Boolean);
  abortMerge(cwd);
  return { kind: "conflict", files, text: (error as Error).message };
}

function commitAll(folder: string, message: string): void {
  if (dirtyFiles(folder).length === 0) return;
  runGit(folder, ["add", "--all", "--", ...NOT_OURS]);
  runGit(folder, ["commit", "--quiet", "--no-verify", "-m", message], authorOf(folder));
}

function authorOf(cwd: string): Record<string, string> {
  return git(cwd, ["config", "user.email"])?.trim() ? {} : AUTHOR;
}

function changedSubmodule(cwd: string, from: string, to: string): string | undefined {
  const lines = runGit(cwd, ["diff", "--raw", "--no-renames", "-z", from, to, "--"]).split("\0");
  return lines.find((_, at) => /^:(160000 \d+|\d+ 160000) /.test(lines[at - 1] ?? ""));
}

function abortMerge(cwd: string): void {
  if (git(cwd, ["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]) !== undefined) runGit(cwd, ["merge", "--abort"]);
}

/** Undoes a merge of ours that was killed halfway, in the user's folder or in a worktree. Leaves every other merge alone. */
export function undoHalfMerge(place: string, isOurs: (commit: string) => boolean): boolean {
  const head = git(place, ["rev-parse", "--verify", "--quiet", "MERGE_HEAD"])?.trim();
  if (head === undefined || !isOurs(head)) return false;
  abortMerge(place);
  return true;
}

/** Another git process works here, or was killed and left its lock. */
export function indexLock(cwd: string): string | undefined {
  const path = git(cwd, ["rev-parse", "--git-path", "index.lock"])?.trim();
  const lock = path === undefined ? undefined : resolve(cwd, path);
  return lock !== undefined && existsSync(lock) ? lock : undefined;
}

/** The branch stays. */
export function removeWorktree(cwd: string, { folder }: Pick<Worktree, "folder">): void {
  git(cwd, ["worktree", "remove", "--force", folder]);
}

export function removeBranch(cwd: string, branch: string): void {
  git(cwd, ["branch", "--quiet", "-D", branch]);
}
