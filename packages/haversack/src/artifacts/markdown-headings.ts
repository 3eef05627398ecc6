/**
 * Reads the headings of a Markdown document, in one pass over its lines. Supports both styles (`## Title`, and a title underlined with
 * === or ---). Ignores code fences, HTML comments, <pre>, frontmatter, lists and quotes. Line ends may be LF, CRLF or CR. Loaded by the
 * hook: linear, no dependencies.
 *
 * Not supported: other HTML blocks. Text like a heading directly under <details>, without an empty line, counts as a heading.
 */

export interface Heading {
  /** As rendered: without marks, links and tags. Cut at 300 characters. */
  text: string;
  /** 1 to 6. */
  level: number;
  /** From 1. */
  line: number;
  /** Offset of its first line in the document. */
  start: number;
}

export function findHeadings(document: string): Heading[] {
  const headings: Heading[] = [];
  /** Tells whether a line ends the open block. */
  let isEnd: ((line: string) => boolean) | undefined;
  let paragraph: { line: number; start: number } | undefined;
  let isInside = false;
  let isBlankBefore = true;
  const frontmatterEnd = endOfFrontmatter(document);

  const hasReturns = document.includes("\r");
  // A plain loop: in a new process, a generator costs as much as all the rest.
  for (let next = firstStart(document), number = 1; next < document.length; number++) {
    const start = next;
    const end = endOfLine(document, start, hasReturns);
    next = end + (document.startsWith("\r\n", end) ? 2 : 1);
    if (start < frontmatterEnd) continue;
    // Most lines are text that begins with a letter. Headings, marks and blocks never do.
    if (!isEnd && isLetter(document.charCodeAt(start))) {
      if (isBlankBefore) isInside = false;
      if (isInside) paragraph = undefined;
      else paragraph ??= { line: number, start };
      isBlankBefore = false;
      continue;
    }
    const line = document.slice(start, end);
    if (isEnd) {
      if (isEnd(line)) isEnd = undefined;
      continue;
    }
    const indent = indentOf(line);
    const body = withoutIndent(line);
    if (body.trim() === "") {
      paragraph = undefined;
      isBlankBefore = true;
      continue;
    }
    const level = indent <= 3 ? underlineLevel(body) : 0;
    if (level > 0 && paragraph) {
      // An underlined title may have several lines.
      const lines = document
        .slice(paragraph.start, start)
        .split(/\r\n?|\n/)
        .map(withoutIndent);
      headings.push({ text: plainHeading(lines.join(" ").trimEnd()), level, ...paragraph });
      paragraph = undefined;
      continue;
    }
    isEnd = openedBlock(body, indent);
    const hashes = indent <= 3 && !isEnd ? countHashes(body) : 0;
    if (hashes > 0) headings.push({ text: plainHeading(atxText(body, hashes)), level: hashes, line: number, start });

    // A line directly after an item or a quote belongs to it. An indented line does even after an empty line.
    if (body.startsWith(">") || afterListMarks(body) !== body) isInside = true;
    else if (indent < 2 && (isBlankBefore || hashes > 0)) isInside = false;
    const isText = !isEnd && hashes === 0 && !isInside && !isRule(body) && !body.startsWith("|");
    if (!isText) paragraph = undefined;
    else if (!paragraph && indent <= 3) paragraph = { line: number, start };
    isBlankBefore = false;
  }
  return headings;
}

const HEADING_MAX_CHARS = 300;

/** Skips a byte order mark. */
function firstStart(document: string): number {
  return document.charCodeAt(0) === 0xfeff ? 1 : 0;
}

/** In a new process, `indexOf` is twenty times as fast as a loop. */
function endOfLine(document: string, start: number, hasReturns: boolean): number {
  if (!hasReturns) {
    const end = document.indexOf("\n", start);
    return end < 0 ? document.length : end;
  }
  for (let at = start; at < document.length; at++) {
    const code = document.charCodeAt(at);
    if (code === 10 || code === 13) return at;
  }
  return document.length;
}

/**
 * The offset after the closing line; 0: there is no frontmatter. Its comments and last key would look like headings. A rule on the
 * first line is not frontmatter: keys must follow.
 */
function endOfFrontmatter(document: string): number {
  if (!document.startsWith("---", firstStart(document))) return 0;
  let hasKey = false;
  const hasReturns = document.includes("\r");
  for (let start = firstStart(document), number = 1; start < document.length; number++) {
    const end = endOfLine(document, start, hasReturns);
    const line = document.slice(start, end).trimEnd();
    if (number === 1 ? line !== "---" : number === 2 && line === "") return 0;
    if (number > 1 && (line === "---" || line === "...")) return hasKey ? end + 1 : 0;
    if (/^[\w-]+[ \t]*:/.test(line)) hasKey = true;
    start = end + (document.startsWith("\r\n", end) ? 2 : 1);
  }
  return 0;
}

