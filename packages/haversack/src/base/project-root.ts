/**
 * Where a project's state lives: the nearest `.haversack/` of the repository, else its root; from a linked worktree always the
 * main repository, so that all worktrees share one store. A `.haversack/` above a repository does not capture it: whoever can
 * write to a folder above, such as /tmp, would choose its store. Only a submodule belongs to the repository around it. Reads git's own files instead of running git: the hook
 * asks this at every event and cannot afford a process. Loaded by the hook: nothing but `fs`.
 */
import { existsSync, readFileSync, statSync } from "node:fs";

export const STATE_FOLDER = ".haversack";

export interface ProjectRoot {
  root: string;
  /** Why this folder: for `haversack doctor` and messages. */
  because: "haversack-folder" | "git-root" | "main-repository" | "working-folder";
  /** The folder that stands for the root in the linked worktree that we are in; absent in the main one. */
  worktree?: string;
}

export function findProjectRoot(cwd: string): ProjectRoot {
  const top = nearestFolder(cwd, (folder) => isMarked(folder) || existsSync(`${folder}/.git`));
  const marked = top !== undefined && isMarked(top) ? top : undefined;
  const work = top && nearestFolder(top, (folder) => existsSync(`${folder}/.git`));
  const main = work && mainRepository(work);

  if (work && main && main !== work) {
    // A worktree has its own copy of what `.haversack/` shares through git; its store is the main repository's.
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

/** The main repository's folder of a work tree; the work tree itself when it is the main one or a submodule. */
function mainRepository(work: string): string {
  const gitFile = readText(`${work}/.git`);
  const gitFolder = gitFile && /^gitdir:\s*(.+?)\s*$/m.exec(gitFile)?.[1];
  if (!gitFolder) return work;
  const worktreeFolder = absolute(gitFolder, work);
  // Only linked worktrees have a commondir file; a submodule's gitdir has none.
  const common = readText(`${worktreeFolder}/commondir`)?.trim();
  if (!common) return work;
  const commonFolder = absolute(common, worktreeFolder);
  if (baseName(commonFolder) === ".git") return parent(commonFolder);

  // A bare repository: its parent when that one points here (the `.bare` layout), else the repository itself.
  const above = parent(commonFolder);
  const pointer = readText(`${above}/.git`);
  const target = pointer && /^gitdir:\s*(.+?)\s*$/m.exec(pointer)?.[1];
  return target && absolute(target, above) === commonFolder ? above : commonFolder;
}

/** Its git folder is inside of the one of the repository around it. */
function isSubmodule(work: string): boolean {
  const gitFolder = /^gitdir:\s*(.+?)\s*$/m.exec(readText(`${work}/.git`) ?? "")?.[1];
  return gitFolder !== undefined && /[\\/]modules[\\/]/.test(gitFolder);
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function readText(path: string): string | undefined {
  // Asked first: in most repositories `.git` is a folder, and an error thrown and caught costs 0.07 ms.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Unreadable: then it is not the git file we look for.
    return undefined;
  }
}
