/** The real terminal: streams, colours, progress, and lines that fit its width. */
import { fstatSync, statSync, writeSync } from "node:fs";
import { HaversackError } from "../base/errors.ts";
import type { Io } from "./command.ts";

/** Node throws if the folder was deleted while a shell was in it. */
function workingFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const hint = "change to another folder";
    throw new HaversackError("not-found", "the folder that you are in does not exist any more", { cause, hint });
  }
}

/**
 * Node's stream objects for the three standard streams cost a process 3 to 5 ms, a tenth of a bare start. So each is created on
 * first use, and output to a pipe or a file does without.
 */
export function processIo(): Io {
  const { env } = process;
  const isDirect = isPlain(1);
  const isTerminal = !isDirect && process.stdout.isTTY === true;
  return {
    env,
    cwd: workingFolder(),
    isTerminal,
    isColour: isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    ...(isTerminal && process.stdout.columns > 0 && { width: process.stdout.columns }),
    errorWidth: () => (isPlain(2) || !process.stderr.isTTY ? undefined : process.stderr.columns),
    out: isDirect ? directOutput(1) : streamOutput(1),
    ...(isTerminal && { page: (text: string) => pageOutput(text, env) }),
    err: isPlain(2) ? directOutput(2) : errorOutput(),
    hasReader: () => !isReaderGone,
    readStdin: async () => {
      const { stdin } = process;
      if (stdin.isTTY) return "";
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}

/** True for a pipe, a file, or /dev/null. */
function isPlain(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    if (!found.isCharacterDevice()) return found.isFIFO() || found.isSocket() || found.isFile();
    // Most character devices are terminals; /dev/null is not.
    return found.rdev === statSync("/dev/null").rdev;
  } catch {
    // Closed, or a system without that device: the stream object handles it.
    return false;
  }
}

type Fd = 1 | 2;

/** Whoever read standard output has closed it (`| head -1`). */
let isReaderGone = false;

function directOutput(fd: Fd): (text: string) => void {
  let stream: ((text: string | Uint8Array) => void) | undefined;
  return (text) => {
    if (fd === 1 && isReaderGone) return;
    if (stream) return stream(text);
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "EAGAIN") return endOutput(fd, code);
        // Another process made the shared pipe non-blocking, and it is full. A stream can wait.
        stream = streamOutput(fd);
        return stream(rest);
      }
    }
  };
}

function streamOutput(fd: Fd): (text: string | Uint8Array) => void {
  const stream = fd === 1 ? process.stdout : process.stderr;
  // EIO: the terminal was closed.
  const isGone = ({ code }: NodeJS.ErrnoException) => code === "EIO" && stream.isTTY;
  stream.on("error", (error: NodeJS.ErrnoException) => endOutput(fd, isGone(error) ? "EPIPE" : error.code));
  return (text) => {
    if (fd === 2 || !isReaderGone) stream.write(text);
  };
}

/** The stream is created with the first error: most commands print none. */
function errorOutput(): (text: string) => void {
  let stream: ((text: string) => void) | undefined;
  return (text) => {
    stream ??= streamOutput(2);
    stream(text);
  };
}

function endOutput(fd: Fd, code: string | undefined): void {
  // Standard error is gone. The work continues, and the exit code shows the result.
  if (fd === 2) return;
  // A reader that has gone away (`| head`) is no error. The command finishes its work and prints nothing more.
  if (code === "EPIPE") isReaderGone = true;
  if (isReaderGone) return;
  // Standard output failed, for example on a full device. Standard error may still be a terminal.
  process.stderr.write(`haversack: error: cannot write the output (${code})\n`);
  process.exit(3);
}

/** Like git: uses $HAVERSACK_PAGER, $PAGER or less; `cat` or an empty value prints the text directly. */
async function pageOutput(text: string, env: NodeJS.ProcessEnv): Promise<void> {
  // A terminal may not report its size.
  const columns = process.stdout.columns || 80;
  const rows = process.stdout.rows || 24;
  const lines = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
  const pager = env["HAVERSACK_PAGER"] ?? env["PAGER"] ?? "less";
  const isPaged = lines > rows && pager.trim() !== "" && pager.trim() !== "cat" && env["TERM"] !== "dumb";
  if (!isPaged || !(await runPager(pager, text, env))) process.stdout.write(text);
}

