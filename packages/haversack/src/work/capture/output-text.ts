/**
 * Prepares output of commands and tools for searching and storing. All of it is untrusted: a test's name can contain a key, an escape
 * sequence or a megabyte.
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

/** Removes control characters and secrets from raw text. Run it before the text is cut, split or unquoted, or half a key would stay. */
export function safeText(text: string): string {
  return maskSecrets(stripControl(text));
}

/** One line that is safe to store: no control characters, no secrets, cut. */
export function safeLine(text: string, maxChars: number): string {
  return cutAt(safeText(text.slice(0, SOURCE_MAX_CHARS)).replace(/\s+/g, " ").trim(), maxChars).trim();
}

/** The start of a long text, masked. The first cut leaves room for a whole secret; a secret that it splits is removed by the second cut. */
export function safeStart(text: string, maxChars: number): string {
  if (text.length <= maxChars) return safeText(text);
  return cutAt(safeText(text.slice(0, maxChars + SECRET_MAX_CHARS)), maxChars);
}

export interface OutputText {
  text: string;
  /** The middle is missing, so lines must not be counted. */
  isCut: boolean;
}

/** First failures are near the top, summaries at the end. */
const HEAD_CHARS = 16_000;
const TAIL_CHARS = 48_000;
/** Limits patterns that take quadratic time on a line. */
const LINE_CHARS = 400;

/** The searchable text: start and end of an output, plain and masked, with lines of at most 400 characters. */
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
