/**
 * Makes text from commands and tools fit to be searched and kept. All of it is untrusted: a test's name can hold a key,
 * an escape sequence or a megabyte.
 */
import { cutAt, stripControl } from "../base/clean-text.ts";
import { maskSecrets } from "../base/mask.ts";

export const PATH_MAX_CHARS = 500;
export const MESSAGE_MAX_CHARS = 300;
export const COMMAND_MAX_CHARS = 300;

/** One line fit to be stored: no control characters, no secrets, cut. */
export function safeLine(text: string, maxChars: number): string {
  // Masked before it is cut: half a key is no longer known as one.
  const line = maskSecrets(stripControl(text.slice(0, maxChars * 4)));
  return cutAt(line.replace(/\s+/g, " ").trim(), maxChars).trim();
}

export interface OutputText {
  text: string;
  /** The middle is missing: lines must not be counted. */
  isCut: boolean;
}

/** First failures stand near the top, summaries at the end. */
const HEAD_CHARS = 16_000;
const TAIL_CHARS = 48_000;
/** Bounds every pattern that is quadratic within a line. */
const LINE_CHARS = 400;

/** What the readers search: head and tail of an output, plain, no line longer than 400 characters. */
export function readableOutput(output: string): OutputText {
  const isCut = output.length > HEAD_CHARS + TAIL_CHARS;
  const window = isCut ? `${output.slice(0, HEAD_CHARS)}\n${output.slice(-TAIL_CHARS)}` : output;
  const lines = stripControl(window.replace(/\r\n?/g, "\n")).split("\n");
  return { text: lines.map((line) => line.slice(0, LINE_CHARS).trimEnd()).join("\n"), isCut };
}