/** False: the pager could not be started, and nothing was shown. */
async function runPager(pager: string, text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { spawn } = await import("node:child_process");
  const child = spawn(pager, { shell: true, stdio: ["pipe", "inherit", "inherit"], env: { LESS: "FRX", ...env } });
  // The user may leave the pager before it has read everything.
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    // The shell's exit codes for a program that is missing or cannot be run.
    child.on("close", (code) => resolve(code !== 126 && code !== 127));
  });
}

export interface Progress {
  /** Sets the current step. It is shown at once if the work has lasted longer than a second. */
  step(text: string): void;
  end(): void;
}

/** A line on standard error, shown only after a second and only in a terminal. */
export function startProgress(io: Io, label: string): Progress {
  if (!process.stderr.isTTY) return { step: () => undefined, end: () => undefined };
  const startedAt = Date.now();
  let isShown = false;
  let shownAt = 0;
  const draw = (text: string) => {
    const now = Date.now();
    if (now - startedAt < 1000 || now - shownAt < 100) return;
    isShown = true;
    shownAt = now;
    io.err(`\r\u001b[K${label}: ${text}`);
  };
  return {
    step: draw,
    end: () => {
      if (isShown) io.err("\r\u001b[K");
    },
  };
}

type Style = "bold" | "dim" | "red" | "yellow" | "green";

const CODES: Record<Style, [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
};

export function paint(io: Io, style: Style, text: string): string {
  const [on, off] = CODES[style];
  return io.isColour ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** `1 skill`, `2 skills`. `many`: if an s is not enough. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `12,345` */
export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

export function formatShare(share: number): string {
  return `${Math.round(share * 100)}%`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The typed text; empty if the input was closed. undefined: there is nobody to ask. */
export async function ask(io: Io, question: string): Promise<string | undefined> {
  if (!io.isTerminal || !process.stdin.isTTY) return undefined;
  // Loaded here, because few commands ask but all load this file.
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C close without an answer; the question would wait forever.
  let onClose = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    onClose = () => {
      io.err("\n");
      resolve("");
    };
  });
  lines.once("close", onClose);
  try {
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    // Ours alone: Node's own listener stops reading keys, or the next question would show each one twice.
    lines.removeListener("close", onClose);
    lines.close();
  }
}

/** `width`: in characters. If undefined (no terminal) or too narrow, returns one line, and the terminal wraps it. */
export function wrapText(text: string, width: number | undefined): string[] {
  if (width === undefined || width < MIN_WIDTH) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && shownLength(line) + 1 + shownLength(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The number of terminal columns that the text takes, without colour codes. */
function shownLength(text: string): number {
  return text.replace(/\u001b\[\d+m/g, "").length;
}

/** Wraps a whole text. A long line continues below the start of its second column, or has that column below the first if there is little room. */
export function wrapColumns(text: string, width: number | undefined): string {
  if (width === undefined || width < MIN_WIDTH) return text;
  return text
    .split("\n")
    .flatMap((line) => {
      const head = /^ *\S.*? {2,}(?=\S)|^ */.exec(line)?.[0] ?? "";
      const indent = shownLength(head);
      const isNarrow = width - indent < MIN_COLUMN;
      const isBelow = isNarrow && head.trim() === "";
      if (shownLength(line) <= width && !isBelow) return [line];
      const at = isNarrow ? 3 * INDENT.length : indent;
      const lines = wrapText(line.slice(head.length), width - at).map((one) => `${" ".repeat(at)}${one}`);
      if (!isNarrow) return [`${head}${lines[0]?.slice(at)}`, ...lines.slice(1)];
      const left = " ".repeat(head.search(/\S|$/));
      return isBelow ? lines : [...wrapText(head.trim(), width - left.length).map((one) => `${left}${one}`), ...lines];
    })
    .join("\n");
}

/** Wraps lines for people, such as errors. Continued lines have a small indent. */
export function wrapLines(text: string, width: number | undefined): string {
  // A line with cursor movements is not wrapped.
  if (width === undefined || /[\r\u001b]/.test(text)) return text;
  return text
    .split("\n")
    .map((line) => (line.length <= width ? line : wrapText(line, width - INDENT.length).join(`\n${INDENT}`)))
    .join("\n");
}

const INDENT = "  ";
const MIN_WIDTH = 16;
/** With less room for the second column, it goes below the first. */
const MIN_COLUMN = 24;
