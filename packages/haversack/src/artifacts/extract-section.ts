/**
 * Extracts a section of a Markdown document, byte for byte: from its heading to the next one of the same or a higher level, including
 * nested sections.
 *
 * A reference is
 * - an anchor as on GitHub: `#error-handling`, `design.md#error-handling`, `#setup-1` for the second "Setup";
 * - a heading: `Error handling`; with marks (`## Error handling`), headings of that level are preferred;
 * - the label or number at the start of a heading: `2.3`, `Task 3`, `I7`, `§2.3`, `Section 2.3`;
 * - a label or heading after a `#`, as people write them: `#I7`, `design.md#2.3`, `design.md#Error handling`.
 * `Setup:2` is the second of several. The strictest interpretation with a match wins: `Task 3` is never "Task 30" and never "3.
 * Something", because a wrong section is worse than none.
 */
import { nearest } from "../base/nearest.ts";
import { findHeadings, type Heading, plainHeading } from "./markdown-headings.ts";

export interface Section {
  kind: "found";
  /** The heading's line and everything below it, without empty lines at the end. */
  text: string;
  /** Line of the heading, from 1. */
  line: number;
  lineCount: number;
  heading: string;
}

export type SectionAnswer =
  | Section
  /** `nearest`: similar headings, best first; may be empty. */
  | { kind: "missing"; nearest: string[] }
  /** Several headings match. `first` is the section at the first of these lines; `ref:2` selects the second. */
  | { kind: "ambiguous"; lines: number[]; first: Section };

export function extractSection(document: string, ref: string): SectionAnswer {
  const headings = findHeadings(document);
  const wanted = ref.trim();
  let found = matching(headings, wanted);
  // Checked last, because "Step:2" may be a heading.
  const ordinal = found.length === 0 && /:(\d{1,4})$/.exec(wanted);
  if (ordinal) {
    const chosen = matching(headings, wanted.slice(0, ordinal.index))[Number(ordinal[1]) - 1];
    if (chosen) found = [chosen];
  }
  const [first] = found;
  if (!first) return { kind: "missing", nearest: nearestHeadings(headings, wanted) };
  const next = headings.find(({ start, level }) => start > first.start && level <= first.level);
  const text = document.slice(first.start, next?.start).trimEnd();
  const section: Section = { kind: "found", text, line: first.line, lineCount: countLines(text), heading: first.text };
  if (found.length === 1) return section;
  return { kind: "ambiguous", lines: found.map(({ line }) => line), first: section };
}

/** A last line without a line end counts. An empty text has no lines. */
export function countLines(text: string): number {
  let lines = 0;
  if (!text.includes("\r")) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines++;
    return text === "" || text.endsWith("\n") ? lines : lines + 1;
  }
  let isOpen = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    isOpen = code !== 10 && code !== 13;
    // CR LF is counted at its LF.
    if (code === 10 || (code === 13 && text.charCodeAt(at + 1) !== 10)) lines++;
  }
  return isOpen ? lines + 1 : lines;
}

function matching(headings: readonly Heading[], ref: string): Heading[] {
  const hasHash = ref.includes("#");
  const behindHash = hasHash ? BEHIND_HASH.exec(ref)?.[1] : undefined;
  if (behindHash === undefined) return byText(headings, ref, hasHash);
  const wanted = decoded(behindHash);
  const anchored = byAnchor(headings, wanted);
  if (anchored.length > 0) return anchored;
  const named = byText(headings, wanted, false);
  // The end of an anchor matches too: "error-handling" for "2.3 Error Handling".
  return named.length > 0 || !wanted.includes("-") ? named : byText(headings, wanted.replaceAll("-", " "), false);
}

