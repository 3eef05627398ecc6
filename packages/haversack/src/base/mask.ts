/**
 * Replaces secrets in text from outside by `[masked:<kind>]` before it is stored or shown. Strip control characters first (`stripControl`
 * in clean-text.ts), because a zero-width character inside a key would hide it. Mask before unquoting or cutting, because afterwards a
 * secret may no longer be recognizable.
 *
 * A pattern is slow at its first use in a process, so each runs only if the text contains one of its words.
 * The text may be hostile, so every pattern is linear: each quantifier is either bounded or the last thing that can fail, and no start
 * position scans far in vain (`npm run bench secrets` measures one megabyte).
 *
 * Missing a secret is worse than masking too much, but code must stay readable: type annotations, expressions, placeholders and prose next
 * to the word "password" are left alone. Masking twice changes nothing.
 */
import { maskFound } from "./mask/found-secrets.ts";
import { KEY_ROW, PORT, SECRET_WORDS } from "./mask/words.ts";

/** Long texts are masked in pieces: the regex engine's stack overflows on a run of several million characters. */
const PIECE = 250_000;

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

/** After a line break if possible, else after a space. A multi-line key that is cut in two is recognized by either half. */
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
  // Most texts contain none of the words that indicate a secret.
  const lower = text.toLowerCase();
  const mayHold =
    SECRET_WORDS.some((word) => lower.includes(word)) ||
    text.search(KEY_ROW) >= 0 ||
    (text.includes(":") && PORT.test(text));
  return mayHold ? maskFound(text) : text;
}

// Secrets that a single text does not reveal: a field name with its value, or the lines of a list.

/** `{"password": "…"}`: only name and value together reveal the secret. `value` must already be masked on its own. */
export function maskField(name: string, value: string): string {
  if (value.length < 3 || value.includes("\n")) return value;
  const before = `${name.replace(/[^\w.$ -]/g, "_")}: "`;
  const pair = maskSecrets(`${before}${value.replace(/["\\]/g, "'")}"`);
  const masked = pair.startsWith(before) ? pair.slice(before.length, -1) : "";
  return /^\[masked:[a-z0-9-]+\]$/.test(masked) ? masked : value;
}

/**
 * Masks the texts of one list as if they were one text, to catch the lines of a private key or `["--password", "hunter2"]`. The list may
 * get shorter.
 */
export function maskLines(lines: readonly string[]): string[] {
  if (lines.length < 2 || lines.some((line) => line.includes("\n"))) return lines.map(maskSecrets);
  return maskSecrets(lines.join("\n")).split("\n");
}
