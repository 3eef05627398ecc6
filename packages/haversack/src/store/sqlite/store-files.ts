/** The files of a store: their folder, without `node:path` because hooks load this, and their modes. */

import { statSync } from "node:fs";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { errnoOf, makeFolder, makePrivate, type Place, putNewFile, syncPath, USER } from "../../base/safe-write.ts";

export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return cut > 0 ? file.slice(0, cut) : cut === 0 ? file.slice(0, 1) : ".";
}

/** What changes of files beside a store must stay in: the project, or for a store that somebody keeps elsewhere, its folder. */
export function placeOfStore(file: string): { within: string } {
  const folder = folderOf(file);
  return { within: folder.endsWith(`/${STATE_FOLDER}`) ? folderOf(folder) : folder };
}

// Prompts and work are nobody else's to read: the store and what lies beside it have mode 0600, in a folder with mode
// 0700. SQLite gives -wal and -shm the mode of the store. Not for hooks, which make no store.

/** An empty file, for SQLite to fill. Nothing happens to one that is there. */
export function makePrivateFile(file: string, place: Place = placeOfStore(file)): void {
  try {
    putNewFile(file, "", { ...place, mode: 0o600 });
  } catch (error) {
    // It cannot be made: then SQLite says so, with our words for it.
    if (!["EACCES", "EPERM", "EROFS", "ENOSPC"].includes(errnoOf(error))) throw error;
  }
}

export function makePrivateFolderOf(file: string): void {
  const folder = folderOf(file);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const { within } = placeOfStore(file);
  // A store that somebody keeps elsewhere lies in a folder of their own.
  const [made] = makeFolder(folder, { within: within === folder ? USER : within, mode: 0o700 });
  if (made !== undefined) syncPath(folderOf(made));
}

/** For a store that an older version made, or a loose umask. */
export function tightenStore(file: string): void {
  for (const path of [`${file}-wal`, `${file}-shm`, file]) makePrivate(path, 0o600);
  const folder = folderOf(file);
  if (folder.endsWith(`/${STATE_FOLDER}`)) makePrivate(folder, 0o700);
}
