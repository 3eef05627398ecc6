/** Finds the sections of a long skill that are most relevant to the current work. */
import { cutAt, headingLevel, isFence } from "../../base/clean-text.ts";

interface Section {
  text: string;
  at: number;
  score: number;
}

/** The section that the author calls the core; undefined if there is none. */
export function coreSection(body: string): string | undefined {
  const sections = splitSections(body);
  const at = sections.findIndex(isCore);
  if (at === -1) return undefined;
  const level = headingLevel(sections[at]!);
  // Includes its subsections.
  const end = sections.findIndex((section, index) => index > at && headingLevel(section) <= level);
  return sections.slice(at, end === -1 ? undefined : end).join("\n\n");
}

function isCore(section: string): boolean {
  const [heading = ""] = section.split("\n", 1);
  return headingLevel(heading) > 0 && /^#+\s+(?:the\s+)?core\W*$/i.test(heading);
}

/** The sections of a text: the opening first, then the core, then the best matches. */
export function rankSections(body: string, query: string): Section[] {
  const wanted = new Set(longWords(query).map(stem));
  const sections = splitSections(body).map((text, at) => ({
    text,
    at,
    score: at === 0 ? Number.POSITIVE_INFINITY : isCore(text) ? Number.MAX_VALUE : overlap(text, wanted),
  }));
  return sections.sort((a, b) => b.score - a.score || a.at - b.at);
}

/** Whole sections in their original order, up to a number of characters. */
export function bestSections(ranked: readonly Section[], body: string, maxChars: number): string {
  const chosen: Section[] = [];
  let room = maxChars;
  for (const section of ranked) {
    if (section.text.length + 2 > room) continue;
    room -= section.text.length + 2;
    chosen.push(section);
  }
  // Not even the opening fits, so return its beginning.
  if (chosen.length === 0) return `${cutAt(body.trim(), Math.max(0, maxChars - 1))}…`;
  return chosen
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text)
    .join("\n\n");
}

/** Splits at headings, except inside code fences. */
function splitSections(body: string): string[] {
  const sections: string[][] = [[]];
  let isFenced = false;
  for (const line of body.trim().split("\n")) {
    if (isFence(line)) isFenced = !isFenced;
    const level = isFenced ? 0 : headingLevel(line);
    if (level > 0 && level <= 4 && sections.at(-1)!.length > 0) sections.push([]);
    sections.at(-1)!.push(line);
  }
  return sections.map((lines) => lines.join("\n").trim()).filter(Boolean);
}

/** The share of the section's words that are wanted, so longer sections get no advantage. */
function overlap(text: string, wanted: ReadonlySet<string>): number {
  const words = longWords(text.slice(0, 4000));
  const terms = new Set(Array.from(new Set(words), stem));
  const hits = [...terms].filter((term) => wanted.has(term)).length;
  return words.length === 0 ? 0 : hits / Math.sqrt(words.length);
}

/** Words of four letters or more. */
function longWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z]{4,}/g) ?? [];
}

function stem(word: string): string {
  if (word.endsWith("ing")) return word.slice(0, -3);
  if (word.endsWith("ed") || word.endsWith("es")) return word.slice(0, -2);
  return word.endsWith("s") ? word.slice(0, -1) : word;
}
