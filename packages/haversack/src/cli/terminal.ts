/** The real terminal: streams, colours, progress. */
import type { Io } from "./command.ts";

export function processIo(): Io {
  const { stdout, stderr, stdin, env } = process;
  // A reader that went away (`| head`) is no fault.
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    // Nobody can be told on standard output; a device that is full may still have a terminal beside it.
    stderr.write(`haversack: cannot write the output (${error.code})\n`);
    process.exit(3);
  });
  const isTerminal = stdout.isTTY === true;
  return {
    env,
    cwd: process.cwd(),
    isTerminal,
    isColour: isTerminal && !env["NO_COLOR"] && env["TERM"] !== "dumb",
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    readStdin: async () => {
      if (stdin.isTTY) return "";
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString("utf8");
    },
  };
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
