/**
 * Splits a markdown file into YAML frontmatter and body, and reads the frontmatter leniently: 236 of 565 real skills break a strict rule,
 * most often with an unquoted colon in a description. Never throws. If YAML cannot read the whole, each entry is parsed alone; an entry
 * that is not valid YAML is kept as plain text.
 */
import { parseDocument } from "yaml";
import { isRecord } from "./json.ts";
import { splitMarkdown } from "./skill-body.ts";

export interface FrontmatterProblem {
  level: "error" | "warning";
  /** Stable kebab-case word. */
  code:
    | "frontmatter-missing"
    | "frontmatter-late"
    | "frontmatter-unterminated"
    | "frontmatter-too-large"
    | "frontmatter-too-deep"
    | "frontmatter-invalid"
    | "frontmatter-not-a-map"
    | "frontmatter-duplicate-key";
  /** `line 3` or a key. */
  where?: string;
  text: string;
}

export interface Frontmatter {
  data: Record<string, unknown>;
  /** Everything after the frontmatter, line ends as `\n`. */
  body: string;
  problems: FrontmatterProblem[];
}

/** The largest of 930 public skills has 2,700. The slowest text we found takes 0.14 s at this size; at 32 kB it took 0.7 s. */
const MAX_FRONTMATTER_CHARS = 8 * 1024;
/** How many entries are parsed one by one; later entries are kept as plain text. */
const MAX_SINGLE_ENTRIES = 50;
/** Levels of nested brackets. The parser recurses once per level and overflows the stack before it gives up. */
const MAX_DEPTH = 50;
/** Aliases that expand to more nodes than this are treated as a bomb; honest frontmatter has none. */
const MAX_ALIASES = 10;

const MISSING = problem("warning", "frontmatter-missing", "there is no frontmatter between two --- lines");
const LATE = problem("warning", "frontmatter-late", "the first --- must be the first line of the file");

function problem(level: FrontmatterProblem["level"], code: FrontmatterProblem["code"], text: string) {
  return { level, code, text };
}

export function readFrontmatter(text: string): Frontmatter {
  const { plain, indent, start, closed } = splitMarkdown(text);
  const problems: FrontmatterProblem[] = [];
  if (indent === undefined) {
    problems.push(MISSING);
    return { data: {}, body: plain, problems };
  }
  if (indent !== "") problems.push(LATE);
  if (!closed) return unterminated(plain, start, problems);
  const data = readHeader(closed.header, problems);
  // The file opens with a horizontal rule and then prose, so keep all of it as the body.
  if (data === undefined) return { data: {}, body: plain.slice(indent.length), problems };
  return { data, body: closed.body, problems };
}

/** The frontmatter is never closed: lines that look like entries are the header, the rest is the body. */
function unterminated(plain: string, start: number, problems: FrontmatterProblem[]): Frontmatter {
  const lines = plain.slice(start).split("\n");
  let count = 0;
  while (count < lines.length && /^(?:[A-Za-z_][\w.-]*[ \t]*:(?:\s|$)|[ \t]+\S|- )/.test(lines[count]!)) count++;
  if (count === 0) {
    problems.push(MISSING);
    return { data: {}, body: plain, problems };
  }
  problems.push({
    level: "error",
    code: "frontmatter-unterminated",
    where: `line ${count + 2}`,
    text: "the frontmatter is not closed: add a --- line after its last entry",
  });
  const data = readHeader(lines.slice(0, count).join("\n"), problems) ?? {};
  return { data, body: lines.slice(count).join("\n"), problems };
}

/** Undefined if the text between the two lines is not a header. */
function readHeader(header: string, problems: FrontmatterProblem[]): Record<string, unknown> | undefined {
  if (header.trim() === "") return {};
  if (header.length > MAX_FRONTMATTER_CHARS) {
    const text = `the frontmatter has ${header.length} characters, more than ${MAX_FRONTMATTER_CHARS}: only its simple entries are read`;
    problems.push(problem("error", "frontmatter-too-large", text));
    return entriesAsText(header.slice(0, MAX_FRONTMATTER_CHARS));
  }
  if (isDeep(header)) {
    const text = `the frontmatter is nested deeper than ${MAX_DEPTH} levels: only its simple entries are read`;
    problems.push(problem("error", "frontmatter-too-deep", text));
    return entriesAsText(header);
  }
  const whole = readYaml(header);
  if (whole.value !== undefined || whole.problem === undefined) {
    if (whole.duplicate)
      problems.push(problem("warning", "frontmatter-duplicate-key", `${whole.duplicate}: the last one counts`));
    if (isRecord(whole.value)) return whole.value;
    if (whole.value === null) return {};
    const text = "the lines between the two --- are not `key: value` entries";
    problems.push(problem("warning", "frontmatter-not-a-map", text));
    return undefined;
  }
  const entries = splitEntries(header);
  if (entries.length === 0) {
    problems.push(problem("error", "frontmatter-invalid", `not valid YAML: ${whole.problem}`));
    return {};
  }
  problems.push({
    level: "warning",
    code: "frontmatter-invalid",
    ...(whole.line === undefined ? {} : { where: `line ${whole.line + 1}` }),
    text: `not valid YAML (${whole.problem}): read entry by entry; put quotes around a value that holds “: ” or “#”`,
  });
  return entriesOneByOne(entries);
}

