/** The folder a store lives in, without `node:path`: the hook bundles this file. */
import { closeSync, fsyncSync, openSync } from "node:fs";

export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return cut > 0 ? file.slice(0, cut) : cut === 0 ? file.slice(0, 1) : ".";
}

/**
 * Brings a file or the names in a folder to the disk. A new name survives a power cut only when its folder is synced
 * too; SQLite does that for the folder of its own files.
 */
export function syncPath(path: string, flags: "r" | "r+" = "r"): void {
  let handle: number;
  try {
    handle = openSync(path, flags);
  } catch {
    return; // Windows opens no folders; there a name is as safe as the file system makes it.
  }
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
