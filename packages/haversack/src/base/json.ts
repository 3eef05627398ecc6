/**
 * Reads JSON that a person wrote. Returns a value or one sentence with line and column; never throws.
 * V8's messages have no position for half of its errors, so on failure our own scan finds the position.
 */

export type JsonReading = { value: unknown; problem?: undefined } | { value?: undefined; problem: string };

export function readJson(text: string): JsonReading {
  const plain = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  try {
    return { value: JSON.parse(plain) };
  } catch (error) {
    // Catch more than SyntaxError: 100,000 open brackets throw a RangeError.
    if (plain.trim() === "") return { problem: "the file is empty; JSON needs at least {}" };
    const fault = findFault(plain);
    if (fault === undefined) return { problem: error instanceof Error ? error.message : String(error) };
    const { line, column } = lineAndColumn(plain, fault.offset);
    return { problem: `line ${line}:${column}: ${fault.text}` };
  }
}

/** A JSON object, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Both count from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}

interface Fault {
  offset: number;
  text: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** Matches a string in pieces: one pattern for a whole string would overflow the matcher's stack at several megabytes. */
const PLAIN = /[^"\\\u0000-\u001f]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /true|false|null/y;

/** The first position that is not valid JSON. Not recursive: the text may have a million brackets. */
function findFault(text: string): Fault | undefined {
  const open: ("{" | "[")[] = [];
  let at = 0;
  let wants: "value" | "value-or-end" | "key" | "key-or-end" | "comma" | "end" = "value";

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };

  const skipString = (): boolean => {
    at++;
    while (skip(PLAIN) || skip(ESCAPE));
    return text[at++] === '"';
  };

  for (;;) {
    while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
    const char = text[at];
    if (wants === "end") return char === undefined ? undefined : { offset: at, text: `${named(char)} after the end` };
    if (char === undefined) return { offset: at, text: `the text ends too early: ${missing(open)}` };
    if (char === "/") return { offset: at, text: "JSON has no comments: remove them" };

    const closes = char === "}" || char === "]";
    if (closes && (wants === "comma" || wants === "value-or-end" || wants === "key-or-end")) {
      const last = open.pop();
      if ((char === "}") !== (last === "{")) return { offset: at, text: `${named(char)} closes ${named(last ?? "")}` };
      at++;
    } else if (wants === "comma") {
      if (char !== ",") return { offset: at, text: `a comma or the closing bracket is missing before ${named(char)}` };
      at++;
      wants = open.at(-1) === "{" ? "key" : "value";
      continue;
    } else if (closes) {
      return { offset: at, text: `a value is missing before ${named(char)} (a comma too many?)` };
    } else if (wants === "key" || wants === "key-or-end") {
      if (char !== '"') return { offset: at, text: `a key in double quotes is expected, not ${named(char)}` };
      const start = at;
      if (!skipString()) return { offset: start, text: BAD_STRING };
      while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
      if (text[at] !== ":") return { offset: at, text: `a colon is missing before ${named(text[at] ?? "")}` };
      at++;
      wants = "value";
      continue;
    } else if (char === "{" || char === "[") {
      open.push(char);
      at++;
      wants = char === "{" ? "key-or-end" : "value-or-end";
      continue;
    } else if (char === '"') {
      const start = at;
      if (!skipString()) return { offset: start, text: BAD_STRING };
    } else if (!skip(WORD) && !skip(NUMBER)) {
      return {
        offset: at,
        text: `${named(char)} cannot start a JSON value${char === "'" ? ": use double quotes" : ""}`,
      };
    }
    wants = open.length === 0 ? "end" : "comma";
  }
}

const BAD_STRING =
  "this string is not closed on its line, or has an escape that JSON does not know (write \\\\ for \\)";

function named(char: string): string {
  if (char === "") return "the end";
  return char < " " ? `character ${char.charCodeAt(0)}` : `“${char}”`;
}

function missing(open: readonly string[]): string {
  if (open.length === 0) return "a value is missing";
  return open.length === 1 ? `one “${open[0] === "{" ? "}" : "]"}” is missing` : `${open.length} brackets are open`;
}

/** JSON with comments, which some clients accept in their settings. Comments become spaces to keep all offsets unchanged. */
export function withoutComments(text: string): string {
  if (!text.includes("//") && !text.includes("/*")) return text;
  let plain = "";
  let from = 0;
  // No regular expression: a string may be megabytes long.
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === "\\") at++;
    } else if (text[at] === "/" && (text[at + 1] === "/" || text[at + 1] === "*")) {
      const end = commentEnd(text, at);
      plain += text.slice(from, at) + text.slice(at, end).replace(/[^\r\n]/g, " ");
      from = end;
      at = end - 1;
    }
  }
  return plain + text.slice(from);
}

function commentEnd(text: string, start: number): number {
  const isLine = text[start + 1] === "/";
  const end = isLine ? text.slice(start).search(/[\r\n]/) : text.indexOf("*/", start + 2);
  if (end < 0) return text.length;
  return isLine ? start + end : end + 2;
}
