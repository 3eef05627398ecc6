/**
 * The work tree that a folder is in, and its branch, from git's own files: hooks cannot afford a process. Loaded by the hook:
 * nothing but `fs`.
 */
import { existsSync } from "node:fs";
import { absolute, nearestFolder, readText } from "./project-root.ts";

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
  // As git writes it, and without a pattern: a hook compiles those anew.
  const branch = head?.startsWith(BRANCH) ? head.slice(BRANCH.length).trimEnd() : undefined;
  return { worktree, ...(branch !== undefined && { branch }) };
}

const BRANCH = "ref: refs/heads/";

function isWorktree(folder: string): boolean {
  // Asked first: a file that cannot be read costs ten times as much.
  if (!existsSync(`${folder}/.git`)) return false;
  return existsSync(`${folder}/.git/HEAD`) || (readText(`${folder}/.git`)?.startsWith("gitdir:") ?? false);
}
