/** Foreign text inside a prompt: in a fence that nothing in it can close, and visibly cut where it had to be. */
import { stripControl } from "../base/clean-text.ts";
import { countLines } from "./extract-section.ts";

/** The fence is longer than every run of backticks in the text, so the text cannot end it. */
export function quoteDocument(text: string, { language = "markdown" }: { language?: string } = {}): string {
  const clean = withoutBlankEnds(text);
  let longest = 2;
  for (const [run] of clean.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${clean}\n${fence}`;
}

/** No pattern: `\s+$` would take the square of the longest run of spaces. */
function withoutBlankEnds(text: string): string {
  const clean = stripControl(text).trimEnd();
  let start = 0;
  while (clean[start] === "\n") start++;
  return clean.slice(start);
}

export interface FittedText {
  /** "" when not even one line has room. */
  text: string;
  shownLines: number;
  totalLines: number;
}

/** Quoted, whole lines from the top, with a line that says how much is missing: within the budget, all counted. */
export function quoteWithin(
  text: string,
  {
    budgetTokens,
    countTokens,
    path,
  }: { budgetTokens: number; countTokens: (text: string) => number; path?: string | undefined },
): FittedText {
  const clean = withoutBlankEnds(text);
  const totalLines = countLines(clean);
  if (totalLines === 0) return { text: "", shownLines: 0, totalLines };
  const whole = quoteDocument(clean);
  if (countTokens(whole) <= budgetTokens) return { text: whole, shownLines: totalLines, totalLines };

  const lines = clean.split("\n");
  const rest = path === undefined ? "" : ` The whole text is in ${path}.`;
  const shown = (count: number): string =>
    `${quoteDocument(lines.slice(0, count).join("\n"))}\n(Cut: the first ${count} of ${totalLines} lines.${rest})`;
  let fits = 0;
  for (let step = 1 << Math.floor(Math.log2(lines.length)); step >= 1; step = Math.floor(step / 2)) {
    const next = fits + step;
    if (next < lines.length && countTokens(shown(next)) <= budgetTokens) fits = next;
  }
  return fits === 0 ? { text: "", shownLines: 0, totalLines } : { text: shown(fits), shownLines: fits, totalLines };
}
