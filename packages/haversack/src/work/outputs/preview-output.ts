/**
 * The preview of a long tool output: its head, the lines that matter (errors, failing tests), and its tail, with a line that says how to get
 * the rest. Every line is shown as it is or left out with its number, never paraphrased.
 */
import { cutAt, stripControl } from "../../base/clean-text.ts";
import { readableOutput } from "../capture/output-text.ts";
import { readErrors } from "../capture/read-errors.ts";
import { readTestOutput } from "../capture/read-test-output.ts";

export interface PreviewOptions {
  handle: string;
  /** How the reader gets a part, such as `recall(handle: "K4829", lines: "21-60")`, and a search in it. */
  ways: RecallWays;
  /** The largest size of the preview, including the line about the rest. */
  maxChars: number;
  /** The exit code of a command. Absent: unknown, or not a command. */
  exitCode?: number | undefined;
  /** The output of a command: errors and failing tests are looked for. Default: false. */
  isCommand?: boolean;
  /** A further note about the kept text, such as that its secrets are masked. */
  note?: string | undefined;
}

export interface RecallWays {
  lines(range: string): string;
  chars(range: string): string;
  find: string;
}

/** A line break at the end does not start another line. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

export function previewOutput(text: string, options: PreviewOptions): string {
  const lines = linesOf(text);
  const room = options.maxChars - HEADER_CHARS;
  // An output with few long lines, such as JSON, is cut by characters.
  const isLong = lines.length < FEWEST_LINES || text.length / lines.length > LINE_CHARS;
  const { body, next } = isLong ? byChars(text, room) : byLines(lines, text, room, options);
  return `${header({ lines: lines.length, chars: text.length }, next, options)}\n${body}`;
}

/** With fewer lines than this, sizes are given in characters. */
const FEWEST_LINES = 12;
/** Longer lines are cut in a preview. */
const LINE_CHARS = 400;
/** Approximate size of the line about the rest. */
const HEADER_CHARS = 420;

function header(
  { lines, chars }: { lines: number; chars: number },
  { range, unit }: Next,
  { handle, ways, exitCode, note }: PreviewOptions,
): string {
  const size = `${count(lines, "line")}, ${count(chars, "character")}`;
  const end = exitCode === undefined ? "" : ` Exit code ${exitCode}.`;
  const more = note === undefined ? "" : ` ${note}`;
  const way = unit === "lines" ? ways.lines(range) : ways.chars(range);
  return `[Haversack kept this output as ${handle}: ${size}.${end} Below: its head, lines with errors or failures if any, its tail. The rest: ${way}; search: ${ways.find}.${more}]`;
}

function count(number: number, what: string): string {
  return `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;
}

/** The first part that is left out. */
interface Next {
  range: string;
  unit: "lines" | "chars";
}

function byChars(text: string, room: number): { body: string; next: Next } {
  const head = cutAt(text, Math.floor(room * HEAD_SHARE));
  const tail = tailOf(text, Math.floor(room * (1 - HEAD_SHARE)));
  const [from, to] = [head.length + 1, text.length - tail.length];
  const range = `${from}-${to}`;
  return { body: `${head}\n[characters ${range} left out]\n${tail}`, next: { range, unit: "chars" } };
}

const HEAD_SHARE = 0.6;

/** Never splits a surrogate pair. */
function tailOf(text: string, chars: number): string {
  const from = text.length - chars;
  const isSplit = /[\udc00-\udfff]/.test(text[from] ?? "");
  return text.slice(isSplit ? from + 1 : from);
}

function byLines(
  lines: readonly string[],
  text: string,
  room: number,
  { isCommand = false }: PreviewOptions,
): { body: string; next: Next } {
  const shown = new Set<number>();
  let left = room;
  const take = (at: number): boolean => {
    if (shown.has(at) || at < 0 || at >= lines.length) return true;
    // Each gap takes one more line; there is at most one gap per line shown.
    const cost = Math.min(lines[at]!.length, LINE_CHARS) + 1 + GAP_CHARS;
    if (cost > left) return false;
    left -= cost;
    shown.add(at);
    return true;
  };
  const until = (limit: number, order: Iterable<number>) => {
    const stop = left - Math.floor(room * limit);
    for (const at of order) if (left <= stop || !take(at)) return;
  };
  const important = isCommand ? importantLines(lines, text) : [];
  until(0.3, counting(0, lines.length));
  until(important.length > 0 ? 0.3 : 0.6, counting(lines.length - 1, -1));
  until(1, important);
  // The room that the important lines leave goes to the end of the output, where summaries are.
  until(1, counting(lines.length - 1, -1));
  return joined(
    lines,
    [...shown].sort((a, b) => a - b),
  );
}

const GAP_CHARS = 3;

function* counting(from: number, to: number): Generator<number> {
  const step = from < to ? 1 : -1;
  for (let at = from; at !== to; at += step) yield at;
}

function joined(lines: readonly string[], shown: readonly number[]): { body: string; next: Next } {
  const parts: string[] = [];
  let expected = 0;
  let first: string | undefined;
  const gap = (to: number) => {
    if (to <= expected) return;
    const range = to - expected === 1 ? `${to}` : `${expected + 1}-${to}`;
    first ??= range;
    parts.push(`[${to - expected === 1 ? "line" : "lines"} ${range} left out]`);
  };
  for (const at of shown) {
    gap(at);
    const line = lines[at]!;
    parts.push(line.length > LINE_CHARS ? `${cutAt(line, LINE_CHARS)}[+${line.length - LINE_CHARS}]` : line);
    expected = at + 1;
  }
  gap(lines.length);
  return { body: parts.join("\n"), next: { range: first ?? `1-${lines.length}`, unit: "lines" } };
}

/** Failing tests and their reasons, errors with a file, then other lines that speak of failure. Each with the line below it. */
function importantLines(lines: readonly string[], text: string): number[] {
  const output = readableOutput(text);
  const { failingTest, reason } = readTestOutput(output) ?? {};
  const named = [
    failingTest?.split(" > ").at(-1),
    reason,
    ...readErrors(output.text, { exceptions: true }).map(({ message }) => message),
  ]
    .filter((word): word is string => word !== undefined && word.length > 3)
    .map((word) => word.slice(0, SOUGHT_CHARS));
  const found: number[] = [];
  // Colour codes may separate the words of a name.
  const plain = text.includes("\u001b") ? lines.map(stripControl) : lines;
  for (const word of named) {
    const at = plain.findIndex((line) => line.includes(word));
    if (at >= 0) found.push(at, at + 1);
  }
  let others = 0;
  for (const [at, line] of plain.entries()) {
    const start = line.slice(0, LINE_CHARS);
    if (!FAILURE.test(start) || NO_FAILURE.test(start)) continue;
    found.push(at);
    if (++others === MOST_OTHERS) break;
  }
  return [...new Set(found)];
}

const SOUGHT_CHARS = 80;
const MOST_OTHERS = 40;
const FAILURE =
  /\b(?:error|errors|fail|failed|failing|failure|failures|fatal|panic|panicked|exception|traceback|abort|aborted|denied|refused|timed out|segmentation fault)\b|(?:Error|Exception)\b|^\s*(?:not ok\b|[✖✗✘×❌])/i;
const NO_FAILURE = /\b(?:0|no) (?:errors?|fail(?:ed|ures?|ing)?)\b|\b(?:errors?|fail(?:ed|ures?)?)[:=]? ?0\b/i;
