/**
 * Makes text from commands and tools fit to be searched and kept. All of it is untrusted: a test's name can hold a key,
 * an escape sequence or a megabyte.
 */
import { cutAt, stripControl } from "../../base/clean-text.ts";
import { maskSecrets } from "../../base/mask.ts";

export const PATH_MAX_CHARS = 500;
export const MESSAGE_MAX_CHARS = 300;
export const COMMAND_MAX_CHARS = 300;

/** Longer than any line that a person reads. */
const SOURCE_MAX_CHARS = 100_000;
/** The longest secret: a private key of 4096 bits. */
const SECRET_MAX_CHARS = 4000;

/** The text as it came, without control characters and secrets: before it is cut, split or unquoted, or half a key would stay. */
export function safeText(text: string): string {
  return maskSecrets(stripControl(text));
}

/** One line fit to be stored: no control characters, no secrets, cut. */
export function safeLine(text: string, maxChars: number): string {
  return cutAt(safeText(text.slice(0, SOURCE_MAX_CHARS)).replace(/\s+/g, " ").trim(), maxChars).trim();
}

/** The beginning of a long text, masked: what is cut off first is longer than a secret, and what stays of one is cut off after. */
export function safeStart(text: string, maxChars: number): string {
  if (text.length <= maxChars) return safeText(text);
  return cutAt(safeText(text.slice(0, maxChars + SECRET_MAX_CHARS)), maxChars);
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

/** What the readers search: head and tail of an output, plain and masked, no line longer than 400 characters. */
export function readableOutput(output: string): OutputText {
  const isCut = output.length > HEAD_CHARS + TAIL_CHARS;
  const window = isCut ? `${safeStart(output, HEAD_CHARS)}\n${safeEnd(output, TAIL_CHARS)}` : safeText(output);
  const lines = window.split("\n");
  return { text: lines.map((line) => line.slice(0, LINE_CHARS).trimEnd()).join("\n"), isCut };
}

/** Like `safeStart`, from the other end. */
function safeEnd(text: string, maxChars: number): string {
  return safeText(text.slice(-maxChars - SECRET_MAX_CHARS)).slice(-maxChars);
}
