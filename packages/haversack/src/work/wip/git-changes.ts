/** Which files a task has changed: compares git's state at the claim with its state now. Pure; loaded by the hook. */

export interface GitState {
  /** "" before the first commit. */
  head: string;
  /** Uncommitted files, relative to the worktree. Each path has a mark that changes with the file. */
  files: Readonly<Record<string, string>>;
}

export interface GitChanges {
  /** Newly found changes, least recently changed first. */
  changed: string[];
  /** New and known changes that are uncommitted and not yet in the list. */
  uncommitted: string[];
  /** Files in that list that no longer differ from the last commit. */
  settled: string[];
}

export interface KnownFiles {
  modified: readonly string[];
  uncommitted: readonly string[];
}

/** More files mean a generator or a checkout, and nobody reads such a list. */
const MOST_FILES = 50;

/** Temporary files that Claude Code (2.1.325) writes and then renames. They are seen only if git runs at that moment. */
const UNFINISHED = /\.tmp\.\d+\.[0-9a-f]{8,}$/;

/**
 * Files that were uncommitted before the claim and have not changed since belong to somebody else. `committed`: files of the commits
 * since. `mayBeOurs`: false for files that others have changed.
 */
export function changesSince(
  before: GitState | undefined,
  now: GitState & { committed: readonly string[] },
  { known, mayBeOurs }: { known: KnownFiles; mayBeOurs(path: string): boolean },
): GitChanges {
  const isDirty = (path: string) => Object.hasOwn(now.files, path);
  const dirty = before
    ? Object.keys(now.files).filter((path) => now.files[path] !== before.files[path] && !UNFINISHED.test(path))
    : [];
  const committed = before ? now.committed.filter((path) => !isDirty(path)) : [];
  const modified = new Set(known.modified);
  const open = new Set(known.uncommitted);
  const isNew = (path: string) => !modified.has(path) && mayBeOurs(path);
  const changed = [...committed.filter(isNew), ...dirty.filter(isNew)].slice(-MOST_FILES);
  const ours = new Set([...known.modified, ...changed]);
  return {
    changed,
    uncommitted: dirty.filter((path) => ours.has(path) && !open.has(path)),
    settled: known.uncommitted.filter((path) => !isDirty(path)),
  };
}
