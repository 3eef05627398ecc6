/** The few questions that dispatches ask git. No answer is an answer: a project need not be a repository. */
import { spawnSync } from "node:child_process";

const TIMEOUT_MS = 10_000;
const OUTPUT_MAX_BYTES = 20_000_000;
/** A repository's own settings must not run programs because somebody asked what has changed. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.quotepath=off", "-c", "diff.external="];
const PLAIN_DIFF = ["--no-ext-diff", "--no-textconv", "--no-color"];

export function headCommit(root: string): string | undefined {
  return git(root, ["rev-parse", "--verify", "--quiet", "HEAD"])?.trim() || undefined;
}

export interface ChangedFiles {
  files: string[];
  /** What they were compared with. */
  base: string;
}

/** Changed since `base` in commits, in the working tree, and new. Without a base: since this branch left the main one. */
export function changedFiles(root: string, { base }: { base?: string | undefined } = {}): ChangedFiles | undefined {
  const from = base ?? branchPoint(root) ?? headCommit(root);
  if (from === undefined || from.startsWith("-")) return undefined;
  const changed = git(root, ["diff", "--name-only", "-z", "--diff-filter=d", ...PLAIN_DIFF, from, "--"]);
  if (changed === undefined) return undefined;
  const added = git(root, ["ls-files", "--others", "--exclude-standard", "-z"]) ?? "";
  const files = [...new Set(`${changed}\0${added}`.split("\0").filter(Boolean))].sort();
  return { files, base: from };
}

export interface Difference {
  stat: string;
  diff: string;
}

/** The working tree against a commit; undefined: it is not known, or too much. */
export function differenceSince(root: string, commit: string): Difference | undefined {
  if (commit.startsWith("-")) return undefined;
  const stat = git(root, ["diff", "--stat", ...PLAIN_DIFF, commit, "--"]);
  const diff = git(root, ["diff", ...PLAIN_DIFF, commit, "--"]);
  return stat === undefined || diff === undefined ? undefined : { stat, diff };
}

function branchPoint(root: string): string | undefined {
  for (const main of ["origin/HEAD", "main", "master", "origin/main", "origin/master"]) {
    const found = git(root, ["merge-base", "HEAD", main])?.trim();
    if (found) return found;
  }
  return undefined;
}

function git(root: string, words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync("git", [...SAFE, ...words], {
    cwd: root,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
    stdio: ["ignore", "pipe", "ignore"],
    // Looking must not write: git status and diff refresh the index otherwise.
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", GIT_PAGER: "cat" },
  });
  return status === 0 ? stdout : undefined;
}
