/** What was added to a file of lines that grows, such as a client's transcript. Loaded by the hook: nothing but `fs`. */
import { closeSync, openSync, readSync } from "node:fs";

export interface FileLine {
  /** Where in the file it begins, in bytes. */
  from: number;
  /** Without the line break. */
  bytes: Buffer;
}

export interface NewLines {
  lines: FileLine[];
  /** Where to go on next time. A last line without its line break is still being written and is left for then. */
  end: number;
}

const LINE_BREAK = 10;

/** At most `maxBytes` from `from` on. A line that is longer is skipped: its pieces come as lines that are no JSON. */
export function readNewLines(path: string, from: number, maxBytes: number): NewLines {
  const bytes = readFrom(path, from, maxBytes);
  const lines: FileLine[] = [];
  let start = 0;
  for (let at = bytes.indexOf(LINE_BREAK); at >= 0; at = bytes.indexOf(LINE_BREAK, start)) {
    if (at > start) lines.push({ from: from + start, bytes: bytes.subarray(start, at) });
    start = at + 1;
  }
  return { lines, end: from + (start === 0 && bytes.length === maxBytes ? maxBytes : start) };
}

function readFrom(path: string, from: number, maxBytes: number): Buffer {
  const file = openSync(path, "r");
  try {
    const pieces: Buffer[] = [];
    // The file may grow meanwhile; what comes later is read later.
    for (let left = maxBytes, at = from; left > 0; ) {
      const piece = Buffer.allocUnsafe(Math.min(left, PIECE_BYTES));
      const length = readSync(file, piece, 0, piece.length, at);
      if (length > 0) pieces.push(piece.subarray(0, length));
      if (length < piece.length) break;
      left -= length;
      at += length;
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  } finally {
    closeSync(file);
  }
}

const PIECE_BYTES = 262_144;
