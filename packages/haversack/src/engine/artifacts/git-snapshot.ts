/**
 * Snapshots of the working tree, to compare with later ones. They include uncommitted and new files, because reviewed documents are often
 * neither committed nor known to git. They use our own index and object folder: the repository, its index and its objects do not change.
 * Only made if `artifacts.resume` is on.
 */

import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { copyToNew, makeFolder, makePrivate, removeFile } from "../../base/safe-write.ts";
import { HISTORY_FILE } from "./append-history.ts";

/** A large data file that git does not ignore is not part of a review. */
const MAX_BYTES = 5_000_000;
const MAX_NEW_FILES = 5_000;

/** The id of a tree. Undefined: no repository, or git failed. */
export function takeSnapshot(root: string, state: string): string | undefined {
  const place = openPlace(root, state);
  if (!place) return undefined;
  const { index, env } = place;
  const removeIndex = () => [index, `${index}.lock`].map((file) => removeFile(file, place));
  try {
    // A killed process with our process id may have left one.
    removeIndex();
    const own = git(root, ["rev-parse", "--git-path", "index"])?.trim();
    if (own !== undefined && existsSync(resolve(root, own))) copyToNew(resolve(root, own), index, place);
    const withIndex = { env: { ...env, GIT_INDEX_FILE: index } };
    if (git(root, ["add", "--update", "--", "."], withIndex) === undefined) return undefined;
    const added = newFiles(root);
    const isKept =
      added.length === 0 ||
      git(root, ["update-index", "--add", "-z", "--stdin"], { ...withIndex, input: added.join("\0") }) !== undefined;
    return isKept ? git(root, ["write-tree"], withIndex)?.trim() || undefined : undefined;
  } finally {
    removeIndex();
  }
}

/** Compares two snapshots or commits, in the paths `only`. Ignores the review history, the workflow's state and our own. */
export function differenceBetween(
  root: string,
  { state, from, to, only = ["."] }: { state: string; from: string; to: string; only?: readonly string[] },
): Difference | undefined {
  const place = openPlace(root, state);
  if (!place || !TREE.test(from) || !TREE.test(to)) return undefined;
  const others = [`**/${HISTORY_FILE}`, "**/.meta.json", `${STATE_FOLDER}/**`].map((glob) => `:(exclude,glob)${glob}`);
  const paths = [...only.map((path) => `:(literal)${path}`), ...others];
  const words = [...PLAIN_DIFF, from, to, "--", ...paths];
  const stat = git(root, ["diff", "--stat", ...words], place);
  const diff = git(root, ["diff", ...words], place);
  return stat === undefined || diff === undefined ? undefined : { stat, diff };
}

const TREE = /^[0-9a-f]{40,64}$/;

/** Objects that the repository already has are read from it. */
function openPlace(
  root: string,
  state: string,
): { within: string; index: string; env: Record<string, string> } | undefined {
  // Opening the store makes the state folder with its contents; do not make it here.
  const objects = existsSync(state) ? git(root, ["rev-parse", "--git-path", "objects"])?.trim() : undefined;
  if (!objects) return undefined;
  const folder = join(state, "snapshots");
  const within = dirname(state);
  makeFolder(folder, { within, mode: 0o700 });
  makePrivate(folder, 0o700);
  // Git itself writes here, and would follow a link that came with a repository.
  if (readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isSymbolicLink())) return undefined;
  const alternates = resolve(root, objects);
  return {
    within,
    index: join(folder, `index.${process.pid}`),
    // Quoted for git: a path may contain the separator.
    env: { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(alternates) },
  };
}

function newFiles(root: string): string[] {
  const names = (git(root, ["ls-files", "--others", "--exclude-standard", "-z"]) ?? "").split("\0");
  return (
    names
      // A name that ends with a slash is another repository.
      .filter((name) => name !== "" && !name.endsWith("/") && !name.startsWith(`${STATE_FOLDER}/`))
      .filter((name) => {
        const found = statSync(join(root, name), { throwIfNoEntry: false });
        return found?.isFile() === true && found.size <= MAX_BYTES;
      })
      .slice(0, MAX_NEW_FILES)
  );
}

// Removes old snapshots, by the time of their objects. Git renews the time of an object that a newer snapshot also contains. If the
// snapshot of a review is gone, the next iteration gets all documents again.

/** Removes older objects, unless it is a dry run, and returns their number. */
export function purgeSnapshots(state: string, { olderThan, dryRun }: { olderThan: Date; dryRun: boolean }): number {
  const folder = join(state, "snapshots");
  // A link here would lead to files that are not ours.
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 0;
  let count = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const found = entry.isFile() ? lstatSync(file, { throwIfNoEntry: false }) : undefined;
    if (!found || found.mtimeMs >= olderThan.getTime()) continue;
    count++;
    if (!dryRun) removeFile(file, { within: dirname(state) });
  }
  return count;
}

// The few git queries of a dispatch. Failing is normal: a project need not be a repository.

const TIMEOUT_MS = 10_000;
const OUTPUT_MAX_BYTES = 20_000_000;
/** The repository's own settings must not run programs during a query. */
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.quotepath=off", "-c", "diff.external="];
export const PLAIN_DIFF = ["--no-ext-diff", "--no-textconv", "--no-color"];

export function headCommit(root: string): string | undefined {
  return git(root, ["rev-parse", "--verify", "--quiet", "HEAD"])?.trim() || undefined;
}

/** Files changed since `base` in commits or in the working tree, and new files. Default base: where this branch left the main one. */
export function changedFiles(root: string, { base }: { base?: string | undefined } = {}): string[] | undefined {
  const from = base ?? branchPoint(root) ?? headCommit(root);
  if (from === undefined || from.startsWith("-")) return undefined;
  const changed = git(root, ["diff", "--name-only", "-z", "--diff-filter=d", ...PLAIN_DIFF, from, "--"]);
  if (changed === undefined) return undefined;
  const added = git(root, ["ls-files", "--others", "--exclude-standard", "-z"]) ?? "";
  return [...new Set(`${changed}\0${added}`.split("\0").filter(Boolean))].sort();
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

/** Git's output. Undefined: git failed or is not installed. */
export function git(
  root: string,
  words: readonly string[],
  { env, input }: { env?: Readonly<Record<string, string>>; input?: string } = {},
): string | undefined {
  // Loaded only here: a command that takes no snapshot starts 3 ms sooner.
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { status, stdout } = spawnSync("git", [...SAFE, ...words], {
    cwd: root,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
    ...(input !== undefined && { input }),
    // A query must not write: otherwise git status and diff refresh the index.
    env: { ...process.env, ...env, GIT_OPTIONAL_LOCKS: "0", GIT_PAGER: "cat" },
  });
  return status === 0 ? stdout : undefined;
}