function withoutIndent(line: string): string {
  let at = 0;
  while (line[at] === " " || line[at] === "\t") at++;
  return line.slice(at);
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** A tab counts as more than the maximum indentation of a heading. */
function indentOf(line: string): number {
  let at = 0;
  while (line[at] === " ") at++;
  return line[at] === "\t" ? at + 4 : at;
}

/** If a code fence, HTML comment or raw text begins here: a test for the line that ends it. */
function openedBlock(body: string, indent: number): ((line: string) => boolean) | undefined {
  const content = afterListMarks(body);
  const isInList = content !== body;
  if (indent <= 3 || isInList) {
    // In a list item, the text begins after its mark.
    const fence = nextFence("", " ".repeat(indent + body.length - content.length) + content);
    if (fence !== "") return (line) => nextFence(fence, line) === "";
  }
  if (indent > 3) return undefined;
  if (body.startsWith("<!--")) return body.includes("-->", 4) ? undefined : (line) => line.includes("-->");
  if (!body.startsWith("<")) return undefined;
  const tag = /^<(pre|script|style|textarea)(?=[\s>]|$)/i.exec(body)?.[1]?.toLowerCase();
  if (tag === undefined) return undefined;
  const isClosed = (line: string): boolean => line.toLowerCase().includes(`</${tag}>`);
  return isClosed(body) ? undefined : isClosed;
}

/** `- 1. text` is a nested item. */
function afterListMarks(body: string): string {
  let rest = body;
  // Only these characters begin an item.
  if (!"-*+0123456789".includes(body[0] ?? "#")) return rest;
  for (let depth = 0; depth < 10; depth++) {
    const mark = /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)/.exec(rest)?.[0];
    if (mark === undefined || isRule(rest)) return rest;
    rest = rest.slice(mark.length);
  }
  return rest;
}

/** `---`, `* * *`, `___`. */
function isRule(body: string): boolean {
  const mark = body[0];
  if (mark !== "-" && mark !== "*" && mark !== "_") return false;
  let marks = 0;
  for (const char of body) {
    if (char === mark) marks++;
    else if (char !== " " && char !== "\t") return false;
  }
  return marks >= 3;
}

function underlineLevel(body: string): number {
  const line = body.trimEnd();
  const mark = line[0];
  if (mark !== "=" && mark !== "-") return 0;
  for (const char of line) if (char !== mark) return 0;
  return mark === "=" ? 1 : 2;
}

function countHashes(body: string): number {
  let hashes = 0;
  while (body[hashes] === "#") hashes++;
  const next = body[hashes];
  return hashes <= 6 && (next === undefined || next === " " || next === "\t") ? hashes : 0;
}

/** `## Title ##` is "Title"; `## C#` keeps its sign. */
function atxText(body: string, hashes: number): string {
  const text = body.slice(hashes, hashes + HEADING_MAX_CHARS).trim();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  const isClosing = end === 0 || text[end - 1] === " " || text[end - 1] === "\t";
  return isClosing ? text.slice(0, end) : text;
}

/** Markdown inside a heading, as rendered. Every pattern is linear or bounded by the length. */
export function plainHeading(text: string): string {
  const pieces = text.slice(0, HEADING_MAX_CHARS).split("`");
  // Between backticks is code, where marks are plain characters.
  const plain = pieces.map((piece, index) =>
    index % 2 === 1 && index < pieces.length - 1 ? piece : withoutMarks(piece),
  );
  const joined = plain.join("");
  return isTidy(joined) ? joined : joined.replace(/\s+/g, " ").trim();
}

/** Single spaces between words, and no other white space. */
function isTidy(text: string): boolean {
  let isSpace = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 32 ? isSpace : code < 32 || code === 160 || code >= 0x1680) return false;
    isSpace = code === 32;
  }
  return !isSpace || text === "";
}

const MARKS = ["<", "[", "*", "~", "_", "\\"];

function withoutMarks(piece: string): string {
  // Compiling the patterns below costs a new process some milliseconds.
  if (!MARKS.some((mark) => piece.includes(mark))) return piece;
  return piece
    .replace(/<!--[^>]*-->|<\/?[a-zA-Z][^<>]*>/g, "")
    .replace(/!?\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1")
    .replace(/(?<!\\)\*+|~~/g, "")
    .replace(/(?<![\p{L}\p{N}_])(_{1,3})(?=[^\s_])([^_]*(?:_[^_]+)*?)(?<=\S)\1(?![\p{L}\p{N}_])/gu, "$2")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1");
}

/**
 * Tracks Markdown code fences line by line. Returns the fence that is open after a line, with its indentation; "" for none. A fence is
 * closed by its own mark, at least as long, alone on its line, and indented at most three columns more: a fence shown inside another is
 * indented by four. An unclosed fence ends with the document.
 */
export function nextFence(open: string, line: string): string {
  const body = line.trimStart();
  const mark = body[0];
  if (mark !== "`" && mark !== "~") return open;
  let length = 0;
  while (body[length] === mark) length++;
  if (length < 3) return open;
  const rest = body.slice(length);
  const indent = line.length - body.length;
  if (open !== "") {
    const own = open.trimStart();
    const isNear = indent <= open.length - own.length + 3;
    return mark === own[0] && length >= own.length && isNear && rest.trim() === "" ? "" : open;
  }
  // `` ```x``` `` on one line is inline code.
  return mark === "`" && rest.includes("`") ? "" : " ".repeat(indent) + mark.repeat(length);
}
