/**
 * Text from files we did not write, made fit for a terminal and a prompt: no control characters (escape sequences,
 * NUL), no invisible direction marks that make a line read differently from what it says.
 */

/** One line: control characters gone, every run of white space one space, cut to a length. */
export function cleanLine(text: string, { maxChars = 10_000 }: { maxChars?: number } = {}): string {
  const isVisible = VISIBLE.test(text);
  const clean = (isVisible ? text : stripControl(text)).trim();
  // The white space of such a text, as most are, is known: no pattern is needed.
  const isLoose = isVisible
    ? clean.includes("  ") || clean.includes("\n") || clean.includes("\t")
    : /\s\s|[^\S ]/.test(clean);
  return cutAt(isLoose ? clean.replace(/\s+/g, " ") : clean, maxChars);
}

/** Cuts without splitting a character in two. */
export function cutAt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? maxChars - 1 : maxChars);
}

const ANSI =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[PX^_][^\x1b\x9c\n]*(?:\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
/**
 * Bidi controls, zero-width and filler characters, tag characters and the variation selectors that carry hidden bytes.
 * Kept: a joiner between two emoji, a non-joiner between Arabic or Indic letters, one variation selector after an emoji.
 */
let invisible: RegExp | undefined;

/** Made when a text needs it: the hook meets plain ones most of the time, and compiling it costs 0.1 ms. */
function invisiblePattern(): RegExp {
  invisible ??=
    /(?<!\p{Extended_Pictographic}(?:\ufe0f|[\u{1f3fb}-\u{1f3ff}])?)\u200d|\u200d(?!\p{Extended_Pictographic})|(?<![\u0600-\u0dff])\u200c|\u200c(?![\u0600-\u0dff])|(?<!\p{Emoji})(?:\ufe0e|\ufe0f)|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|[\ufe00-\ufe0d]/gu;
  return invisible;
}

/**
 * Printable ASCII, and of other letters and signs those that are neither hidden nor join with hidden ones: Latin, Greek, Cyrillic,
 * dashes and quotes, arrows, Chinese, Japanese, Korean. Of white space only the space, the tab and the line feed.
 */
const VISIBLE =
  /^[\t\n -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f\u2010-\u2027\u2030-\u2052\u2190-\u21ff\u3001-\u312f\u4e00-\u9fff\uac00-\ud7a3]*$/;

/** Removes terminal sequences whole, C0 and C1 controls except line feed and tab, and invisible characters. */
export function stripControl(text: string): string {
  // Most texts hold nothing to remove, and one look is cheaper than three.
  if (VISIBLE.test(text)) return text;
  // A lone carriage return is how progress is drawn over: a line of its own keeps it readable.
  const lines = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
  const visible = lines.replace(ANSI, "").replace(CONTROL, "");
  return /[^\0-\x7f]/.test(visible) ? visible.replace(invisiblePattern(), "") : visible;
}

// What a line of Markdown is, by its first characters. By hand: each pattern costs a process that has just started as much as a
// hundred such lines.

/** `## Title` has 2; 0: it is no heading. */
export function headingLevel(line: string): number {
  let level = 0;
  while (level < 7 && line[level] === "#") level++;
  return level <= 6 && line[level] === " " ? level : 0;
}

/** Begins or ends a block of code. */
export function isFence(line: string): boolean {
  if (!line.includes("```") && !line.includes("~~~")) return false;
  const body = line.trimStart();
  return body.startsWith("```") || body.startsWith("~~~");
}

/** Whether patterns for ASCII do: one with `\p` costs a new process some milliseconds, and this question nothing. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