/** Also counts brackets inside quotes: no honest header opens so many, or nests so many lists on one line. */
function isDeep(header: string): boolean {
  let brackets = 0;
  for (const [bracket] of header.matchAll(/[[\]{}]/g)) {
    brackets += bracket === "[" || bracket === "{" ? 1 : brackets > 0 ? -1 : 0;
    if (brackets > MAX_DEPTH) return true;
  }
  return NESTED_LISTS.test(header);
}

const NESTED_LISTS = new RegExp(`^[ \\t]*(?:[-?][ \\t]+){${MAX_DEPTH}}`, "m");

/** Parses each entry alone, so that one bad entry does not lose the others. An entry that fails becomes plain text. */
function entriesOneByOne(entries: readonly Entry[]): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [index, { key, lines }] of entries.entries()) {
    if (index >= MAX_SINGLE_ENTRIES) {
      define(data, key, asText(lines));
      continue;
    }
    const alone = readYaml(lines.join("\n").replace(/^\t+/gm, (tabs) => "  ".repeat(tabs.length)));
    const value = isRecord(alone.value) ? alone.value[key] : undefined;
    define(data, key, alone.problem === undefined && value !== undefined ? value : asText(lines));
  }
  return data;
}

function entriesAsText(header: string): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const { key, lines } of splitEntries(header)) define(data, key, asText(lines));
  return data;
}

interface Entry {
  key: string;
  lines: string[];
}

/** Splits at top-level `key:` lines. Indented, listed or blank lines below a key belong to it. */
function splitEntries(header: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of header.split("\n")) {
    const key = /^(["']?)([A-Za-z_][\w.-]*)\1[ \t]*:(?=\s|$)/.exec(line)?.[2];
    if (key !== undefined) entries.push({ key, lines: [line] });
    else if (!line.startsWith("#")) entries.at(-1)?.lines.push(line);
  }
  return entries;
}

/** `description: Use when: foo` → `Use when: foo`. A value over several lines becomes one line; `- ` lines become a list. */
function asText([first = "", ...rest]: readonly string[]): unknown {
  const inline = first.slice(first.indexOf(":") + 1).trim();
  const below = rest.map((line) => line.trim()).filter((line) => line !== "");
  if (inline === "" && below.length > 0 && below.every((line) => line.startsWith("- "))) {
    return below.map((line) => unquoted(line.slice(2).trim()));
  }
  const head = /^[|>][+-]?\d?$/.test(inline) ? "" : inline;
  const text = unquoted([head, ...below].filter((part) => part !== "").join(" "));
  return text === "true" ? true : text === "false" ? false : text;
}

function unquoted(text: string): string {
  const quote = text[0];
  return text.length > 1 && (quote === '"' || quote === "'") && text.endsWith(quote) ? text.slice(1, -1) : text;
}

interface YamlReading {
  value?: unknown;
  problem?: string;
  /** Counts from 1 within the text given. */
  line?: number;
  duplicate?: string;
}

function readYaml(text: string): YamlReading {
  try {
    // stringKeys: a mapping as a key has no meaning here. We look for duplicates ourselves, because the parser reports one as an error,
    // which would discard the whole header.
    const document = parseDocument(text, {
      logLevel: "silent",
      uniqueKeys: false,
      stringKeys: true,
      prettyErrors: false,
    });
    const error = document.errors[0];
    if (error) return { problem: firstLine(error.message), line: text.slice(0, error.pos[0]).split("\n").length };
    const seen = new Set<string>();
    const twice = splitEntries(text).find(({ key }) => seen.size === seen.add(key).size);
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return twice ? { value, duplicate: `“${twice.key}” is listed twice` } : { value };
  } catch (error) {
    // Alias bombs (ReferenceError) and nesting beyond the stack (RangeError) end here; the caller then reads entry by entry.
    return { problem: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.replace(/:$/, "");
}

/** Makes `__proto__` an ordinary key instead of setting the object's prototype. */
function define(data: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(data, key, { value, enumerable: true, configurable: true, writable: true });
}
