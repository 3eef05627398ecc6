/**
 * The few questions that parts which do no I/O themselves ask of a disk. All may throw what node:fs throws; who asks for
 * many files catches for each.
 */
import { accessSync, constants, readdirSync, realpathSync, statSync } from "node:fs";
import { readBounded } from "./read-text.ts";

export interface FolderEntry {
  name: string;
  kind: "file" | "folder" | "link" | "other";
}

export interface FileStat {
  kind: "file" | "folder" | "other";
  size: number;
  mtimeMs: number;
  /** It belongs neither to this user nor to root. Absent: it does, or the system has no owners. */
  isForeign?: boolean;
}

export interface FileSystem {
  readDir(path: string): FolderEntry[];
  /** A regular file as UTF-8; bytes that are none become U+FFFD. Throws when it is longer than any text. */
  readFile(path: string): string;
  /** Of what a link leads to. */
  stat(path: string): FileStat;
  realpath(path: string): string;
}

/** Longer than any text that somebody reads or writes by hand. */
const MAX_FILE_BYTES = 16_000_000;

export const diskFileSystem: FileSystem = {
  readDir: (path) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : entry.isFile() ? "file" : "other",
    })),
  readFile: (path) => {
    const read = readBounded(path, MAX_FILE_BYTES);
    if (read?.text !== undefined) return read.text;
    // Says what is wrong in the system's own words, or that there is no such file.
    accessSync(path, constants.R_OK);
    throw new Error(`${path} ${read?.problem ?? "is gone"}`);
  },
  stat: (path) => {
    const stat = statSync(path);
    return {
      kind: stat.isDirectory() ? "folder" : stat.isFile() ? "file" : "other",
      size: stat.size,
      mtimeMs: stat.mtimeMs,
      ...(isForeign(stat.uid) && { isForeign: true }),
    };
  },
  realpath: (path) => realpathSync.native(path),
};

function isForeign(owner: number): boolean {
  const user = process.getuid?.();
  return user !== undefined && owner !== user && owner !== 0;
}

/** ENOENT and its like: not there, which for most questions is an answer and no fault. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
