/**
 * Finds where a project's state lives, and which work tree and branch a folder is in. Reads git's own files instead of running git, because
 * the hook does this at every event and cannot afford a process. The hook bundles this file, so it may import only `fs`.
 *
 * The state lives in the nearest `.haversack/` of the repository, else at its root. Linked worktrees use the main repository's state, so all
 * worktrees share one store. A `.haversack/` above a repository is ignored: otherwise anyone who can write to a parent folder, such as
 * /tmp, could choose its store. Only a submodule belongs to the repository around it.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";

export const STATE_FOLDER = ".haversack";

export interface ProjectRoot {
  root: string;
  /** Why this folder was chosen, for `haversack doctor` and messages. */
  because: "haversack-folder" | "git-root" | "main-repository" | "working-folder";
  /** The folder in the current linked worktree that corresponds to the root; absent in the main one. */
  worktree?: string;
}

export function findProjectRoot(cwd: string): ProjectRoot {
  const top = nearestFolder(cwd, (folder) => isMarked(folder) || existsSync(`${folder}/.git`));
  const marked = top !== undefined && isMarked(top) ? top : undefined;
  const work = top && nearestFolder(top, (folder) => existsSync(`${folder}/.git`));
  const main = work && mainRepository(work);

  if (work && main && main !== work) {
    // A worktree checks out its own copy of the tracked files in `.haversack/`, but its store is the main repository's.
    if (marked && marked.length > work.length && marked.startsWith(work)) {
      const twin = main + marked.slice(work.length);
      if (isFolder(`${twin}/${STATE_FOLDER}`)) return { root: twin, because: "main-repository", worktree: marked };
    }
    return { root: main, because: "main-repository", worktree: work };
  }
  if (marked) return { root: marked, because: "haversack-folder" };
  if (work && isSubmodule(work)) {
    const around = findProjectRoot(parent(work));
    if (isMarked(around.root)) return around;
  }
  if (work) return { root: work, because: "git-root" };
  return { root: cwd, because: "working-folder" };
}

/** The main repository's folder; `work` itself if it is the main work tree or a submodule. */
function mainRepository(work: string): string {
  const worktreeFolder = namedGitFolder(work);
  if (!worktreeFolder) return work;
  // Only linked worktrees have a commondir file; a submodule's gitdir has none.
  const common = readText(`${worktreeFolder}/commondir`)?.trim();
  if (!common) return work;
  const commonFolder = absolute(common, worktreeFolder);
  if (baseName(commonFolder) === ".git") return parent(commonFolder);

  // A bare repository. If its parent folder points to it (the `.bare` layout), use the parent, else the repository itself.
  const above = parent(commonFolder);
  return namedGitFolder(above) === commonFolder ? above : commonFolder;
}

/** A submodule's git folder is inside that of the repository around it. */
function isSubmodule(work: string): boolean {
  return /[\\/]modules[\\/]/.test(gitFile(work) ?? "");
}

function namedGitFolder(work: string): string | undefined {
  const named = gitFile(work);
  return named === undefined ? undefined : absolute(named, work);
}

/** In a linked work tree or a submodule, `.git` is a file that names the git folder. Undefined: `.git` is a folder, or missing. */
function gitFile(work: string): string | undefined {
  return /^gitdir:\s*(.+?)\s*$/m.exec(readText(`${work}/.git`) ?? "")?.[1];
}

function isMarked(folder: string): boolean {
  return isFolder(`${folder}/${STATE_FOLDER}`);
}

export function nearestFolder(from: string, matches: (folder: string) => boolean): string | undefined {
  for (let folder = from; ; folder = parent(folder)) {
    if (matches(folder)) return folder;
    if (parent(folder) === folder) return undefined;
  }
}

// String paths instead of node:path: the hook may load nothing but fs, sqlite and vm.
function parent(folder: string): string {
  const cut = Math.max(folder.lastIndexOf("/"), folder.lastIndexOf("\\"));
  if (cut < 0) return folder;
  if (cut === 0) return folder[0] ?? folder;
  // `C:\` is its own parent.
  return folder[cut - 1] === ":" ? folder.slice(0, cut + 1) : folder.slice(0, cut);
}

function baseName(folder: string): string {
  return folder.slice(Math.max(folder.lastIndexOf("/"), folder.lastIndexOf("\\")) + 1);
}

export function absolute(path: string, base: string): string {
  const isAbsolute = path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
  const parts: string[] = [];
  for (const part of (isAbsolute ? path : `${base}/${path}`).split(/[\\/]/)) {
    if (part === "..") parts.pop();
    else if (part !== "." && (part !== "" || parts.length === 0)) parts.push(part);
  }
  return parts.join("/") || "/";
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readText(path: string): string | undefined {
  // Check first: in most repositories `.git` is a folder, and a thrown error costs 0.07 ms.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Unreadable, so it is not the git file we want.
    return undefined;
  }
}

export interface GitPlace {
  worktree?: string;
  /** Absent outside of git, or if no branch is checked out. */
  branch?: string;
}

export function gitPlace(cwd: string): GitPlace {
  const worktree = nearestFolder(cwd, isWorktree);
  if (worktree === undefined) return {};
  const branch = branchIn(readText(`${gitFolder(worktree)}/HEAD`) ?? "");
  return { worktree, ...(branch && { branch }) };
}

/** The work tree and branch of a folder. Outside of git, the project's folder counts as the work tree. */
export function workPlace(cwd: string): GitPlace & { worktree: string } {
  const { worktree = findProjectRoot(cwd).root, branch } = gitPlace(cwd);
  return { worktree, ...(branch !== undefined && { branch }) };
}

/** Also true for two paths to one folder, e.g. through a symbolic link. */
export function isSameFolder(one: string, other: string): boolean {
  return one === other || realFolder(one) === realFolder(other);
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The folder is gone, so only its path can be compared.
    return path;
  }
}

/** "" if there is none. No regular expression: a hook would compile it anew each time. */
function branchIn(head: string): string {
  const [first = ""] = head.split("\n", 1);
  const ref = first.startsWith("ref:") ? first.slice(4).trim() : "";
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : "";
}

function isWorktree(folder: string): boolean {
  // Check first: trying to read a missing file costs ten times as much.
  if (!existsSync(`${folder}/.git`)) return false;
  return existsSync(`${folder}/.git/HEAD`) || (readText(`${folder}/.git`)?.startsWith("gitdir:") ?? false);
}

// Checks whether git tracks the database or SQLite's files beside it, by searching git's index for their names. Version 4 of the index
// omits the prefix that a name shares with the one before it.

/** Enough for a repository with hundreds of thousands of files. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Which of `names`, all in `.haversack/` below the root, git tracks. Also empty if git's index cannot be read. */
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
    // No repository, or the index is being replaced; the next event checks again.
    return [];
  }
}

/** Changes whenever the index changes. Undefined: there is no index. */
export function indexState(root: string): string | undefined {
  try {
    const found = statSync(`${gitFolder(root)}/index`, { bigint: true, throwIfNoEntry: false });
    return found && `${found.ino}:${found.mtimeNs}:${found.size}`;
  } catch {
    // No repository.
    return undefined;
  }
}

function gitFolder(work: string): string {
  return namedGitFolder(work) ?? `${work}/.git`;
}
