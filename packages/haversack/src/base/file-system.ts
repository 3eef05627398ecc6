/**
 * The few disk operations that the parts without I/O of their own need. All may throw what node:fs throws; callers that read many files
 * catch per file.
 */
import { accessSync, constants, readdirSync, realpathSync, statSync } from "node:fs";
import { readBounded } from "./clean-text.ts";

export interface FolderEntry {
  name: string;
  kind: "file" | "folder" | "link" | "other";
}

export interface FileStat {
  kind: "file" | "folder" | "other";
  size: number;
  mtimeMs: number;
  /** Belongs neither to this user nor to root. Absent: it does, or the system has no file owners. */
  isForeign?: boolean;
}

export interface FileSystem {
  /** It is the real disk: other processes see the same files under the same paths. */
  isDisk?: boolean;
  readDir(path: string): FolderEntry[];
  /** Reads a regular file as UTF-8; invalid bytes become U+FFFD. Throws above MAX_FILE_BYTES. */
  readFile(path: string): string;
  /** Follows links. */
  stat(path: string): FileStat;
  realpath(path: string): string;
}

/** Larger than any text that people read or write by hand. */
const MAX_FILE_BYTES = 16_000_000;

export const diskFileSystem: FileSystem = {
  isDisk: true,
  readDir: (path) =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : entry.isFile() ? "file" : "other",
    })),
  readFile: (path) => {
    const read = readBounded(path, MAX_FILE_BYTES);
    if (read?.text !== undefined) return read.text;
    // Throws the system's own message if the file cannot be read.
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

/** ENOENT and ENOTDIR: the file is missing, which most callers treat as an answer rather than a fault. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
