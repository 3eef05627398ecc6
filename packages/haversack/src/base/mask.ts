/**
 * Takes secrets out of text from outside before it is stored or shown: each is replaced by `[masked:<kind>]`. Control
 * characters go first (`stripControl` in clean-text.ts): a zero-width character inside a key would hide it. Mask the text as it came:
 * once it is unquoted or cut, a secret may no longer be known as one.
 *
 * Patterns cost a new process much at their first use, so each waits for a word that its texts hold.
 * The text is hostile: every pattern is linear. Each quantifier is either bounded or the last thing that can fail, so that no start
 * position scans far in vain (`npm run bench secrets`: what a megabyte takes).
 *
 * A mask that misses is worse than one too many, but code must stay readable: a type annotation, an expression, a
 * placeholder or prose beside the word "password" is left alone. Masking twice changes nothing.
 */
import { maskAssignments } from "./mask/assignments.ts";
import { maskKnownKeys, maskPrivateKeys } from "./mask/keys.ts";
import { maskCommands, maskPlaces } from "./mask/places.ts";

/** The engine's stack for patterns overflows in a row of some millions of characters, so long texts are masked in pieces. */
const PIECE = 250_000;

/** White space for a pattern, and the start of a line. */
const LINE_MARK = "\u2028";

/** In JSON and in code the two characters \n end a line. For the patterns they become one, with a mark to find them again. */
function realLines(text: string): string {
  return text.includes("\\n") && !text.includes(LINE_MARK) ? text.replaceAll("\\n", `\n${LINE_MARK}`) : text;
}

/** The way back. */
function escapedLines(text: string): string {
  return text.replaceAll(`\n${LINE_MARK}`, "\\n");
}

export function maskSecrets(text: string): string {
  if (text.length <= PIECE) return maskPiece(text);
  let result = "";
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at);
    result += maskPiece(text.slice(at, end));
    at = end;
  }
  return result;
}

/** Behind a line, else behind a word: a key of several lines is known by either half of it. */
function pieceEnd(text: string, start: number): number {
  const end = start + PIECE;
  if (end >= text.length) return text.length;
  for (const border of ["\n", " ", "\\n"]) {
    const found = text.lastIndexOf(border, end - border.length);
    if (found > start + PIECE / 2) return found + border.length;
  }
  return end;
}

function maskPiece(text: string): string {
  let result = realLines(text);
  const isEscaped = result !== text;
  // A mask may uncover another secret that ran into the first one. More than twice in a row is nothing but an attack.
  for (let round = 0; round < 4; round++) {
    const before = result;
    result = maskKnownKeys(maskPrivateKeys(result));
    const lower = result.toLowerCase();
    result = maskAssignments(maskCommands(maskPlaces(result, lower), lower), lower);
    if (result === before) break;
  }
  return isEscaped ? escapedLines(result) : result;
}

// Secrets that one text alone does not show: the name of a field and its value, the lines of a list.

/** `{"password": "…"}`: only name and value together show that it is a secret. `value` is masked by itself already. */
export function maskField(name: string, value: string): string {
  if (value.length < 3 || value.includes("\n")) return value;
  const before = `${name.replace(/[^\w.$ -]/g, "_")}: "`;
  const pair = maskSecrets(`${before}${value.replace(/["\\]/g, "'")}"`);
  const masked = pair.startsWith(before) ? pair.slice(before.length, -1) : "";
  return /^\[masked:[a-z0-9-]+\]$/.test(masked) ? masked : value;
}

/**
 * The lines of a private key, `["--password", "hunter2"]`: texts of one list are masked as the one text that they may have been. Such a
 * list may get shorter.
 */
export function maskLines(lines: readonly string[]): string[] {
  if (lines.length < 2 || lines.some((line) => line.includes("\n"))) return lines.map(maskSecrets);
  return maskSecrets(lines.join("\n")).split("\n");
}
