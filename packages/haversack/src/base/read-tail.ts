/** The end of a file that may have megabytes, such as a client's transcript. Loaded by the hook: nothing but `fs`. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** Undefined: not written yet, or not ours to read. */
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
