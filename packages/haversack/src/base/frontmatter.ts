/**
 * Splits a markdown file into its YAML frontmatter and its body, and reads the frontmatter leniently: 236 of 565 real
 * skills break a strict rule, most often by an unquoted colon in a description. Never throws. What YAML cannot read is
 * read entry by entry, and an entry that is no YAML is taken as the text it shows.
 */
import { parseDocument } from "yaml";

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

/** The largest of 930 public skills has 2,700. The worst text of this size that we found takes 0.14 s; of 32 kB it was 0.7 s. */
const MAX_FRONTMATTER_CHARS = 8 * 1024;
/** Entries parsed one by one; what follows is taken as text. */
const MAX_SINGLE_ENTRIES = 50;
/** Brackets inside brackets. The parser calls itself for each level, and overflows the stack before it gives up. */
const MAX_DEPTH = 50;
/** Aliases that expand to more nodes than this are a bomb; honest frontmatter has none at all. */
const MAX_ALIASES = 10;

export function readFrontmatter(text: string): Frontmatter {
  const plain = (text.charCodeAt(0) === 0xfeff ? text.slice(1) : text).replace(/\r\n?/g, "\n");
  const problems: FrontmatterProblem[] = [];
  const opening = /^(\s*)---[ \t]*\n/.exec(plain);
  if (!opening) {
    problems.push({
      level: "warning",
      code: "frontmatter-missing",
      text: "there is no frontmatter between two --- lines",
    });
    return { data: {}, body: plain, problems };
  }
  if (opening[1] !== "") {
    problems.push({
      level: "warning",
      code: "frontmatter-late",
      text: "the first --- must be the first line of the file",
    });
  }
  const start = opening[0].length;
  const closing = /^(?:---|\.\.\.)[ \t]*$/gm;
  closing.lastIndex = start;
  const end = closing.exec(plain);
  if (!end) return unterminated(plain, start, problems);

  const header = plain.slice(start, end.index);
  const body = plain.slice(end.index + end[0].length).replace(/^\n/, "");
  const data = readHeader(header, problems);
  // A horizontal rule opens the file and prose follows: nothing of it may be lost.
  if (data === undefined) return { data: {}, body: plain.slice(opening[1]!.length), problems };
  return { data, body, problems };
}

/** The lines that look like entries are the header; the rest is the body. */
function unterminated(plain: string, start: number, problems: FrontmatterProblem[]): Frontmatter {
  const lines = plain.slice(start).split("\n");
  let count = 0;
  while (count < lines.length && /^(?:[A-Za-z_][\w.-]*[ \t]*:(?:\s|$)|[ \t]+\S|- )/.test(lines[count]!)) count++;
  if (count === 0) {
    problems.push({
      level: "warning",
      code: "frontmatter-missing",
      text: "there is no frontmatter between two --- lines",
    });
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

/** Undefined when the text between the two lines is no header at all. */
function readHeader(header: string, problems: FrontmatterProblem[]): Record<string, unknown> | undefined {
  if (header.trim() === "") return {};
  if (header.length > MAX_FRONTMATTER_CHARS) {
    problems.push({
      level: "error",
      code: "frontmatter-too-large",
      text: `the frontmatter has ${header.length} characters, more than ${MAX_FRONTMATTER_CHARS}: only its simple entries are read`,
    });
    return entriesAsText(header.slice(0, MAX_FRONTMATTER_CHARS));
  }
  if (isDeep(header)) {
    problems.push({
      level: "error",
      code: "frontmatter-too-deep",
      text: `the frontmatter is nested deeper than ${MAX_DEPTH} levels: only its simple entries are read`,
    });
    return entriesAsText(header);
  }
  const whole = readYaml(header);
  if (whole.value !== undefined || whole.problem === undefined) {
    if (whole.duplicate) {
      const text = `${whole.duplicate}: the last one counts`;
      problems.push({ level: "warning", code: "frontmatter-duplicate-key", text });
    }
    if (isMap(whole.value)) return whole.value;
    if (whole.value === null) return {};
    const text = "the lines between the two --- are no `key: value` entries";
    problems.push({ level: "warning", code: "frontmatter-not-a-map", text });
    return undefined;
  }
  const entries = splitEntries(header);
  if (entries.length === 0) {
    problems.push({ level: "error", code: "frontmatter-invalid", text: `no valid YAML: ${whole.problem}` });
    return {};
  }
  problems.push({
    level: "warning",
    code: "frontmatter-invalid",
    ...(whole.line === undefined ? {} : { where: `line ${whole.line + 1}` }),
    text: `no valid YAML (${whole.problem}): read entry by entry; put quotes around a value that holds “: ” or “#”`,
  });
  return entriesOneByOne(entries);
}

/** Counts what stands in quotes too: no honest header has so many brackets open, or so many lists nested in one line. */
function isDeep(header: string): boolean {
  let brackets = 0;
  for (const [bracket] of header.matchAll(/[[\]{}]/g)) {
    brackets += bracket === "[" || bracket === "{" ? 1 : brackets > 0 ? -1 : 0;
    if (brackets > MAX_DEPTH) return true;
  }
  return NESTED_LISTS.test(header);
}

const NESTED_LISTS = new RegExp(`^[ \\t]*(?:[-?][ \\t]+){${MAX_DEPTH}}`, "m");

/** One bad entry must not cost the others, so each is parsed alone; one that fails is its own text. */
function entriesOneByOne(entries: readonly Entry[]): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const [index, { key, lines }] of entries.entries()) {
    if (index >= MAX_SINGLE_ENTRIES) {
      define(data, key, asText(lines));
      continue;
    }
    const alone = readYaml(lines.join("\n").replace(/^\t+/gm, (tabs) => "  ".repeat(tabs.length)));
    const value = isMap(alone.value) ? alone.value[key] : undefined;
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

/** Top-level `key:` lines with what belongs to each: indented, listed or blank lines below it. */
function splitEntries(header: string): Entry[] {
  const entries: Entry[] = [];
  for (const line of header.split("\n")) {
    const key = /^(["']?)([A-Za-z_][\w.-]*)\1[ \t]*:(?=\s|$)/.exec(line)?.[2];
    if (key !== undefined) entries.push({ key, lines: [line] });
    else if (!line.startsWith("#")) entries.at(-1)?.lines.push(line);
  }
  return entries;
}

/** `description: Use when: foo` → `Use when: foo`; a value over several lines becomes one line; `- ` lines a list. */
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
    // stringKeys: a mapping as a key has no meaning here. Duplicates are looked for by hand, because the parser
    // reports one as an error and would throw the whole header away.
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
    return twice ? { value, duplicate: `“${twice.key}” stands twice` } : { value };
  } catch (error) {
    // Alias bombs (ReferenceError) and nesting beyond the stack (RangeError) end here: the entry reader takes over.
    return { problem: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.replace(/:$/, "");
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `__proto__` is a key like any other, never the object's parent. */
function define(data: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(data, key, { value, enumerable: true, configurable: true, writable: true });
}
