/** Where files may be written: those that `init`, `uninstall` and `skills defer` change, and those that a person names. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findProjectRoot, STATE_FOLDER } from "../base/project-root.ts";
import { type Place, placeAmong, realPlaceOf, USER } from "../base/safe-write.ts";
import type { WiringPlace } from "./wiring.ts";

/**
 * A client's file in the project must not be a link: a clone could have brought it. A file elsewhere is the user's own, and so is
 * everything that `--user` writes.
 */
export function placeOfWired(path: string, { scope, cwd }: Pick<WiringPlace, "scope" | "cwd">): Place {
  return { within: scope === "user" ? USER : placeAmong(path, projectFolders(cwd)) };
}

/** Of the receipt: in the project's state folder, or in the user's own. */
export function placeOfReceipt(folder: string): Place {
  return { within: basename(folder) === STATE_FOLDER ? dirname(folder) : USER };
}

/** Of a file that a person named on the command line: one in the project may be a link that a clone brought. */
export function placeOfNamed(file: string, cwd: string): Place {
  const folders = projectFolders(cwd);
  const within = placeAmong(file, folders);
  return { within: within === USER ? placeAmong(realPlaceOf(file), folders) : within };
}

/** The folders that a clone fills: of the project, its work trees, and the repository that the client looks at. */
function projectFolders(cwd: string): string[] {
  const { root, worktree } = findProjectRoot(cwd);
  return [cwd, root, worktree, repositoryOf(cwd)].filter((folder) => folder !== undefined);
}

function repositoryOf(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? undefined : repositoryOf(dirname(folder));
}
