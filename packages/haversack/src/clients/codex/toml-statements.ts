/**
 * Statements of a TOML text with their positions: headers, keys and simple values. This is enough to find, add and remove a table without touching
 * other bytes. It does not validate TOML: a line that it cannot parse is skipped.
 */
export interface TomlStatement {
  kind: "table" | "list-table" | "key";
  /** For a key, includes its table: `["mcp_servers", "x", "command"]`. */
  path: string[];
  /** Start of its line, without preceding comments. */
  start: number;
  /** After its last character, before a comment and the line break. */
  end: number;
  /** As written; "" for headers. */
  value: string;
}

export function tomlStatements(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let table: string[] = [];
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const start = at;
    at = skipBlanks(text, at);
    const sign = text[at];
    if (sign === "[") {
      const isList = text[at + 1] === "[";
      const { path, end } = readPath(text, at + (isList ? 2 : 1));
      const close = isList ? "]]" : "]";
      const last = skipBlanks(text, end);
      if (path.length > 0 && text.startsWith(close, last)) {
        table = path;
        const kind = isList ? "list-table" : "table";
        statements.push({ kind, path, start, end: last + close.length, value: "" });
      }
      at = last;
    } else if (sign !== undefined && !"#\r\n".includes(sign)) {
      const { path, end } = readPath(text, at);
      const equals = skipBlanks(text, end);
      if (path.length > 0 && text[equals] === "=") {
        const from = skipBlanks(text, equals + 1);
        at = valueEnd(text, from);
        const value = text.slice(from, at).trimEnd();
        statements.push({ kind: "key", path: [...table, ...path], start, end: from + value.length, value });
      } else at = end;
    }
    at = lineEnd(text, at);
  }
  return statements;
}

/** Noted in the receipt: the file had no final line break, so it gets none back. */
export const NO_BREAK = "no-line-break-at-the-end";

/** Removes our text and the empty line before it, which is ours as well. */
export function withoutBlock(
  text: string,
  { start, end }: { start: number; end: number },
  keep: readonly string[],
): string {
  const head = text.slice(0, start).replace(/(\r?\n)\r?\n$/, "$1");
  const isLast = text.slice(end).trim() === "";
  return (isLast && keep.includes(NO_BREAK) ? head.replace(/\r?\n$/, "") : head) + text.slice(end);
}

/** The value of a string, a list of strings or a bare word; undefined for anything else. */
export function simpleValue(value: string): string | string[] | undefined {
  if (value.startsWith('"""') || value.startsWith("'''")) return undefined;
  if (value.startsWith("[")) {
    const items: string[] = [];
    for (let at = 1; at < value.length; ) {
      const sign = value[at]!;
      if (sign === '"' || sign === "'") {
        const end = stringEnd(value, at);
        const item = simpleValue(value.slice(at, end));
        if (typeof item !== "string") return undefined;
        items.push(item);
        at = end;
      } else if (sign === "#") at = lineEnd(value, at);
      else if (" \t\r\n,".includes(sign)) at++;
      else return sign === "]" ? items : undefined;
    }
    return undefined;
  }
  if (value.startsWith("'")) return value.slice(1, -1);
  if (value.startsWith('"')) return unescaped(value);
  return value;
}

function unescaped(value: string): string | undefined {
  try {
    // TOML's other escapes: \UXXXXXXXX, \e and \xHH. We write none of them.
    return JSON.parse(value) as string;
  } catch {
    return undefined;
  }
}

function readPath(text: string, from: number): { path: string[]; end: number } {
  const path: string[] = [];
  for (let at = skipBlanks(text, from); ; at = skipBlanks(text, at + 1)) {
    const sign = text[at];
    const end = sign === '"' || sign === "'" ? stringEnd(text, at) : wordEnd(text, at);
    if (end === at) return { path: [], end: at };
    const part = text.slice(at, end);
    path.push(sign === "'" ? part.slice(1, -1) : sign === '"' ? (unescaped(part) ?? part) : part);
    at = skipBlanks(text, end);
    if (text[at] !== ".") return { path, end: at };
  }
}

const WORD = /[A-Za-z0-9_-]+/y;

function wordEnd(text: string, at: number): number {
  WORD.lastIndex = at;
  return WORD.test(text) ? WORD.lastIndex : at;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

/** After the line break. */
function lineEnd(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at < 0 ? text.length : at + 1;
}

/** The end of a string that begins at `start`; it may span lines. */
function stringEnd(text: string, start: number): number {
  const quote = text[start]!;
  const isLong = text.startsWith(quote.repeat(3), start);
  const close = isLong ? quote.repeat(3) : quote;
  for (let at = start + close.length; at < text.length; at++) {
    if (text[at] === "\\" && quote === '"') at++;
    else if (!isLong && text[at] === "\n") return at;
    else if (text.startsWith(close, at)) {
      let end = at + close.length;
      // Up to two quotes may come right before the closing three.
      while (isLong && text[end] === quote) end++;
      return end;
    }
  }
  return text.length;
}

/** Where the value's line ends or its comment begins; lists and tables may span lines. */
function valueEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '"' || sign === "'") at = stringEnd(text, at) - 1;
    else if (sign === "[" || sign === "{") depth++;
    else if (sign === "]" || sign === "}") depth--;
    else if (sign === "#") {
      if (depth <= 0) return at;
      at = lineEnd(text, at) - 1;
    } else if (sign === "\n" && depth <= 0) return at;
  }
  return text.length;
}
