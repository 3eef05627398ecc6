/**
 * What git says about a worktree: two short processes, with a time that they may take. No answer is an answer: no repository, no
 * git, or one too large to be asked while somebody waits. Loaded by the hook, in a part of its own.
 */
import { lstatSync } from "node:fs";
import type { GitState } from "../../work/git-changes.ts";

export interface GitReading extends GitState {
  /** Files of the commits that were made since then, by whoever. */
  committed: string[];
}

/** Together. */
const MOST_MS = 1000;
const MOST_BYTES = 1_000_000;
/** With more files that are not committed, nobody can say what belongs to what. */
const MOST_FILES = 3000;
/** A repository's own settings must not run programs because somebody asked what has changed. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.quotepath=off"];

/** `since`: the commit and the time of an earlier state. */
export function readGitState(worktree: string, since?: { head: string; at: string }): GitReading | undefined {
  const deadline = Date.now() + MOST_MS;
  const status = git(
    worktree,
    ["status", "--porcelain", "-z", "--branch", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"],
    deadline,
  );
  const head =
    status === undefined ? undefined : (git(worktree, ["rev-parse", "--verify", "--quiet", "HEAD"], deadline) ?? "");
  if (status === undefined || head === undefined) return undefined;
  const paths = status
    .split("\0")
    // `XY path`; the branch's line begins with `##`.
    .filter((line) => line.length > 3 && !line.startsWith("## "))
    .map((line) => line.slice(3))
    .filter((path) => path !== ".haversack" && !path.startsWith(".haversack/") && !path.includes("/.haversack/"));
  if (paths.length > MOST_FILES) return undefined;
  const marks = paths.map((path) => [path, markOf(`${worktree}/${path}`)] as const);
  // By the time of the change: the newest stand last, as everywhere in the WIP.
  marks.sort(([, a], [, b]) => timeIn(a) - timeIn(b));
  const commit = head.trim();
  return {
    head: commit,
    files: Object.fromEntries(marks),
    committed: committedSince(worktree, commit, since, deadline),
  };
}

/** Commits that a pull or a checkout brought are older than that: not ours. */
function committedSince(
  worktree: string,
  head: string,
  since: { head: string; at: string } | undefined,
  deadline: number,
): string[] {
  if (!since || since.head === head || !COMMIT.test(since.head)) return [];
  const range = [`--since=${since.at}`, `${since.head}..HEAD`];
  const words = [
    "log",
    "--no-merges",
    "--format=",
    "--name-only",
    "--no-renames",
    "-z",
    "--max-count=200",
    ...range,
    "--",
  ];
  const names = git(worktree, words, deadline)?.split("\0") ?? [];
  return [...new Set(names.map((name) => name.replace(/^\n+/, "")).filter(Boolean))].reverse();
}

const COMMIT = /^[0-9a-f]{40,64}$/;

function markOf(file: string): string {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  return stat ? `${Math.floor(stat.mtimeMs)}:${stat.size}` : "gone";
}

function timeIn(mark: string): number {
  return Number.parseInt(mark, 10) || 0;
}

/** Undefined: it failed, took too long, or had too much to say. */
function git(worktree: string, words: readonly string[], deadline: number): string | undefined {
  const timeout = deadline - Date.now();
  if (timeout <= 0) return undefined;
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { status, stdout, error } = spawnSync("git", [...SAFE, ...words], {
    cwd: worktree,
    encoding: "utf8",
    timeout,
    killSignal: "SIGKILL",
    maxBuffer: MOST_BYTES,
    stdio: ["ignore", "pipe", "ignore"],
    // Looking must not write: git status refreshes the index otherwise.
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
  });
  return status === 0 && !error ? stdout : undefined;
}
