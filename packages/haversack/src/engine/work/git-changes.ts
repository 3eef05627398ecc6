/**
 * Finds file changes that no tool event reports (`sed -i`, `git mv`, code generators), by comparing git's state at the claim with its state
 * now. Runs when a turn or session ends, and before a window is told about its unfinished work. Never at a tool event.
 */

import { lstatSync } from "node:fs";
import { gitPlace } from "../../base/project-root.ts";
import type { StoreHandle } from "../../store/sqlite/access.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { keepGitState, keptGitState, whoseFile, workAtHand } from "../../store/sqlite/work/events/session-tasks.ts";
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
  /** The folder that replaces the root in a linked worktree. */
  worktree?: string | undefined;
  leaseMs(): number;
  now: Date;
}

export function noteGitChanges(pause: GitPause, { handle, root, worktree, leaseMs, now }: GitParts): void {
  const { sessionId, agentId, cwd } = pause;
  const here = worktree ?? root;
  // Git's paths are relative to its top folder, so a project inside a larger repository is skipped.
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
  // Claimed elsewhere: start from the current state.
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

/** An older state says nothing about a task that is started again. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/** Called at a claim. Unfinished work keeps the state of its first claim. */
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

// Asks git about a worktree: two short processes with a time limit. Failing is normal: there may be no repository, no
// git, or a repository too large to query while somebody waits.

export interface GitReading extends GitState {
  /** Files of the commits since then, by any author. */
  committed: string[];
}

/** For both processes together. */
const MOST_MS = 1000;
const MOST_BYTES = 1_000_000;
/** With more uncommitted files, nobody can tell what belongs to which task. */
const MOST_FILES = 3000;
/** The repository's own settings must not run programs during a query. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.quotepath=off"];

/** `since`: the commit and the time of an earlier state. */
export function readGitState(worktree: string, since?: { head: string; at: string }): GitReading | undefined {
  const deadline = Date.now() + MOST_MS;
  const status = git(worktree, STATUS, deadline);
  if (status === undefined) return undefined;
  const head = git(worktree, ["rev-parse", "--verify", "--quiet", "HEAD"], deadline)?.trim() ?? "";
  const paths = status
    .split("\0")
    // `XY path`; the branch's line begins with `##`.
    .filter((line) => line.length > 3 && !line.startsWith("## "))
    .map((line) => line.slice(3))
    .filter((path) => path !== ".haversack" && !path.startsWith(".haversack/") && !path.includes("/.haversack/"));
  if (paths.length > MOST_FILES) return undefined;
  const marks = paths.map((path) => {
    const stat = lstatSync(`${worktree}/${path}`, { throwIfNoEntry: false });
    return [path, stat ? `${Math.floor(stat.mtimeMs)}:${stat.size}` : "gone"] as const;
  });
  // By time of change: newest last, as everywhere in the WIP.
  marks.sort(([, a], [, b]) => timeIn(a) - timeIn(b));
  return { head, files: Object.fromEntries(marks), committed: committedSince(worktree, head, since, deadline) };
}

const STATUS = "status --porcelain -z --branch --no-renames --untracked-files=all --ignore-submodules=all".split(" ");

/** Commits from a pull or checkout are older than that, so they are not ours. */
function committedSince(
  worktree: string,
  head: string,
  since: { head: string; at: string } | undefined,
  deadline: number,
): string[] {
  if (!since || since.head === head || !COMMIT.test(since.head)) return [];
  const range = [`--since=${since.at}`, `${since.head}..HEAD`];
  const names = git(worktree, [...LOG, ...range, "--"], deadline)?.split("\0") ?? [];
  return [...new Set(names.map((name) => name.replace(/^\n+/, "")).filter(Boolean))].reverse();
}

const LOG = ["log", "--no-merges", "--format=", "--name-only", "--no-renames", "-z", "--max-count=200"];
const COMMIT = /^[0-9a-f]{40,64}$/;

function timeIn(mark: string): number {
  return Number.parseInt(mark, 10) || 0;
}

/** Undefined: git failed, took too long, or printed too much. */
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
    // A query must not write: otherwise git status refreshes the index.
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
  });
  return status === 0 && !error ? stdout : undefined;
}
