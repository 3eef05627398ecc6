/** Reads a file line by line with a fixed buffer: a transcript may have gigabytes, and may grow while it is read. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface LinesRead {
  /** Lines longer than the limit. They are left out. */
  tooLong: number;
}

export interface FileLinesOptions {
  /** Default: 64 MiB. */
  maxLineBytes?: number;
  onBytes?(count: number): void;
}

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/**
 * Calls `onLine` with each line's bytes, without the line feed. They are valid only during the call. What is appended after the file was
 * opened is not read. The last line may be cut off, if the file is being written.
 */
export function readFileLines(
  path: string,
  onLine: (bytes: Buffer) => void,
  { maxLineBytes = 1 << 26, onBytes }: FileLinesOptions = {},
): LinesRead {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  const file = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    let left = fstatSync(file).size;
    let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let filled = 0;
    let tooLong = 0;
    let isSkipping = false;
    while (left > 0) {
      // A longer line than the buffer: the buffer grows up to the limit.
      if (filled === buffer.length) {
        const grown = Buffer.allocUnsafe(Math.min(buffer.length * 2, maxLineBytes + CHUNK_BYTES));
        buffer.copy(grown, 0, 0, filled);
        buffer = grown;
      }
      const count = readSync(file, buffer, filled, Math.min(buffer.length - filled, left), null);
      if (count === 0) break;
      left -= count;
      onBytes?.(count);
      const end = filled + count;
      let start = 0;
      let from = filled;
      for (;;) {
        const at = buffer.indexOf(NEWLINE, from);
        if (at < 0 || at >= end) break;
        if (isSkipping) isSkipping = false;
        else if (at > start) onLine(buffer.subarray(start, at));
        start = at + 1;
        from = start;
      }
      filled = end - start;
      if (isSkipping) filled = 0;
      else if (filled > maxLineBytes) {
        tooLong++;
        isSkipping = true;
        filled = 0;
      } else if (start > 0 && filled > 0) buffer.copy(buffer, 0, start, end);
    }
    if (filled > 0 && !isSkipping) onLine(buffer.subarray(0, filled));
    return { tooLong };
  } finally {
    closeSync(file);
  }
}
