/** The beginning of a file that somebody named. The hook loads this file: nothing but `fs`. */
import { closeSync, openSync, readSync, statSync } from "node:fs";

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
