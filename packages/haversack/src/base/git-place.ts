/**
 * The work tree that a folder is in, and its branch, from git's own files: hooks cannot afford a process. Loaded by the hook:
 * nothing but `fs`.
 */
import { absolute, nearestFolder, readText } from "./project-root.ts";

export interface GitPlace {
  worktree?: string;
  /** Absent: outside of git, or no branch is checked out. */
  branch?: string;
}

export function gitPlace(cwd: string): GitPlace {
  const worktree = nearestFolder(cwd, (folder) => readText(`${folder}/.git/HEAD`) !== undefined || isGitFile(folder));
  if (worktree === undefined) return {};
  // A linked work tree and a submodule have a file that names the folder.
  const folder = /^gitdir:\s*(.+?)\s*$/m.exec(readText(`${worktree}/.git`) ?? "")?.[1];
  const head = readText(`${folder === undefined ? `${worktree}/.git` : absolute(folder, worktree)}/HEAD`);
  const branch = /^ref:\s*refs\/heads\/(.+?)\s*$/m.exec(head ?? "")?.[1];
  return { worktree, ...(branch !== undefined && { branch }) };
}

function isGitFile(folder: string): boolean {
  return readText(`${folder}/.git`)?.startsWith("gitdir:") ?? false;
}
