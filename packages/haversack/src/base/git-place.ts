/**
 * The work tree that a folder is in, and its branch, from git's own files: hooks cannot afford a process. Loaded by the hook:
 * nothing but `fs`.
 */
import { absolute, exists, nearestFolder, readText } from "./project-root.ts";

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
  const folder = exists(`${own}/HEAD`) ? undefined : /^gitdir:\s*(.+?)\s*$/m.exec(readText(own) ?? "")?.[1];
  const head = readText(`${folder === undefined ? own : absolute(folder, worktree)}/HEAD`);
  const branch = /^ref:\s*refs\/heads\/(.+?)\s*$/m.exec(head ?? "")?.[1];
  return { worktree, ...(branch !== undefined && { branch }) };
}

function isWorktree(folder: string): boolean {
  // Asked first: a file that cannot be read costs ten times as much.
  if (!exists(`${folder}/.git`)) return false;
  return exists(`${folder}/.git/HEAD`) || (readText(`${folder}/.git`)?.startsWith("gitdir:") ?? false);
}
