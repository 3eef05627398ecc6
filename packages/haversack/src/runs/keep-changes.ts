/**
 * Keeps what a session left uncommitted, before and after it is stopped: as a commit on a work branch or under our own ref. Uses a separate
 * index, so the user's branch, index, working tree and stash do not change.
 *
 * A repository inside the repository needs care, because git records only its commit: a session may have run `git clone` or `git init` in a
 * folder. The files of such a folder are kept with the others. Changes inside a submodule are kept in the submodule, under the same ref.
 */
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { STATE_FOLDER } from "../base/project-root.ts";
import { copyToNew, makeFolder, removeFile, USER } from "../base/safe-write.ts";
import { git, headCommit } from "../engine/artifacts/git-snapshot.ts";

export type KeepWay = "ref" | "branch";

export interface Kept {
  /** `refs/haversack/runs/R1/3`, or `haversack/run-R1`. */
  ref: string;
  commit: string;
  tree: string;
  files: number;
}

export interface KeepRequest {
  cwd: string;
  runId: string;
  number: number;
  way: KeepWay;
  message: string;
  /** Our own folder for the separate index. */
  scratch: string;
}

/** Undefined: nothing is uncommitted. Throws if git fails: then no other session may start. */
export function keepChanges(request: KeepRequest): Kept | undefined {
  const { cwd, runId, number, way, message, scratch } = request;
  const head = headCommit(cwd);
  const dirty = dirtyFiles(cwd);
  if (dirty.length === 0) return undefined;
  for (const path of dirty) if (isSubmodule(cwd, path)) keepChanges({ ...request, cwd: join(cwd, path) });
  const tree = snapshot(cwd, scratch);
  const ref = way === "branch" ? `refs/heads/haversack/run-${runId}` : `refs/haversack/runs/${runId}/${number}`;
  const tip = git(cwd, ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`])?.trim() || undefined;
  const shown = { ref: ref.replace(/^refs\/heads\//, ""), tree, files: dirty.length };
  if (tip !== undefined && git(cwd, ["rev-parse", `${tip}^{tree}`])?.trim() === tree) return { ...shown, commit: tip };
  const parents = [...new Set([tip, head].filter((one) => one !== undefined))];
  const words = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-m", message];
  const commit = runGit(cwd, words, AUTHOR).trim();
  runGit(cwd, ["update-ref", "-m", "haversack work", ref, commit, tip ?? ""]);
  return { ...shown, commit };
}

/** The commit's author: the user did not make it. */
export const AUTHOR = {
  GIT_AUTHOR_NAME: "Haversack",
  GIT_AUTHOR_EMAIL: "haversack@localhost",
  GIT_COMMITTER_NAME: "Haversack",
  GIT_COMMITTER_EMAIL: "haversack@localhost",
};

/** Our own state is not a session's work. */
export const NOT_OURS = [":/", `:(top,exclude,glob)**/${STATE_FOLDER}/**`];

/** Our index of each folder, and the state of the user's index from which it was made. */
const indexes = new Map<string, { index: string; madeFrom: string }>();

/**
 * All files as they are now, except ignored ones, as a git tree. Uses a separate index, so the user's index, branch and stash do not
 * change. Equal files give equal trees.
 */
export function snapshot(cwd: string, scratch: string): string {
  const own = git(cwd, ["rev-parse", "--git-path", "index"])?.trim();
  const path = own === undefined ? undefined : resolve(cwd, own);
  const madeFrom = path === undefined ? "" : stampOf(path);
  const { index, ...known } = indexes.get(cwd) ?? { index: newIndex(scratch) };
  const env = { GIT_INDEX_FILE: index };
  removeFile(`${index}.lock`, { within: USER });
  // Kept for the next snapshot: it knows the new files, and git would compress a large one each time.
  if (!("madeFrom" in known) || known.madeFrom !== madeFrom || !existsSync(index)) {
    removeFile(index, { within: USER });
    if (path !== undefined && existsSync(path)) copyToNew(path, index, { within: USER });
  }
  indexes.delete(cwd);
  try {
    const isPlain = addPlainly(cwd, env);
    if (!isPlain) addWithInner(cwd, { index, env, own: path });
    const tree = runGit(cwd, ["write-tree"], env).trim();
    if (isPlain) indexes.set(cwd, { index, madeFrom });
    return tree;
  } finally {
    if (!indexes.has(cwd)) removeIndex(index);
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? `${found.ino} ${found.mtimeNs} ${found.size}` : "";
}

let made = 0;

function newIndex(scratch: string): string {
  makeFolder(scratch, { within: USER });
  if (made === 0) process.on("exit", () => [...indexes.values()].map(({ index }) => removeIndex(index)));
  // Those of runners that were killed.
  for (const name of readdirSync(scratch)) {
    const [, id] = /^index-(\d+)-/.exec(name) ?? [];
    if (id !== undefined && !isRunning(Number(id))) removeIndex(join(scratch, name));
  }
  return join(scratch, `index-${process.pid}-${made++}`);
}

function isRunning(id: number): boolean {
  try {
    return process.kill(id, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function removeIndex(index: string): void {
  removeFile(index, { within: USER });
  removeFile(`${index}.lock`, { within: USER });
}

/** False: there is a repository inside, so it failed or added only that repository's commit. */
function addPlainly(cwd: string, env: Readonly<Record<string, string>>): boolean {
  // Git says so only in words, and here only: asking first would cost every snapshot another process.
  const { status, stderr } = startGit(cwd, ["add", "--all", "--", ...NOT_OURS], { ...env, LC_ALL: "C" });
  return status === 0 && !stderr.includes("embedded git repository");
}

interface InnerAdd {
  index: string;
  env: Readonly<Record<string, string>>;
  /** The user's index. Undefined: there is none yet. */
  own: string | undefined;
}

function addWithInner(cwd: string, { index, env, own }: InnerAdd): void {
  removeFile(index, { within: USER });
  if (own !== undefined && existsSync(own)) copyToNew(own, index, { within: USER });
  const inner = dirtyFiles(cwd).filter(isRepository);
  const others = inner.map((folder) => `:(top,exclude,literal)${folder.slice(0, -1)}`);
  runGit(cwd, ["add", "--all", "--", ...NOT_OURS, ...others], env);
  for (const folder of inner) {
    const tree = innerTree(cwd, folder, `${index}-inner`);
    if (runGit(cwd, ["ls-tree", tree]) !== "") runGit(cwd, ["read-tree", `--prefix=${folder}`, tree], env);
  }
}

/** The files of a repository inside this one, as a tree of this one. */
function innerTree(cwd: string, folder: string, index: string): string {
  const outer = runGit(cwd, ["rev-parse", "--absolute-git-dir"]).trim();
  const env = { GIT_DIR: outer, GIT_WORK_TREE: join(cwd, folder), GIT_INDEX_FILE: index };
  removeFile(index, { within: USER });
  try {
    runGit(join(cwd, folder), ["add", "--all"], env);
    return runGit(join(cwd, folder), ["write-tree"], env).trim();
  } finally {
    removeFile(index, { within: USER });
    removeFile(`${index}.lock`, { within: USER });
  }
}

/** Whether an entry of `dirtyFiles` is a repository that this one does not track: git names new files, never new folders. */
export function isRepository(entry: string): boolean {
  return entry.endsWith("/");
}

/** Whether an entry of `dirtyFiles` is a submodule that is checked out here. */
export function isSubmodule(cwd: string, entry: string): boolean {
  const path = join(cwd, entry);
  return (
    !isRepository(entry) &&
    (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false) &&
    existsSync(join(path, ".git"))
  );
}

/** Changed or new files, except ignored ones and our own. A new folder with a repository of its own ends with a slash. */
export function dirtyFiles(cwd: string): string[] {
  const words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", ...NOT_OURS];
  return runGit(cwd, words)
    .split("\0")
    .filter(Boolean)
    .map((line) => line.slice(3));
}

/** What changed from one snapshot to another, as text for a model; cut at `maxChars`. */
export function diffTrees(cwd: string, from: string, to: string, maxChars: number): string {
  const text = runGit(cwd, ["diff", "--no-ext-diff", "--no-textconv", "--no-color", from, to, "--"]);
  return text.length > maxChars ? `${text.slice(0, maxChars)}\n… (${text.length - maxChars} more characters)` : text;
}

/** The files that differ between two snapshots. */
export function changedFiles(cwd: string, from: string, to: string): string[] {
  return runGit(cwd, ["diff", "--name-only", "--no-renames", "-z", from, to, "--"]).split("\0").filter(Boolean);
}

/** A large repository on a busy machine is slow. */
const LIMIT_MS = 300_000;
const OUTPUT_MAX_BYTES = 50_000_000;
/** The repository's own settings must not run programs. */
const SAFE = [
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.quotepath=off",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "commit.gpgSign=false",
];

/** Throws with git's last line if it fails. */
export function runGit(cwd: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr, error } = startGit(cwd, words, env);
  if (status === 0) return stdout;
  // Node blames the program for a folder that is gone.
  const fault = error && !existsSync(cwd) ? `there is no folder ${cwd} any more` : error?.message;
  const why = fault ?? stderr.trim().split("\n").at(-1) ?? "";
  throw new Error(`git ${words[0]} failed: ${why}`);
}

function startGit(cwd: string, words: readonly string[], env: Readonly<Record<string, string>>) {
  return spawnSync("git", [...SAFE, ...words], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", ...env },
    timeout: LIMIT_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
  });
}
