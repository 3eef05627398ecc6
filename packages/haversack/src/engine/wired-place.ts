/** Where files may be written: files that `init`, `uninstall` and `skill defer` change, and files that a person names. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import { type Place, placeAmong, realPlaceOf, USER } from "../base/safe-write.ts";
import type { WiringPlace } from "./wiring.ts";

/**
 * A client's file in the project must not be a link, because a clone could have brought it. Files elsewhere, and everything that `--user`
 * writes, are the user's own.
 */
export function placeOfWired(path: string, { scope, cwd }: Pick<WiringPlace, "scope" | "cwd">): Place {
  return { within: scope === "user" ? USER : placeAmong(path, projectFolders(cwd)) };
}

/** The folder of this checkout that corresponds to the project's root. `main` is the root itself. */
export function checkoutOf(cwd: string): { here: string; main: string } {
  const { root, worktree = root } = findProjectRoot(realpathSync(cwd));
  return { here: worktree, main: root };
}

/** For the receipt: the project's state folder, or the user's own. */
export function placeOfReceipt(folder: string): Place {
  return { within: basename(folder) === STATE_FOLDER ? dirname(folder) : USER };
}

/** For a file named on the command line: inside the project it may be a link that a clone brought. */
export function placeOfNamed(file: string, cwd: string): Place {
  const folders = projectFolders(cwd);
  const within = placeAmong(file, folders);
  return { within: within === USER ? placeAmong(realPlaceOf(file), folders) : within };
}

/** The folders that a clone can fill: the project, its work trees, and the repository that the client uses. */
function projectFolders(cwd: string): string[] {
  const { root, worktree } = findProjectRoot(cwd);
  return [cwd, root, worktree, repositoryOf(cwd)].filter((folder) => folder !== undefined);
}

function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder));
}
