/**
 * Files that no tool event tells of (`sed -i`, `git mv`, code generators), by holding git's state at the claim against its state now:
 * when a turn or a session ends, and before a window is told what it had in hand. Never at a tool event.
 */

import { lstatSync } from "node:fs";
import { gitPlace } from "../../base/git-place.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { keepGitState, keptGitState, whoseFile, workAtHand } from "../../store/sqlite/work/events/git-states.ts";
import { changesSince, type GitState } from "../../work/wip/git-changes.ts";
import { mergeWip } from "../../work/wip/merge-wip.ts";
import type { Wip, WipPatch } from "../../work/wip/wip.ts";

export interface GitPause {
  sessionId: string;
  agentId: string;
  client: string;
  cwd: string;
}

export interface GitParts {
  handle: StoreHandle;
  root: string;
  /** The folder that stands for the root in a linked worktree. */
  worktree?: string | undefined;
  leaseMs(): number;
  now: Date;
}

export function noteGitChanges(pause: GitPause, { handle, root, worktree, leaseMs, now }: GitParts): void {
  const { sessionId, agentId, cwd } = pause;
  const here = worktree ?? root;
  // Paths of git are relative to its own top folder: a project that is a part of a repository is left alone.
  if (gitPlace(cwd).worktree !== here) return;
  const { taskId, wip } = workAtHand(handle, { sessionId, agentId });
  const isHere = (wip["worktree"] ?? root) === here;
  const files = (field: string) => (isHere && Array.isArray(wip[field]) ? (wip[field] as string[]) : []);
  const known = { modified: files("files_modified"), uncommitted: files("uncommitted_files") };
  if (taskId === undefined && known.uncommitted.length === 0) return;

  const place = taskId === undefined ? undefined : { taskId, worktree: here };
  const before = place && keptGitState(handle, place);
  const state = readGitState(here, before);
  if (!state) return;
  // Claimed elsewhere: from now on it is known.
  if (place && !before) keepGitState(handle, place, state, now);
  const mayBeOurs =
    place && before ? whoseFile(handle, { ...place, sessionId, agentId, since: before.at }) : () => false;
  const { changed, uncommitted, settled } = changesSince(before, state, { known, mayBeOurs });
  if (changed.length + uncommitted.length + settled.length === 0) return;

  const patch: WipPatch = {
    $place: { root, ...(worktree && { worktree }) },
    ...(settled.length > 0 && { $settled: { files: settled } }),
    ...(changed.length > 0 && { files_modified: changed }),
    ...(uncommitted.length > 0 && { uncommitted_files: uncommitted, uncommitted_changes: true }),
  };
  const merge = (current: Wip) => mergeWip(current, patch, { at: now });
  new SessionState(handle).recordTool({ ...pause, at: now, merge, patch, leaseMs });
}

/** A state that is older says nothing of a task that is begun again. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/** At a claim. Whoever goes on with unfinished work goes on from the first claim's state. */
export function keepStateAtClaim(
  { taskId, hasWip }: { taskId: string; hasWip: boolean },
  { handle, cwd, at }: { handle: StoreHandle; cwd: string; at: Date },
): void {
  const { worktree } = gitPlace(cwd);
  if (worktree === undefined) return;
  const place = { taskId, worktree };
  const before = keptGitState(handle, place);
  if (before && hasWip && at.getTime() - Date.parse(before.at) < KEPT_MS) return;
  const state = readGitState(worktree);
  if (state) keepGitState(handle, place, state, at);
}

// What git says about a worktree: two short processes, with a time that they may take. No answer is an answer: no
// repository, no git, or one too large to be asked while somebody waits.

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
