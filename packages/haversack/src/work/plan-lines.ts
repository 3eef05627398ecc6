/** The lines of a Markdown plan, each with what it is. Code fences, comments and frontmatter hold no structure. */

export interface PlanLine {
  /** From 1. */
  number: number;
  /** Without its line end. */
  text: string;
  /** In columns; a tab counts up to the next multiple of four. */
  indent: number;
  isCode: boolean;
  heading?: { level: number; text: string };
  item?: ListItem;
}

export interface ListItem {
  text: string;
  isOrdered: boolean;
  /** Undefined: it has no checkbox. */
  isChecked?: boolean;
}

/** No heading, label or list item is longer, and our patterns need the square of the length of some lines. */
const LONGEST_LINE = 2000;

const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,6})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/;

export function readPlanLines(text: string): PlanLine[] {
  const lines = withoutComments(text.replace(/^\ufeff/, "")).split(/\r\n|\r|\n/);
  const first = frontmatterEnd(lines);
  let fence: string | undefined;
  return lines.map((line, index): PlanLine => {
    const read = { number: index + 1, text: line, indent: indentOf(line) };
    if (index < first) return { ...read, text: "", isCode: true };
    if (line.length > LONGEST_LINE) return { ...read, isCode: true };
    const [, marks, after = ""] = FENCE.exec(line) ?? [];
    if (fence !== undefined) {
      if (marks?.startsWith(fence) && after.trim() === "") fence = undefined;
      return { ...read, isCode: true };
    }
    // A line such as ```` ```a``` ```` is code inside a line, not a fence.
    if (marks && !(marks[0] === "`" && after.includes("`"))) {
      fence = marks;
      return { ...read, isCode: true };
    }
    const [, level, heading] = HEADING.exec(line) ?? [];
    if (level) return { ...read, isCode: false, heading: { level: level.length, text: (heading ?? "").trim() } };
    const found = ITEM.exec(line);
    if (!found) return { ...read, isCode: false };
    const [, number, check, item = ""] = found;
    return {
      ...read,
      isCode: false,
      item: {
        text: item.trim(),
        isOrdered: number !== undefined,
        ...(check !== undefined && { isChecked: check !== " " }),
      },
    };
  });
}

/** Blanked, with their line ends kept: line numbers stay true. One that is never closed is no comment. */
function withoutComments(text: string): string {
  if (!text.includes("<!--")) return text;
  const lastEnd = text.lastIndexOf("-->");
  let fence: string | undefined;
  let isComment = false;
  let offset = 0;
  return text
    .split(/(\r\n|\r|\n)/)
    .map((part) => {
      const start = offset;
      offset += part.length;
      const [, marks] = FENCE.exec(part) ?? [];
      if (!isComment && marks) {
        if (fence === undefined) fence = marks;
        else if (marks.startsWith(fence)) fence = undefined;
      }
      if (fence !== undefined || /^[\r\n]+$/.test(part)) return part;
      let rest = part;
      let kept = "";
      while (rest !== "") {
        const at = rest.indexOf(isComment ? "-->" : "<!--");
        if (at < 0 || (!isComment && start + part.length - rest.length + at > lastEnd)) {
          if (!isComment) kept += rest;
          break;
        }
        if (!isComment) kept += rest.slice(0, at);
        rest = rest.slice(at + (isComment ? 3 : 4));
        isComment = !isComment;
      }
      return kept;
    })
    .join("");
}

/** How many lines it takes, or 0. */
function frontmatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  return end < 0 ? 0 : end + 1;
}

function indentOf(line: string): number {
  let column = 0;
  for (const char of line) {
    if (char === " ") column++;
    else if (char === "\t") column += 4 - (column % 4);
    else break;
  }
  return column;
}
