/**
 * Changes one value inside a JSON text and leaves every other byte as it is. A settings file belongs to its user; parsing and
 * rewriting it would lose layout, comments, long numbers and duplicate keys. The text must be valid JSON (`readJson`), with or
 * without comments. `removeIn` undoes `setIn` byte for byte. Additions use the text's own line endings.
 */
import { withoutComments } from "../base/json.ts";

export type JsonPath = readonly (string | number)[];

/** Sets the value at the path and creates missing objects on the way. An index one past the end of a list appends. */
export function setIn(text: string, path: JsonPath, value: unknown): string {
  const unit = indentUnit(withoutComments(text));
  let node = parseNode(withoutComments(text));
  for (let depth = 0; depth < path.length; depth++) {
    const child = childOf(node, path[depth]!);
    if (child) {
      node = child.value;
      continue;
    }
    const rest = path.slice(depth + 1).reduceRight<unknown>((inner, key) => wrap(key, inner), value);
    return addChild(text, node, { key: path[depth]!, value: rest, unit });
  }
  const layout = layoutOf(text, node, unit);
  return splice(text, node.start, node.end, format(value, layout));
}

/** Removes the member or item at the path. If there is none, returns the text unchanged. */
export function removeIn(text: string, path: JsonPath): string {
  const plain = withoutComments(text);
  const { node, parent } = findNode(parseNode(plain), path);
  if (!node || !parent) return text;
  const at = parent.children.findIndex(({ value }) => value === node);
  const { start } = parent.children[at]!;
  const before = parent.children[at - 1];
  const after = parent.children[at + 1];
  const note = (from: number, to: number) => lastComment(text, plain, { from, to });
  const comment = before && note(before.value.end, start);
  if (before && !comment) return splice(text, before.value.end, node.end, "");
  if (after) {
    if (!note(node.end, after.start)) return splice(text, start, after.start, "");
    const comma = plain.indexOf(",", node.end);
    const behind = text.slice(comma + 1).search(/\S/) + comma + 1;
    return text.slice(0, start) + text.slice(node.end, comma) + text.slice(behind);
  }
  if (before && comment) {
    // The comment stays in place. The comma is removed, whether it is before or after the comment.
    const comma = plain.indexOf(",", before.value.end);
    const rest = splice(text, comment.end, node.end, "");
    return comma < comment.start ? splice(rest, comma, comma + 1, "") : rest;
  }
  const [head, tail] = [note(parent.start + 1, start), note(node.end, parent.end - 1)];
  if (!head && !tail) return splice(text, parent.start + 1, parent.end - 1, "");
  return splice(text, head?.end ?? parent.start + 1, node.end, "");
}

/** Whether the value at the path contains a comment. */
export function hasCommentIn(text: string, path: JsonPath): boolean {
  const plain = withoutComments(text);
  const { node } = findNode(parseNode(plain), path);
  return node !== undefined && lastComment(text, plain, { from: node.start, to: node.end }) !== undefined;
}

function findNode(root: Node, path: JsonPath): { node?: Node; parent?: Node } {
  let node = root;
  let parent: Node | undefined;
  for (const key of path) {
    const child = childOf(node, key);
    if (!child) return {};
    parent = node;
    node = child.value;
  }
  return { node, ...(parent && { parent }) };
}

/** The range of the comments between two offsets. `plain` has spaces in their place. */
function lastComment(
  text: string,
  plain: string,
  { from, to }: { from: number; to: number },
): { start: number; end: number } | undefined {
  let [start, end] = [to, from];
  for (let at = from; at < to; at++) {
    if (text[at] === plain[at]) continue;
    start = Math.min(start, at);
    end = at + 1;
  }
  return end > start ? { start, end } : undefined;
}

interface Node {
  kind: "object" | "list" | "other";
  start: number;
  end: number;
  children: Child[];
}

interface Child {
  key: string | number;
  /** Where the key begins; for a list item, where its value begins. */
  start: number;
  value: Node;
}

function childOf(node: Node, key: string | number): Child | undefined {
  // If two members have the same name, the last one counts, as in JSON.parse.
  return node.children.findLast((child) => child.key === key);
}

function wrap(key: string | number, inner: unknown): unknown {
  return typeof key === "number" ? [inner] : { [key]: inner };
}

