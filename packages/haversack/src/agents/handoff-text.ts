/** A long answer within a budget: its beginning and its end, where results and verdicts are. */
import { cutAt } from "../base/clean-text.ts";
import { estimateTokens } from "../tokens/estimate.ts";

/** Whole if it fits. The budget includes the line that says what was left out. */
export function beginningAndEnd(text: string, budgetTokens: number): string {
  if (estimateTokens(text) <= budgetTokens) return text;
  const room = Math.max(0, budgetTokens - NOTE_TOKENS);
  let chars = Math.floor((text.length * room) / Math.max(1, estimateTokens(text)));
  for (; chars > 0; chars = Math.floor(chars * 0.9)) {
    const { first, last } = ends(text, chars);
    if (estimateTokens(first) + estimateTokens(last) <= room) break;
  }
  const { first, last } = ends(text, chars);
  const left = text.length - first.length - last.length;
  return `${first}…\n\n(${left} of ${text.length} characters are left out here.)\n\n…${last}`;
}

const NOTE_TOKENS = 30;

/** No half of a character at either cut. */
function ends(text: string, chars: number): { first: string; last: string } {
  const first = cutAt(text, Math.ceil(chars * 0.6));
  const last = text.slice(text.length - (chars - Math.ceil(chars * 0.6))).replace(/^[\uDC00-\uDFFF]/, "");
  return { first, last: chars === 0 ? "" : last };
}
