/** Reads a part of a kept output: lines, characters, or the matches of a text, within a budget. Says what is left and how to get it. */
import { cutAt } from "../../base/clean-text.ts";
import { linesOf } from "./preview-output.ts";

export interface PartRequest {
  /** `40`, `40-80`, `40-` or `-20` (the last twenty), counted from 1. */
  lines?: string | undefined;
  /** The same, in characters. */
  chars?: string | undefined;
  /** Lines that contain this text, ignoring case, with the lines around them. */
  find?: string | undefined;
  /** The largest size of the answer. Default: 8,000. */
  maxChars?: number | undefined;
}

export type PartAnswer =
  | {
      kind: "part";
      /** The text as it was printed; for a search, numbered lines. */
      text: string;
      /** The part that it is, such as `lines 40-80 of 1,204`. */
      about: string;
      /** What to ask for next; absent if everything that was asked for is here. */
      next?: PartRequest;
    }
  | { kind: "wrong-range"; text: string };

export const PART_MAX_CHARS = 8_000;

export function readPart(text: string, request: PartRequest): PartAnswer {
  const { lines, chars, find, maxChars = PART_MAX_CHARS } = request;
  const asked = [lines, chars, find].filter((value) => value !== undefined && value !== "");
  if (asked.length > 1) return { kind: "wrong-range", text: "Give only one of lines, chars and find." };
  if (find) return findIn(text, find, maxChars);
  if (chars) return readChars(text, chars, maxChars);
  return readLines(text, lines || "1-", maxChars);
}

function readLines(text: string, asked: string, maxChars: number): PartAnswer {
  const all = linesOf(text);
  const range = parseRange(asked, all.length);
  if (!range) return wrongRange("lines", asked, all.length);
  const [from, to] = range;
  let size = 0;
  let end = from - 1;
  while (end < to && size + all[end]!.length + 1 <= maxChars) size += all[end++]!.length + 1;
  if (end === from - 1) {
    // One line is longer than the budget, so the rest is also counted in characters.
    const sizeOf = (count: number) => all.slice(0, count).reduce((sum, line) => sum + line.length + 1, 0);
    return readChars(text, `${sizeOf(from - 1) + 1}-${to === all.length ? text.length : sizeOf(to) - 1}`, maxChars);
  }
  const part = all.slice(from - 1, end).join("\n");
  const isEnd = end === all.length && text.endsWith("\n");
  return {
    kind: "part",
    text: isEnd ? `${part}\n` : part,
    about: `lines ${from}-${end} of ${all.length}`,
    ...(end < to && { next: { lines: `${end + 1}-${to}` } }),
  };
}

function readChars(text: string, asked: string, maxChars: number): PartAnswer {
  const range = parseRange(asked, text.length);
  if (!range) return wrongRange("chars", asked, text.length);
  const [from, to] = range;
  const part = cutAt(text.slice(from - 1, to), Math.max(2, maxChars));
  const end = from - 1 + part.length;
  return {
    kind: "part",
    text: part,
    about: `characters ${from}-${end} of ${text.length}`,
    ...(end < to && part !== "" && { next: { chars: `${end + 1}-${to}` } }),
  };
}

/** [first, last], both counted from 1 and within the text. Undefined: not a range, or outside of it. */
function parseRange(asked: string, length: number): [number, number] | undefined {
  const [, from, dash, to] = /^\s*(\d{1,12})?\s*(-)?\s*(\d{1,12})?\s*$/.exec(asked) ?? [];
  if (length === 0 || (from === undefined && to === undefined)) return undefined;
  if (from === undefined) return Number(to) > 0 ? [Math.max(1, length - Number(to) + 1), length] : undefined;
  const first = Number(from);
  const last = Math.min(length, dash === undefined ? first : to === undefined ? length : Number(to));
  return first >= 1 && first <= last ? [first, last] : undefined;
}

function wrongRange(unit: "lines" | "chars", asked: string, length: number): PartAnswer {
  const what = unit === "lines" ? "lines" : "characters";
  return {
    kind: "wrong-range",
    text: `${unit}: ${JSON.stringify(asked.slice(0, 60))} is not a range within 1-${length}. The output has ${length} ${what}; examples: "1-${Math.min(40, length)}", "-20" for the last 20.`,
  };
}

/** Lines above and below a match. */
const AROUND = 2;
/** How much of a long line is shown on each side of the match. */
const BESIDE_CHARS = 200;

function findIn(text: string, sought: string, maxChars: number): PartAnswer {
  const all = linesOf(text);
  const needle = sought.toLowerCase();
  const matches = all.flatMap((line, at) => (line.toLowerCase().includes(needle) ? [at] : []));
  if (matches.length === 0) {
    return { kind: "part", text: "", about: `no line of ${all.length} contains ${JSON.stringify(cutAt(sought, 80))}` };
  }
  const hits = new Set(matches);
  const shown: string[] = [];
  let size = 0;
  let last = -1;
  let done = 0;
  for (const match of matches) {
    const from = Math.max(last + 1, match - AROUND);
    const to = Math.min(all.length - 1, match + AROUND);
    const block = [];
    for (let at = from; at <= to; at++) {
      block.push(`${at + 1}${hits.has(at) ? ":" : "-"}${around(all[at]!, hits.has(at) ? needle : undefined)}`);
    }
    const gap = last >= 0 && from > last + 1 ? ["--"] : [];
    const cost = [...gap, ...block].reduce((sum, line) => sum + line.length + 1, 0);
    if (size + cost > maxChars && done > 0) break;
    shown.push(...gap, ...block);
    size += cost;
    last = Math.max(last, to);
    done++;
  }
  const rest = matches.length - done;
  const lines = matches.length === 1 ? "1 line" : `${matches.length} lines`;
  return {
    kind: "part",
    text: cutAt(shown.join("\n"), maxChars),
    about: `${lines} of ${all.length} contain ${JSON.stringify(cutAt(sought, 80))}${rest > 0 ? `; ${rest} more from line ${matches[done]! + 1} on` : ""}`,
    ...(rest > 0 && { next: { lines: `${matches[done]! + 1}-` } }),
  };
}

function around(line: string, needle: string | undefined): string {
  const most = 2 * BESIDE_CHARS;
  if (line.length <= most) return line;
  const at = needle === undefined ? 0 : line.toLowerCase().indexOf(needle);
  const from = Math.max(0, at - BESIDE_CHARS);
  return `${from > 0 ? `[characters 1-${from} left out]` : ""}${cutAt(line.slice(from), most)}[…${line.length} characters]`;
}
