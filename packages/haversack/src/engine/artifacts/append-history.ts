/**
 * Appends to `.review-history.md`. Existing bytes are never rewritten, whatever their encoding. An existing file only gets one appending
 * write; a new file appears with its first entry in it. So two writers at once lose nothing, and neither does a person who has the file
 * open. Loaded by the hook, so it uses only `fs`.
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

/** `change` returns the whole new text, which starts with the old one (appendReviewEntry, appendReviewNote). */
export function appendHistory(
  folder: string,
  { root, change }: { root: string; change: (text: string) => string },
): void {
  const path = historyPath(folder);
  try {
    // A link inside the repository may lead to the feature's folder, but the file itself must not be a link.
    const [within, real] = [realpathSync(root), historyPath(realpathSync(folder))];
    if (!real.startsWith(within.endsWith("/") ? within : `${within}/`)) {
      throw unwritable(`${path} leads out of the repository; nothing was written`, "replace it with a regular file");
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
  if (!lstatSync(path).isFile()) throw unwritable(`${path} is not a file; nothing was written`, "move it away");
  const bytes = readFileSync(path);
  if (bytes.includes(0)) throw unwritable(`${path} is not text; nothing was written`, "move it away");
  // Invalid UTF-8 bytes are replaced only in this copy. The file keeps them, because only the addition is written.
  const text = bytes.toString("utf8");
  const addition = Buffer.from(change(text).slice(text.length));
  const file = openToAppend(path, { within });
  try {
    const sizeBefore = fstatSync(file).size;
    try {
      const written = writeSync(file, addition);
      if (written < addition.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
      fsyncSync(file);
    } catch (error) {
      // Remove half an entry. If the size shows that somebody else wrote too, leave the file as it is.
      const { size } = fstatSync(file);
      if (size > sizeBefore && size < sizeBefore + addition.length) ftruncateSync(file, sizeBefore);
      throw error;
    }
  } finally {
    closeSync(file);
  }
}

function unwritable(text: string, hint: string, cause?: unknown): HaversackError {
  return new HaversackError("file-unwritable", text, { hint, ...(cause !== undefined && { cause }) });
}