function addChild(
  text: string,
  parent: Node,
  { key, value, unit }: { key: string | number; value: unknown; unit: string },
): string {
  if (parent.kind === "other" || (parent.kind === "list") !== (typeof key === "number")) {
    throw new TypeError(`${JSON.stringify(key)} cannot be put into what stands at ${parent.start}`);
  }
  const layout = layoutOf(text, parent, unit);
  const { isInline, isTight, lineBreak, baseIndent } = layout;
  const inner = { ...layout, baseIndent: baseIndent + layout.unit };
  const name = typeof key === "number" ? "" : `${JSON.stringify(key)}:${isTight ? "" : " "}`;
  const member = name + (isInline ? formatInline(value, isTight) : format(value, inner));
  const last = parent.children.at(-1);
  const from = last?.value.end ?? parent.start + 1;
  const comment = lastComment(text, withoutComments(text), { from, to: parent.end - 1 });
  const isLineComment = comment && text.slice(comment.start, comment.end).includes("//");
  const gap = isInline && !isLineComment ? (isTight ? "" : " ") : lineBreak + inner.baseIndent;
  // After the comments: a comment beside or below the last value belongs to that value.
  const withMember = comment && splice(text, comment.end, comment.end, gap + member);
  if (last) return splice(withMember ?? text, from, from, withMember ? "," : `,${gap}${member}`);
  if (withMember) return withMember;
  const whole = isInline ? member : `${gap}${member}${lineBreak}${baseIndent}`;
  return splice(text, parent.start + 1, parent.end - 1, whole);
}

interface Layout {
  /** The container has no line break, so additions stay on the line. */
  isInline: boolean;
  /** No space after colons and commas either. */
  isTight: boolean;
  unit: string;
  /** The indentation of the line on which the container begins. */
  baseIndent: string;
  /** The text's own line ending. */
  lineBreak: string;
}

function layoutOf(text: string, node: Node, unit: string): Layout {
  const lineStart = text.lastIndexOf("\n", node.start) + 1;
  const baseIndent = /^[ \t]*/.exec(text.slice(lineStart, node.start))?.[0] ?? "";
  const trimmed = text.trim();
  const isOneLine = !trimmed.includes("\n") && trimmed.slice(1, -1).trim() !== "";
  const hasChildren = node.children.length > 0;
  const isInline = hasChildren ? !text.slice(node.start, node.children[0]!.start).includes("\n") : isOneLine;
  const lineBreak = /\r?\n/.exec(text)?.[0] ?? "\n";
  return { isInline, isTight: isInline && isTightAfter(text, node), unit, baseIndent, lineBreak };
}

/** The indentation of one level; two spaces if the text does not show it. */
function indentUnit(text: string): string {
  return /^\s*[[{][^\S\n]*\n(?:[^\S\n]*\n)*([ \t]+)\S/.exec(text)?.[1] ?? "  ";
}

function format(value: unknown, { unit, baseIndent, lineBreak }: Layout): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", lineBreak + baseIndent);
}

function formatInline(value: unknown, isTight: boolean): string {
  if (isTight || typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => formatInline(item, isTight)).join(", ")}]`;
  const members = Object.entries(value).map(
    ([key, inner]) => `${JSON.stringify(key)}: ${formatInline(inner, isTight)}`,
  );
  return members.length === 0 ? "{}" : `{${members.join(", ")}}`;
}

function splice(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}

/** Whether the text has no spaces, as in `"a":1,"b"`. Looks at the container first, then at the whole text. */
function isTightAfter(text: string, { kind, children }: Node): boolean {
  const [first] = children;
  if (kind === "object" && first) return text[first.value.start - 1] === ":";
  const second = children[1];
  if (second) return text[second.start - 1] === ",";
  return !text.includes('": ');
}

const SCALAR = /[^\s,\]}]+/y;

/** The offset after a string that begins at `start`. No regular expression, because a string may have megabytes. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

/** Offsets of every value. Recursion is safe: the text has passed JSON.parse, and settings are not deep. */
function parseNode(text: string): Node {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;

  const skipSpace = () => {
    while (at < text.length && " \t\r\n".includes(text[at]!)) at++;
  };
  const skipScalar = () => {
    SCALAR.lastIndex = at;
    if (SCALAR.test(text)) at = SCALAR.lastIndex;
  };
  const value = (): Node => {
    skipSpace();
    const start = at;
    const open = text[at];
    if (open !== "{" && open !== "[") {
      if (open === '"') at = stringEnd(text, at);
      else skipScalar();
      if (at === start) throw new SyntaxError(`no JSON value at ${start}`);
      return { kind: "other", start, end: at, children: [] };
    }
    const children: Child[] = [];
    at++;
    for (skipSpace(); text[at] !== "}" && text[at] !== "]"; skipSpace()) {
      const childStart = at;
      let key: string | number = children.length;
      if (open === "{") {
        at = stringEnd(text, at);
        key = JSON.parse(text.slice(childStart, at)) as string;
        skipSpace();
        at++;
      }
      children.push({ key, start: childStart, value: value() });
      skipSpace();
      if (text[at] === ",") at++;
    }
    at++;
    return { kind: open === "{" ? "object" : "list", start, end: at, children };
  };
  return value();
}
