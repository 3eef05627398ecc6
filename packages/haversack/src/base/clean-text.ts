/**
 * Handles text that we did not write. The first half makes it safe for a terminal and a prompt: it removes control characters (escape
 * sequences, NUL) and invisible direction marks that change how a line reads. The second half reads such text from files, up to a limit.
 * The hook bundles this file, so it may import only `fs`.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";

/** Makes one line: removes control characters, turns each run of white space into one space, and cuts it to `maxChars`. */
export function cleanLine(text: string, { maxChars = 10_000 }: { maxChars?: number } = {}): string {
  const isVisible = VISIBLE.test(text);
  const clean = (isVisible ? text : stripControl(text)).trim();
  // Text that passed VISIBLE has only three kinds of white space, so `includes` is enough.
  const isLoose = isVisible
    ? clean.includes("  ") || clean.includes("\n") || clean.includes("\t")
    : /\s\s|[^\S ]/.test(clean);
  return cutAt(isLoose ? clean.replace(/\s+/g, " ") : clean, maxChars);
}

/** Quotes any text as one word for a POSIX shell, where it needs quotes. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Never splits a surrogate pair. */
export function cutAt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? maxChars - 1 : maxChars);
}

const ANSI =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[PX^_][^\x1b\x9c\n]*(?:\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
/**
 * Bidi controls, zero-width and filler characters, tag characters and the variation selectors that carry hidden bytes.
 * Kept: a joiner between two emoji, a non-joiner between Arabic or Indic letters, one variation selector after an emoji.
 */
let invisible: RegExp | undefined;

/** Compiled on first use: most texts in the hook are plain and do not need it, and compiling costs 0.1 ms. */
function invisiblePattern(): RegExp {
  invisible ??=
    /(?<!\p{Extended_Pictographic}(?:\ufe0f|[\u{1f3fb}-\u{1f3ff}])?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?<![\u0600-\u0dff])\u200c|\u200c(?![\u0600-\u0dff])|(?<!\p{Emoji})(?:\ufe0e|\ufe0f)|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0d]/gu;
  return invisible;
}

/**
 * Text that needs no cleaning: printable ASCII plus common letters and signs that are neither hidden nor combine with hidden ones (Latin,
 * Greek, Cyrillic, dashes and quotes, arrows, Chinese, Japanese, Korean). White space: only space, tab and line feed.
 */
const VISIBLE =
  /^[\t\n -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f\u2010-\u2027\u2030-\u2052\u2190-\u21ff\u3001-\u312f\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** Removes complete terminal sequences, C0 and C1 controls except line feed and tab, and invisible characters. */
export function stripControl(text: string): string {
  // Most texts have nothing to remove, and one test is cheaper than three replacements.
  if (VISIBLE.test(text)) return text;
  // Progress bars use a lone carriage return to redraw a line. Start a new line instead, so it stays readable.
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  const visible = lines.replace(ANSI, "").replace(CONTROL, "");
  return /[^\0-\x7f]/.test(visible) ? visible.replace(invisiblePattern(), "") : visible;
}

// These functions classify a Markdown line by its first characters. They use no regular expressions: in a process that has just
// started, compiling one costs as much as checking a hundred lines.

/** `## Title` gives 2; a line that is not a heading gives 0. */
export function headingLevel(line: string): number {
  let level = 0;
  while (level < 7 && line[level] === "#") level++;
  return level <= 6 && line[level] === " " ? level : 0;
}

/** Whether the line opens or closes a code block. */
export function isFence(line: string): boolean {
  if (!line.includes("```") && !line.includes("~~~")) return false;
  const body = line.trimStart();
  return body.startsWith("```") || body.startsWith("~~~");
}

/** Whether ASCII-only patterns are enough. Patterns with `\p` cost a new process a few milliseconds; this check costs almost nothing. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

// Reads files that somebody else may have put there: regular files only, up to a size limit, and without blocking on a pipe. A repository
// can replace any of its files with a link to an endless device or to one of the user's own files.

/** Undefined: there is no such file. `problem` completes a sentence that begins with the file's name. */
export type TextRead = { text: string; problem?: undefined } | { text?: undefined; problem: string } | undefined;

export const MAX_CONFIG_BYTES = 1_000_000;
export const MAX_TEMPLATE_BYTES = 256_000;

export interface ProjectTextOptions {
  /** The project's folder. The path must start with it. */
  root: string;
  maxBytes: number;
  /** Follow links that stay in the project. Default: follow none. */
  mayLinkInside?: boolean;
}

export function readProjectText(path: string, { root, maxBytes, mayLinkInside }: ProjectTextOptions): TextRead {
  const top = root === "/" ? "" : root;
  const problem = mayLinkInside ? leadsOut(path, top) : linkOnTheWay(path, top);
  return problem === undefined ? readBounded(path, maxBytes) : { problem };
}

/** Follows links. For the user's own files, which may link to wherever the user keeps them. */
export function readBounded(path: string, maxBytes: number): TextRead {
  try {
    // Check before opening: opening some devices has side effects.
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

/** Reads as many bytes as the file had when it was opened. */
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
    // A file where a folder is expected: nothing can be below it.
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

/** Undefined if there is no such regular file. A prompt may name /dev/zero, which never ends, or a pipe, which blocks. */
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
    // A prompt may name a file that does not exist yet.
    return undefined;
  }
}

/** Undefined: the file does not exist yet, or we may not read it. @internal */
export function readTail(path: string, maxBytes: number): Buffer | undefined {
  return withFile(path, (file, size) => {
    const buffer = Buffer.allocUnsafe(Math.min(size, maxBytes));
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, size - buffer.length));
  });
}

/**
 * Finds the last occurrence of a text and returns it with up to 100 bytes on either side. Reads backwards in pieces into one buffer,
 * because allocating memory costs a new process more than reading.
 */
export function findLast(path: string, text: string, maxBytes: number): string | undefined {
  return withFile(path, (file, size) => {
    const buffer = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES));
    const floor = Math.max(0, size - maxBytes);
    for (let end = size; end > floor; end -= PIECE_BYTES - OVERLAP_BYTES) {
      const start = Math.max(0, end - PIECE_BYTES);
      const length = readSync(file, buffer, 0, end - start, start);
      const at = buffer.subarray(0, length).lastIndexOf(text);
      // If the match is too close to the start of the buffer, the next piece contains it with its surroundings.
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
/** More than the text plus AROUND_BYTES on both sides. */
const OVERLAP_BYTES = 1_024;

function withFile<T>(path: string, read: (file: number, size: number) => T | undefined): T | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // The file is missing or unreadable; callers treat both alike.
    return undefined;
  }
  try {
    return read(file, fstatSync(file).size);
  } finally {
    closeSync(file);
  }
}

// Reads the lines added to a growing file, such as a client's transcript.

/** @internal */
export interface FileLine {
  /** Byte offset of the line in the file. */
  from: number;
  /** Without the line break. */
  bytes: Buffer;
}

/** @internal */
export interface NewLines {
  lines: FileLine[];
  /** Where to continue next time. A last line without a line break is still being written, so it is read next time. */
  end: number;
}

const LINE_BREAK = 10;

/** Reads at most `maxBytes` from `from`. Skips a longer line, except its end, which is not valid JSON. @internal */
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
    // The file may grow while we read; the next call reads what was added.
    for (let left = maxBytes, at = from; left > 0; ) {
      const piece = Buffer.allocUnsafe(Math.min(left, CHUNK_BYTES));
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

const CHUNK_BYTES = 262_144;
