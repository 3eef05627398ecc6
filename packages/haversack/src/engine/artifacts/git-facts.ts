/** The few questions that dispatches ask git. No answer is an answer: a project need not be a repository. */
import { spawnSync } from "node:child_process";

const TIMEOUT_MS = 10_000;
const OUTPUT_MAX_BYTES = 20_000_000;
/** A repository's own settings must not run programs because somebody asked what has changed. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.quotepath=off", "-c", "diff.external="];
export const PLAIN_DIFF = ["--no-ext-diff", "--no-textconv", "--no-color"];

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

function branchPoint(root: string): string | undefined {
  for (const main of ["origin/HEAD", "main", "master", "origin/main", "origin/master"]) {
    const found = git(root, ["merge-base", "HEAD", main])?.trim();
    if (found) return found;
  }
  return undefined;
}

/** What git prints; undefined: it failed, or there is none. */
export function git(
  root: string,
  words: readonly string[],
  { env, input }: { env?: Readonly<Record<string, string>>; input?: string } = {},
): string | undefined {
  const { status, stdout } = spawnSync("git", [...SAFE, ...words], {
    cwd: root,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
    ...(input !== undefined && { input }),
    // Looking must not write: git status and diff refresh the index otherwise.
    env: { ...process.env, ...env, GIT_OPTIONAL_LOCKS: "0", GIT_PAGER: "cat" },
  });
  return status === 0 ? stdout : undefined;
}
