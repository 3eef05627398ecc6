/** The languages and frameworks of a project, from its manifests and file names. Read when skills are indexed, never at a prompt. */
import { join } from "node:path";
import type { FileSystem } from "../base/file-system.ts";
import { ecosystemsOf } from "../skills/matching/ecosystems.ts";

/** Folders below the root that are listed at most, nearest first, and how deep. */
const MOST_FOLDERS = 60;
const DEEPEST = 3;
/** Not the project's own code. */
const SKIPPED =
  /^(?:\.|node_modules$|vendor$|dist$|build$|out$|target$|bin$|obj$|venv$|__pycache__$|third_party$|coverage$)/;
/** Larger manifests are not read. */
const MOST_BYTES = 200_000;

export function readEcosystems(root: string, fs: FileSystem): string[] {
  const files: string[] = [];
  const folders = [{ path: root, depth: 0 }];
  for (let at = 0; at < folders.length && at < MOST_FOLDERS; at++) {
    const { path, depth } = folders[at]!;
    try {
      for (const { name, kind } of fs.readDir(path)) {
        if (kind === "file") files.push(join(path, name));
        else if (kind === "folder" && depth < DEEPEST && !SKIPPED.test(name))
          folders.push({ path: join(path, name), depth: depth + 1 });
      }
    } catch {
      // Not readable, or just removed.
    }
  }
  return ecosystemsOf(files, (file) => {
    try {
      return fs.stat(file).size <= MOST_BYTES ? fs.readFile(file) : undefined;
    } catch {
      return undefined;
    }
  });
}
