/** The real terminal: streams, colours, progress. */
import { fstatSync, statSync, writeSync } from "node:fs";
import type { Io } from "./command.ts";

/**
 * Node's stream objects for the three standard streams cost a process 3 to 5 ms, a tenth of a bare start. So each is made when
 * it is used, and into a pipe or a file the output goes without one.
 */
export function processIo(): Io {
  const { env } = process;
  const isDirect = isPlain(1);
  const isTerminal = !isDirect && process.stdout.isTTY === true;
  return {
    env,
    cwd: process.cwd(),
    isTerminal,
    isColour: isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    ...(isTerminal && process.stdout.columns > 0 && { width: process.stdout.columns }),
    errorWidth: () => (isPlain(2) || !process.stderr.isTTY ? undefined : process.stderr.columns),
    out: isDirect ? directOutput(1) : streamOutput(1),
    ...(isTerminal && { page: (text: string) => pageOutput(text, env) }),
    err: isPlain(2) ? directOutput(2) : (text) => void process.stderr.write(text),
    readStdin: async () => {
      const { stdin } = process;
      if (stdin.isTTY) return "";
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
}

/** A pipe, a file, or nothing at all. */
function isPlain(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    if (!found.isCharacterDevice()) return found.isFIFO() || found.isSocket() || found.isFile();
    // Most of these are terminals; this one is not.
    return found.rdev === statSync("/dev/null").rdev;
  } catch {
    // Closed, or a system without that device: the stream object knows what to do then.
    return false;
  }
}

type Fd = 1 | 2;

function directOutput(fd: Fd): (text: string) => void {
  let stream: ((text: string | Uint8Array) => void) | undefined;
  return (text) => {
    if (stream) return stream(text);
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "EAGAIN") return endOutput(fd, code);
        // Whoever shares the pipe has made it non-blocking, and it is full: a stream can wait.
        stream = streamOutput(fd);
        return stream(rest);
      }
    }
  };
}

function streamOutput(fd: Fd): (text: string | Uint8Array) => void {
  const stream = fd === 1 ? process.stdout : process.stderr;
  stream.on("error", (error: NodeJS.ErrnoException) => endOutput(fd, error.code));
  return (text) => void stream.write(text);
}

function endOutput(fd: Fd, code: string | undefined): void {
  // Nobody listens for what went wrong: the work goes on, and its exit code tells.
  if (fd === 2) return;
  // A reader that went away (`| head`) is no fault.
  if (code === "EPIPE") process.exit(0);
  // Nobody can be told on standard output; a device that is full may still have a terminal beside it.
  process.stderr.write(`haversack: cannot write the output (${code})\n`);
  process.exit(3);
}

/** As git does it: $HAVERSACK_PAGER, $PAGER or less; `cat` or nothing in it prints the text as it is. */
async function pageOutput(text: string, env: NodeJS.ProcessEnv): Promise<void> {
  // A terminal may not say how large it is.
  const columns = process.stdout.columns || 80;
  const rows = process.stdout.rows || 24;
  const lines = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
  const pager = env["HAVERSACK_PAGER"] ?? env["PAGER"] ?? "less";
  const isPaged = lines > rows && pager.trim() !== "" && pager.trim() !== "cat" && env["TERM"] !== "dumb";
  if (!isPaged || !(await runPager(pager, text, env))) process.stdout.write(text);
}

/** False: it could not be started, and nothing was shown. */
async function runPager(pager: string, text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { spawn } = await import("node:child_process");
  const child = spawn(pager, { shell: true, stdio: ["pipe", "inherit", "inherit"], env: { LESS: "FRX", ...env } });
  // Whoever leaves the pager early does not read the rest.
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    // The shell's answers for a program that is not there or cannot be run.
    child.on("close", (code) => resolve(code !== 126 && code !== 127));
  });
}

export interface Progress {
  /** Says what is done now; shown at once when the work has lasted longer than a second. */
  step(text: string): void;
  end(): void;
}

/** A line on standard error that comes only after a second, and only in a terminal. */
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

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** What they typed; empty when they ended the input. undefined: there is nobody to ask. */
export async function ask(io: Io, question: string): Promise<string | undefined> {
  if (!io.isTerminal || !process.stdin.isTTY) return undefined;
  // Loaded here: few commands ask, and all of them load this file.
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-D and Ctrl-C close without an answer, and the question would wait forever.
  const ended = new Promise<string>((resolve) => {
    lines.once("close", () => {
      io.err("\n");
      resolve("");
    });
  });
  try {
    return (await Promise.race([lines.question(question), ended])).trim();
  } finally {
    lines.removeAllListeners("close");
    lines.close();
  }
}
