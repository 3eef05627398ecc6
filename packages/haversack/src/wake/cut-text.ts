/** Text from outside, cleaned and cut to a length for a packet; and fields of a WIP read without trust. Loaded by the hook. */
import { cleanLine, cutAt, stripControl } from "../base/clean-text.ts";
import { headingLevel, isFence } from "../base/markdown-line.ts";

/** One clean line; what was cut shows as an ellipsis. Never cleans more of a text than could be shown. */
export function cutLine(text: string, maxChars: number): string {
  const line = cleanLine(text.slice(0, maxChars * 4));
  const isCut = line.length > maxChars || text.length > maxChars * 4;
  return isCut ? `${cutAt(line, maxChars - 1).trimEnd()}…` : line;
}

/** A line of a document; more is data. */
const MOST_LINE_CHARS = 1_000;

/** Several lines, cut at the end of a line where that loses little; a code fence that was cut open is closed. */
export function cutText(text: string, maxChars: number): string {
  const clean = stripControl(text.slice(0, maxChars * 2 + 1_000))
    .split("\n")
    .map((line) => (line.length > MOST_LINE_CHARS ? `${cutAt(line, MOST_LINE_CHARS)}…` : line.trimEnd()))
    .join("\n")
    .trim();
  if (clean.length <= maxChars && text.length <= maxChars * 2 + 1_000) return clean;
  // Room for the ellipsis and the end of a fence.
  const head = cutAt(clean, Math.max(0, maxChars - 6));
  const end = Math.max(head.lastIndexOf("\n"), head.lastIndexOf(" "));
  const kept = `${end > maxChars / 2 ? head.slice(0, end).trimEnd() : head} …`;
  const isOpen = kept.includes("```") && (kept.match(/^\s*```/gm)?.length ?? 0) % 2 === 1;
  return isOpen ? `${kept}\n\`\`\`` : kept;
}

/** Headings two levels deeper, so that they stand below the packet's own. */
export function deepen(text: string): string {
  if (!text.includes("# ")) return text;
  let isFenced = false;
  return text
    .split("\n")
    .map((line) => {
      if (isFence(line)) isFenced = !isFenced;
      const level = isFenced ? 0 : headingLevel(line);
      return level > 0 && level <= 4 ? `##${line}` : line;
    })
    .join("\n");
}

/** At most one empty line between two others. */
export function withoutGaps(text: string): string {
  return text.includes("\n\n\n") ? text.replace(/\n{3,}/g, "\n\n") : text;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
