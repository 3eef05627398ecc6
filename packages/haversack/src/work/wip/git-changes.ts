/** Which files a task has changed, by what git said when it was claimed and says now. Pure; loaded by the hook. */

export interface GitState {
  /** "" before the first commit. */
  head: string;
  /** What is not committed, relative to the worktree: per path a mark that differs when the file does. */
  files: Readonly<Record<string, string>>;
}

export interface GitChanges {
  /** Not known yet; the least recently changed first. */
  changed: string[];
  /** Of these and of those that are known: what is to be committed, and not in the list yet. */
  uncommitted: string[];
  /** In that list, and no longer different from the last commit. */
  settled: string[];
}

export interface KnownFiles {
  modified: readonly string[];
  uncommitted: readonly string[];
}

/** More is a generator or a checkout, and no list for anybody to read. */
const MOST_FILES = 50;

/** What Claude Code (2.1.325) writes first and then renames: seen only when git is asked in that moment. */
const UNFINISHED = /\.tmp\.\d+\.[0-9a-f]{8,}$/;

/**
 * What was not committed before the claim, and is as it was, belongs to somebody else. `committed`: files of the commits since.
 * `mayBeOurs`: false for files that others have changed.
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