/** The text after the `#` of a file, or after a bare `#`. With a space after it, the `#` marks a heading. */
const BEHIND_HASH = /^(?:[^\s#]*|[^#]*\.mdx?)#([^\s#].*)$/i;

function byText(headings: readonly Heading[], ref: string, hasHash: boolean): Heading[] {
  const marks = (hasHash && /^#{1,6}(?=\s)/.exec(ref)?.[0].length) || 0;
  const key = keyOf(plainHeading(ref.slice(marks)));
  if (key === "") return [];
  const bare = () => key.replace(/^(?:§|section |chapter )\s*(?=[\da-z]*\d)/, "");
  const readings: ((heading: string) => boolean)[] = [
    (heading) => heading === key,
    (heading) => {
      const { label, title } = splitLabel(heading);
      return label === key || label === bare() || (title === key && title !== "");
    },
    // A bare number also matches "Task 3" if no heading is numbered just 3.
    (heading) => /^\d[\d.]*$/.test(bare()) && splitLabel(heading).label.endsWith(` ${bare()}`),
  ];
  for (const fits of readings) {
    const found = headings.filter(({ text }) => fits(keyOf(text)));
    const ofLevel = found.filter(({ level }) => level === marks);
    if (found.length > 0) return ofLevel.length > 0 ? ofLevel : found;
  }
  return [];
}

/** Normalizes a heading for comparison. */
function keyOf(text: string): string {
  let key = text.toLowerCase().trimEnd();
  while (key.endsWith(":") || key.endsWith(".")) key = key.slice(0, -1).trimEnd();
  return key;
}

/**
 * "task 3: parse it" has the label "task 3" and the title "parse it"; "2.3 errors", "i7 - dispatch" and "[r1] resume" work the same
 * way. A label contains a number, except before a colon: "goals: what for" has the label "goals".
 */
function splitLabel(key: string): { label: string; title: string } {
  const match = /^\[?((?:[\p{L}-]{1,20} )?[\p{L}-]{0,12}\d[\p{L}\d.-]{0,20}|[^:]{1,60}(?=:))(?:\]|(?=[\s:)(]|$))/u.exec(
    key,
  );
  if (!match) return { label: "", title: "" };
  const label = match[1]!.replace(/[.-]+$/, "");
  const rest = key.slice(match[0].length);
  const title = rest.replace(/^[\s:.)\u2013\u2014-]+/, "");
  // "2.3 errors" has a title. "fix 3 bugs" is not the label "fix 3" with the title "bugs".
  return { label, title: label.includes(" ") && /^\s[\p{L}\d]/u.test(rest) ? "" : title };
}

/** GitHub's rule: lower case, no punctuation, hyphens for spaces, and -1, -2 … for repeated headings. */
function byAnchor(headings: readonly Heading[], anchor: string): Heading[] {
  const wanted = anchor.toLowerCase();
  const taken = new Map<string, number>();
  for (const heading of headings) {
    const plain = headingSlug(heading.text);
    let slug = plain;
    while (taken.has(slug)) {
      const times = taken.get(plain)! + 1;
      taken.set(plain, times);
      slug = `${plain}-${times}`;
    }
    taken.set(slug, 0);
    if (slug === wanted) return [heading];
  }
  return [];
}

export function headingSlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{Nd}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

function decoded(anchor: string): string {
  try {
    return decodeURIComponent(anchor);
  } catch {
    // A lone % is not an escape, so use the text unchanged.
    return anchor;
  }
}

/** Limit for comparison: a document with thousands of headings is generated. */
const COMPARED_MAX = 2_000;

function nearestHeadings(headings: readonly Heading[], ref: string): string[] {
  const wanted = plainHeading(ref.replace(/^[^\s#]*#+\s*/, "").replace(/:\d+$/, "")).replace(/(?<=\S)-(?=\S)/g, " ");
  const texts = [...new Set(headings.slice(0, COMPARED_MAX).map(({ text }) => text))].filter((text) => text !== "");
  // People name a heading by its number alone, or without its number.
  const handles = new Map<string, string>();
  for (const text of texts) {
    const { label, title } = splitLabel(keyOf(text));
    for (const handle of [text, label, title]) if (handle !== "" && !handles.has(handle)) handles.set(handle, text);
  }
  const alike = nearest(wanted, handles.keys()).map((handle) => handles.get(handle)!);
  const words = wordsOf(wanted);
  const sharing = texts
    .map((text) => ({ text, shared: wordsOf(text).filter((word) => words.includes(word)).length }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => b.shared - a.shared)
    .map(({ text }) => text);
  return [...new Set([...alike, ...sharing])].slice(0, 3);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
