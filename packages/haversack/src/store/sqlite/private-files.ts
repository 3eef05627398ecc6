/**
 * Prompts and work are nobody else's to read: the store and what lies beside it have mode 0600, in a folder with mode 0700. SQLite
 * gives -wal and -shm the mode of the store. Not for hooks, which make no store.
 */
import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync } from "node:fs";
import { STATE_FOLDER } from "../../base/project-root.ts";
import { folderOf, syncPath } from "./folder.ts";

/** An empty file, for SQLite to fill. Nothing happens to one that is there. */
export function makePrivateFile(file: string): void {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  try {
    closeSync(openSync(file, O_CREAT | O_EXCL | O_WRONLY, 0o600));
  } catch (error) {
    // It is there, or cannot be made: then SQLite says so, with our words for it.
    if (!["EEXIST", "EACCES", "EPERM", "EROFS", "ENOSPC"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
  }
}

export function makePrivateFolderOf(file: string): void {
  const made = mkdirSync(folderOf(file), { recursive: true, mode: 0o700 });
  if (made !== undefined) syncPath(folderOf(made));
}

/** For a store that an older version made, or a loose umask. */
export function tightenStore(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) tighten(path, 0o600);
  const folder = folderOf(file);
  if (folder.endsWith(`/${STATE_FOLDER}`)) tighten(folder, 0o700);
}

/** Takes the rights of others from what is the user's own; a link, or what belongs to somebody else, is left alone. */
export function tighten(path: string, mode: number): void {
  const user = process.getuid?.();
  const stat = user === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (!stat || stat.uid !== user || stat.isSymbolicLink() || (stat.mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode);
  } catch {
    // A file system without modes, or one that is read-only: nothing that a command should fail for.
  }
}
