/**
 * Adds to `.review-history.md`. What is there is never written again, byte for byte, whatever encoding or half sentence it
 * holds: an existing file is only appended to, in one write, and a new one appears with its first entry in it. So two that
 * write at once lose nothing, and neither does a person who has the file open. Loaded by the hook: nothing but `fs`.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { HaversackError, isFault } from "../../base/errors.ts";

export const HISTORY_FILE = ".review-history.md";

export function historyPath(folder: string): string {
  return `${folder}/${HISTORY_FILE}`;
}

/** `change` is the whole new text of the old one, which it begins with (appendReviewEntry, appendReviewNote). */
export function appendHistory(
  folder: string,
  { root, change }: { root: string; change: (text: string) => string },
): void {
  const path = historyPath(folder);
  try {
    if (!statSync(path, { throwIfNoEntry: false }) && createWith(path, change(""))) return;
    appendTo(path, { root, change });
  } catch (error) {
    if (isFault(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw unwritable(`${path}: cannot be written (${code})`, "what was there is unchanged; run this again", error);
  }
}

/** False: somebody else was first. */
function createWith(path: string, text: string): boolean {
  const temporary = `${path}.${process.pid}.${Date.now()}.haversack`;
  const file = openSync(temporary, "wx", 0o644);
  try {
    try {
      writeAll(file, Buffer.from(text));
    } finally {
      closeSync(file);
    }
    // A link fails where the name is taken; a rename would take it.
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function appendTo(path: string, { root, change }: { root: string; change: (text: string) => string }): void {
  const real = realpathSync(path);
  const inside = realpathSync(root);
  if (!real.startsWith(inside.endsWith("/") ? inside : `${inside}/`)) {
    throw unwritable(`${path} leads out of the repository; nothing was written`, "make it a file of its own");
  }
  if (!statSync(real).isFile()) throw unwritable(`${path} is no file; nothing was written`, "move it away");
  const bytes = readFileSync(real);
  if (bytes.includes(0)) throw unwritable(`${path} is no text; nothing was written`, "move it away");
  // Bytes that are no UTF-8 become one mark each here, and stay what they are there: only the addition is written.
  const text = bytes.toString("utf8");
  const addition = Buffer.from(change(text).slice(text.length));
  const file = openSync(real, "a");
  try {
    const sizeBefore = fstatSync(file).size;
    try {
      writeAll(file, addition);
    } catch (error) {
      // Half an entry is worse than none; a size that is not ours alone is left as it is.
      const { size } = fstatSync(file);
      if (size > sizeBefore && size < sizeBefore + addition.length) ftruncateSync(file, sizeBefore);
      throw error;
    }
  } finally {
    closeSync(file);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  const written = writeSync(file, bytes);
  if (written < bytes.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
  fsyncSync(file);
}

function unwritable(text: string, hint: string, cause?: unknown): HaversackError {
  return new HaversackError("file-unwritable", text, { hint, ...(cause !== undefined && { cause }) });
}
