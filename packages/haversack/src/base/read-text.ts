/**
 * Reads a text file that somebody else may have put there: a regular file, up to a bound, and without waiting for a pipe. A repository
 * can bring a link in place of any file of its own, to a device that has no end or to a file of the user's. The hook bundles this
 * file: nothing but `fs`.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";

/** Undefined: there is no such file. A problem is the rest of a sentence that begins with the file's name. */
export type TextRead = { text: string; problem?: undefined } | { text?: undefined; problem: string } | undefined;

export const MAX_CONFIG_BYTES = 1_000_000;
export const MAX_TEMPLATE_BYTES = 256_000;

export interface ProjectTextOptions {
  /** The project's folder. The path must be written as one below it. */
  root: string;
  maxBytes: number;
  /** Follow links that stay in the project. Default: follow none. */
  mayLinkInside?: boolean;
}

/** A file of a project. */
export function readProjectText(path: string, { root, maxBytes, mayLinkInside }: ProjectTextOptions): TextRead {
  const top = root === "/" ? "" : root;
  const problem = mayLinkInside ? leadsOut(path, top) : linkOnTheWay(path, top);
  return problem === undefined ? readBounded(path, maxBytes) : { problem };
}

/** Follows links: for the user's own files, which may be links to wherever the user keeps them. */
export function readBounded(path: string, maxBytes: number): TextRead {
  try {
    // Asked first: opening some devices does something.
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return undefined;
    if (!found.isFile()) return { problem: NO_FILE };
    const { O_RDONLY, O_NONBLOCK = 0 } = constants;
    const file = openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) return { problem: NO_FILE };
      if (stat.size > maxBytes) return { problem: `is larger than ${maxBytes / 1000} kB` };
      return { text: readAll(file, stat.size) };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { problem: `cannot be read (${code})` };
  }
}

const NO_FILE = "is not a regular file";

/** As many bytes as the file had when it was opened. */
function readAll(file: number, size: number): string {
  const bytes = Buffer.allocUnsafe(size);
  let end = 0;
  for (let count = -1; count !== 0 && end < size; end += count) count = readSync(file, bytes, end, size - end, null);
  return bytes.toString("utf8", 0, end);
}

function linkOnTheWay(path: string, root: string): string | undefined {
  let at = root;
  for (const part of path.slice(root.length + 1).split("/")) {
    at += `/${part}`;
    const found = lstatSync(at, { throwIfNoEntry: false });
    // A file in a folder's place: nothing can be behind it.
    if (!found || (found.isFile() && at !== path)) return undefined;
    if (!found.isSymbolicLink()) continue;
    if (at === path) return "is a symbolic link";
    return lstatSync(path, { throwIfNoEntry: false }) ? `is behind a symbolic link (${at})` : undefined;
  }
  return undefined;
}

function leadsOut(path: string, root: string): string | undefined {
  try {
    if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
    const [real, folder] = [realpathSync.native(path), realpathSync.native(root || "/")];
    return real.startsWith(folder === "/" ? folder : `${folder}/`)
      ? undefined
      : "is a symbolic link that leads out of the project";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOTDIR" ? undefined : `cannot be read (${code})`;
  }
}

const MAX_BYTES = 20_000;

/** Undefined when there is no such file, or it is none: a prompt may name /dev/zero, which has no end, or a pipe, which waits. */
export function readHead(path: string): string | undefined {
  try {
    if (!statSync(path).isFile()) return undefined;
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(MAX_BYTES);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, MAX_BYTES, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    // A prompt may name a file that is yet to be made.
    return undefined;
  }
}

/** Undefined: not written yet, or not ours to read. @internal */
export function readTail(path: string, maxBytes: number): Buffer | undefined {
  return withFile(path, (file, size) => {
    const buffer = Buffer.allocUnsafe(Math.min(size, maxBytes));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
  });
}

/**
 * What stands around the last occurrence of a text, up to 100 bytes before its beginning and behind it. Read in pieces from the end,
 * into one buffer: fresh memory costs a new process more than the reading.
 */
export function findLast(path: string, text: string, maxBytes: number): string | undefined {
  return withFile(path, (file, size) => {
    const buffer = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
    const floor = Math.max(0, size - maxBytes);
    for (let end = size; end > floor; end -= PIECE_BYTES - OVERLAP_BYTES) {
      const start = Math.max(0, end - PIECE_BYTES);
      const length = readSync(file, buffer, 0, end - start, start);
      const at = buffer.subarray(0, length).lastIndexOf(text);
      // So near the edge, the next piece has it whole.
      if (at >= AROUND_BYTES || (at >= 0 && start === 0)) {
        return buffer.toString(
          "latin1",
          Math.max(0, at - AROUND_BYTES),
          Math.min(length, at + text.length + AROUND_BYTES),
        );
      }
      if (start === 0) return undefined;
    }
    return undefined;
  });
}

const PIECE_BYTES = 65_536;
const AROUND_BYTES = 100;
/** More than twice what is around a text, and the text. */
const OVERLAP_BYTES = 1_024;

function withFile<T>(path: string, read: (file: number, size: number) => T | undefined): T | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // Either way nothing is known of it.
    return undefined;
  }
  try {
    return read(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}
