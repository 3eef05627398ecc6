/** A full-screen view that is redrawn until the user leaves it. Restores the terminal in every case. */
import type { Io } from "./command.ts";

export interface Screen {
  /** Cuts off what does not fit, and says so. Lines contain no control characters except colours. */
  draw(lines: readonly string[]): void;
  width(): number;
  /** Resolves after `ms`, or earlier when the terminal's size changes, or with `left` when the user leaves. */
  wait(ms: number): Promise<"due" | "left">;
  close(): void;
}

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const CTRL_C = "\u0003";

type Terminal = Pick<NodeJS.Process, "stdin" | "stdout">;

export function openScreen(io: Pick<Io, "out" | "hasReader">, { stdin, stdout }: Terminal = process): Screen {
  let isLeft = false;
  let wake: (() => void) | undefined;
  const leave = () => {
    isLeft = true;
    wake?.();
  };
  const onKey = (key: Buffer) => {
    if (["q", "Q", CTRL_C, "\u001b"].includes(key.toString())) leave();
  };
  const onSize = () => wake?.();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, leave);
  stdout.on("resize", onSize);
  if (stdin.isTTY) {
    stdin.setRawMode(true);
    stdin.on("data", onKey);
    stdin.resume();
  }
  io.out(ENTER);
  let isOpen = true;
  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    io.out(LEAVE);
    for (const signal of signals) process.removeListener(signal, leave);
    stdout.removeListener("resize", onSize);
    if (!stdin.isTTY) return;
    stdin.setRawMode(false);
    stdin.removeListener("data", onKey);
    stdin.pause();
  };
  return {
    width: () => stdout.columns || 80,
    draw(lines) {
      const [rows, columns] = [stdout.rows || 24, stdout.columns || 80];
      const below = `… ${lines.length - rows + 1} more lines`;
      const fitting = lines.length > rows ? [...lines.slice(0, rows - 1), below] : lines;
      const shown = fitting.map((line) => (shownColumns(line) <= columns ? line : `${cutShown(line, columns - 1)}…`));
      // Each line clears the rest of its row, and the last one everything below it. This avoids flicker.
      io.out(`\u001b[H${shown.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`);
    },
    wait: (ms) =>
      new Promise((done) => {
        if (isLeft || io.hasReader?.() === false) return done("left");
        const timer = setTimeout(() => wake?.(), ms);
        wake = () => {
          clearTimeout(timer);
          wake = undefined;
          done(isLeft ? "left" : "due");
        };
      }),
    close,
  };
}

/** Cuts a text to this many terminal columns. Colour codes take no column. */
export function cutShown(line: string, columns: number): string {
  let left = columns;
  return line.replace(/\u001b\[\d+m|./gsu, (part) => {
    if (part.startsWith("\u001b")) return part;
    left -= columnsTaken(part);
    return left < 0 ? "" : part;
  });
}

/** How many columns of the terminal a line takes that holds no control characters but colours. */
export function shownColumns(line: string): number {
  if (line.includes("\u001b")) return shownColumns(line.replace(/\u001b\[\d+m/g, ""));
  if (/^[ -~]*$/.test(line)) return line.length;
  let columns = 0;
  for (const character of line) columns += columnsTaken(character);
  return columns;
}

/** Chinese, Japanese, Korean and emoji take two columns. */
function columnsTaken(character: string): number {
  return /\p{Mark}/u.test(character)
    ? 0
    : /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
          character,
        )
      ? 2
      : 1;
}
