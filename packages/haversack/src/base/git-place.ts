/**
 * The work tree that a folder is in, and its branch, from git's own files: hooks cannot afford a process. Loaded by the hook:
 * nothing but `fs`.
 */
import { existsSync, realpathSync } from "node:fs";
import { absolute, findProjectRoot, nearestFolder, readText } from "./project-root.ts";

export interface GitPlace {
  worktree?: string;
  /** Absent: outside of git, or no branch is checked out. */
  branch?: string;
}

export function gitPlace(cwd: string): GitPlace {
  const worktree = nearestFolder(cwd, isWorktree);
  if (worktree === undefined) return {};
  // A linked work tree and a submodule have a file that names the folder.
  const own = `${worktree}/.git`;
  const folder = existsSync(`${own}/HEAD`) ? undefined : /^gitdir:\s*(.+?)\s*$/m.exec(readText(own) ?? "")?.[1];
  const head = readText(`${folder === undefined ? own : absolute(folder, worktree)}/HEAD`);
  const branch = branchIn(head ?? "");
  return { worktree, ...(branch && { branch }) };
}

/** Where somebody works in that folder: outside of git the project's folder stands for the work tree. */
export function workPlace(cwd: string): GitPlace & { worktree: string } {
  const { worktree = findProjectRoot(cwd).root, branch } = gitPlace(cwd);
  return { worktree, ...(branch !== undefined && { branch }) };
}

/** Two names of one folder, as with a symbolic link. */
export function isSameFolder(one: string, other: string): boolean {
  return one === other || realFolder(one) === realFolder(other);
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is gone; then its name is all there is.
    return path;
  }
}

/** "" without one. By hand: a hook compiles patterns anew. */
function branchIn(head: string): string {
  const [first = ""] = head.split("\n", 1);
  const ref = first.startsWith("ref:") ? first.slice(4).trim() : "";
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : "";
}

function isWorktree(folder: string): boolean {
  // Asked first: a file that cannot be read costs ten times as much.
  if (!existsSync(`${folder}/.git`)) return false;
  return existsSync(`${folder}/.git/HEAD`) || (readText(`${folder}/.git`)?.startsWith("gitdir:") ?? false);
}
