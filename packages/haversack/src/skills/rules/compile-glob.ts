/**
 * Translates path globs of rules files to regular expressions, like picomatch with `dot: true`: `*` and `?` stay in one folder, `**` spans any
 * number of folders, `{a,b}`, `[a-z]`, `[!a]`, `@(a|b)`, `?(a)`, a leading `!` negates. Two things follow the intent of rule authors: a glob
 * without a slash matches at any depth (`*.sql`), and a folder with a final slash means everything in it (`docs/`).
 *
 * The result runs in linear time by construction; a naive translation of `*a*a*a*b` does not. Between two stars the earliest match is always good
 * enough, and `(?=(…))\1` keeps the engine from trying later ones.
 */

export interface CompiledGlob {
  /** For `new RegExp(source, flags)` on a path with forward slashes, relative to the project. */
  source: string;
  flags: string;
  linear: true;
  /** The glob began with `!`, so it excludes. The source matches the part after the `!`. */
  negated: boolean;
}

export type GlobCompilation = CompiledGlob | { problem: string; code: "glob-invalid" };

const MAX_GLOB_CHARS = 500;
const MAX_ALTERNATIVES = 64;

export function compileGlob(glob: string): GlobCompilation {
  let pattern = glob.trim();
  let negated = false;
  while (pattern.startsWith("!") && pattern[1] !== "(") {
    negated = !negated;
    pattern = pattern.slice(1);
  }
  if (pattern.replace(/^(?:\.?\/)+/, "") === "") return { code: "glob-invalid", problem: "the path pattern is empty" };
  if (pattern.length > MAX_GLOB_CHARS) {
    return {
      code: "glob-invalid",
      problem: `the path pattern has ${pattern.length} characters, more than ${MAX_GLOB_CHARS}`,
    };
  }
  pattern = pattern.replace(/([@?])\(([^()]*)\)/g, (_, sign: string, inner: string) => {
    const list = inner.replaceAll("|", ",");
    return sign === "?" ? `{,${list}}` : list.includes(",") ? `{${list}}` : list;
  });
  if (/[!+*]\(/.test(pattern)) {
    return {
      code: "glob-invalid",
      problem: "!( ), +( ) and *( ) are not supported: write the paths out, or use { , }",
    };
  }
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined) {
    return { code: "glob-invalid", problem: `the braces stand for more than ${MAX_ALTERNATIVES} paths` };
  }
  const groups = { count: 0 };
  const sources = [...new Set(alternatives)].filter((one) => one !== "").map((one) => pathSource(one, groups));
  const source = sources.length === 1 ? `^${sources[0]}$` : `^(?:${sources.join("|")})$`;
  try {
    new RegExp(source);
  } catch {
    // Only a class such as [z-a] gets here. The engine's message would quote a source that the author never wrote.
    return { code: "glob-invalid", problem: "the path pattern has an invalid [ ] class" };
  }
  return { source, flags: "", linear: true, negated };
}

interface Groups {
  count: number;
}

const ANY_FOLDERS = "(?:[^/]*/)*?";

function pathSource(pattern: string, groups: Groups): string {
  const isRooted = /^\.?\//.test(pattern);
  let text = pattern.replace(/^(?:\.?\/)+/, "");
  if (text.endsWith("/")) text += "**";
  const segments = splitSegments(text).filter((segment, index, all) => segment !== "**" || all[index - 1] !== "**");
  if (segments.length === 1 && segments[0] !== "**" && !isRooted) segments.unshift("**");
  if (segments.length === 1 && segments[0] === "**") return "[^]+";

  const blocks: string[][] = [[]];
  for (const segment of segments) {
    if (segment === "**") blocks.push([]);
    else blocks.at(-1)!.push(segment);
  }
  const opensFolder = blocks.length > 1 && blocks.at(-1)!.length === 0;
  if (opensFolder) blocks.pop();
  // a/** also matches a itself; **/a/** likewise.
  const end = opensFolder ? "(?:/[^]*)?" : "";
  const lastIndex = blocks.length - 1;
  return blocks
    .map((block, index) => {
      const isLast = index === lastIndex;
      if (index === 0) {
        if (block.length === 0) return "";
        return blockSource(block, groups) + (isLast ? end : "/");
      }
      if (isLast) return ANY_FOLDERS + blockSource(block, groups) + end;
      return earliest(groups, () => `${ANY_FOLDERS + blockSource(block, groups)}/`);
    })
    .join("");
}

