/**
 * Files that no tool event tells of (`sed -i`, `git mv`, code generators), by holding git's state at the claim against its state now:
 * when a turn or a session ends, and before a window is told what it had in hand. Never at a tool event. Loaded by the hook, in a
 * part of its own.
 */
import { gitPlace } from "../../base/git-place.ts";
import type { StoreHandle } from "../../store/sqlite/handle.ts";
import { SessionState } from "../../store/sqlite/sessions/session-state.ts";
import { keepGitState, keptGitState, whoseFile, workAtHand } from "../../store/sqlite/work/git-states.ts";
import { changesSince } from "../../work/git-changes.ts";
import { mergeWip } from "../../work/merge-wip.ts";
import type { Wip, WipPatch } from "../../work/wip.ts";
import { readGitState } from "./read-git-state.ts";

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
