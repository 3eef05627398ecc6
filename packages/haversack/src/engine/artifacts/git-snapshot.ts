/**
 * The working tree as it stands, kept so that a later one can be held against it: what is not committed and what is new count too,
 * because reviewed documents are often neither committed nor known to git. Made with an index and a folder for objects of our own:
 * the repository, its index and its objects stay as they are. Only made where `artifacts.resume` is on.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { copyToNew, makeFolder, makePrivate, removeFile } from "../../base/safe-write.ts";
import { HISTORY_FILE } from "./append-history.ts";
import { type Difference, git, PLAIN_DIFF } from "./git-facts.ts";

/** A data file that nobody has told git to ignore is no part of a review. */
const MAX_BYTES = 5_000_000;
const MAX_NEW_FILES = 5_000;

/** The id of a tree; undefined: no repository, or git cannot. */
export function takeSnapshot(root: string, state: string): string | undefined {
  const place = openPlace(root, state);
  if (!place) return undefined;
  const { index, env } = place;
  const removeIndex = () => [index, `${index}.lock`].map((file) => removeFile(file, place));
  try {
    // A killed process with our number may have left one.
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

/** From one snapshot (or commit) to another; `only` these paths, relative to the root. The history of reviews, the workflow's state and our own are no changes. */
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

/** Objects that the repository has are read from there. */
function openPlace(
  root: string,
  state: string,
): { within: string; index: string; env: Record<string, string> } | undefined {
  // The folder of the project's state is made by whoever opens the store, with what belongs in it.
  const objects = existsSync(state) ? git(root, ["rev-parse", "--git-path", "objects"])?.trim() : undefined;
  if (!objects) return undefined;
  const folder = join(state, "snapshots");
  const within = dirname(state);
  makeFolder(folder, { within, mode: 0o700 });
  makePrivate(folder, 0o700);
  // Git itself writes here, and would follow a link that a repository brought.
  if (readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isSymbolicLink())) return undefined;
  const alternates = resolve(root, objects);
  return {
    within,
    index: join(folder, `index.${process.pid}`),
    // Quoted as git wants it: a path may hold the separator.
    env: { GIT_OBJECT_DIRECTORY: folder, GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(alternates) },
  };
}

function newFiles(root: string): string[] {
  const names = (git(root, ["ls-files", "--others", "--exclude-standard", "-z"]) ?? "").split("\0");
  return (
    names
      // A name that ends so is another repository.
      .filter((name) => name !== "" && !name.endsWith("/") && !name.startsWith(`${STATE_FOLDER}/`))
      .filter((name) => {
        const found = statSync(join(root, name), { throwIfNoEntry: false });
        return found?.isFile() === true && found.size <= MAX_BYTES;
      })
      .slice(0, MAX_NEW_FILES)
  );
}
