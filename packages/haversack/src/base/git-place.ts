/**
 * The work tree that a folder is in, and its branch, from git's own files: hooks cannot afford a process. Loaded by the hook:
 * nothing but `fs`.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
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

// Whether git tracks the database or one of SQLite's files beside it, by what its index holds: no process is started. Names are stored in the index as
// they are; its version 4 leaves out what a name has in common with the one before it.

/** Of a large repository: hundreds of thousands of files. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Names of the tracked files among `names`, all in `.haversack/` below the root. Empty also where git's index cannot be read. */
export function trackedInIndex(root: string, names: readonly string[]): string[] {
  try {
    const file = `${gitFolder(root)}/index`;
    const { size } = statSync(file, { throwIfNoEntry: false }) ?? {};
    if (!size || size > MAX_BYTES) return [];
    const index = readFileSync(file);
    const isCompressed = index.readUInt32BE(4) === 4;
    return names.filter((name) => {
      const ending = isCompressed ? name.slice(Math.max(0, name.indexOf("-"))) : `.haversack/${name}`;
      return index.includes(`${ending}\0`, 12, "latin1");
    });
  } catch {
    // No repository, or an index that is being replaced: the next event looks again.
    return [];
  }
}

/** Another one when the index has changed. Undefined: there is none. */
export function indexState(root: string): string | undefined {
  try {
    const found = statSync(`${gitFolder(root)}/index`, { bigint: true, throwIfNoEntry: false });
    return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
  } catch {
    // No repository.
    return undefined;
  }
}

/** `.git` is a file in work trees and submodules. */
function gitFolder(root: string): string {
  const at = `${root}/.git`;
  if (statSync(at).isDirectory()) return at;
  const folder = /^gitdir: (.+)$/m.exec(readFileSync(at, "utf8"))?.[1] ?? "";
  return folder.startsWith("/") ? folder : `${root}/${folder}`;
}
