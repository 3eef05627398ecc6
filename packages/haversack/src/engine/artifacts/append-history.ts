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
  lstatSync,
  readFileSync,
  realpathSync,
  writeSync,
} from "node:fs";
import { HaversackError, isFault } from "../../base/errors.ts";
import { openToAppend, putNewFile, requireNoLink } from "../../base/safe-write.ts";

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
    // A feature's folder may be reached through a link inside the repository; the file itself is none.
    const [within, real] = [realpathSync(root), historyPath(realpathSync(folder))];
    if (!real.startsWith(within.endsWith("/") ? within : `${within}/`)) {
      throw unwritable(`${path} leads out of the repository; nothing was written`, "make it a file of its own");
    }
    requireNoLink(real, { within });
    if (!lstatSync(real, { throwIfNoEntry: false }) && putNewFile(real, change(""), { within })) return;
    appendTo(real, { within, change });
  } catch (error) {
    if (isFault(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw unwritable(`${path}: cannot be written (${code})`, "what was there is unchanged; run this again", error);
  }
}

function appendTo(path: string, { within, change }: { within: string; change: (text: string) => string }): void {
  if (!lstatSync(path).isFile()) throw unwritable(`${path} is no file; nothing was written`, "move it away");
  const bytes = readFileSync(path);
  if (bytes.includes(0)) throw unwritable(`${path} is no text; nothing was written`, "move it away");
  // Bytes that are no UTF-8 become one mark each here, and stay what they are there: only the addition is written.
  const text = bytes.toString("utf8");
  const addition = Buffer.from(change(text).slice(text.length));
  const file = openToAppend(path, { within });
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