function blockSource(segments: readonly string[], groups: Groups): string {
  return segments.map((segment) => segmentSource(segment, groups)).join("/");
}

function segmentSource(segment: string, groups: Groups): string {
  const parts = literalParts(segment);
  if (parts.length === 1) return parts[0]!;
  if (parts.every((part) => part === "")) return "[^/]+";
  const [first = "", ...rest] = parts;
  const last = rest.pop()!;
  const middle = rest.filter((part) => part !== "").map((part) => earliest(groups, () => `[^/]*?${part}`));
  return `${first}${middle.join("")}[^/]*${last}`;
}

/** Matches as early as possible and never backtracks. The group takes its number before its inner groups take theirs. */
function earliest(groups: Groups, source: () => string): string {
  groups.count++;
  const number = groups.count;
  return `(?=(${source()}))\\${number}(?:)`;
}

/** The sources between the stars of one segment. Each matches texts of a single length. */
function literalParts(segment: string): string[] {
  const parts = [""];
  for (let at = 0; at < segment.length; at++) {
    const char = segment[at]!;
    const rest = segment.slice(at);
    const charClass = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
    if (char === "*") {
      parts.push("");
    } else if (char === "?") {
      parts[parts.length - 1] += "[^/]";
    } else if (charClass?.[2]) {
      const inner = charClass[2].replace(/[\\\][^]/g, "\\$&");
      parts[parts.length - 1] += charClass[1] ? `[^/${inner}]` : `[${inner}]`;
      at += charClass[0].length - 1;
    } else {
      if (char === "\\" && at + 1 < segment.length) at++;
      parts[parts.length - 1] += segment[at]!.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    }
  }
  return parts;
}

function splitSegments(pattern: string): string[] {
  return pattern.match(/(?:\\.|\[[^\]/]*\]|[^/])+/gs) ?? [];
}

/** Expands like a shell, from the inside out: `a{b,c{d,e}}` is ab, acd, ace. `{a}` and an unclosed brace are plain text. */
function expandBraces(pattern: string): string[] | undefined {
  let pending = [pattern];
  const done: string[] = [];
  while (pending.length > 0) {
    const next: string[] = [];
    for (const one of pending) {
      const found = innermostBraces(one);
      if (!found) done.push(one.replaceAll(OPEN, "{").replaceAll(CLOSE, "}"));
      else for (const option of found.options) next.push(one.slice(0, found.start) + option + one.slice(found.end));
    }
    if (next.length + done.length > MAX_ALTERNATIVES) return undefined;
    pending = next;
  }
  return done;
}

/** Placeholders for braces that are plain text, so the search does not find them again. */
const OPEN = "\u0001";
const CLOSE = "\u0002";

function innermostBraces(text: string): { start: number; end: number; options: string[] } | undefined {
  const found = /(?<!\\)\{([^{}]*)\}/.exec(text);
  if (!found) return undefined;
  const inner = found[1]!;
  const range = /^(\d{1,3})\.\.(\d{1,3})$/.exec(inner);
  let options = inner.split(",");
  if (range) {
    const [low, high] = [Number(range[1]), Number(range[2])].sort((a, b) => a - b) as [number, number];
    options = Array.from({ length: high - low + 1 }, (_, index) => String(low + index));
  } else if (options.length === 1) {
    options = [`${OPEN}${inner}${CLOSE}`];
  }
  return { start: found.index, end: found.index + found[0].length, options };
}
